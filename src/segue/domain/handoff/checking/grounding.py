"""Keeps of a handoff only what stands in the source: for records that a model wrote."""

from __future__ import annotations

import re
from typing import Any

from segue.domain.handoff.model import Handoff, Part, Section

_WORD = re.compile(r"\w+")
_SHARE = 0.6
"""How many of a statement's words must stand in the source: models mend grammar, not facts."""


def keep_grounded(handoff: Handoff, source: str) -> Handoff:
    """The handoff without the statements whose words are not in `source`: models like to add some."""
    known = set(words_in(source))
    values: dict[str, Any] = {"outcome": handoff.outcome}
    for name in Handoff.model_fields:
        value = getattr(handoff, name)
        if isinstance(value, tuple):
            values[name] = tuple(item for item in value if _is_grounded(_headline(item), known))
        elif name != "outcome" and value and _is_grounded(value, known):
            values[name] = value
    return Handoff.model_validate(values)


def _headline(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Section):
        return item.text
    return str(getattr(item, item.headline)) if isinstance(item, Part) else ""


def _is_grounded(text: str, known: set[str]) -> bool:
    words = words_in(text)
    return bool(words) and sum(word in known for word in words) / len(words) >= _SHARE


def words_in(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.casefold() for word in _WORD.findall(text)]
