"""Makes a handoff, with the place of each statement, out of drafts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from segue.domain.handoff.model import Handoff
from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.conclusions import conclusion_of
from segue.domain.handoff.reading.draft import TEXT_TOPICS, Draft, Piece, Statement
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.outcome import decide
from segue.domain.handoff.reading.parts import HEADLINES
from segue.domain.handoff.reading.spans import TUPLES, Spans, is_exit_code

_FIELDS: Final = (
    topics.GOAL,
    topics.CONSTRAINTS,
    topics.DONE,
    topics.DECISIONS,
    topics.CREATED,
    topics.MODIFIED,
    topics.CHECKS,
    topics.PATTERNS,
    topics.GOTCHAS,
    topics.FAILED,
    topics.READING,
    topics.QUESTIONS,
    topics.NEXT,
    topics.BLOCKERS,
    topics.CONTEXT,
    topics.BRIEF,
)
_NAMES: Final = {topic: topic.value for topic in _FIELDS}
_ONCE: Final = frozenset({topics.CREATED, topics.MODIFIED, topics.CHECKS})
"""Topics where the same words again are the same thing: a file is one file wherever it is named."""
_GAP: Final = re.compile(r"[\s>|*+\u2022-]*(?:```\w*\s*)?(?:\d{1,9}[.)]\s*)?(?:\[[ xX]\]\s*)?")


_LONGEST_GAP: Final = 200


class Assembled(NamedTuple):
    """A record, where each of its statements stands, and what was noticed."""

    handoff: Handoff
    spans: Spans
    notes: list[str]


def assemble(text: str, drafts: Sequence[Draft]) -> Assembled:
    """The record, from the most trusted draft to the least: each fills only what is still empty."""
    exact = any(draft.exact for draft in drafts)
    chosen = _choose(text, drafts, exact=exact)
    values: dict[str, Any] = {}
    notes: list[str] = []
    for topic, statements in chosen.items():
        if topic in TEXT_TOPICS:
            values[_NAMES[topic]] = statements[0][0]
        else:
            values[_NAMES[topic]] = _items(HEADLINES.get(topic), statements)
            if _says_twice(statements):
                notes.append(f"{topic.value} says the same thing twice")
    outcome = decide(item for draft in drafts for item in draft.evidence)
    if outcome is None and not exact and (said := conclusion_of(text)):
        outcome = decide([said])
    if outcome is not None:
        values["outcome"] = outcome[0]
    others: list[tuple[str, Piece]] = []
    for draft in drafts:
        _join_others(others, text, draft)
    values["other_sections"] = tuple({"heading": heading, "text": piece[0]} for heading, piece in others)
    spans = Spans(chosen, outcome[1] if outcome else None, [piece for _, piece in others])
    return Assembled(Handoff.model_validate(values), spans, notes)


def _choose(text: str, drafts: Sequence[Draft], *, exact: bool) -> dict[Topic, Sequence[Statement]]:
    """The statements of each field, from the first draft that has some."""
    first: dict[Topic, list[Statement]] = {}
    for draft in reversed(drafts):
        first |= draft.statements
    chosen: dict[Topic, Sequence[Statement]] = {}
    for topic in _FIELDS:
        if topic not in first:
            continue
        found = first[topic]
        if topic in TEXT_TOPICS:
            chosen[topic] = [_run(text, found)]
        else:
            chosen[topic] = _first_of_each(topic, found) if topic in _ONCE and not exact else found
    if not exact and topics.CREATED in chosen and topics.MODIFIED in chosen:
        _tell_apart(chosen)
    return chosen


def _run(text: str, statements: Sequence[Statement]) -> Statement:
    """The first text, with what follows it directly."""
    words, first, last, _ = statements[0]
    reach = last
    for _, start, end, _ in statements[1:]:
        if start < reach or start - reach > _LONGEST_GAP or not _GAP.fullmatch(text, reach, start):
            break
        reach = end
    return (words if reach == last else text[first:reach], first, reach, ())


def _headline(statement: Statement, name: str | None) -> str:
    words, _, _, parts = statement
    return next((piece.text for part, piece in parts if part == name), words)


def _first_of_each(topic: Topic, statements: Sequence[Statement]) -> list[Statement]:
    seen: dict[str, Statement] = {}
    for statement in statements:
        seen.setdefault(_headline(statement, HEADLINES.get(topic)), statement)
    return list(seen.values())


def _says_twice(statements: Sequence[Statement]) -> bool:
    """The same statement twice is kept as written; the linter tells the writer."""
    return len(statements) > 1 and len({words for words, _, _, _ in statements}) < len(statements)


def _tell_apart(chosen: dict[Topic, Sequence[Statement]]) -> None:
    """A file that was created is not modified as well."""
    created = {_headline(statement, "path") for statement in chosen[topics.CREATED]}
    kept = [each for each in chosen[topics.MODIFIED] if _headline(each, "path") not in created]
    if len(kept) < len(chosen[topics.MODIFIED]):
        del chosen[topics.MODIFIED]
        chosen[topics.MODIFIED] = kept


def _items(name: str | None, statements: Sequence[Statement]) -> tuple[Any, ...]:
    """The values of a field: texts, or the parts of each item, of which `name` is the first."""
    if name is None:
        return tuple([words for words, _, _, _ in statements])
    return tuple(
        [_parts(name, statement) if statement[3] else {name: statement[0]} for statement in statements]
    )


def _parts(name: str, statement: Statement) -> dict[str, Any]:
    value: dict[str, Any] = {name: _headline(statement, name)}
    for part, piece in statement[3]:
        if part == name:
            continue
        if part in TUPLES:
            value[part] = (*value.get(part, ()), piece.text)
        elif part == "exit_code":
            if is_exit_code(piece.text):
                value[part] = int(piece.text[:12])
        elif part == "blocking":
            value[part] = piece.text.casefold() in ("true", "yes", "y", "1", "on")
        else:
            value[part] = piece.text
    return value


def _join_others(found: list[tuple[str, Piece]], text: str, draft: Draft) -> None:
    """What maps to no field, neighbours under one heading as one."""
    for words, start, end, parts in draft.of(topics.ASIDE):
        heading = next((piece.text for part, piece in reversed(parts) if part == "heading"), "")
        found.append((heading, Piece(words, start, end)))
    run: list[tuple[str, Piece]] = []
    for heading, piece in draft.others:
        if run and not _follows(text, run[-1], heading, piece):
            found.append(_join(text, run))
            run = []
        run.append((heading, piece))
    if run:
        found.append(_join(text, run))


def _follows(text: str, last: tuple[str, Piece], heading: str, piece: Piece) -> bool:
    begin, end = last[1].end, piece.start
    if last[0] != heading or not 0 <= end - begin < _LONGEST_GAP:
        return False
    return text[begin:end].isspace() or _GAP.fullmatch(text, begin, end) is not None


def _join(text: str, run: Sequence[tuple[str, Piece]]) -> tuple[str, Piece]:
    heading, first = run[0]
    if len(run) == 1:
        return heading, first
    end = run[-1][1].end
    return heading, Piece(text[first.start : end], first.start, end)
