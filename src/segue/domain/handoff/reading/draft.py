"""What was found so far: statements with their places, before they become a handoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.vocabulary import NOTHING_LONGEST, names_none, says_nothing

TEXT_TOPICS: Final = frozenset({Topic.GOAL, Topic.BRIEF})
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


Parts = Sequence[tuple[str, Piece]]
"""The fields of a statement that has more than one: `rationale`, `mitigation`..."""
Statement = tuple[str, int, int, Parts]
"""One statement of a handoff: its words, where they start and end, its parts. A bare tuple, for speed."""


class Evidence(NamedTuple):
    """Words that say how the work ended."""

    text: str
    start: int
    end: int
    weight: int
    """How much they count: a `status` key more than a word in a title."""


def says_something(topic: Topic, words: str) -> bool:
    """False for `None.`, and for `No known issues.` under Known issues."""
    if len(words) >= NOTHING_LONGEST:
        return True
    if says_nothing(words):
        return False
    return topic not in topics.MAY_BE_NONE or not names_none(words)


_new: Final = tuple.__new__
# A named tuple's own constructor is written in Python, and there are many of them.


@dataclass(slots=True)
class Draft:
    """Collects what one notation yields. Filled by one reader, then read."""

    statements: dict[Topic, list[Statement]] = field(default_factory=dict)
    """By topic, each in order; no list is empty."""
    others: list[tuple[str, Piece]] = field(default_factory=list)
    """Heading and text of what maps to no field."""
    evidence: list[Evidence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    exact: bool = False
    """True if it comes from a document in the canonical schema: nothing in it is guessed."""

    def add(self, topic: Topic, whole: Piece, parts: Parts = ()) -> None:
        """One more statement, unless it says nothing."""
        words, start, end = whole
        if words and says_something(topic, words):
            self.take(topic, (words, start, end, parts))

    def take(self, topic: Topic, statement: Statement) -> None:
        """One more statement, whatever it says."""
        if topic in self.statements:
            self.statements[topic].append(statement)
        else:
            self.statements[topic] = [statement]

    def note(self, text: str) -> None:
        """Say once what was guessed or mended."""
        if text not in self.notes:
            self.notes.append(text)

    def judge(self, words: str, start: int, end: int, weight: int) -> None:
        """Words that may say how the work ended."""
        self.evidence.append(_new(Evidence, (words, start, end, weight)))

    def of(self, topic: Topic) -> Sequence[Statement]:
        """The statements on one topic."""
        return self.statements.get(topic, ())


def trimmed(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The words of `text[start:end]` without the white space around them, and where they start and end."""
    raw = text[start:end]
    words = raw.strip()
    size = len(words)
    if size == len(raw):
        return raw, start, end
    # Most often there is only a line break at the end.
    begin = start if size and raw[0] == words[0] else start + len(raw) - len(raw.lstrip())
    return words, begin, begin + size


def cut(text: str, start: int, end: int) -> Piece:
    """The same as a piece."""
    return _new(Piece, trimmed(text, start, end))
