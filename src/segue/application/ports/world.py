"""The rest of the world: time, processes, folders, files, the catalog, and events as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, TypeVar

from segue.domain.catalog import AgentProfile, Catalog
from segue.domain.handoff.document import Document
from segue.domain.trust import CarriedProject
from segue.domain.workers import Worker


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        ...


class CatalogSource(Protocol):
    """Where agents and templates come from."""

    def load(self, working_dir: str | None = None) -> Catalog:
        """The present catalog for a project folder; the last good one if a file is broken now."""

    def carry(self, working_dir: str) -> CarriedProject | None:
        """What the user trusts of the project around a folder; none if it configures nothing."""

    def check_carried(self, project: CarriedProject, working_dir: str, copy: str, branch: str | None) -> None:
        """`NotTrusted` unless the scripts of a project that was trusted elsewhere are like that in a copy."""

    def check_copy(self, working_dir: str, copy: str, branch: str | None) -> None:
        """`NotTrusted` unless the project is trusted, and its scripts as they are in a copy of the folder."""

    def problem(self, working_dir: str | None = None) -> str | None:
        """What is wrong with the files now, or none."""

    def why_backend(self, agent_name: str, working_dir: str | None = None) -> str:
        """Why an agent has its back end, in a few words."""

    def without_profile(self, backend: str) -> AgentProfile:
        """An agent on a back end as it is; `auto` for the default back end."""


class Processes(Protocol):
    """This process, and whether others live."""

    def me(self, now: datetime) -> Worker:
        """A new worker for this process."""
        ...

    def is_gone(self, worker: Worker, now: datetime) -> bool:
        """True if that worker is dead, or was silent for too long; `now` is the clock of its heartbeat."""
        ...


Followed_co = TypeVar("Followed_co", covariant=True)


class EventFeed(Protocol[Followed_co]):
    """Audit entries, or activity, as they come."""

    def subscribe(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Followed_co]]:
        """All after an id, without a gap; from now on if none is given."""
        ...

    def subscribe_pages(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Sequence[Followed_co]]]:
        """The same, page by page; no page is empty."""
        ...


class Documents(Protocol):
    """The files of handoffs: each is there whole, or not at all."""

    async def write(self, document: Document) -> str:
        """Write it down for good; gives its path. `StorageError` says why not."""
        ...

    async def remove(self, path: str) -> None:
        """Take it back; safe to repeat."""
        ...

    async def is_there(self, path: str) -> bool:
        """True if it is on this machine."""
        ...


class CredentialFile(Protocol):
    """The local credential: one file that its owner alone can read."""

    @property
    def place(self) -> str:
        """Where it is."""
        ...

    def read(self) -> str | None:
        """Its value, or none if there is no file; `CredentialError` if others could know it."""
        ...

    def create(self, value: str) -> str:
        """Write it unless there is one by now; gives the value that counts."""
        ...

    def remove(self) -> None: ...


class EmptyFolders(Protocol):
    """Folders for agents that only read and write words."""

    def open(self, name: str) -> AbstractAsyncContextManager[str]:
        """An empty folder with this name; it is removed afterwards, with all that is in it."""
        ...
