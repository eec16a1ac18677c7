"""Agents that are programs with a stream: one process for each message, whose output is a file of JSON lines.

The process runs under a small shell in a session of its own, writing to files. So it outlives Segue: after a
crash the next Segue finds it by its folder, reads its stream from the beginning and never starts it twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from segue.adapters.backends import programs, supervised
from segue.adapters.backends.process_per_message import ProcessPerMessage
from segue.adapters.backends.programs import ProgramOptions
from segue.adapters.backends.streams import StreamReader, Tail
from segue.application.file_handles import retry_without_handles, wait_out
from segue.application.ports.backend import (
    Message,
    Probe,
    Reply,
    SessionEvent,
    SessionRequest,
    UsageReported,
)
from segue.domain.environment import agent_environment
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost
from segue.domain.permissions import SESSION_VARIABLE
from segue.domain.usage import Usage

_FIRST_LOOK_SECONDS = 0.02
_LAST_LOOK_SECONDS = 0.2
_ABORTED = "aborted"
"""A file of this name in the folder of a message says that its turn was aborted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamedTurn:
    """A message that is about to be started."""

    request: SessionRequest
    options: Any
    folder: Path
    """Where the files of the message are."""
    conversation: str | None
    """The program's own id of the conversation so far; none if there was none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """How the program is started."""

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    """What comes to the environment of the options."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What a later Segue must know to read the files."""


