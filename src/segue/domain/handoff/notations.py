"""The headings that agents use, and the field each one means: data, one line to add a heading."""

from __future__ import annotations

import unicodedata

HEADINGS: dict[str, str] = {
    "what was done": "what_was_done",
    "decisions made": "decisions_made",
    "open questions": "open_questions",
    "next agent context": "next_agent_context",
    "your task": "next_agent_context",
}
"""Heading words, lower case -> field of `Handoff`."""


def normalise(heading: str) -> str:
    """Letters and digits alone, in lower case: what headings are compared by."""
    return "".join(c for c in unicodedata.normalize("NFKC", heading).casefold() if c.isalnum())


_BY_KEY = {normalise(words): field for words, field in HEADINGS.items()}


def field_of(heading: str) -> str | None:
    """The handoff field that a heading means, or none."""
    return _BY_KEY.get(normalise(heading))
