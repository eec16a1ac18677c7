"""Every statement of a text and of a record, with its place and with what it inherits from around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from segue.domain.claims.gate import heading_reason
from segue.domain.claims.headings import FILE_NOUNS, announced
from segue.domain.claims.ledger import Statement
from segue.domain.claims.record_statements import record_statements
from segue.domain.claims.verbs import Relation
from segue.domain.handoff.extract.result import Extraction, Notation
from segue.domain.handoff.model import Handoff
from segue.domain.text.sentences import sentences_in
from segue.domain.text.span import Span
from segue.domain.text.words import OPEN_WORDS, word_set

MOST_STATEMENTS = 5000
"""What a longer text says beyond these is not looked at."""
_LONGEST = 1200
"""A longer sentence is not looked at."""
_ITEM = re.compile(
    r"(\s*)(?:(?:[-*+\u2022\u2013]|\d{1,3}[.)])\s+){1,3}(?:\[(?P<box>[ xX\u2713\u2714~-])\]\s*)?"
)
_TAG = re.compile(r"</?\w{1,20}>")
_RESTART = re.compile(
    r"([\w.-]{1,40})[`)\]'\"]{0,2}[.!](\s)\s*(?=[`*]{0,3}(?:[\w.-]{1,80}/[\w.]|[\w-]{1,80}\.\w{1,5}\b|`)"
    r"|(?:flake8|ruff|mypy|eslint|pyright|tsc|lint|pytest|npm)\b)"
)
_NO_ENDS = word_set("e.g i.e etc vs cf approx incl no z.b d.h bzw ca")
_STRUCTURED = frozenset({Notation.YAML, Notation.JSON, Notation.CUSTOM})
_FIELD_RELATIONS = {"files_created": Relation.CREATED, "files_modified": Relation.CHANGED}
_FIELD_GATES = {
    "suggested_next_steps": "it is a next step",
    "open_questions": "it is a question",
    "blockers": "it is a blocker",
    "failed_approaches": "it tells of an attempt",
    "goal": "it is the goal",
    "constraints": "it is a directive of the user",
    "gotchas": "it is a warning",
    "dependencies_for_next": "it names what to read",
    "patterns_discovered": "it describes a pattern",
}


@dataclass(slots=True)
class _Context:
    """What the lines above say of those below."""

    heading: str = ""
    reason: str | None = None
    relation: Relation | None = None
    is_list: bool = False
    label: str = ""
    label_reason: str | None = None
    label_relation: Relation | None = None
    label_is_list: bool = False
    parents: list[tuple[int, str]] = field(default_factory=list)
    header: list[str] = field(default_factory=list)


def statements_of(record: Extraction | Handoff | None, source: str) -> list[Statement]:
    """The statements of a text, then those of the record that the text does not show."""
    handoff = record.handoff if isinstance(record, Extraction) else record
    spans: Mapping[str, Span] = record.spans if isinstance(record, Extraction) else {}
    is_structured = isinstance(record, Extraction) and record.notation in _STRUCTURED
    fields = _Fields(spans)
    found: list[Statement] = []
    if source and (isinstance(record, Extraction) or record is None):
        for statement in walk(source):
            assert statement.span is not None
            name = fields.at(statement.span)
            if name == "outcome" or (is_structured and name):
                continue
            found.append(_in_field(statement, name))
            if len(found) >= MOST_STATEMENTS:
                break
    covered = _Reach(
        [*(s.span for s in found if s.span is not None), *(() if is_structured else _fences(source))]
    )
    for statement in record_statements(handoff or Handoff(), spans, source):
        if len(found) >= MOST_STATEMENTS:
            break
        if statement.is_outcome or statement.span is None or not covered.touches(statement.span):
            found += _split(statement, source)
    return (
        sorted(found, key=lambda s: s.span or (-1 if s.is_outcome else len(source), 0)) if source else found
    )


def _split(statement: Statement, source: str) -> Iterator[Statement]:
    """The sentences of a text field; typed entries are one statement each."""
    if (
        statement.path is not None
        or statement.is_outcome
        or statement.exit_code is not None
        or statement.not_claim
    ):
        yield statement
        return
    if statement.command is not None and statement.text == statement.command:
        yield statement
        return
    offset = statement.span.start if statement.span else 0
    is_exact = (
        statement.span is not None and source[statement.span.start : statement.span.end] == statement.text
    )
    for each in walk(statement.text, statement.heading):
        assert each.span is not None
        span = Span(each.span.start + offset, each.span.end + offset) if is_exact else statement.span
        yield replace(
            each, field=statement.field, span=span, command=statement.command,
            places=statement.places or each.places, not_claim=each.not_claim,
        )  # fmt: skip


def _in_field(statement: Statement, name: str) -> Statement:
    """A statement of the text with what the field that took it up says of it."""
    top = name.partition("[")[0].partition(".")[0]
    relation, is_list = statement.relation, statement.is_list
    if relation is None and top in _FIELD_RELATIONS:
        relation, is_list = _FIELD_RELATIONS[top], True
    reason = statement.not_claim or _FIELD_GATES.get(top)
    return replace(statement, field=name, relation=relation, is_list=is_list, not_claim=reason)


class _Fields:
    """Which field of the record took up which part of the text."""

    def __init__(self, spans: Mapping[str, Span]) -> None:
        self._spans = sorted((span.start, span.end, name) for name, span in spans.items())
        self._starts = [start for start, _, _ in self._spans]

    def at(self, span: Span) -> str:
        """The field that holds most of a statement; empty if none does."""
        last = bisect_right(self._starts, span.end - 1)
        near = self._spans[max(0, last - 12) : last]
        shared = [
            (min(end, span.end) - max(start, span.start), name.startswith("what_was_done"), name)
            for start, end, name in near
            if start < span.end and end > span.start
        ]
        return max(shared)[2].partition(".")[0] if shared else ""


class _Reach:
    """Parts of a text that statements already stand for."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans = sorted(spans)
        self._starts = [span.start for span in self._spans]

    def touches(self, span: Span) -> bool:
        """True if a statement overlaps this part."""
        at = bisect_right(self._starts, span.end - 1) - 1
        return at >= 0 and self._spans[at].end > span.start


