"""Keeps track of the headings above a block, and of what the text under them is about."""

from __future__ import annotations

from typing import Final, NamedTuple

from segue.domain.handoff import topics
from segue.domain.handoff.notations import Topic
from segue.domain.handoff.vocabulary import Reading

BOLD_LEVEL, LABEL_LEVEL, _TAG_LEVEL = 7, 8, 0
"""Where bold lines, labels and tags rank beside headings of level 1 to 6."""

STRONG: Final = frozenset(
    {
        topics.NEXT,
        topics.DONE,
        topics.DECISIONS,
        topics.QUESTIONS,
        topics.BLOCKERS,
        topics.GOTCHAS,
        topics.FAILED,
        topics.CONSTRAINTS,
    }
)
SOFT: Final = frozenset(
    {
        topics.CONTEXT,
        topics.ASIDE,
        topics.GOAL,
        topics.READING,
        topics.STATUS,
        topics.TASKS,
        topics.WHOLE,
        topics.PATTERNS,
    }
)
_FILES: Final = frozenset({topics.CREATED, topics.MODIFIED, topics.CHANGED})
_SOFT_WHEN_AHEAD: Final = SOFT | {
    topics.CHECKS,
    topics.CREATED,
    topics.CHANGED,
    topics.MODIFIED,
    topics.CONSTRAINTS,
}


class Scope(NamedTuple):
    """What the text under a heading is about, until a heading of the same rank."""

    level: int
    topic: Topic | None
    heading: str
    tag: bool = False
    weak: bool = False
    """From the title: holds only where no heading says anything."""


_new: Final = tuple.__new__
# A named tuple's own constructor is written in Python.
_OUTSIDE: Final = Scope(0, None, "")


class Scopes:
    """The headings that are open, outermost first."""

    def __init__(self) -> None:
        self._stack: list[Scope] = []
        self.topic: Topic | None = None
        """What the text here is about."""
        self.heading = ""
        """The nearest heading."""
        self.level = 0
        """The rank of the nearest heading."""

    def _moved(self) -> None:
        last = self._stack[-1] if self._stack else _OUTSIDE
        self.topic, self.heading, self.level = last.topic, last.heading, last.level

    def close(self, level: int) -> None:
        """Ends all scopes of this rank and below, up to the nearest tag."""
        while self._stack and self._stack[-1].level >= level and not self._stack[-1].tag:
            self._stack.pop()
        self._moved()

    def open(self, level: int, heading: str, reading: Reading | None, *, weak: bool = False) -> None:
        """Begins the scope of a heading; one that means nothing inherits the topic around it."""
        stack = self._stack
        while stack and stack[-1].level >= level and not stack[-1].tag:
            stack.pop()
        outer = stack[-1] if stack else _OUTSIDE
        if reading is None:
            topic, weak = outer.topic, outer.weak
        else:
            topic = settle(None if outer.weak else outer.topic, reading, own=level < BOLD_LEVEL)
        stack.append(_new(Scope, (level, topic, heading, False, weak)))
        self.topic, self.heading, self.level = topic, heading, level

    def push(self, topic: Topic, heading: str) -> None:
        """Begins the scope of a label in a list."""
        self._stack.append(Scope(LABEL_LEVEL, topic, heading))
        self._moved()

    def pop(self) -> None:
        """Ends the innermost scope."""
        self._stack.pop()
        self._moved()

    def open_tag(self, name: str, reading: Reading | None) -> None:
        """Begins the scope of a tag."""
        topic = self.topic if reading is None else settle(self.topic, reading)
        self._stack.append(Scope(_TAG_LEVEL, topic, name, tag=True))
        self._moved()

    def close_tag(self, name: str) -> None:
        """Ends the innermost scope of a tag with this name, and all inside it."""
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at].tag and self._stack[at].heading == name:
                del self._stack[at:]
                self._moved()
                return

    def inside_account(self) -> bool:
        """True for a labelled list inside an account of the work: it tells of both."""
        stack = self._stack
        return len(stack) > 1 and stack[-1].level >= BOLD_LEVEL and stack[-2].topic is topics.DONE


def settle(outer: Topic | None, reading: Reading, *, own: bool = False) -> Topic:
    """The topic under a heading inside another section: a part of it, unless it clearly is its own."""
    if (outer in STRONG or outer in _FILES) and not reading.strong and not reading.exact:
        return outer
    if own and reading.exact and reading.topic is topics.CONTEXT:
        return reading.topic
    if outer is topics.NEXT and (
        reading.topic in _SOFT_WHEN_AHEAD or (reading.topic is topics.DONE and not reading.exact)
    ):
        return outer
    if outer in STRONG and reading.topic in SOFT:
        return outer
    return reading.topic
