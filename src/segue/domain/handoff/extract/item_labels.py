"""Finds the label of an item in a list, and what it says the item is: `- **Done:** ...`, `- Next steps`."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.extract.heading_words import has_no_spaces
from segue.domain.handoff.extract.labels import Label, label_at
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.vocabulary import HeadingMeaning, is_done_word, read_label

_BOXED: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]")
_LONGEST_HEADLINE: Final = 32
_ONE_WORD: Final = frozenset(
    {"done", "todo", "todos", "next", "remaining", "pending", "completed", "risks", "blockers"}
)
"""`- Issues` and `- Queue` above a list are more often parts of a thing."""
_OPENS_NOTHING: Final = frozenset({Topic.CONTEXT, Topic.WHOLE, Topic.CHECKS})


def label_of_item(text: str, start: int, end: int, inner: int | None) -> tuple[Label, HeadingMeaning] | None:
    """The label of `text[start:end]`, if it says what the item is; a list in the item begins at `inner`."""
    label = label_at(text, start, end)
    reading = read_label(label.name) if label else None
    if label is None and inner is not None and (label := _headline(text, start, inner)):
        reading = _of_headline(label.name)
    if label is None:
        return None
    if reading is None and inner is not None:
        reading = _of_inner_list(text, label, inner)
    if reading is None or reading.topic in _OPENS_NOTHING:
        return None
    sure = reading.exact or (reading.strong and has_no_spaces(label.name))
    return (label, reading) if sure else None


def _headline(text: str, start: int, end: int) -> Label | None:
    """A label without a colon: the line of an item above a list of its own."""
    words = text[start:end].strip().strip("*_")
    if not words or "\n" in words or len(words) > _LONGEST_HEADLINE:
        return None
    return Label(words, start, end, False)


def _of_headline(words: str) -> HeadingMeaning | None:
    may_be_part = " " not in words and not has_no_spaces(words) and words.lower() not in _ONE_WORD
    return None if may_be_part else read_label(words)


def _of_inner_list(text: str, label: Label, inner: int) -> HeadingMeaning | None:
    """What a label says that is no heading, above a list: a status, or boxes that speak for themselves."""
    if text[label.value : inner].strip():
        return None
    if is_done_word(label.name):
        return HeadingMeaning(topic=Topic.DONE, exact=True, weight=1)
    return HeadingMeaning(topic=Topic.TASKS, exact=True, weight=1) if _BOXED.match(text, inner) else None
