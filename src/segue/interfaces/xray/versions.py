"""The versions of a handoff: the statements of each, with their verdicts and what decides them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from segue.domain.handoff import Handoff, Span
from segue.interfaces.xray.evidence import EvidenceBlocks
from segue.interfaces.xray.model import FOUND, Mark, StatementXray, Version, Withdrawn
from segue.interfaces.xray.references import references_of, references_of_definition, references_of_file
from segue.interfaces.xray.text import shown, squeezed
from segue.interfaces.xray.words import cut_words, spans_in

_FIELDS = {name: at for at, name in enumerate(Handoff.model_fields)}
_CODE_FIELDS = ("files_created", "files_modified", "commands_run", "dependencies_for_next")
_SILENT = frozenset({"id"})
_NOT_COMPARED = "There was nothing to compare it with."
_UNJUDGED = "The ledger has no entry of its own for it."


@dataclass(frozen=True, kw_only=True, slots=True)
class Reviewed:
    """A handoff as it was reviewed, as it is stored or was just made."""

    label: str
    source: str
    """The text that it was read from."""
    ledger: Mapping[str, Any] | None
    """None if there was nothing to compare it with."""
    record: Mapping[str, Any] | None
    """Its fields; none if they were not kept, or nothing could be extracted."""
    spans: Mapping[str, Span]
    """Field -> where it is in the source."""
    note: str = ""


def versions_of(reviews: Sequence[Reviewed], blocks: EvidenceBlocks) -> tuple[Version, ...]:
    """The versions, the earliest first, each compared with the one before."""
    ids = _Ids()
    found: list[Version] = []
    for at, reviewed in enumerate(reviews):
        version = _version(reviewed, blocks, ids, is_last=at == len(reviews) - 1)
        found.append(_compared(version, found[-1]) if found else version)
    return tuple(found)


class _Ids:
    """Ids of statements: the same words in the same field have the same in every version."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], str] = {}
        self._seen: dict[tuple[str, str], int] = {}

    def begin(self) -> None:
        """A new version: what is said in it for the first time is the first of its kind."""
        self._seen.clear()

    def of(self, field: str, words: str) -> str:
        key = field.partition("[")[0], squeezed(words)
        self._seen[key] = self._seen.get(key, 0) + 1
        return self._known.setdefault((*key, self._seen[key]), f"s{len(self._known) + 1}")


def _version(reviewed: Reviewed, blocks: EvidenceBlocks, ids: _Ids, *, is_last: bool) -> Version:
    ids.begin()
    ledger = reviewed.ledger or {}
    entries = [*ledger.get("entries", ()), *ledger.get("others", ())]
    places = spans_in(reviewed.source, entries)
    spans: dict[str, Span] = {}
    said: list[StatementXray] = []
    for entry, place in zip(entries, places, strict=True):
        words = reviewed.source[place.start : place.end] if place else str(entry["text"]).replace("\\n", " ")
        statement = StatementXray(
            id=ids.of(entry["field"], words),
            mark=cast("Mark", entry["verdict"] or "none"),
            field=entry["field"],
            words=_one_line(words),
            detail=_detail(reviewed.record, entry["field"], entries),
            is_code=entry["field"].startswith(_CODE_FIELDS) and not _is_part(entry["field"]),
            reason=shown(entry["reason"]),
            unchecked=tuple(_one_line(each.replace("\\n", " ")) for each in entry.get("rest", ())),
            line=entry.get("line"),
            references=references_of(entry, blocks, is_last=is_last),
        )
        said.append(statement)
        if place is not None:
            spans[statement.id] = place
    for statement, span in _unjudged(reviewed, {entry["field"] for entry in entries}, ids):
        said.append(statement)
        if span is not None:
            spans[statement.id] = span
    said.sort(key=lambda each: _place_in_record(each.field))
    return Version(
        label=reviewed.label,
        words=cut_words(reviewed.source, spans),
        statements=(*said, *_found(ledger, blocks, ids)),
        withdrawn=(),
        is_compared=reviewed.ledger is not None,
        note=reviewed.note,
    )


def _compared(version: Version, before: Version) -> Version:
    """With what the repair did to each statement, and those that are not made any more."""
    earlier = {each.id: each for each in before.statements}
    statements = tuple(
        replace(each, change=_change(earlier.get(each.id), each, version.label))
        for each in version.statements
    )
    here = {each.id for each in statements}
    withdrawn = tuple(
        Withdrawn(field=each.field, words=each.words, mark=each.mark)
        for each in before.statements
        if each.id not in here and each.mark not in ("none", "unjudged", *FOUND)
    )
    return replace(version, statements=statements, withdrawn=withdrawn)


