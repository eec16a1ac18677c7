"""A case: something true or false that can be said of a world, before it is put into words."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TypeVar

_T = TypeVar("_T")

GROUPS = {
    "files": (
        "created", "modified", "deleted", "renamed", "untouched", "only", "no_others", "file_pair",
        "fixed_in", "listed_created", "listed_modified", "listed_deleted",
    ),
    "symbols": (
        "symbol_added", "symbol_removed", "symbol_changed", "symbol_renamed", "symbol_moved", "unused",
        "constant", "pair",
    ),
    "tests": ("test_added", "tests_count", "none_skipped", "tests_pass", "n_tests_pass"),
    "commands": ("exit", "ran"),
    "counts": ("files_count", "passed", "n_of_m", "lines"),
    "others": ("dep_added", "dep_bumped", "commit"),
    "awkward": (
        "awkward", "awkward files", "awkward symbols", "awkward tests", "awkward commands", "awkward counts",
        "awkward values", "awkward sets", "awkward other",
    ),
    "unknown": ("unknown",),
}  # fmt: skip
"""Group -> its kinds. The floors are about all groups but `others` and `unknown`."""
ACT = "the act"
"""Stands for the words that tell what was done, where these are the false part."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Something that can be said of a world."""

    kind: str
    truth: bool | None
    """None if no record can tell."""
    slots: dict[str, str | int | list[str]]
    variant: str = ""
    """What is wrong with it."""
    false: tuple[str, ...] = ()
    """The slots that hold the false part, or `ACT`: a phrasing needs all of them."""
    named: tuple[str, ...] = field(default=())
    """Slots of which one is enough to name the false part, if not `false`."""


def true_case(kind: str, /, **slots: str | int | list[str]) -> Case:
    """What is true of a world."""
    return Case(kind=kind, truth=True, slots=slots)


def false_case(
    kind: str, variant: str, false: str, named: str = "", /, **slots: str | int | list[str]
) -> Case:
    """What is false of it: `false` and `named` are slots, joined by a plus."""
    return Case(
        kind=kind,
        truth=False,
        slots=slots,
        variant=variant,
        false=tuple(false.split("+")),
        named=tuple(named.split("+")) if named else (),
    )


def some_of(rng: random.Random, of: list[_T], count: int = 1) -> list[_T]:
    """A few of them, in any order."""
    return rng.sample(of, k=min(count, len(of)))
