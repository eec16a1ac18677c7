"""Finds the label of an item in a list, and what it says the item is: `- **Done:** ...`, `- Next steps`."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.labels import Label, label_at
from segue.domain.handoff.reading.vocabulary import Reading, is_done_word, read_label

_BOXED: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]")
_LONGEST_HEADLINE: Final = 32
_OPENS_NOTHING: Final = frozenset({topics.CONTEXT, topics.WHOLE, topics.CHECKS})


def label_of_item(text: str, start: int, end: int, inner: int | None) -> tuple[Label, Reading] | None:
    """The label of `text[start:end]`, if it says what the item is; a list in the item begins at `inner`."""
    label = label_at(text, start, end)
    if label is None and inner is not None:
        label = _headline(text, start, inner)
    if label is None:
        return None
    reading = read_label(label.name)
    if reading is None and inner is not None:
        reading = _of_inner_list(text, label, inner)
    if reading is None or reading.topic in _OPENS_NOTHING:
        return None
    sure = reading.exact or (reading.strong and not label.name.isascii())
    return (label, reading) if sure else None


def _headline(text: str, start: int, end: int) -> Label | None:
    """A label without a colon: the line of an item above a list of its own."""
    words = text[start:end].strip()
    if not words or "\n" in words or len(words) > _LONGEST_HEADLINE:
        return None
    return Label(words.strip("*_"), start, end, False)


def _of_inner_list(text: str, label: Label, inner: int) -> Reading | None:
    """What a label says that is no heading, above a list: a status, or boxes that speak for themselves."""
    if is_done_word(label.name) and not text[label.value : inner].strip():
        return Reading(topic=topics.DONE, exact=True, weight=1)
    return Reading(topic=topics.TASKS, exact=True, weight=1) if _BOXED.match(text, inner) else None
