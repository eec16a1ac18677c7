"""The `opencode` back end: sessions on an OpenCode server, joined again after a crash of either side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from segue.adapters.backends.opencode import compacting, opening
from segue.adapters.backends.opencode.errors import Unreachable
from segue.adapters.backends.opencode.links import Links
from segue.adapters.backends.opencode.options import (
    External,
    OpenCodeOptions,
    options_of,
    place_of,
)
from segue.adapters.backends.opencode.records import Records, SessionRecord
from segue.adapters.backends.opencode.sessions import Link, OpenCodeSession, new_id, sent_as, suffix_of
from segue.adapters.backends.opencode.turns import OpenCodeTurn
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

_SERVER = "server-"
"""Before the name of a server that is left over, among the sessions that are."""
_AT_ONCE = 3
"""So many sessions are opened side by side: each may make the server begin to work in a new directory."""


class OpenCodeBackend(AgentBackend):
    """Sessions by our own key; a file for each tells where it is and what it may do."""

    Options = OpenCodeOptions
    capabilities = Capabilities(
        resume=True,
        once=True,
        conversation=True,
        events=True,
        usage=True,
        tool_log=True,
        # Each tool call is a part of a message that the server keeps: what was missed is caught up with.
        whole_log=True,
        asks=True,
        mcp=True,
        compaction=True,
    )

    def __init__(self, *, sessions_dir: Path) -> None:
        super().__init__(sessions_dir=sessions_dir)
        self._root = (sessions_dir / "opencode").absolute()
        self._records = Records(self._root / "sessions")
        self._links = Links(self._root / "servers")
        self._turns: dict[str, OpenCodeTurn] = {}
        self._beginning = asyncio.Semaphore(_AT_ONCE)

    async def open(self, request: SessionRequest) -> str:
        """Find or open the session that carries the key."""
        _check_directory(request)
        options = options_of(request)
        record = self._records.read(request.key) or self._records.write(_new_record(request, options))
        session = OpenCodeSession(await self._links.get(record.place, record.server), record)
        try:
            if record.id is None:
                async with self._beginning:
                    await opening.connect_tools(session, request.tools)
                    opened = await opening.open_session(session, request, options)
                self._records.write(record.model_copy(update={"id": opened}))
            else:
                await session.info()
        except SessionLost:
            self._records.remove(request.key)
            raise
        return request.key

    async def resume(self, request: SessionRequest, session: str) -> None:
        """A session is known by its file; one on somebody else's server is found by its key without it."""
        if self._records.read(session) is None:
            if options_of(request).url is None:
                raise SessionLost("the file of its session is gone")
            await self.open(request)

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Send the message unless it is there already."""
        options = options_of(request)
        there = await self._session(session)
        messages = await there.messages()
        known = sent_as(messages, message.id)
        if known is not None:
            await self._join(there, known)
            return
        await compacting.clear(there, messages)
        await opening.connect_tools(there, request.tools)
        info = await there.info()
        mark = there.link.client.address.mark
        there.record = self._records.write(there.record.model_copy(update={"server_mark": mark}))
        body: dict[str, Any] = {
            "messageID": new_id(message.id, info, messages),
            "parts": [{"type": "text", "text": message.text}],
        }
        body |= {"model": opening.model_of(request.model)} if request.model else {}
        body |= {name: value for name in ("agent", "system") if (value := getattr(options, name))}
        if not await asyncio.to_thread(self._records.take, session, message.id):
            # Dead or only asleep, it may have sent it, or may do so yet.
            raise SessionLost("another Segue was about to send its message, and the OpenCode server has none")
        turn = await self._watch(there, body["messageID"])
        await there.link.hub.connected()
        try:
            await there.post(f"/session/{there.id}/prompt_async", body)
        except BackendError:
            await self._turns.pop(session, turn).stop()
            raise
        turn.begin(joined=False)

    async def wait(self, session: str, message_id: str) -> Reply:
        """The reply, however long it takes."""
        return await (await self._turn(session, message_id)).reply()

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:
        """Words, tool calls, permissions, usage and retries, from the message on."""
        turn = await self._turn(session, message_id)
        async for event in turn.events():
            yield event

    async def abort(self, session: str) -> None:
        """Stop the session's work; OpenCode ends the commands it runs."""
        there = await self._running(session)
        if session in self._turns:
            self._turns[session].aborted = True
        if there is None:
            return
        try:
            await there.abort()
        except Unreachable:
            # A server that hangs is ended with all it runs: the other sessions on it are lost anyway.
            if await self._links.recover(there.record.place, there.record.server, there.link) is None:
                raise

    async def close(self, session: str) -> None:
        """Delete the session; a server that is left over and that nobody uses is stopped."""
        if session.startswith(_SERVER):
            from segue.adapters.backends.opencode.server import ServerFolder

            await ServerFolder(self._root / "servers" / session.removeprefix(_SERVER)).stop_if_unused()
            return
        if (turn := self._turns.pop(session, None)) is not None:
            await turn.stop()
        there = await self._running(session)
        if there is not None:
            if there.id in await there.statuses():
                await there.abort()
            await opening.disconnect_tools(there)
            await there.delete()
        self._records.remove(session)
        if there is not None and not self._in_use(there.record):
            # Else the server keeps what it has read of the directory, some 60 MB, until it ends.
            await there.post("/instance/dispose")

    def _in_use(self, record: SessionRecord) -> bool:
        """Whether another session works in the same directory."""
        others = map(self._records.read, self._records.keys())
        return any(other is not None and other.directory == record.directory for other in others)

    async def usage(self, session: str) -> Usage | None:
        """The totals of the session and of those it started."""
        return await (await self._session(session)).usage()

    async def answer(self, session: str, permission_id: str, *, allow: bool, comment: str = "") -> None:
        """Answer a question; what is settled already stays."""
        why = comment or "The person who was asked does not allow this."
        await (await self._session(session)).settle(permission_id, allow=allow, comment=why)

    async def compact(self, request: SessionRequest, session: str) -> None:
        """Have OpenCode sum the session up, with the model of its profile."""
        model = opening.model_of(request.model) if request.model else None
        await compacting.compact(await self._session(session), model)

    async def leftovers(self) -> Collection[str]:
        """The sessions that have a file, and servers of ours that none of them needs."""
        from segue.adapters.backends.opencode.server import ServerFolder

        servers = self._root / "servers"
        needed = {*self._records.servers(), *self._links.names()}
        there = [folder.name for folder in servers.iterdir()] if servers.is_dir() else []
        idle = [name for name in there if name not in needed and ServerFolder(servers / name).state()]
        return [*self._records.keys(), *(_SERVER + name for name in idle)]

    async def rest(self) -> None:
        """Stop the servers on which nothing works, unless another process uses them.

        OpenCode keeps its sessions on disk: the next server finds them there.
        """
        busy = set()
        for record in map(self._records.read, self._records.keys()):
            if record is not None and record.server in self._links.names():
                there = await self._running(record.key)
                if there is not None and there.id in await there.statuses():
                    busy.add(record.server)
        await self._release(busy)

    async def shutdown(self) -> None:
        """Let go of the servers; one without sessions is stopped, unless another process uses it."""
        await self._release(self._records.servers())

    async def _release(self, needed: Collection[str]) -> None:
        for turn in self._turns.values():
            await turn.stop()
        self._turns.clear()
        await self._links.close(needed)

    async def probe(self, options: Mapping[str, Any]) -> Probe:
        """Start the server, or reach it, and ask for its version."""
        program: str | None = None
        try:
            place = place_of(OpenCodeOptions.model_validate(dict(options)))
            program = None if isinstance(place, External) else place.program
            link = await self._links.get(place, place.name)
            version = await link.client.healthy(10.0)
        except ValidationError as error:
            first = error.errors()[0]
            wrong = f'its options are wrong: "{".".join(map(str, first["loc"]))}": {first["msg"]}'
            return Probe(program=None, version=None, works=False, said=wrong)
        except BackendError as error:
            return Probe(program=program, version=None, works=False, said=str(error))
        if version is None:
            said = f"the OpenCode server at {link.client.address.url} does not answer"
            return Probe(program=program, version=None, works=False, said=said)
        return Probe(program=program, version=version, works=True, said=f"OpenCode {version} answers")

    async def _turn(self, session: str, message_id: str) -> OpenCodeTurn:
        """The turn that watches a message; after a restart of Segue, a new one."""
        there = await self._session(session)
        turn = self._turns.get(session)
        if turn is not None and turn.message.endswith(suffix_of(message_id)):
            return turn
        known = sent_as(await there.messages(), message_id)
        if known is None:
            raise SessionLost("the OpenCode server does not have the message")
        return await self._join(there, known)

    async def _join(self, there: OpenCodeSession, message: str) -> OpenCodeTurn:
        """The turn of a message that was sent before."""
        turn = self._turns.get(there.record.key)
        if turn is None or turn.message != message:
            turn = await self._watch(there, message)
            turn.begin(joined=True)
        return turn

    async def _watch(self, there: OpenCodeSession, message: str) -> OpenCodeTurn:
        """A new turn for a message, in place of an older one."""
        record = there.record
        if (older := self._turns.pop(record.key, None)) is not None:
            await older.stop()

        async def recover(link: Link) -> Link | None:
            return await self._links.recover(record.place, record.server, link)

        turn = self._turns[record.key] = OpenCodeTurn(there, message, recover)
        return turn

    async def _session(self, key: str) -> OpenCodeSession:
        """A session that must be there; its server is started if it is ours."""
        record = self._records.read(key)
        if record is None or record.id is None:
            raise SessionLost("the file of its session is gone")
        return OpenCodeSession(await self._links.get(record.place, record.server), record)

    async def _running(self, key: str) -> OpenCodeSession | None:
        """A session whose server runs; nothing is started for one that is to end."""
        record = self._records.read(key)
        if record is None:
            return None
        link = await self._links.running(record.place, record.server)
        return OpenCodeSession(link, record) if link is not None and record.id is not None else None


def _check_directory(request: SessionRequest) -> None:
    """OpenCode itself takes any directory, also one that does not exist."""
    if options_of(request).url is None and not Path(request.working_dir).is_dir():
        raise BackendUnavailable(f"the working directory {request.working_dir} is gone")


def _new_record(request: SessionRequest, options: OpenCodeOptions) -> SessionRecord:
    place = place_of(options)
    return SessionRecord(
        key=request.key,
        place=place,
        server=place.name,
        directory=str(Path(request.working_dir).resolve()),
        rules=tuple(request.permissions),
        max_retries=options.max_retries,
        tools=opening.tool_server_name(request),
    )
