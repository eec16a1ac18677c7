"""What the rules share: where a text stands in a handoff, and the values that a field may hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from pydantic import BaseModel

from segue.domain.handoff.model import ChangeType, Handoff, Level, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleFinding:
    """A place where a rule is broken, in plain words."""

    field: str
    """`gotchas[1].severity`"""
    message: str
    """What is wrong."""
    hint: str
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A text of a handoff and where it stands."""

    field: str
    """`gotchas[1].issue`"""
    name: str
    """`issue`: the last name of the field."""
    text: str
    """What stands there."""


ENUMERATIONS: dict[str, tuple[str, ...]] = {
    "outcome": tuple(Outcome),
    "severity": tuple(Level),
    "priority": tuple(Level),
    "change_type": tuple(ChangeType),
}
"""Field -> its known values."""

_SYNONYMS: dict[str, dict[str, str]] = {
    "outcome": {
        "completed": "complete done finished success succeeded successful passed ok shipped",
        "partial": "partially partiallycompleted inprogress incomplete wip ongoing",
        "failed": "fail failure error errored aborted",
        "blocked": "blocking stuck waiting onhold",
    },
    "severity": {
        "high": "critical severe major blocker urgent",
        "medium": "med moderate normal",
        "low": "minor info trivial",
    },
    "priority": {
        "high": "critical urgent p0 p1 must",
        "medium": "med moderate normal p2 should",
        "low": "minor p3 p4 could",
    },
    "change_type": {
        "add": "added adding addition",
        "modify": "modified modification change changed update updated edit edited fix fixed",
        "delete": "deleted deletion remove removed",
        "refactor": "refactored refactoring rename renamed move moved",
    },
}

_NOT_LETTERS = re.compile(r"[\W_]+")


def _known_words(name: str) -> dict[str, str]:
    known = {word: value for value, words in _SYNONYMS[name].items() for word in words.split()}
    return known | {value: value for value in ENUMERATIONS[name]}


_KNOWN_WORDS = {name: _known_words(name) for name in ENUMERATIONS}


def fix_value(name: str, value: str) -> str | None:
    """The known value that `value` surely means in a field of this name, or none."""
    return _KNOWN_WORDS[name].get(_NOT_LETTERS.sub("", value.casefold()))


def outcome_of(handoff: Handoff) -> str | None:
    """The outcome that is meant, if it is a known one."""
    return fix_value("outcome", handoff.outcome) if handoff.outcome else None


def items_of(handoff: Handoff) -> Iterator[tuple[str, BaseModel]]:
    """Every item that has parts, with its place: `gotchas[1]`."""
    for name in type(handoff).model_fields:
        value = getattr(handoff, name)
        if isinstance(value, tuple):
            for at, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield f"{name}[{at}]", item


@lru_cache(maxsize=1)  # all rules look at one handoff, one after the other
def places_of(handoff: Handoff) -> tuple[TextPlace, ...]:
    """Every text of a handoff, in the record's order."""
    return tuple(_places("", "", handoff))


def _places(field: str, name: str, value: Any) -> Iterator[TextPlace]:
    if isinstance(value, str):
        yield TextPlace(field, name, value)
    elif isinstance(value, tuple):
        for at, each in enumerate(value):
            yield from _places(f"{field}[{at}]", name, each)
    elif isinstance(value, BaseModel):
        for part in _parts_of(type(value)):
            yield from _places(f"{field}.{part}" if field else part, part, getattr(value, part))


@cache
def _parts_of(kind: type[BaseModel]) -> tuple[str, ...]:
    return tuple(kind.model_fields)


def quoted(text: str, limit: int = 40) -> str:
    """`text` for a message: on one line and not too long."""
    flat = " ".join(text.split())
    return f'"{flat[: limit - 1]}…"' if len(flat) > limit else f'"{flat}"'
