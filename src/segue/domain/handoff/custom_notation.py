"""A notation that Segue does not know by itself: how it is read, and how agents are asked for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from segue.domain.handoff.checking.rules_values import places_of
from segue.domain.handoff.extract import extract_reply
from segue.domain.handoff.extract.result import Extraction, Notation
from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span

Extract = Callable[[str], Extraction]
"""Takes the handoff out of a reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomNotation:
    """A notation of your own."""

    read: Callable[[str], Handoff | None] | None = None
    """Tried before the built-in ones. None, or a `ValueError`, says that a reply is not in this notation."""
    request: str = ""
    """How agents are asked for it, word for word; if empty, they are asked for that of the settings."""

    def extract(self, text: str) -> Extraction:
        """The handoff in a reply, read by `read` if it can, else as every other reply."""
        try:
            handoff = self.read(text) if self.read is not None else None
        except ValueError:
            handoff = None
        if handoff is None:
            return extract_reply(text)
        return Extraction(handoff=handoff, notation=Notation.CUSTOM, spans=_find_spans(handoff, text))


def _find_spans(handoff: Handoff, source: str) -> dict[str, Span]:
    """Where the statements of the record stand, as far as it has them word for word."""
    spans: dict[str, Span] = {}
    for place in places_of(handoff):
        at = source.find(place.text) if place.field != "outcome" and place.text.strip() else -1
        if at >= 0:
            span = Span(at, at + len(place.text))
            spans[place.field] = span
            spans.setdefault(place.field.partition(".")[0], span)
    return spans
