"""Where another machine gets the repository of a run, and its commits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit, urlunsplit

from segue.domain.trust import CarriedProject

_SCHEMES = frozenset({"file", "git", "http", "https", "ssh"})
_SCP_LIKE = re.compile(r"(?:[\w.+-]+@)?[\w.-]+:(?!:)[^\\].*", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositorySource:
    """The repository of a run, so that a machine without its folder can have one like it."""

    name: str
    """What all machines call it: the address of its origin, or a machine and a folder on it."""
    url: str | None
    """Where any machine can fetch from; none if the repository is on one machine alone."""
    base: str
    """The commit that the run begins from."""
    below: str = ""
    """The folder in it that agents work in; empty for the top."""
    digest: str = "sha1"
    """How its ids are made."""
    push_to: str | None = None
    """Where the commits of each step are pushed; none if they are kept as bundles."""
    project: CarriedProject | None = None
    """What the user trusted of the project in it; none if nothing there configures anything."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Commits as a git bundle: all that is needed for one of them beside what is known already."""

    id: int = 0
    pipeline_id: int | None
    """The run whose step made them; none if runs begin from them."""
    step_id: int | None = None
    repository: str
    """The name of the repository."""
    tip: str
    """The newest commit in it."""
    content: bytes
    created_at: datetime


def shared_address(url: str | None) -> str | None:
    """The address of an origin as every machine can use it, without a password; none if none can.

    A plain path is on one machine; who shares a folder between machines says `file://`.
    """
    if url is None or "\n" in url or url.startswith("-"):
        return None
    if "://" not in url:
        return url if _SCP_LIKE.fullmatch(url) else None
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES:
        return None
    if parts.scheme in ("http", "https"):
        parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return urlunsplit(parts)
