"""What a clause is: a relation, and the things that it is said of, each in its role."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from segue.domain.claims.lexicon import KIND_NOUNS
from segue.domain.claims.verbs import Relation
from segue.domain.text.words import word_set

APPOSITIONS = frozenset(KIND_NOUNS) | word_set(
    "flag option argument parameter field key script target endpoint route dependency package library "
    "column table job step property attribute entry env section block rule param arg switch import "
    "command file module prop header alias macro keyword files modules flags options arguments "
    "parameters fields keys dependencies folder directory branch default value limit timeout threshold "
    "version"
)
"""Nouns that only say what the thing with this name is: `the `--json` flag`."""


class Role(StrEnum):
    """What a thing is in its clause."""

    OBJECT = "object"
    PLACE = "place"
    TARGET = "target"
    SOURCE = "source"
    TOPIC = "topic"
    WITH = "with"
    SUB = "sub"
    """Part of a reason, a purpose or a side remark: nothing is asked of it."""


class ClauseItem(NamedTuple):
    """An entity or a number in a clause."""

    at: int
    """The token."""
    role: Role
    modifies: bool = False
    """True in "`mypy` flags": it only describes another thing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """One deed."""

    relation: Relation
    strong: bool
    """False for verbs such as fix and improve."""
    lemma: str
    verb: tuple[int, ...]
    """The tokens of the verb."""
    items: tuple[ClauseItem, ...]
    words: tuple[int, ...]
    """The other words of its object."""
    first: int
    last: int
    negated: bool = False
    foreign: bool = False
    """True if somebody or something else does it."""
    is_new: bool = False
    """True if it says `now`, `new` or `gained`: it is new."""

    def of(self, *roles: Role) -> list[ClauseItem]:
        """The items with one of these roles."""
        return [item for item in self.items if item.role in roles]
