"""What was found so far: statements with their places, before they become a handoff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from segue.domain.handoff.notations import Topic
from segue.domain.handoff.vocabulary import says_nothing

TEXT_TOPICS = frozenset({Topic.GOAL, Topic.BRIEF})
"""Topics whose field is one text, not a list."""


class Span(NamedTuple):
    """The characters `[start, end)` of the source that a statement came from."""

    start: int
    end: int


class Piece(NamedTuple):
    """Some words and where they stand. A tuple, for there are many."""

    text: str
    start: int
    end: int


class Entry(NamedTuple):
    """One statement of a handoff."""

    topic: Topic
    """The field it belongs to."""
    whole: Piece
    """All of its words."""
    parts: tuple[tuple[str, Piece], ...] = ()
    """Its fields, if it has more than one: `rationale`, `mitigation`..."""


class Evidence(NamedTuple):
    """Words that say how the work ended."""

    text: str
    start: int
    end: int
    weight: int
    """How much they count: a `status` key more than a word in a title."""


@dataclass(slots=True)
class Draft:
    """Collects what one notation yields. Filled by one reader, then read."""

    entries: list[Entry] = field(default_factory=list)
    others: list[tuple[str, Piece]] = field(default_factory=list)
    """Heading and text of what maps to no field."""
    evidence: list[Evidence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    exact: bool = False
    """True if it comes from a document in the canonical schema: nothing in it is guessed."""

    def add(self, topic: Topic, whole: Piece, parts: Iterable[tuple[str, Piece]] = ()) -> None:
        """One more statement, unless it says nothing."""
        if whole.text and not says_nothing(whole.text):
            self.entries.append(Entry(topic, whole, tuple(parts)))

    def note(self, text: str) -> None:
        """Say once what was guessed or mended."""
        if text not in self.notes:
            self.notes.append(text)

    def of(self, topic: Topic) -> Iterator[Entry]:
        """The statements on one topic."""
        return (entry for entry in self.entries if entry.topic is topic)

    def by_topic(self) -> dict[Topic, list[Entry]]:
        """All statements, in order."""
        found: dict[Topic, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.topic, []).append(entry)
        return found

    def topics(self) -> set[Topic]:
        """All topics that have a statement."""
        return {entry.topic for entry in self.entries}


def cut(text: str, start: int, end: int) -> Piece:
    """The words of `text[start:end]` without the white space around them."""
    raw = text[start:end]
    words = raw.strip()
    if len(words) == len(raw):
        return Piece(raw, start, end)
    begin = start + len(raw) - len(raw.lstrip())
    return Piece(words, begin, begin + len(words))
