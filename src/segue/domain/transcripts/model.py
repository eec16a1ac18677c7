"""A transcript and its entries: what was said and done in a session of another tool, in its order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from segue.domain.usage import Usage


class ToolKind(StrEnum):
    """What a tool does, whatever its name."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    SHELL = "shell"
    SEARCH = "search"
    FETCH = "fetch"
    PLAN = "plan"
    TASK = "task"
    OTHER = "other"


class FileChangeKind(StrEnum):
    """What happened to a file."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """A file that a tool call changed."""

    path: str
    change: FileChangeKind


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanItem:
    """A line of the agent's own list of things to do."""

    text: str
    status: str
    """`pending`, `in_progress`, `completed`, or what the tool calls it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UserMessage:
    """What the user wrote."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AssistantText:
    """What the agent said."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """What the agent did, and how it ended."""

    name: str
    kind: ToolKind
    paths: tuple[str, ...] = ()
    """The files that it names."""
    changes: tuple[FileChange, ...] = ()
    """The files that it changes, if it succeeds."""
    command: str | None = None
    plan: tuple[PlanItem, ...] = ()
    exit_code: int | None = None
    output: str = ""
    """The end of what it gave back."""
    ok: bool | None = None
    """Whether it succeeded; none if there is no result."""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What the tool itself wrote to stand in for entries that the model no longer sees."""

    text: str
    of_branch: bool = False
    """True if it tells of a branch that was left."""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What ended a turn badly: an error of the model, an interruption."""

    text: str
    at: datetime | None = None


Entry: TypeAlias = UserMessage | AssistantText | ToolCall | Summary | Failure


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """A way that the session took and left again; its entries are not among those of the transcript."""

    leaf: str
    """The id of its last entry."""
    entries: int
    """How many entries it has that are its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    """One session of another tool."""

    tool: str
    session_id: str
    working_dir: str | None = None
    title: str | None = None
    started_at: datetime | None = None
    updated_at: datetime | None = None
    model: str | None = None
    entries: tuple[Entry, ...] = ()
    branches: tuple[Branch, ...] = ()
    skipped: int = 0
    """Lines that could not be read."""
    left_out: int = 0
    """Entries of a very long session that were not kept."""
    aside: int = 0
    """Entries of sub-agents, which are not kept."""
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSession:
    """A session that lies on this machine."""

    tool: str
    session_id: str
    title: str
    """Its title, or its first words."""
    working_dir: str | None
    updated_at: datetime
    size: int | None
    """Bytes; none if it lies with others in one file."""
    path: str
    """The file that holds it."""
