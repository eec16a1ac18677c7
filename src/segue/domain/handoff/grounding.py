"""Keeps of a handoff only what stands in the source: for records that a model wrote."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from segue.domain.handoff.model import Handoff

ModelExtractor = Callable[[str], Handoff | None]
"""What a caller may pass in to read a text that no notation fits: asks a model, gives its record."""

_WORD = re.compile(r"\w+")
_SHARE = 0.8
"""How many of a statement's words must stand in the source: models mend grammar, not facts."""


def keep_grounded(handoff: Handoff, source: str) -> Handoff:
    """The same record without the statements whose words are not in `source`."""
    known = set(_WORD.findall(source.casefold()))
    kept: dict[str, Any] = {}
    for name in Handoff.model_fields:
        value = getattr(handoff, name)
        if isinstance(value, tuple):
            kept[name] = tuple(item for item in value if _is_grounded(item, known))
        elif name == "outcome" or value is None or _is_grounded(value, known):
            kept[name] = value
    return Handoff.model_validate(kept)


def _is_grounded(item: str | BaseModel, known: set[str]) -> bool:
    texts = [item] if isinstance(item, str) else _texts(item)
    words = [word for text in texts for word in _WORD.findall(text.casefold())]
    return bool(words) and sum(word in known for word in words) >= _SHARE * len(words)


def _texts(item: BaseModel) -> list[str]:
    return [
        v
        for k, v in item.model_dump().items()
        if isinstance(v, str) and k not in ("id", "severity", "priority")
    ]