def _fences(text: str) -> Iterator[Span]:
    """The parts of a text that are code, not data: what a program printed, or somebody else wrote."""
    fence, begin, is_data = "", 0, False
    for first, last in _lines(text):
        bare = text[first : min(last, first + 200)].strip()
        if bare.startswith(("```", "~~~")):
            after = _after_mark(fence, bare)
            if fence and not after and not is_data:
                yield Span(begin, last)
            is_data = is_data if fence else bare.strip("`~ ").lower() in ("yaml", "yml", "json")
            begin = begin if fence else first
            fence = after


def walk(text: str, heading: str = "") -> Iterator[Statement]:
    """The statements of a text, line by line: sentences, items, rows; no code."""
    relation, is_list = announced(heading)
    context = _Context(heading=heading, reason=heading_reason(heading), relation=relation, is_list=is_list)
    fence = ""
    block: tuple[int, int] | None = None
    for first, last in _lines(text):
        bare = text[first : min(last, first + 400)].strip()
        if fence or bare.startswith(("```", "~~~")):
            if block:
                yield from _paragraph(text, block, context)
                block = None
            fence = _after_mark(fence, bare) if bare.startswith(("```", "~~~")) else fence
            continue
        kind = _kind_of(text[first : min(last, first + 2000)], bare)
        if kind == "text" and block is not None:
            block = (block[0], last)
            continue
        if block is not None:
            yield from _paragraph(text, block, context)
            block = None
        if kind in ("text", "item"):
            block = (first, last)
        else:
            yield from _other_line(text, first, last, kind, context)
    if block is not None:
        yield from _paragraph(text, block, context)


def _kind_of(line: str, bare: str) -> str:  # noqa: PLR0911 (one way out for each finding)
    if not bare:
        return "blank"
    if bare[0] == "#" and bare.lstrip("#")[:1] in (" ", ""):
        return "heading"
    if bare[0] == ">":
        return "quote"
    if bare[0] == "|":
        return "row"
    if _ITEM.match(line):
        return "item"
    if _is_label(bare) or (bare[0] == "<" and bare[-1] == ">" and len(bare) < 90):
        return "label"
    return "text"


def _is_label(bare: str) -> bool:
    """True for a short line that announces what follows: `Next:`, `**Open points**`."""
    inner = bare.strip("*_ ")
    return len(bare) < 70 and (
        bare.rstrip("*_ ").endswith(":") or (bare[:2] == "**" and bare[-2:] == "**" and "**" not in inner)
    )


