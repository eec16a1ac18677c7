"""What a token is: a word, a sign, or an entity of a statement."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    SIGN = "sign"
    PATH = "path"
    NAME = "name"
    """An identifier, a flag, a key: what code calls something."""
    SNIPPET = "snippet"
    """Other text in code marks."""
    QUOTE = "quote"
    COMMAND = "command"
    NUMBER = "number"
    VERSION = "version"
    COMMIT = "commit"
    RANGE = "range"


ENTITIES = frozenset(
    {Kind.PATH, Kind.NAME, Kind.SNIPPET, Kind.QUOTE, Kind.COMMAND, Kind.VERSION, Kind.COMMIT}
)


class Token(NamedTuple):
    """A word, a sign or an entity, and where it is in its statement."""

    kind: Kind
    text: str
    start: int
    end: int
    certain: bool = False
    """Whether it can hardly be anything else: only then may it refute."""
    is_code: bool = False
    value: int | None = None
    """The number; the first line of a range."""
    total: int | None = None
    """The second number of `12/14`; the last line of a range."""

    @property
    def low(self) -> str:
        """In lower case."""
        return self.text.lower().replace("\u2019", "'")
