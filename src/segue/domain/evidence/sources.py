"""The text of a repository before and after a step, looked at when it is asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from segue.domain.evidence.model import Evidence


class FileLine(NamedTuple):
    """A line of a file."""

    path: str
    line: int


class Sources(Protocol):
    """Text of all files before the step and after it. Asking is dear: ask for many names at once."""

    @property
    def is_whole(self) -> bool:
        """False if text may be missing: then absence proves nothing. Ask after a search: it may find out."""
        ...

    def has_commit(self, name: str) -> bool | None:
        """True if the id of some commit begins so; none if that cannot be told."""
        ...

    def text(self, path: str, *, before: bool = False) -> str | None:
        """The text of a file; none if there is none, or if it is not text."""
        ...

    def find(self, names: Collection[str], *, before: bool = False) -> Mapping[str, tuple[FileLine, ...]]:
        """Name -> where it is in the text of a file, as a part of a word, too; the first places of many."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """What happened, and the text to look further into it."""

    evidence: Evidence
    """What was measured."""
    sources: Sources
    """The text before and after."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSources:
    """Sources that are held in memory."""

    before: Mapping[str, str] = field(default_factory=dict)
    """Path -> text before the step."""
    after: Mapping[str, str] = field(default_factory=dict)
    """Path -> text after it."""
    is_whole: bool = True
    """False if text may be missing."""
    commits: Collection[str] | None = None
    """The full ids of all commits; none if they are not known."""

    def has_commit(self, name: str) -> bool | None:
        """True if the id of some commit begins so."""
        return None if self.commits is None else any(each.startswith(name) for each in self.commits)

    def text(self, path: str, *, before: bool = False) -> str | None:
        """The text of a file."""
        return (self.before if before else self.after).get(path)

    def find(self, names: Collection[str], *, before: bool = False) -> Mapping[str, tuple[FileLine, ...]]:
        """Name -> where it is in the text of a file."""
        files = (self.before if before else self.after).items()
        return {name: tuple(_places(name, files)) for name in names}


MOST_PLACES = 20
"""So many places of a name are told."""


def _places(name: str, files: Collection[tuple[str, str]]) -> list[FileLine]:
    found: list[FileLine] = []
    for path, text in files:
        if name not in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if name in line:
                found.append(FileLine(path, number))
                if len(found) >= MOST_PLACES:
                    return found
    return found