class StreamedBackend(ProcessPerMessage):
    """Reads what the program writes while it works."""

    politely = signal.SIGINT

    Options: ClassVar[type[ProgramOptions]] = ProgramOptions
    title: ClassVar[str]
    """What people call the program."""
    program: ClassVar[str]
    install: ClassVar[str]
    """What to do if the program is missing."""
    hidden: ClassVar[tuple[str, ...]] = ()
    """Environment variables that are not handed on: they would tell it that it runs inside itself."""

    @abstractmethod
    def _launch(self, turn: StreamedTurn) -> Launch:
        """How a message is given to the program; may write files into the turn's folder."""

    @abstractmethod
    def _reader(self, folder: Path) -> StreamReader:
        """A new reader for the stream of a message."""

    def _check_request(self, request: SessionRequest) -> None:
        self._find(request)

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Start the program with the message, unless it was started with it before."""
        program, options = self._find(request)
        try:
            # The folder is the mark: whoever makes it starts the program, and nobody else ever does.
            earlier = messages(self._root / session)
            folder = self._root / session / message.id
            if folder not in earlier and any(not _ended(other) for other in earlier):
                raise BackendUnavailable("its session is still at work on an earlier message")
            folder.mkdir(mode=0o700)
            pid = await retry_without_handles(
                lambda: asyncio.to_thread(self._start, program, options, request, folder, message, earlier)
            )
            self._own.setdefault(session, []).append(pid)
        except FileExistsError:
            return
        except FileNotFoundError as error:
            raise SessionLost("the folder of its session is gone") from error
        except OSError as error:
            raise BackendUnavailable(f"could not start {program}: {error.strerror}") from error

    async def wait(self, session: str, message_id: str) -> Reply:
        """What the program said at the end of its turn."""
        folder = self._root / session / message_id
        await self._until_ended(folder)
        return await asyncio.to_thread(self._outcome, session, folder)

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:
        """What the stream tells, from its beginning, while it grows."""
        folder = self._root / session / message_id
        reader, tail = self._reader(folder), Tail(folder / "stdout")
        before = await asyncio.to_thread(self._used_before, folder)
        ended = False
        while not ended:
            try:
                ended = _ended(folder)  # first, so that what came before the end is read
                news = await asyncio.to_thread(self._news, reader, tail.read(ended=ended))
            except OSError as error:
                await wait_out(error)
                ended = False
                continue
            for event in news:
                yield _in_all(event, before)
            if not ended:
                await asyncio.sleep(_LAST_LOOK_SECONDS)

    async def usage(self, session: str) -> Usage | None:
        """What all messages of the session have used."""
        return await asyncio.to_thread(self._used, messages(self._root / session))

    async def abort(self, session: str) -> None:
        """Stop the program and everything it started: as if by Ctrl-C, then for good."""
        for folder in messages(self._root / session):
            if supervised.exit_code(folder) is None:
                (folder / _ABORTED).touch()
        await super().abort(session)

    async def probe(self, options: Mapping[str, Any]) -> Probe:
        """Look for the program, ask for its version and whether it is logged in."""
        path = version = None
        try:
            checked = programs.checked_options(self.Options, options, f"an agent runs on {self.title}")
            variables = self._environment(checked)
            path = programs.find_program(
                checked.program or self.program, variables.get("PATH"), install=self.install
            )
            code, answer = await programs.ask_program(path, "--version", environment=variables)
            if code != 0:
                said = f"{path} --version failed: {answer[-300:]}"
                return Probe(program=path, version=None, works=False, said=said)
            version = answer.splitlines()[-1].strip() if answer else None
            said = await self._ask_login(path, checked, variables)
        except BackendUnavailable as error:
            return Probe(program=path, version=version, works=False, said=str(error))
        return Probe(program=path, version=version, works=True, said=said)

    @abstractmethod
    async def _ask_login(self, program: str, options: Any, variables: Mapping[str, str]) -> str:
        """A sentence if it is logged in; `BackendUnavailable` if not."""

    def _find(self, request: SessionRequest) -> tuple[str, ProgramOptions]:
        whose = f'agent "{request.agent_name}" runs on the back end "{self.name}"'
        options = programs.checked_options(self.Options, request.profile.options, whose)
        if not Path(request.working_dir).is_dir():
            raise BackendUnavailable(f"the working directory {request.working_dir} is gone")
        path = self._environment(options).get("PATH")
        return programs.find_program(options.program or self.program, path, install=self.install), options

    def _environment(self, options: ProgramOptions) -> dict[str, str]:
        return agent_environment(
            os.environ, pass_env=options.pass_env, set_env=options.set_env, without=self.hidden
        )

    def _start(
        self,
        program: str,
        options: ProgramOptions,
        request: SessionRequest,
        folder: Path,
        message: Message,
        earlier: Sequence[Path],
    ) -> int:
        known = (self._read(other).conversation for other in reversed(earlier))
        turn = StreamedTurn(
            request=request,
            options=options,
            folder=folder,
            conversation=next((found for found in known if found), None),
        )
        launch = self._launch(turn)
        briefing = folder / "briefing.md"
        briefing.write_text(message.text, encoding="utf-8")
        notes = {"number": len(earlier), **launch.notes}
        (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
        return supervised.start(
            folder,
            [program, *launch.arguments],
            source=str(briefing),
            working_dir=request.working_dir,
            environment={
                **self._environment(options),
                **launch.environment,
                "PWD": request.working_dir,
                SESSION_VARIABLE: str(folder.parent),
            },
        )

    async def _until_ended(self, folder: Path) -> None:
        """Wait until the program is done with a message."""
        if not await asyncio.to_thread(folder.is_dir):
            raise SessionLost("the folder of its process is gone")
        pause = _FIRST_LOOK_SECONDS
        while not _ended(folder):
            self._check(folder)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LAST_LOOK_SECONDS)

    def _check(self, folder: Path) -> None:
        """Raise if the program will never end by itself."""

    def _news(self, reader: StreamReader, lines: Iterable[dict[str, Any]]) -> list[SessionEvent]:
        return [event for line in lines for event in reader.feed(line)]

    def _read(self, folder: Path) -> StreamReader:
        reader = self._reader(folder)
        for line in Tail(folder / "stdout").read(ended=True):
            for _ in reader.feed(line):
                pass
        return reader

    def _outcome(self, session: str, folder: Path) -> Reply:
        reply = self._whole(session, folder)[1]
        if not reply.text.strip():
            raise AgentFailed("it ended well, but its last message has no text")
        return reply

    def _whole(self, session: str, folder: Path) -> tuple[StreamReader, Reply]:
        """The stream of a message and its reply, if the program brought both to their end."""
        if (folder / _ABORTED).exists():
            raise AgentFailed("it was aborted before it could reply")
        reader = self._read(folder)
        reply = reader.reply()
        if reply is None:
            raise self._cut_off(session, folder)
        return reader, reply

    def _cut_off(self, session: str, folder: Path) -> Exception:
        code = supervised.exit_code(folder)
        if code == 0:
            return AgentFailed(f"{self.title} ended without telling how its turn went")
        if code is not None:
            return AgentFailed(self._describe_exit(folder, code))
        return self._vanished(session)

    def _describe_exit(self, folder: Path, code: int) -> str:
        return supervised.describe_exit(folder, code, self.title)

    def _used(self, folders: Sequence[Path]) -> Usage | None:
        found = [usage for folder in folders if (usage := self._read(folder).usage()) is not None]
        return sum(found[1:], found[0]) if found else None

    def _used_before(self, folder: Path) -> Usage | None:
        earlier = messages(folder.parent)
        return self._used(earlier[: earlier.index(folder)]) if folder in earlier else None


def messages(session: Path) -> list[Path]:
    """The folders of a session's messages, in the order in which they were sent."""
    if not session.is_dir():
        return []
    folders = [folder for folder in session.iterdir() if folder.is_dir()]
    return sorted(folders, key=lambda folder: (notes_of(folder).get("number", len(folders)), folder.name))


def notes_of(folder: Path) -> dict[str, Any]:
    """What was written down when the message was started; empty if it never was."""
    try:
        found: dict[str, Any] = json.loads((folder / "notes.json").read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return found


def write_secret(path: Path, content: Any) -> str:
    """Write JSON that nobody else may read; gives the path as text."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(content, file)
    return str(path)


def _ended(folder: Path) -> bool:
    if supervised.exit_code(folder) is not None:
        return True
    return supervised.supervisor_of(folder) is None


def _in_all(event: SessionEvent, before: Usage | None) -> SessionEvent:
    if before is None or not isinstance(event, UsageReported):
        return event
    return UsageReported(usage=before + event.usage)
