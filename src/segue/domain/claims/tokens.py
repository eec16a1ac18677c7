"""What a token is: a word, a sign, or an entity of a statement."""

from __future__ import annotations

from collections.abc import Container, Sequence
from enum import StrEnum
from typing import NamedTuple


class WordKind(StrEnum):
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
    {
        WordKind.PATH,
        WordKind.NAME,
        WordKind.SNIPPET,
        WordKind.QUOTE,
        WordKind.COMMAND,
        WordKind.VERSION,
        WordKind.COMMIT,
    }
)


class StatementToken(NamedTuple):
    """A word, a sign or an entity, and where it is in its statement."""

    kind: WordKind
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


def where(lows: Sequence[str], words: Container[str]) -> list[int]:
    """Where one of these words is."""
    return [n for n, low in enumerate(lows) if low in words]