def _other_line(text: str, first: int, last: int, kind: str, context: _Context) -> Iterator[Statement]:
    line = text[first:last].strip()
    if kind == "heading":
        relation, is_list = announced(line)
        reason = None if relation is Relation.UNTOUCHED else heading_reason(line)
        context.__init__(heading=line, reason=reason, relation=relation, is_list=is_list)  # type: ignore[misc]
    elif kind == "label":
        _announce(context, _TAG.sub("", line).strip("<>*_ :") or line.strip("<>*_ :"))
    elif kind == "blank":
        context.header = []
    elif kind == "quote":
        words = line.lstrip("> ")
        if words:
            at = text.find(words, first, last)
            yield Statement(text=words, span=Span(at, at + len(words)), not_claim="it is a quotation")
    elif kind == "row":
        yield from _row(text, first, last, context)


def _announce(context: _Context, label: str) -> None:
    context.label = label
    context.label_relation, context.label_is_list = announced(label)
    is_kept = context.label_relation is Relation.UNTOUCHED
    context.label_reason = None if is_kept else heading_reason(label)
    context.parents = []


def _paragraph(text: str, block: tuple[int, int], context: _Context) -> Iterator[Statement]:
    """The sentences of a paragraph or an item."""
    start, end = block
    item = _ITEM.match(text, start, end)
    reason = context.label_reason or context.reason
    titles = (context.heading, context.label)
    places = tuple(title for title in titles if "." in title or "/" in title)
    if item:
        start = item.end()
        depth = len(item[1].expandtabs(4))
        while context.parents and context.parents[-1][0] >= depth:
            context.parents.pop()
        places += tuple(words for _, words in context.parents)
        head = text[start : min(end, start + 300)]
        if item["box"] == " ":
            reason = reason or "it is not ticked"
        context.parents.append((depth, head))
        if heading_reason(head.rstrip(" :*")) and head.rstrip(" *").endswith(":"):
            reason = reason or heading_reason(head)
    relation = context.label_relation or context.relation
    is_list = context.label_is_list or (context.label_relation is None and context.is_list)
    for first, last in _sentences(text, start, end):
        span = _trimmed(text, first, last)
        words = text[span.start : span.end]
        listed = bool(item) or (first == start and not words.strip("`").count(" "))
        if 0 < len(words) <= _LONGEST:
            struck = "it is struck out" if "~~" in words else None
            yield Statement(
                text=words,
                span=span,
                relation=relation if listed else None,
                is_list=listed and is_list,
                places=places,
                follows=first > start,
                not_claim=reason or struck,
            )


def _trimmed(text: str, first: int, last: int) -> Span:
    """A sentence without the marks before it; a bold word keeps its own."""
    words = text[first:last]
    lead = len(words) - len(words.lstrip(" \t\r\n*>\u2705\u2714\ufe0f\u2713"))
    if words.lstrip().startswith("**") and "**" in words[lead:]:
        lead = len(words) - len(words.lstrip())
    start = first + lead
    return Span(start, start + len(text[start:last].rstrip()))


def _row(text: str, first: int, last: int, context: _Context) -> Iterator[Statement]:
    """A row of a table; the first row names the columns."""
    line = text[first:last]
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if all(not cell.strip(":- ") for cell in cells):
        return
    if not context.header and _is_header(text, last):
        context.header = [cell.lower() for cell in cells]
        return
    inner = line.strip().strip("|").strip()
    if not inner or len(inner) > _LONGEST:
        return
    at = text.find(inner, first, last)
    is_files = any(word in FILE_NOUNS or word == "path" for cell in context.header for word in cell.split())
    relation = context.label_relation or context.relation
    reason = context.label_reason or context.reason
    if any(cell.strip("*_` ").lower() in OPEN_WORDS for cell in cells):
        reason = reason or "its status is open"
    yield Statement(
        text=inner,
        span=Span(at, at + len(inner)),
        relation=relation or (Relation.CHANGED if is_files else None),
        is_list=is_files,
        not_claim=reason,
        header=tuple(context.header) if len(context.header) == len(cells) else (),
    )


def _is_header(text: str, last: int) -> bool:
    """True if a row of dashes follows."""
    following = text[last + 1 : last + 400].partition("\n")[0].strip()
    return following.startswith("|") and not following.strip("|:- ")


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences; a path or a tool may begin one with a small letter."""
    for first, last in sentences_in(text, start, end):
        begin = first
        for stop in _RESTART.finditer(text, first, last):
            if stop[1].casefold() not in _NO_ENDS:
                yield begin, stop.start(2)
                begin = stop.end()
        yield begin, last


def _after_mark(fence: str, bare: str) -> str:
    if not fence:
        return bare[: len(bare) - len(bare.lstrip(bare[0]))]
    return "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        yield start, stop
        start = stop + 1
