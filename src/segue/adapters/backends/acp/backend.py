"""The back end `acp`: one process for each session, driven over the Agent Client Protocol.

The process lives and dies with Segue. What a session leaves on disk lets a later Segue end what a `kill -9`
left running, hand out a reply that came too late to be recorded, and load the session in a new process.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.adapters.backends import supervised
from segue.adapters.backends.acp.options import AcpOptions, read_options
from segue.adapters.backends.acp.state import SessionState, read_reply, read_state
from segue.application.ports.backend import (
    AgentBackend,
    Capabilities,
    Message,
    Probe,
    Reply,
    SessionEvent,
    SessionRequest,
)
from segue.domain.errors import BackendError, BackendUnavailable, SessionLost
from segue.domain.usage import Usage

if TYPE_CHECKING:
    from segue.adapters.backends.acp.session import LiveSession


class AcpBackend(AgentBackend):
    """Drives every agent that speaks the Agent Client Protocol."""

    Options = AcpOptions
    capabilities = Capabilities(
        once=True, conversation=True, events=True, usage=True, tool_log=True, asks=True, mcp=True
    )
    # No whole log: the protocol lets an agent choose which calls it tells, and by what kind and name.

    def __init__(self, *, sessions_dir: Path, timeout: float = 5.0) -> None:
        super().__init__(sessions_dir=sessions_dir)
        self._root = sessions_dir / "acp"
        self._timeout = timeout
        """Seconds that an agent has between being asked to stop and being killed."""
        self._live: dict[str, LiveSession] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def open(self, request: SessionRequest) -> str:
        """Start the agent and open a session in it."""
        await self._session(request, request.key)
        return request.key

    async def resume(self, request: SessionRequest, session: str) -> None:
        """Load the session in a new process."""
        if read_state(self._root / session) is None:
            raise SessionLost("the folder of its session is gone")
        await self._session(request, session)

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Begin a turn with the message, unless that was done before."""
        state = read_state(self._root / session)
        if state is None:
            raise SessionLost("the folder of its session is gone")
        if message.id not in state.sent:
            live = await self._session(request, session)
            await live.say(message)

    async def wait(self, session: str, message_id: str) -> Reply:
        """The reply to a message."""
        live = self._live.get(session)
        reply = await live.reply(message_id) if live else None
        if reply is None and (text := read_reply(self._root / session, message_id)) is not None:
            reply = Reply(text=text)
        if reply is None:
            raise SessionLost(
                "its process ended with the Segue that had started it, and its work on the message with it"
            )
        return reply

    async def abort(self, session: str) -> None:
        """Cancel the turn; then end the process with everything it started."""
        live = self._live.pop(session, None)
        if live is not None:
            await live.cancel(self._timeout)
            await live.end(self._timeout)
        else:
            await self._end_leftover(session)

    async def interrupt(self, session: str) -> None:
        """Cancel the turn, and keep the process: not every agent can load a session again."""
        live = self._live.get(session)
        if live is None or not await live.cancel(self._timeout):
            await self.abort(session)

    async def close(self, session: str) -> None:
        """End the process and forget the session."""
        live = self._live.pop(session, None)
        if live is not None:
            await live.end(self._timeout)
        else:
            await self._end_leftover(session)
        self._locks.pop(session, None)
        await asyncio.to_thread(shutil.rmtree, self._root / session, ignore_errors=True)

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:
        """What the agent says, does, asks and uses while it works on a message."""
        if live := self._live.get(session):
            async for event in live.events(message_id):
                yield event

    async def usage(self, session: str) -> Usage | None:
        """What the session has used so far, as far as its agent says."""
        if live := self._live.get(session):
            return live.usage
        state = read_state(self._root / session)
        return state.usage if state else None

    async def answer(self, session: str, permission_id: str, *, allow: bool, comment: str = "") -> None:  # noqa: ARG002
        """Answer a question; the protocol has no place for a comment."""
        if live := self._live.get(session):
            live.answer(permission_id, allow=allow)

    async def leftovers(self) -> Collection[str]:
        """The sessions whose folders are there."""
        return [folder.name for folder in self._root.iterdir()] if self._root.is_dir() else []

    async def shutdown(self) -> None:
        """End every process: none of them can live on without this one."""
        sessions = [self._live.pop(name) for name in tuple(self._live)]
        await asyncio.gather(*(live.end(self._timeout) for live in sessions))

    async def probe(self, options: Mapping[str, Any]) -> Probe:
        """Start the agent and say hello."""
        from segue.adapters.backends.acp.probing import probe

        return await probe(read_options(options, "probe"), self._timeout)

    async def _session(self, request: SessionRequest, session: str) -> LiveSession:
        """The live session, started if there is none."""
        async with self._locks.setdefault(session, asyncio.Lock()):
            live = self._live.get(session)
            if live is not None and live.works:
                return live
            if live is not None:
                await live.end(self._timeout)
            await self._end_leftover(session)
            self._live[session] = await self._started(request, session)
            return self._live[session]

    async def _started(self, request: SessionRequest, session: str) -> LiveSession:
        options = read_options(request.profile.options, request.agent_name)
        if not await asyncio.to_thread(Path(request.working_dir).is_dir):
            raise BackendUnavailable(f"the working directory {request.working_dir} is gone")
        folder = self._root / session
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise BackendUnavailable(f"cannot make the session folder {folder}: {error.strerror}") from error
        live = (await asyncio.to_thread(_load_session_class))(request, options, folder)
        try:
            await live.start()
        except (BackendError, asyncio.CancelledError):
            with suppress(asyncio.CancelledError):
                await asyncio.shield(live.end(self._timeout))
            raise
        return live

    async def _end_leftover(self, session: str) -> None:
        """End what an earlier Segue left of a session."""
        state = read_state(self._root / session) or SessionState()
        await supervised.end_session(self._root / session, self._timeout, state.leaders())


def _load_session_class() -> type[LiveSession]:
    """Loads the SDK, which takes a while; so in a thread."""
    from segue.adapters.backends.acp.session import LiveSession

    return LiveSession
