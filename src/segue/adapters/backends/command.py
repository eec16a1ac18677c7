"""Any program as an agent: the briefing on its standard input or in a file, the reply on its output.

The program runs under a small shell in a session of its own, writing to files. So it outlives Segue: after a
crash the next Segue finds the same process by its folder, waits for it and never starts it twice.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import psutil
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from segue.application.ports import Message, Reply, SessionRequest
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost

_ALWAYS_PASSED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TMPDIR",
    "TZ",
)

_SUPERVISOR = """
echo $$ > "$1/pid"
input=$2; folder=$1; shift 2
"$@" < "$input" > "$folder/stdout" 2> "$folder/stderr"
echo $? > "$folder/exit"
"""
"""Writes down its own pid first and the program's exit code last; both survive Segue."""

_LOOK_SECONDS = 0.1
_KILL_AFTER_SECONDS = 3.0


def _as_arguments(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


class CommandOptions(BaseModel):
    """What may stand under `options` of an agent on the `command` back end."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    command: Annotated[tuple[str, ...], BeforeValidator(_as_arguments)] = Field(min_length=1)
    """Program and arguments; {briefing_file}, {working_dir} and {model} are filled in."""
    briefing: Literal["stdin", "file"] = "stdin"
    """How the program gets its briefing; in both cases SEGUE_BRIEFING_FILE names the file."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables to hand on, besides PATH, HOME and their like."""
    set_env: dict[str, str] = Field(default_factory=dict)
    """Environment variables to set."""
    ok_exit_codes: tuple[int, ...] = (0,)
    """Exit codes that mean success."""
    max_reply_bytes: int = Field(default=10_000_000, gt=0)
    """A longer reply is a failure."""


class CommandBackend:
    """Runs one process for each message; a session is a folder with its files."""

    Options = CommandOptions
    local_sessions = True

    def __init__(self, *, sessions_dir: Path) -> None:
        self._root = sessions_dir / "command"
        self._own: dict[str, asyncio.subprocess.Process] = {}
        self._options: dict[str, CommandOptions] = {}

    async def open(self, request: SessionRequest) -> str:
        """Make the session's folder."""
        options = _options_of(request)
        program = options.command[0]
        if shutil.which(program, path=_environment(options).get("PATH")) is None:
            raise BackendUnavailable(
                f'the command "{program}" of agent "{request.agent_name}" is not on the PATH; install it or '
                'set "command" in the agent\'s options'
            )
        self._folder(request.key).mkdir(parents=True, exist_ok=True, mode=0o700)
        return request.key

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Start the program with the message, unless it was started with it before."""
        options = _options_of(request)
        folder = self._folder(session)
        briefing = folder / "briefing.md"
        await asyncio.to_thread(briefing.write_text, message.text, "utf-8")
        try:
            (folder / f"sent-{message.id}").touch(exist_ok=False)
        except FileExistsError:
            return
        (folder / "limit").write_text(
            f"{options.max_reply_bytes} {shlex.join(map(str, options.ok_exit_codes))}"
        )
        filled = {
            "{briefing_file}": str(briefing),
            "{working_dir}": request.working_dir,
            "{model}": request.model or "",
        }
        source = str(briefing) if options.briefing == "stdin" else os.devnull
        try:
            self._own[session] = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _SUPERVISOR,
                "segue-agent",
                str(folder),
                source,
                *(_fill(argument, filled) for argument in options.command),
                cwd=request.working_dir,
                env=_environment(options)
                | {"PWD": request.working_dir, "SEGUE_BRIEFING_FILE": str(briefing), **options.set_env},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise BackendUnavailable(f"could not start {options.command[0]}: {error.strerror}") from error

    async def wait(self, session: str, message_id: str) -> Reply:
        """The program's output once it has ended well."""
        folder = self._folder(session)
        if not (folder / f"sent-{message_id}").exists():
            raise SessionLost("the folder of its process is gone")
        while (code := _exit_code(folder)) is None:
            if not _is_alive(folder, self._own.get(session)):
                if _exit_code(folder) is None:
                    raise self._vanished(session)
                continue
            await self._look_again(session)
        return await asyncio.to_thread(_read_reply, folder, code)

    async def abort(self, session: str) -> None:
        """Kill the program and everything it started: politely, then for good."""
        folder = self._folder(session)
        pid = await _find_pid(folder, self._own.get(session))
        if pid is None:
            return
        family = _family(pid)
        _signal_all(pid, family, signal.SIGTERM)
        _, alive = await asyncio.to_thread(psutil.wait_procs, family, _KILL_AFTER_SECONDS)
        if alive:
            _signal_all(pid, alive, signal.SIGKILL)
            await asyncio.to_thread(psutil.wait_procs, alive, _KILL_AFTER_SECONDS)

    async def close(self, session: str) -> None:
        """Forget the session and its files."""
        self._own.pop(session, None)
        await asyncio.to_thread(shutil.rmtree, self._folder(session), ignore_errors=True)

    async def shutdown(self) -> None:
        """Programs that run go on by themselves; the next Segue finds them."""
        self._own.clear()

    def _folder(self, session: str) -> Path:
        return self._root / session

    async def _look_again(self, session: str) -> None:
        own = self._own.get(session)
        if own is None:
            await asyncio.sleep(_LOOK_SECONDS)
            return
        await own.wait()

    def _vanished(self, session: str) -> Exception:
        if session in self._own:
            return AgentFailed("its process was killed before it could reply")
        return SessionLost("its process is gone and left no exit code")


def _options_of(request: SessionRequest) -> CommandOptions:
    try:
        return CommandOptions.model_validate(dict(request.profile.options))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "options"
        raise BackendUnavailable(
            f'agent "{request.agent_name}" runs on the back end "command", but its options are wrong: '
            f'"{key}": {first["msg"]}'
        ) from error


def _environment(options: CommandOptions) -> dict[str, str]:
    names = (*_ALWAYS_PASSED, *options.pass_env)
    return {name: os.environ[name] for name in names if name in os.environ}


def _fill(argument: str, values: dict[str, str]) -> str:
    for placeholder, value in values.items():
        argument = argument.replace(placeholder, value)
    return argument


def _exit_code(folder: Path) -> int | None:
    try:
        text = (folder / "exit").read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") else None


def _read_pid(folder: Path) -> int | None:
    try:
        return int((folder / "pid").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None


def _is_alive(folder: Path, own: asyncio.subprocess.Process | None) -> bool:
    """True if the shell that supervises this session still runs; its folder stands in its arguments."""
    if own is not None:
        return own.returncode is None
    pid = _read_pid(folder)
    if pid is None:
        return False
    try:
        process = psutil.Process(pid)
        return str(folder) in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


async def _find_pid(folder: Path, own: asyncio.subprocess.Process | None) -> int | None:
    if own is not None and own.returncode is None:
        return own.pid
    return _read_pid(folder) if _is_alive(folder, None) else None


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _signal_all(group: int, family: list[psutil.Process], number: signal.Signals) -> None:
    """The process group, and members of the family that left it."""
    with suppress(ProcessLookupError):
        os.killpg(group, number)
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _read_reply(folder: Path, code: int) -> Reply:
    limit, *ok = (int(word) for word in (folder / "limit").read_text(encoding="ascii").split())
    if code not in ok:
        raise AgentFailed(_describe_exit(folder, code))
    size = (folder / "stdout").stat().st_size
    if size > limit:
        raise AgentFailed(f"its reply has {size} bytes, more than max_reply_bytes ({limit}) allows")
    text = (folder / "stdout").read_text(encoding="utf-8", errors="replace")
    if not text.strip():
        raise AgentFailed("its command ended well, but wrote nothing on its standard output")
    return Reply(text=text)


def _describe_exit(folder: Path, code: int) -> str:
    how = (
        f"its command was killed by signal {code - 128}" if code > 128 else f"its command exited with {code}"
    )
    if code in (126, 127):
        how += " (the shell could not run it)"
    try:
        with (folder / "stderr").open("rb") as file:
            file.seek(max(0, (folder / "stderr").stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except FileNotFoundError:
        lines = []
    return f"{how}: {lines[-1].strip()[:300]}" if lines else how
