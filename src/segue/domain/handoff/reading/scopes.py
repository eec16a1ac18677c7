"""Keeps track of the headings above a block, and of what the text under them is about."""

from __future__ import annotations

from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.vocabulary import Reading

BOLD_LEVEL: Final = 7
LABEL_LEVEL: Final = 8
_TAG_LEVEL: Final = 0
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
_SOFT_WHEN_AHEAD: Final = SOFT | {
    topics.CHECKS,
    topics.CREATED,
    topics.CHANGED,
    topics.MODIFIED,
    topics.CONSTRAINTS,
}


Scope = tuple[int, Topic | None, str, bool, bool]
"""What the text under a heading is about, until a heading of the same rank: the rank, the topic, the heading,
whether it is a tag, and whether it is weak: the title, which holds only where no heading says anything."""
_OUTSIDE: Final[Scope] = (0, None, "", False, False)


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
        self.level, self.topic, self.heading, _, _ = self._stack[-1] if self._stack else _OUTSIDE

    def close(self, level: int) -> None:
        """Ends all scopes of this rank and below, up to the nearest tag."""
        self._drop(level)
        self._moved()

    def _drop(self, level: int) -> Scope:
        stack = self._stack
        while stack:
            rank, _, _, tag, _ = stack[-1]
            if rank < level or tag:
                return stack[-1]
            stack.pop()
        return _OUTSIDE

    def open(self, level: int, heading: str, reading: Reading | None, *, weak: bool = False) -> None:
        """Begins the scope of a heading; one that means nothing inherits the topic around it."""
        _, topic, _, _, is_weak = self._drop(level)
        if reading is None:
            weak = is_weak
        else:
            topic = settle(None if is_weak else topic, reading, own=level < BOLD_LEVEL)
        self._stack.append((level, topic, heading, False, weak))
        self.topic, self.heading, self.level = topic, heading, level

    def push(self, topic: Topic, heading: str) -> None:
        """Begins the scope of a label in a list."""
        self._stack.append((LABEL_LEVEL, topic, heading, False, False))
        self._moved()

    def pop(self) -> None:
        """Ends the innermost scope."""
        self._stack.pop()
        self._moved()

    def open_tag(self, name: str, reading: Reading | None) -> None:
        """Begins the scope of a tag."""
        topic = self.topic if reading is None else settle(self.topic, reading)
        self._stack.append((_TAG_LEVEL, topic, name, True, False))
        self._moved()

    def close_tag(self, name: str) -> None:
        """Ends the innermost scope of a tag with this name, and all inside it."""
        for at in range(len(self._stack) - 1, -1, -1):
            _, _, heading, tag, _ = self._stack[at]
            if tag and heading == name:
                del self._stack[at:]
                self._moved()
                return

    def inside_account(self) -> bool:
        """True for a labelled list inside an account of the work: it tells of both."""
        stack = self._stack
        return len(stack) > 1 and stack[-1][0] >= BOLD_LEVEL and stack[-2][1] is topics.DONE


def settle(outer: Topic | None, reading: Reading, *, own: bool = False) -> Topic:
    """The topic under a heading inside another section: a part of it, unless it clearly is its own."""
    if (outer in STRONG or outer in topics.FILES) and not _is_sure(outer, reading):
        return outer
    if own and reading.exact and reading.topic is topics.CONTEXT:
        return reading.topic
    if outer is topics.NEXT and (
        reading.topic in _SOFT_WHEN_AHEAD
        or (reading.topic is topics.DONE and not (reading.exact or reading.ends))
    ):
        return outer
    if outer in STRONG and reading.topic in SOFT:
        return outer
    return reading.topic


def _is_sure(outer: Topic | None, reading: Reading) -> bool:
    """A heading that only begins with a phrase may be a name, in a section on work: `Questions page`."""
    if reading.exact or reading.strong:
        return True
    return reading.leads and outer is not topics.DONE and outer is not topics.NEXT
