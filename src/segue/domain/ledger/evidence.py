"""What really happened in a step, as values: the changes, the trees, the commands and the commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class LineRange(NamedTuple):
    """The lines from `first` to `last`, both counted from 1 and both inside."""

    first: int
    last: int

    def touches(self, other: LineRange) -> bool:
        """True if the two have a line in common."""
        return self.first <= other.last and other.first <= self.last


class ChangeKind(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    TYPE_CHANGED = "type-changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What happened to one path between the two states."""

    kind: ChangeKind
    """What it was."""
    old_path: str | None = None
    """The name before, of a renamed file."""
    is_binary: bool = False
    """Whether it has no lines."""
    additions: int | None = None
    """Lines that came; none if unknown."""
    deletions: int | None = None
    """Lines that went; none if unknown."""
    new_lines: tuple[LineRange, ...] | None = None
    """Where the hunks stand after the change; none if the diff was cut before them."""
    old_lines: tuple[LineRange, ...] | None = None
    """Where the hunks stood before it."""
    line_count: int | None = None
    """Lines of the file after the change; none if unknown."""
    is_certain: bool = True
    """False if a filter that was not run may have made the difference."""


class RunBy(StrEnum):
    """Who ran a command."""

    AGENT = "agent"
    SEGUE = "segue"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRun:
    """A command that really ran, and how it ended."""

    command: str
    """As it was given to the shell."""
    exit_code: int | None
    """None if it did not end by itself, or if that is not known."""
    output: str = ""
    """The end of what it printed."""
    is_cut: bool = False
    """Whether it printed more than `output`."""
    by: RunBy = RunBy.SEGUE
    """Who ran it."""
    at: datetime | None = None
    """When it began."""
    fault: str | None = None
    """Why it says nothing: it could not be started, or ran out of time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """All that is known of a step. What is not whole refutes nothing by what it lacks."""

    changes: Mapping[str, Change] = field(default_factory=dict)
    """Path, with slashes and from the top of the repository -> what happened to it."""
    before: frozenset[str] | None = None
    """Every file before the step; none if unknown."""
    after: frozenset[str] | None = None
    """Every file after it."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """What git does not look at -> why: `git ignores it`. A key that ends in a slash means all below it."""
    commands: tuple[CommandRun, ...] = ()
    """What the agent ran, the earliest first."""
    checks: tuple[CommandRun, ...] = ()
    """What Segue ran itself after the step."""
    commits: tuple[str, ...] = ()
    """The full ids of the step's own commits."""
    known_commits: frozenset[str] = frozenset()
    """The full ids of all commits of the repository."""
    roots: tuple[str, ...] = ()
    """The absolute paths that lead to the top of the repository."""
    prefix: str = ""
    """The folder below the top in which the agent worked: `web/`, or nothing."""
    is_diff_whole: bool = True
    """False if not every changed path is in `changes`."""
    is_tree_whole: bool = True
    """False if files are missing from `before` or `after`."""
    is_log_whole: bool = False
    """True if `commands` holds every command that the agent ran."""
    are_commits_whole: bool = False
    """True if `known_commits` holds every commit."""
