"""The ports of sessions outside of pipelines: their records, their views, and the files of their handoffs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from segue.application.session_views import Lineage, SessionDetail, SessionPage
from segue.domain.catalog import AgentProfile
from segue.domain.handing_over import Document
from segue.domain.sessions import Role, Session, SpokenMessage


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSession:
    """A session that is to begin."""

    name: str
    backend: str
    key: str
    parent_id: int | None
    title: str
    model: str | None
    working_dir: str
    profile: AgentProfile
    base_mark: str | None
    started_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessage:
    """What is about to be said."""

    agent_id: int
    role: Role
    message_id: str
    text: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LastHandoff:
    """What the chain of sessions left so far."""

    metadata_json: str | None
    stalled: int
    """How many handoffs in a row, up to this one, brought nothing new."""


class SessionStore(Protocol):
    """Sessions outside of pipelines, and what is said in them."""

    async def add(self, new: NewSession) -> Session: ...
    async def get(self, session_id: int) -> Session:
        """`SessionNotFound` if there is none."""
        ...

    async def save(self, session: Session) -> None:
        """Write its reference on the back end, and whether it has ended."""
        ...

    async def remove(self, session_id: int) -> None:
        """As if it had never begun."""
        ...

    async def add_message(self, new: NewMessage) -> SpokenMessage: ...
    async def find_message(self, session_id: int, message_id: str) -> SpokenMessage | None: ...
    async def save_message(self, message: SpokenMessage) -> None: ...
    async def messages(self, session_id: int) -> list[SpokenMessage]:
        """All that was said, in order."""
        ...

    async def drop_waiting(self, session_id: int, why: str) -> None:
        """Cancel what was not sent yet."""
        ...

    async def last_handoff(self, session_id: int) -> LastHandoff | None:
        """The newest handoff of a session."""
        ...

    async def remove_handoff(self, handoff_id: int) -> None:
        """As if it had never been written."""
        ...


class SessionReads(Protocol):
    """Reads of sessions, for people and programs."""

    async def sessions(self, *, before: int | None = None, limit: int = 50) -> SessionPage: ...
    async def session(self, session_id: int) -> SessionDetail: ...
    async def lineage(self, session_id: int) -> Lineage: ...


class Documents(Protocol):
    """The files of handoffs: each is there whole, or not at all."""

    async def write(self, document: Document) -> str:
        """Write it down for good; gives its path. `StorageError` says why not."""
        ...

    async def remove(self, path: str) -> None:
        """Take it back; safe to repeat."""
        ...
