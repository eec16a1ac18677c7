"""Joins statements into a record, in the order of the source, with the place of each one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from segue.domain.handoff.extract.item_parts import HEADLINES
from segue.domain.handoff.extract.ownership import Owner, Ownership
from segue.domain.handoff.extract.result import SourcePlace
from segue.domain.handoff.extract.statements import ExtractedStatement
from segue.domain.handoff.extract.topics import TEXTS, Topic
from segue.domain.handoff.extract.units import OutcomeWords, Outline
from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span, TextPiece

_FIELDS: Final = (
    *(Topic.GOAL, Topic.CONSTRAINTS, Topic.DONE, Topic.DECISIONS, Topic.CREATED, Topic.MODIFIED),
    *(Topic.CHECKS, Topic.PATTERNS, Topic.GOTCHAS, Topic.FAILED, Topic.READING, Topic.QUESTIONS),
    *(Topic.NEXT, Topic.BLOCKERS, Topic.CONTEXT, Topic.BRIEF),
)
_ONCE: Final = frozenset({Topic.CREATED, Topic.MODIFIED, Topic.CHECKS})
"""Topics where the same words again are the same thing: a file is one file wherever it is named."""
TUPLES: Final = frozenset({"applies_to", "depends_on", "blocking_tasks"})
"""Parts that are lists; their texts have no places of their own."""
_GAP: Final = re.compile(r"[\s>|*+\u2022-]*(?:```\w*\s*)?(?:\d{1,9}[.)]\s*)?(?:\[[ xX]\]\s*)?")
_LONGEST_GAP: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembled:
    """A record, where each of its statements stands, and who owns each unit of the source."""

    handoff: Handoff
    spans: dict[str, Span]
    places: dict[str, SourcePlace]
    owners: dict[int, Owner]
    left_over: tuple[Span, ...]
    guessed: frozenset[str]
    notes: list[str]


def assemble(
    outline: Outline,
    statements: Sequence[ExtractedStatement],
    outcome: tuple[str, OutcomeWords] | None = None,
) -> Assembled:
    """The record that the statements make."""
    fields = _by_field(outline.source, statements)
    values: dict[str, Any] = {}
    notes: list[str] = []
    for topic, items in fields.items():
        if topic in TEXTS:
            values[topic.value] = items[0].text
        elif topic is not Topic.ASIDE:
            values[topic.value] = tuple(_value(HEADLINES.get(topic), item) for item in items)
            if len({item.text for item in items}) < len(items):
                notes.append(f"{topic.value} says the same thing twice")
    if outcome is not None:
        values["outcome"] = outcome[0]
    ownership = Ownership(outline, fields, outcome)
    values["other_sections"] = tuple(
        {"heading": section.heading, "text": section.text} for section in ownership.sections
    )
    spans = dict(_spans(fields))
    if outcome is not None:
        spans["outcome"] = Span(outcome[1].start, outcome[1].end)
    for at, section in enumerate(ownership.sections):
        spans[f"other_sections[{at}]"] = spans[f"other_sections[{at}].text"] = section.span
    return Assembled(
        handoff=Handoff.model_validate(values),
        spans=spans,
        places=ownership.places,
        owners=ownership.owners,
        left_over=tuple(section.span for section in ownership.sections),
        guessed=frozenset(name for name, item in named(fields) if item.guessed),
        notes=[*notes, *ownership.notes],
    )


def named(fields: dict[Topic, list[ExtractedStatement]]) -> Iterator[tuple[str, ExtractedStatement]]:
    """Every item of the record, by its name."""
    for topic, items in fields.items():
        if topic is Topic.ASIDE:
            continue
        for at, item in enumerate(items):
            yield topic.value if topic in TEXTS else f"{topic.value}[{at}]", item


def _by_field(source: str, statements: Sequence[ExtractedStatement]) -> dict[Topic, list[ExtractedStatement]]:
    """The statements of each field, in the order of the source; what has no field is an aside."""
    found: dict[Topic, list[ExtractedStatement]] = {topic: [] for topic in (*_FIELDS, Topic.ASIDE)}
    for statement in statements:
        found[_field_of(statement)].append(statement)
    for topic in TEXTS:
        chosen, rest = _one_text(source, found[topic])
        found[topic] = chosen
        found[Topic.ASIDE] += [replace(each, topic=Topic.ASIDE) for each in rest]
    for topic in _ONCE:
        found[topic] = _first_of_each(topic, found[topic])
    _tell_apart(found)
    return {topic: items for topic, items in found.items() if items}


def _field_of(statement: ExtractedStatement) -> Topic:
    if statement.topic is Topic.TASKS:
        return Topic.NEXT
    if statement.topic is Topic.CHANGED:
        return Topic.MODIFIED
    return statement.topic if statement.topic in _FIELDS else Topic.ASIDE


def _trust(statement: ExtractedStatement) -> int:
    return 0 if statement.exact else 1 if statement.is_data else 2


def _one_text(
    source: str, statements: list[ExtractedStatement]
) -> tuple[list[ExtractedStatement], list[ExtractedStatement]]:
    """The first text of the most trusted notation, with what follows it directly; and the others."""
    if not statements:
        return [], []
    first = min(statements, key=_trust)
    rest = [each for each in statements if each is not first]
    reach = first.span.end
    units = [first.unit]
    for each in list(rest):
        start, end = each.span
        if start < reach or first.exact:
            continue
        if start - reach > _LONGEST_GAP or not _GAP.fullmatch(source, reach, start):
            break
        reach = end
        units.append(each.unit)
        rest.remove(each)
    if reach > first.span.end:
        span = Span(first.span.start, reach)
        first = replace(first, span=span, text=source[span.start : span.end], more_units=tuple(units[1:]))
    return [first], rest


def headline_of(statement: ExtractedStatement) -> str:
    """The words that an item is called by."""
    name = HEADLINES.get(_field_of(statement))
    return next((piece.text for part, piece in statement.parts if part == name), statement.text)


def _first_of_each(topic: Topic, statements: list[ExtractedStatement]) -> list[ExtractedStatement]:
    """Each file or command once; a second description is kept as an extra."""
    seen: dict[str, ExtractedStatement] = {}
    for at, statement in enumerate(statements):
        key = str(at) if statement.exact else headline_of(statement)
        first = seen.get(key)
        seen[key] = statement if first is None else _with(first, topic, statement)
    return list(seen.values())


def _with(first: ExtractedStatement, topic: Topic, again: ExtractedStatement) -> ExtractedStatement:
    name = HEADLINES[topic]
    known = {piece.text for _, piece in (*first.parts, *first.extras)}
    more = [("", piece) for part, piece in again.parts if part != name and piece.text not in known]
    return replace(
        first,
        extras=(*first.extras, *more, *again.extras),
        more_units=(*first.more_units, again.unit, *again.more_units),
    )


def _tell_apart(found: dict[Topic, list[ExtractedStatement]]) -> None:
    """A file that was created is not modified as well."""
    created = {headline_of(each): at for at, each in enumerate(found[Topic.CREATED]) if not each.exact}
    kept: list[ExtractedStatement] = []
    for each in found[Topic.MODIFIED]:
        at = None if each.exact else created.get(headline_of(each))
        if at is None:
            kept.append(each)
        else:
            found[Topic.CREATED][at] = _with(found[Topic.CREATED][at], Topic.MODIFIED, each)
    found[Topic.MODIFIED] = kept


def _value(name: str | None, statement: ExtractedStatement) -> Any:
    """A text, or the parts of an item, of which `name` is the first."""
    if name is None:
        return statement.text
    value: dict[str, Any] = {name: headline_of(statement)}
    for part, piece in statement.parts:
        if part == name:
            continue
        if part in TUPLES:
            value[part] = (*value.get(part, ()), piece.text)
        elif part == "exit_code":
            if _is_exit_code(piece.text):
                value[part] = int(piece.text[:12])
        elif part == "blocking":
            value[part] = piece.text.casefold() in ("true", "yes", "y", "1", "on")
        else:
            value[part] = piece.text
    return value


def _is_exit_code(words: str) -> bool:
    return words.removeprefix("-").isdecimal()


def _spans(fields: dict[Topic, list[ExtractedStatement]]) -> Iterator[tuple[str, Span]]:
    for name, item in named(fields):
        yield name, item.span
        headline = HEADLINES.get(_field_of(item))
        if headline is None:
            continue
        own = next((_span(piece) for part, piece in item.parts if part == headline), item.span)
        yield f"{name}.{headline}", own
        for part, piece in item.parts:
            if part != headline and piece.start >= 0 and _has_place(part, piece):
                yield f"{name}.{part}", _span(piece)


def _has_place(part: str, piece: TextPiece) -> bool:
    return part not in TUPLES and (part != "exit_code" or _is_exit_code(piece.text))


def _span(piece: TextPiece) -> Span:
    return Span(piece.start, piece.end)
