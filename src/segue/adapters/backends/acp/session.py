"""A live session: the agent's process, its conversation, and the turn that is under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from segue.adapters.backends import supervised
from segue.adapters.backends.acp import errors
from segue.adapters.backends.acp.client import AcpClient
from segue.adapters.backends.acp.models import choose_model
from segue.adapters.backends.acp.options import AcpOptions, environment_of, find_program
from segue.adapters.backends.acp.state import SessionState, read_state, take, write_reply, write_state
from segue.adapters.backends.acp.turn import AcpTurn
from segue.adapters.backends.acp.usage import SessionUsage
from segue.adapters.backends.acp.wire import PROTOCOL_VERSION, AgentProcess, RequestError
from segue.application.ports.backend import Message, Reply, SessionEvent, SessionRequest, UsageReported
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost
from segue.domain.permissions import SESSION_VARIABLE
from segue.domain.usage import Usage

T = TypeVar("T")
_EXIT_SECONDS = 2.0
"""Seconds to learn how a process ended that has closed its output."""


class _EndedEarly(BackendUnavailable):
    """The agent's process ended while it was expected to begin."""


class LiveSession:
    """One agent process with one session in it."""

    def __init__(self, request: SessionRequest, options: AcpOptions, folder: Path) -> None:
        self._request = request
        self._options = options
        self._folder = folder
        self._environment = environment_of(options, request.model, request.working_dir)
        self._state = read_state(folder) or SessionState()
        self._client = AcpClient(request, options, self._environment, SessionUsage(self._state.usage))
        self._turns: dict[str, AcpTurn] = {}
        self._work: dict[str, asyncio.Task[Reply]] = {}
        self._can_load = False
        self._process: AgentProcess | None = None
        self._ending = False
        self._cancelled = False

    @property
    def usage(self) -> Usage | None:
        """What the session has used so far."""
        return self._client.usage.total if self._client.usage.reported else None

    @property
    def works(self) -> bool:
        """True if its process answers still."""
        return self._process is not None and not self._ending and self._process.answers

    async def start(self) -> None:
        """Start the agent, and open a session or load the one that was there."""
        await self._start_process()
        try:
            await self._initialize()
        except _EndedEarly:
            # Of several that begin at once in a home that is new, one may trip over the others: once more.
            await self._start_process()
            await self._initialize()
        if self._state.acp_session and self._state.sent:
            await self._load()
        else:
            await self._new()

    async def say(self, message: Message) -> None:
        """Begin a turn; the message counts as delivered from here on."""
        if message.id in self._state.sent:
            return
        if not all(task.done() for task in self._work.values()):
            raise BackendUnavailable("its session still works on an earlier message")
        try:
            if not take(self._folder, message.id):
                # Dead or only asleep, it may have sent it; and this file is that one's to write.
                raise SessionLost("another Segue was about to send its message")
        except FileNotFoundError as error:
            raise SessionLost("the folder of its session is gone") from error
        self._cancelled = False
        self._save(replace(self._state, sent=(*self._state.sent, message.id)))
        turn = AcpTurn(servers=self._client.servers, noise=self._options.known.noise)
        self._turns[message.id] = self._client.turn = turn
        task = self._work[message.id] = asyncio.create_task(self._converse(turn, message))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting

    async def reply(self, message_id: str) -> Reply | None:
        """The reply to a message; none if nobody works on it."""
        task = self._work.get(message_id)
        return await asyncio.shield(task) if task else None

    async def events(self, message_id: str) -> AsyncIterator[SessionEvent]:
        """What happens in a turn."""
        if turn := self._turns.get(message_id):
            async for event in turn.events():
                yield event

    def answer(self, permission_id: str, *, allow: bool) -> None:
        """What a person decided."""
        self._client.answer(permission_id, allow=allow)

    async def cancel(self, timeout: float) -> bool:
        """Ask the agent to stop its turn, and wait a little for it; false if it did not."""
        running = [task for task in self._work.values() if not task.done()]
        if not running or not self.works:
            return self.works
        self._cancelled = True
        self._client.cancel_questions()
        with suppress(ConnectionError):
            await self._connection.send_notification("session/cancel", {"sessionId": self._state.acp_session})
        _, late = await asyncio.wait(running, timeout=timeout)
        return not late and self.works

    async def end(self, timeout: float) -> None:
        """End the process with everything it started; turns that are under way fail."""
        self._ending = True
        await self._client.terminals.release_all()
        await supervised.end_session(self._folder, timeout, self._state.leaders())
        if self._process is not None:
            await self._process.exit_code(timeout)
            await self._process.close()
        if self._work:
            await asyncio.wait(self._work.values(), timeout=timeout)

    @property
    def _connection(self) -> Any:
        assert self._process is not None
        return self._process.connection

    async def _start_process(self) -> None:
        options, folder = self._options, self._request.working_dir
        program = find_program(options, self._environment.get("PATH"), folder)
        try:
            self._process = await AgentProcess.start(
                [program, *options.arguments[1:]],
                handler=self._client.handle,
                environment={**self._environment, SESSION_VARIABLE: str(self._folder)},
                working_dir=folder,
                stderr=self._folder / "stderr",
            )
        except OSError as error:
            raise BackendUnavailable(f"could not start {program}: {error.strerror}") from error
        self._save(self._state.with_process(self._process.pid))

    async def _initialize(self) -> None:
        files = self._options.client_files
        found = await self._call(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": files, "writeTextFile": files},
                    "terminal": self._options.client_terminals,
                },
                "clientInfo": {"name": "segue", "version": "1"},
            },
        )
        if found.get("protocolVersion") != PROTOCOL_VERSION:
            raise BackendUnavailable(
                f"the agent {self._options.label} speaks version {found.get('protocolVersion')} of the Agent "
                f"Client Protocol, and Segue version {PROTOCOL_VERSION}; install another version of it"
            )
        self._can_load = bool((found.get("agentCapabilities") or {}).get("loadSession"))

    async def _new(self) -> None:
        found = await self._call("session/new", self._place())
        if not isinstance(name := found.get("sessionId"), str):
            raise BackendUnavailable(f"the agent {self._options.label} opened a session without a name")
        self._save(replace(self._state, acp_session=name))
        await self._choose_model(found)

    async def _load(self) -> None:
        if not (self._can_load and self._options.load):
            raise SessionLost(
                f"the agent {self._options.label} cannot take up a session after its process ended"
            )
        params = self._place() | {"sessionId": self._state.acp_session}
        try:
            found = await self._call("session/load", params)
        except AgentFailed as error:
            raise SessionLost(
                f"the agent {self._options.label} could not load its session: {error}"
            ) from error
        await self._choose_model(found)

    async def _choose_model(self, found: Mapping[str, Any]) -> None:
        choice = choose_model(found, self._request.model, self._options)
        if choice is not None:
            await self._call(choice[0], {"sessionId": self._state.acp_session, **choice[1]})

    def _place(self) -> dict[str, Any]:
        tools = self._request.tools
        servers = (
            []
            if tools is None
            else [
                {
                    "name": tools.name,
                    "command": tools.command[0],
                    "args": list(tools.command[1:]),
                    "env": [{"name": name, "value": value} for name, value in tools.environment.items()],
                }
            ]
        )
        return {"cwd": self._request.working_dir, "mcpServers": servers}

    async def _call(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A request that has its own limit of time."""
        seconds = self._options.start_timeout
        try:
            async with asyncio.timeout(seconds):
                found = await self._connection.send_request(method, dict(params))
        except TimeoutError:
            said = errors.last_line(self._folder / "stderr")
            raise BackendUnavailable(
                f"the agent {self._options.label} did not answer {method} within {seconds:g} s"
                + (f"; its last words: {said}" if said else "")
                + '. Start it by hand to see why, or raise "start_timeout" in its options'
            ) from None
        except RequestError as error:
            raise errors.from_rpc(str(error), error.code, error.data, self._options) from error
        except ConnectionError:
            how = await self._how_it_ended()
            raise _EndedEarly(f"the agent {self._options.label} did not start: {how}") from None
        return found if isinstance(found, Mapping) else {}

    async def _converse(self, turn: AcpTurn, message: Message) -> Reply:
        """The whole turn, from the message to its reply."""
        params = {"sessionId": self._state.acp_session, "prompt": [{"type": "text", "text": message.text}]}
        try:
            found = await self._connection.send_request("session/prompt", params)
            return await self._accept(turn, message.id, found if isinstance(found, Mapping) else {})
        except RequestError as error:
            raise errors.from_rpc(str(error), error.code, error.data, self._options) from error
        except ConnectionError:
            raise await self._gone() from None
        finally:
            self._keep_usage()
            self._client.cancel_questions()
            self._client.turn = None
            turn.end()

    async def _accept(self, turn: AcpTurn, message_id: str, found: Mapping[str, Any]) -> Reply:
        self._client.usage.take_response(found.get("usage"))
        if self._client.usage.reported:
            turn.tell(UsageReported(usage=self._client.usage.total))
        text = turn.text
        if failure := self._failure(turn, str(found.get("stopReason")), text):
            raise failure
        await asyncio.to_thread(write_reply, self._folder, message_id, text)
        return Reply(text=text)

    def _failure(self, turn: AcpTurn, reason: str, text: str) -> AgentFailed | None:
        """Why a turn gave no reply; none if it did."""
        if self._cancelled:
            return errors.from_stop("cancelled")  # whatever the agent says: goose says end_turn
        if turn.refused and (reason == "cancelled" or not text.strip()):
            return errors.from_refusal(turn.refused)
        failure = errors.from_stop(reason) or errors.from_words(turn.last_words, self._options)
        return failure or (None if text.strip() else errors.without_text(self._options))

    async def _gone(self) -> BackendError:
        if self._ending:
            return AgentFailed("its session was aborted before it could reply")
        return AgentFailed(f"{await self._how_it_ended()}, before it could reply")

    async def _how_it_ended(self) -> str:
        code = await self._process.exit_code(_EXIT_SECONDS) if self._process else None
        return errors.from_exit(code, self._folder / "stderr")

    def _keep_usage(self) -> None:
        with suppress(SessionLost):
            self._save(replace(self._state, usage=self.usage))

    def _save(self, state: SessionState) -> None:
        self._state = state
        try:
            write_state(self._folder, state)
        except OSError as error:
            raise SessionLost(f"the folder of its session is gone: {error.strerror}") from error
