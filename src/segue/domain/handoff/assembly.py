"""Makes a handoff, with the place of each statement, out of drafts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from segue.domain.handoff.draft import TEXT_TOPICS, Draft, Entry, Piece, Span
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.notations import Topic
from segue.domain.handoff.outcome import decide, find_statement
from segue.domain.handoff.parts import HEADLINES

_FIELDS = (
    Topic.GOAL,
    Topic.CONSTRAINTS,
    Topic.DONE,
    Topic.DECISIONS,
    Topic.CREATED,
    Topic.MODIFIED,
    Topic.CHECKS,
    Topic.PATTERNS,
    Topic.GOTCHAS,
    Topic.FAILED,
    Topic.READING,
    Topic.QUESTIONS,
    Topic.NEXT,
    Topic.BLOCKERS,
    Topic.CONTEXT,
    Topic.BRIEF,
)
_TUPLES = frozenset({"applies_to", "depends_on", "blocking_tasks"})
_ONCE = frozenset({Topic.CREATED, Topic.MODIFIED, Topic.CHECKS})
"""Topics where the same words again are the same thing: a file is one file wherever it is named."""
_GAP = re.compile(r"[\s>|*+\u2022-]*(?:```\w*\s*)?(?:\d{1,9}[.)]\s*)?(?:\[[ xX]\]\s*)?")


_new = tuple.__new__
# A named tuple's own constructor is written in Python.


class Assembled(NamedTuple):
    """A record, where each of its statements stands, and what was noticed."""

    handoff: Handoff
    spans: dict[str, Span]
    notes: list[str]


def assemble(text: str, drafts: Sequence[Draft]) -> Assembled:
    """The record, from the most trusted draft to the least: each fills only what is still empty."""
    values: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    notes: list[str] = []
    exact = any(draft.exact for draft in drafts)
    by_topic: dict[Topic, list[Entry]] = {}
    for draft in drafts:
        own = draft.by_topic()
        by_topic |= {topic: entries for topic, entries in own.items() if topic not in by_topic}
    for topic in _FIELDS:
        entries = by_topic.get(topic)
        if not entries:
            continue
        if topic in TEXT_TOPICS:
            piece = _run(text, entries)
            values[topic.value] = piece.text
            spans[topic.value] = Span(piece.start, piece.end)
        else:
            kept = _first_of_each(entries) if topic in _ONCE and not exact else entries
            values[topic.value] = _items(topic, kept, spans)
            notes += _said_again(topic, kept)
    if not exact and Topic.CREATED.value in values and Topic.MODIFIED.value in values:
        _tell_apart(values, spans)
    outcome = decide(item for draft in drafts for item in draft.evidence)
    if outcome is None and not exact and (said := find_statement(text)):
        outcome = decide([said])
    if outcome is not None:
        values["outcome"] = outcome[0]
        spans["outcome"] = Span(outcome[1].start, outcome[1].end)
    values["other_sections"] = tuple(_sections(text, drafts, spans))
    return Assembled(Handoff.model_validate(values), spans, notes)


def _run(text: str, entries: Sequence[Entry]) -> Piece:
    """The first text, with what follows it directly."""
    first = last = entries[0].whole
    for entry in entries[1:]:
        gap = text[last.end : entry.whole.start]
        if entry.whole.start < last.end or len(gap) > 200 or not _GAP.fullmatch(gap):
            break
        last = entry.whole
    if last is first:
        return first
    return Piece(text[first.start : last.end], first.start, last.end)


def _headline(entry: Entry, name: str | None) -> Piece:
    if not entry.parts:
        return entry.whole
    return next((piece for part, piece in entry.parts if part == name), entry.whole)


def _first_of_each(entries: Sequence[Entry]) -> list[Entry]:
    seen: dict[str, Entry] = {}
    for entry in entries:
        seen.setdefault(_headline(entry, HEADLINES.get(entry.topic)).text, entry)
    return list(seen.values())


def _said_again(topic: Topic, entries: Sequence[Entry]) -> Iterator[str]:
    """The same statement twice is kept as written; the linter tells the writer."""
    if len(entries) > 1 and len({entry.whole.text for entry in entries}) < len(entries):
        yield f"{topic.value} says the same thing twice"


def _items(topic: Topic, entries: Sequence[Entry], spans: dict[str, Span]) -> tuple[Any, ...]:
    found: list[Any] = []
    name = HEADLINES.get(topic)
    field = topic.value
    for at, (_, whole, parts) in enumerate(entries):
        where = f"{field}[{at}]"
        spans[where] = span = _new(Span, whole[1:])
        if name is None:
            found.append(whole[0])
        elif not parts:
            spans[f"{where}.{name}"] = span
            found.append({name: whole[0]})
        else:
            headline = _headline(entries[at], name)
            spans[f"{where}.{name}"] = _new(Span, headline[1:])
            found.append({name: headline[0], **_parts(entries[at], name, where, spans)})
    return tuple(found)


def _parts(entry: Entry, name: str, where: str, spans: dict[str, Span]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for part, piece in entry.parts:
        if part == name:
            continue
        if part in _TUPLES:
            value[part] = (*value.get(part, ()), piece.text)
            continue
        if part == "exit_code":
            if not piece.text.lstrip("-").isdecimal():
                continue
            value[part] = int(piece.text[:12])
        elif part == "blocking":
            value[part] = piece.text.casefold() in ("true", "yes", "y", "1", "on")
        else:
            value[part] = piece.text
        if piece.start >= 0:
            spans[f"{where}.{part}"] = _new(Span, piece[1:])
    return value


def _tell_apart(values: dict[str, Any], spans: dict[str, Span]) -> None:
    """A file that was created is not modified as well."""
    created = {item["path"] for item in values["files_created"]}
    kept = [at for at, item in enumerate(values["files_modified"]) if item["path"] not in created]
    if len(kept) == len(values["files_modified"]):
        return
    old = {name: spans.pop(name) for name in list(spans) if name.startswith("files_modified[")}
    for new, at in enumerate(kept):
        for name, span in old.items():
            if name.startswith(f"files_modified[{at}]"):
                spans[f"files_modified[{new}]{name[len(f'files_modified[{at}]') :]}"] = span
    values["files_modified"] = tuple(values["files_modified"][at] for at in kept)


def _sections(text: str, drafts: Sequence[Draft], spans: dict[str, Span]) -> Iterator[dict[str, str]]:
    """What maps to no field, neighbours under one heading as one."""
    for at, (heading, piece) in enumerate(_joined(text, drafts)):
        where = f"other_sections[{at}]"
        spans[where] = spans[f"{where}.text"] = _new(Span, piece[1:])
        yield {"heading": heading, "text": piece.text}


def _joined(text: str, drafts: Sequence[Draft]) -> Iterator[tuple[str, Piece]]:
    for draft in drafts:
        for entry in draft.of(Topic.ASIDE):
            yield dict(entry.parts).get("heading", Piece("", 0, 0)).text, entry.whole
        run: list[tuple[str, Piece]] = []
        for heading, piece in draft.others:
            if run and not _follows(text, run[-1], heading, piece):
                yield _join(text, run)
                run = []
            run.append((heading, piece))
        if run:
            yield _join(text, run)


def _follows(text: str, last: tuple[str, Piece], heading: str, piece: Piece) -> bool:
    gap = piece.start - last[1].end
    return (
        last[0] == heading and 0 <= gap < 200 and _GAP.fullmatch(text, last[1].end, piece.start) is not None
    )


def _join(text: str, run: Sequence[tuple[str, Piece]]) -> tuple[str, Piece]:
    heading, first = run[0]
    if len(run) == 1:
        return heading, first
    end = run[-1][1].end
    return heading, Piece(text[first.start : end], first.start, end)
