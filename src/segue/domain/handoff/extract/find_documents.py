"""Finds the YAML and JSON documents in a text: all of it, front matter, fences, lines under `Handoff`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from segue.domain.handoff.extract.data_nodes import Mapping, Node, Refused, TooMuch
from segue.domain.handoff.extract.data_units import FIELDS, is_canonical, is_handoff, states_outcome
from segue.domain.handoff.extract.lenient_json import read_json
from segue.domain.handoff.extract.lenient_yaml import read_lenient
from segue.domain.handoff.extract.yaml_reader import read_yaml

_KEY_LINE: Final = re.compile(r"[\"']?[A-Za-z_][\w -]{0,60}[\"']?[ \t]*:(?=\s|$)")
_FENCE: Final = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+[^\n]*$", re.MULTILINE)
_HANDOFF: Final = re.compile(r"\bhand[- ]?(?:off|over)\b", re.IGNORECASE)
_MARKDOWN: Final = frozenset({"markdown", "md", "mdx", "text", "txt", ""})
_MAX_FENCES: Final = 2000
_LONGEST_FENCE: Final = 200_000
_YAML_WINDOW: Final = 20_000
_ENOUGH_KEYS: Final = 60
_DATA: Final = frozenset({"yaml", "yml", "json", "jsonc", ""})
_TELLING: Final = re.compile(
    r"\n(?:outcome:|files_|what_was_done:|decisions_made:|suggested_next_steps:|next_agent_context:)"
)
"""One of these keys stands in any handoff that is written without a fence."""
_SPACES: Final = " \t\r\n\ufeff"


@dataclass(frozen=True, kw_only=True, slots=True)
class DataDocument:
    """A YAML or JSON document."""

    notation: str
    node: Mapping


@dataclass(slots=True)
class FoundDocuments:
    """The documents in a text, and the part of it that is left to be read as Markdown."""

    documents: list[DataDocument] = field(default_factory=list)
    body: tuple[int, int] = (0, 0)
    taken: set[int] = field(default_factory=set)
    """Where the contents of fences begin that were read as documents."""
    bare: list[tuple[int, int]] = field(default_factory=list)
    """Lines without a fence that were read as documents."""
    notes: list[str] = field(default_factory=list)


def find_documents(text: str) -> FoundDocuments:
    """All handoffs in `text` that are written as YAML or JSON, most trusted first."""
    found = FoundDocuments(body=_unwrap(text))
    start, end = found.body
    begin = _skip_space(text, start, end)
    if text[begin : begin + 1] in ("{", "[") and _whole_json(found, text, begin, end):
        return found
    matter = _front_matter(text, begin, end)
    rest = _skip_space(text, matter[1] if matter else begin, end)
    if _looks_like_yaml(text, rest, end) and _whole_yaml(found, text, begin, end, matter):
        return found
    if matter:
        _read_front_matter(found, text, matter)
    _read_fences(found, text, found.body[0], end)
    if not found.documents:
        _read_under_heading(found, text, found.body[0], end)
    return found


def _skip_space(text: str, start: int, end: int) -> int:
    while start < end and text[start] in _SPACES:
        start += 1
    return start


def _unwrap(text: str) -> tuple[int, int]:
    """A reply that is one Markdown fence is what stands in it."""
    start, end = _skip_space(text, 0, len(text)), len(text)
    opening = _FENCE.match(text, start)
    if opening is None or opening[2].casefold() not in _MARKDOWN - {""}:
        return start if start and text[0] == "\ufeff" else 0, end
    stripped = text.rstrip()
    if stripped.endswith(opening[1]) and len(stripped) > opening.end():
        return min(opening.end() + 1, len(stripped)), len(stripped) - len(opening[1])
    return opening.end(), end


def _whole_json(found: FoundDocuments, text: str, start: int, end: int) -> bool:
    try:
        node, repaired = read_json(text, start, len(text[:end].rstrip()))
    except Refused as refused:
        found.notes.append(f"not read as JSON: {refused}")
        return False
    if not isinstance(node, Mapping):
        return False
    _take(found, "json", node)
    if repaired:
        found.notes.append(f"JSON was repaired: {', '.join(repaired)}")
    found.body = (end, end)
    return True


def _front_matter(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the lines between a leading `---` and the next one stand, with both."""
    if not text.startswith("---", start) or text[start + 3 : start + 4] not in ("\n", "\r", " "):
        return None
    close = re.compile(r"^(?:---|\.\.\.)[ \t\r]*$", re.MULTILINE).search(text, start + 4, end)
    if close is None:
        return None
    first = _skip_space(text, start + 3, close.start())
    return (start, close.end()) if _KEY_LINE.match(text, first) or first == close.start() else None


def _looks_like_yaml(text: str, start: int, end: int) -> bool:
    """True if the unindented lines at the top are keys, and none is a heading."""
    colon = text.find(":", start, start + 60)
    if colon > 0 and text[start:colon] in FIELDS:
        return True
    keys = 0
    end = min(end, start + _YAML_WINDOW)
    while start < end and keys < _ENOUGH_KEYS:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        # Lines that are blank, indented, items or comments say nothing here; keys and headings do.
        if start < stop and (text[start] not in " \t\r-#}]" or text.startswith(("## ", "### "), start)):
            if not _KEY_LINE.match(text, start, stop):
                return False
            keys += 1
        start = stop + 1
    return keys > 1


