"""Workspace: the folder in which the agents of one pipeline work."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class WorkspaceKind(StrEnum):
    """What a workspace is."""

    WORKTREE = "worktree"
    """A git worktree of its own, on its own branch: the user's checkout is never touched."""
    IN_PLACE = "in_place"
    """The user's own folder."""


class WorkspaceChoice(StrEnum):
    """What the user asks for."""

    AUTO = "auto"
    """A worktree where that can be, else in place."""
    IN_PLACE = "in_place"
    INIT_GIT = "init_git"
    """Make the folder a git repository first, with a commit of what is there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """Where a pipeline's agents work."""

    kind: WorkspaceKind
    path: str
    """The folder that agents are started in."""
    repository: str | None = None
    """Top of the user's repository; none outside of git."""
    branch: str | None = None
    """The branch of a worktree."""
    base: str | None = None
    """The commit that it began from."""
    notes: tuple[str, ...] = ()
    """What the user should know: what is not in it, what cannot be done."""


def branch_name(pipeline_id: int, title: str) -> str:
    """`segue/12-fix-the-button`: a name that git takes, whatever the title holds."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].rstrip("-")
    return f"segue/{pipeline_id}-{slug}" if slug else f"segue/{pipeline_id}"
