"""The tree that YAML and JSON are read into: values with their places in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

MAX_DEPTH: Final = 30
MAX_VALUES: Final = 30_000
MAX_CHARS: Final = 1_000_000
"""No handoff comes near these; what does is refused, with a note."""


class Scalar(NamedTuple):
    """A text, a number, a word. `start` and `end` enclose its characters, without quotes."""

    text: str
    start: int
    end: int
    quoted: bool = False
    """Written so that it can only be a text: in quotes or as a block."""

    @property
    def is_null(self) -> bool:
        """True for what stands for no value."""
        return not self.quoted and self.text in ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values, in order."""

    pairs: tuple[tuple[Scalar, Node], ...]
    start: int
    end: int

    def __iter__(self) -> Iterator[tuple[Scalar, Node]]:
        return iter(self.pairs)

    def names(self) -> list[str]:
        """The keys as written."""
        return [key.text for key, _ in self.pairs]


Node = Scalar | Sequence | Mapping


class Refused(ValueError):
    """The text cannot be read as this notation; the message says why."""


class TooMuch(Refused):
    """It is more than a handoff can be: nothing to repair."""