def _change(before: StatementXray | None, now: StatementXray, label: str) -> str:
    if now.mark == "unjudged":
        return ""
    if before is None:
        return f"new in {label.lower()}"
    return "" if before.mark in (now.mark, "none") else f"was {before.mark}"


def _found(ledger: Mapping[str, Any], blocks: EvidenceBlocks, ids: _Ids) -> Iterator[StatementXray]:
    """What Segue found and nobody said: tests that prove less, removed definitions, changed files."""
    for test in ledger.get("weakened", ()):
        name = test["test"] or test["path"].rpartition("/")[2]
        place = test["path"] + (f":{test['line']}" if test["line"] else "")
        references = references_of_file(test["path"], blocks, test["line"])
        yield _finding(ids, test["standing"], name, test["reason"], references, f"{test['way']}, {place}")
    for named in ledger.get("removed", ()):
        references = references_of_definition(named, blocks)
        reason = "It was removed, and the handoff names it nowhere."
        yield _finding(ids, "removed", named.replace("`", ""), reason, references)
    for path in ledger.get("unmentioned", ()):
        references = references_of_file(path, blocks)
        reason = "It changed, and the handoff names it nowhere."
        yield _finding(ids, "unmentioned", path, reason, references)


def _finding(
    ids: _Ids, mark: str, words: str, reason: str, references: tuple[Any, ...], detail: str = ""
) -> StatementXray:
    return StatementXray(
        id=ids.of(mark, words),
        mark=cast("Mark", mark),
        field="",
        words=_one_line(words),
        detail=shown(detail),
        is_code=True,
        reason=shown(reason),
        unchecked=(),
        line=None,
        references=references,
    )


def _unjudged(
    reviewed: Reviewed, judged: Iterable[str], ids: _Ids
) -> Iterator[tuple[StatementXray, Span | None]]:
    """Items of the record of which the ledger says nothing."""
    known = {field.partition(".")[0] for field in judged}
    for name, value in (reviewed.record or {}).items():
        many = isinstance(value, list | tuple)
        for at, item in enumerate(value if many else [value]):
            field = f"{name}[{at}]" if many else name
            if field in known or name not in _FIELDS or not (words := _headline(item)):
                continue
            reason = _NOT_COMPARED if reviewed.ledger is None else _UNJUDGED
            yield (
                StatementXray(
                    id=ids.of(field, words),
                    mark="unjudged",
                    field=field,
                    words=_one_line(words),
                    detail=_detail(reviewed.record, field, ()),
                    is_code=name in _CODE_FIELDS,
                    reason=reason,
                    unchecked=(),
                    line=None,
                    references=(),
                ),
                reviewed.spans.get(field),
            )


def _headline(item: Any) -> str:
    if isinstance(item, Mapping):
        if "text" in item:
            return str(item["text"])
        return next((str(value) for key, value in item.items() if key not in _SILENT and value), "")
    return str(item or "")


def _detail(record: Mapping[str, Any] | None, field: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """The parts of an item behind its headline, unless they are statements of their own."""
    name, _, at = field.rstrip("]").partition("[")
    items = (record or {}).get(name)
    if not at.isdecimal() or not isinstance(items, list | tuple) or int(at) >= len(items):
        return ""
    item = items[int(at)]
    if not isinstance(item, Mapping) or name == "other_sections":
        return ""
    own = {str(each["field"]) for each in entries}
    parts = [
        (key, value) for key, value in item.items() if key not in _SILENT and value not in (None, "", [])
    ]
    return _one_line(
        " · ".join(
            f"{key.replace('_', ' ')}: {_plain(value)}"
            for key, value in parts[1:]
            if f"{field}.{key}" not in own and value is not False
        )
    )


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _is_part(field: str) -> bool:
    return "." in field


def _place_in_record(field: str) -> tuple[int, int]:
    name, _, at = field.partition(".")[0].rstrip("]").partition("[")
    return _FIELDS.get(name, len(_FIELDS)), int(at) if at.isdecimal() else 0


def _one_line(text: str) -> str:
    return " ".join(shown(text).split())