def _whole_yaml(
    found: FoundDocuments, text: str, start: int, end: int, matter: tuple[int, int] | None
) -> bool:
    try:
        nodes = read_yaml(text, start, end)
    except Refused as refused:
        begin = matter[1] if matter else start
        node = _repair(found, text, begin, end, refused)
        if node is None:
            return False
        nodes = [node]
        if matter:
            _read_front_matter(found, text, matter)
    mappings = [node for node in nodes if isinstance(node, Mapping)]
    if not any(is_handoff(node) or is_canonical(node) for node in mappings):
        return False
    for node in mappings:
        _take(found, "yaml", node)
    found.body = (end, end)
    return True


def _repair(found: FoundDocuments, text: str, start: int, end: int, reason: Refused) -> Node | None:
    """What a strict parser rejects, read line by line."""
    try:
        if isinstance(reason, TooMuch):
            raise reason
        node = read_lenient(text, start, end)
    except Refused:
        found.notes.append(f"not read as YAML: {reason}")
        return None
    if not is_handoff(node):
        return None
    found.notes.append(f"invalid YAML ({reason}) was read line by line")
    return node


def _read_front_matter(found: FoundDocuments, text: str, matter: tuple[int, int]) -> None:
    first = text.find("\n", matter[0], matter[1]) + 1
    last = text.rfind("\n", first, matter[1])
    try:
        nodes = read_yaml(text, first, max(first, last))
    except Refused as refused:
        nodes = _repair_matter(found, text, (first, max(first, last)), refused)
    for node in nodes:
        if isinstance(node, Mapping):
            _take(found, "yaml", node)
    found.body = (matter[1], found.body[1])


def _repair_matter(found: FoundDocuments, text: str, place: tuple[int, int], reason: Refused) -> list[Node]:
    try:
        if isinstance(reason, TooMuch):
            raise reason
        nodes = [read_lenient(text, *place)]
    except Refused:
        found.notes.append(f"front matter was not read: {reason}")
        return []
    found.notes.append(f"invalid front matter ({reason}) was read line by line")
    return nodes


def _read_fences(found: FoundDocuments, text: str, start: int, end: int) -> None:
    for opening in islice(_fences(text, start, end), _MAX_FENCES):
        kind = opening[2].casefold()
        first = opening.end() + 1
        close = text.find("\n" + opening[1][:3], opening.end(), end)
        if kind not in _DATA or close <= first or close - first > _LONGEST_FENCE:
            continue
        node = _fenced(found, text, kind, first, close)
        if node is not None:
            found.taken.add(first)
            _take(found, "json" if text[_skip_space(text, first, close)] in "{[" else "yaml", node)


def _fences(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The lines that begin with a fence."""
    for sign in ("```", "~~~"):
        if sign[0] not in text:
            continue
        at = text.find(sign, start, end)
        while at >= 0:
            lead = text[max(start, at - 4) : at].rstrip(" \t")
            opening = _FENCE.match(text, at, end) if not lead or lead[-1] == "\n" else None
            if opening:
                yield opening
            at = text.find(sign, opening.end() if opening else at + 3, end)


def _fenced(found: FoundDocuments, text: str, kind: str, start: int, end: int) -> Node | None:
    begin = _skip_space(text, start, end)
    try:
        if text[begin : begin + 1] in ("{", "["):
            node = read_json(text, begin, end)[0]
        elif kind in ("yaml", "yml") or _looks_like_yaml(text, begin, end):
            # The line end before the closing fence belongs to the document: a text may end with it.
            node = next(iter(read_yaml(text, start, end + 1)), None) or _nothing()
        else:
            return None
    except Refused as refused:
        return _repair(found, text, start, end, refused) if kind in ("yaml", "yml") else None
    announced = _HANDOFF.search(text, max(0, start - 200), start) is not None
    if is_handoff(node) or (is_canonical(node) and (announced or states_outcome(node))):
        return node
    return None


def _nothing() -> Node:
    return Mapping((), 0, 0)


def _read_under_heading(found: FoundDocuments, text: str, start: int, end: int) -> None:
    """YAML without a fence, in the lines under a heading that says `Handoff`."""
    if not _TELLING.search(text, start, end):
        return
    for heading in _HEADING.finditer(text, start, end):
        first = _skip_space(text, heading.end(), end)
        if not _HANDOFF.search(heading[0]) or not _looks_like_yaml(text, first, end):
            continue
        stop = re.compile(r"^(?:#{1,6}[ \t]|---[ \t\r]*$|```)", re.MULTILINE).search(text, first, end)
        last = stop.start() if stop else end
        try:
            nodes = read_yaml(text, first, last)
        except Refused as refused:
            node = _repair(found, text, first, last, refused)
            nodes = [node] if node is not None else []
        for node in nodes:
            if is_canonical(node) or is_handoff(node):
                found.bare.append((first, last))
                _take(found, "yaml", node)
                return


def _take(found: FoundDocuments, notation: str, node: Node) -> None:
    if isinstance(node, Mapping):
        found.documents.append(DataDocument(notation=notation, node=node))
