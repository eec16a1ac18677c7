"""Which files are source code, and what a reader of a language gives: definitions with their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from segue.domain.evidence.model import DefinitionKind, LineRange

LARGEST_SOURCE = 1_000_000
"""Characters of a file that is still read for its definitions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A function, class, method, test, constant or type, as one state of a file has it."""

    kind: DefinitionKind
    """What it is."""
    name: str
    """Its own name; of a test with a title, the title."""
    qualified: str
    """With what it is in: `Cart.total`."""
    lines: LineRange
    """Where it is."""
    text: str
    """Its lines."""
    parameters: tuple[str, ...] = ()
    """The names of its parameters."""
    bare: str | None = None
    """Its text without comments, where the reader knows which these are."""
    tree: Any = field(default=None, compare=False, repr=False)
    """What the parser made of it, where two of them can be compared; it is large."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """How the files of a language are read."""

    read: Callable[[str], tuple[Definition, ...] | None]
    """Text of a file -> its definitions; none if it cannot be parsed."""
    code: Callable[[Definition], str]
    """What a definition does: its text without comments, documentation and layout."""
    is_same: Callable[[Definition, Definition], bool] | None = None
    """Whether two with trees do the same; faster than to compare their code."""
    by_words: bool = False
    """True if it looks at words alone, without a parser."""


Languages = Mapping[str, Language]
"""The ending of a file name, with its dot -> its language."""

_ENDINGS = """
py pyi pyw js jsx mjs cjs ts tsx mts cts go rs java kt kts scala groovy c h cc cpp cxx hh hpp cs fs swift m mm
rb php pl pm lua ex exs erl hs ml clj dart r jl sh bash zsh vue svelte zig nim sql ps1
"""
SOURCE_ENDINGS = frozenset(f".{each}" for each in _ENDINGS.split())
"""Endings of files that hold definitions."""


def ending_of(path: str) -> str:
    """The ending of a file name, in small letters: `.py`."""
    return PurePosixPath(path).suffix.lower()


def is_source(path: str) -> bool:
    """True if a file can hold definitions."""
    return ending_of(path) in SOURCE_ENDINGS
