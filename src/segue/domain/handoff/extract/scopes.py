"""Keeps track of the headings above a block, and of what the text under them is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from segue.domain.handoff.extract.topics import FILES, Topic
from segue.domain.handoff.extract.vocabulary import HeadingMeaning

BOLD_LEVEL: Final = 7
LABEL_LEVEL: Final = 8
_TAG_LEVEL: Final = 0
"""Where bold lines, labels and tags rank beside headings of level 1 to 6."""

STRONG: Final = frozenset(
    {Topic.NEXT, Topic.DONE, Topic.DECISIONS, Topic.QUESTIONS, Topic.BLOCKERS, Topic.GOTCHAS}
    | {Topic.FAILED, Topic.CONSTRAINTS}
)
SOFT: Final = frozenset(
    {Topic.CONTEXT, Topic.ASIDE, Topic.GOAL, Topic.READING, Topic.STATUS, Topic.TASKS, Topic.WHOLE}
    | {Topic.PATTERNS}
)
OPEN_SCOPES: Final = frozenset({Topic.STATUS, Topic.CONTEXT, Topic.TASKS, Topic.WHOLE, Topic.ASIDE, None})
"""Where a label or a lead-in may say what follows."""
SAID_BESIDE: Final = frozenset({Topic.ASIDE, Topic.STATUS, Topic.CONTEXT})
"""What a labelled line is about wherever it stands: `**Branch:** main` is no finished work."""
NO_SINGLE_WORD: Final = frozenset({Topic.GOTCHAS, Topic.BLOCKERS, Topic.QUESTIONS, Topic.FAILED})
"""`Risk: LOW` and `Blockers: 0` name none."""
CUT_IN_SENTENCES: Final = frozenset(
    {Topic.DECISIONS, Topic.NEXT, Topic.GOTCHAS, Topic.QUESTIONS, Topic.BLOCKERS, Topic.FAILED}
)
_SOFT_WHEN_AHEAD: Final = SOFT | FILES | {Topic.CHECKS, Topic.CONSTRAINTS}


_HEAD_NOUNS: Final = frozenset({Topic.DECISIONS, Topic.QUESTIONS, Topic.GOTCHAS, Topic.BLOCKERS})
"""What a heading is about that ends with its noun, whatever stands around it: `Key schema decisions`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What the text under a heading is about, until a heading of the same rank."""

    level: int = 0
    topic: Topic | None = None
    heading: str = ""
    unit: int = -1
    """The heading's unit."""
    is_tag: bool = False
    is_weak: bool = False
    """True for the title, which holds only where no heading says anything."""
    prior: Topic | None = None
    """What the mark before an unknown heading suggests for the items right below it."""


_OUTSIDE: Final = Scope()


class Scopes:
    """The headings that are open, outermost first."""

    def __init__(self) -> None:
        self._stack: list[Scope] = []

    @property
    def here(self) -> Scope:
        """The innermost scope."""
        return self._stack[-1] if self._stack else _OUTSIDE

    @property
    def topic(self) -> Topic | None:
        """What the text here is about."""
        return self.here.topic

    def path(self) -> tuple[int, ...]:
        """The units of the headings above, outermost first."""
        return tuple(scope.unit for scope in self._stack if scope.unit >= 0)

    def close(self, level: int) -> None:
        """Ends all scopes of this rank and below, up to the nearest tag."""
        while self._stack and self.here.level >= level and not self.here.is_tag:
            self._stack.pop()

    def open(
        self,
        level: int,
        heading: str,
        reading: HeadingMeaning | None,
        *,
        unit: int = -1,
        weak: bool = False,
        prior: Topic | None = None,
    ) -> None:
        """Begins the scope of a heading; one that means nothing inherits the topic around it."""
        self.close(level)
        outer = self.here
        topic, weak = outer.topic, outer.is_weak if reading is None else weak
        if reading is not None:
            own = level < BOLD_LEVEL or (level == LABEL_LEVEL and topic is Topic.DONE)
            topic = settle(None if outer.is_weak else topic, reading, own=own)
        self._stack.append(
            Scope(level=level, topic=topic, heading=heading, unit=unit, is_weak=weak, prior=prior)
        )

    def push(self, topic: Topic, heading: str, unit: int = -1) -> None:
        """Begins the scope of a label in a list."""
        self._stack.append(Scope(level=LABEL_LEVEL, topic=topic, heading=heading, unit=unit))

    def pop(self) -> None:
        """Ends the innermost scope."""
        self._stack.pop()

    def open_tag(self, name: str, reading: HeadingMeaning | None, unit: int = -1) -> None:
        """Begins the scope of a tag."""
        topic = self.topic if reading is None else settle(self.topic, reading)
        self._stack.append(Scope(level=_TAG_LEVEL, topic=topic, heading=name, unit=unit, is_tag=True))

    def close_tag(self, name: str) -> None:
        """Ends the innermost scope of a tag with this name, and all inside it."""
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at].is_tag and self._stack[at].heading == name:
                del self._stack[at:]
                return

    def tells_of_work(self, *, reply: bool) -> bool:
        """True where items that name files say what was done: in a reply, in a list inside an account."""
        stack = self._stack
        inside = len(stack) > 1 and stack[-1].level >= BOLD_LEVEL and stack[-2].topic is Topic.DONE
        return self.topic in FILES and (reply or inside)


def settle(outer: Topic | None, reading: HeadingMeaning, *, own: bool = False) -> Topic:
    """The topic under a heading inside another section: a part of it, unless it clearly is its own."""
    if (outer in STRONG or outer in FILES) and not _is_sure(outer, reading):
        return outer
    if outer is Topic.DONE and reading.exact and reading.topic is Topic.READING and "file" in reading.phrase:
        return Topic.CHANGED
    if outer is Topic.DECISIONS:
        own = False  # what was decided on: `Architecture`
    if own and reading.topic is Topic.CONTEXT and (reading.exact or (reading.strong and outer is Topic.NEXT)):
        return reading.topic
    if outer is Topic.NEXT and (
        reading.topic in _SOFT_WHEN_AHEAD
        or (reading.topic is Topic.DONE and not (reading.exact or reading.ends))
    ):
        return outer
    if outer in STRONG and reading.topic in SOFT:
        return outer
    return reading.topic


def _is_sure(outer: Topic | None, reading: HeadingMeaning) -> bool:
    """A heading that only begins with a phrase may be a name, in a section on work: `Questions page`."""
    if reading.exact or reading.strong or (reading.ends and reading.topic in _HEAD_NOUNS):
        return True
    return reading.leads and outer is not Topic.DONE and outer is not Topic.NEXT
