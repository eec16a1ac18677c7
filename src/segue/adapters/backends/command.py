"""Any program as an agent: the briefing on its standard input or in a file, the reply on its output.

The program runs under a small shell in a session of its own, writing to files. So it outlives Segue: after a
crash the next Segue finds the same process by its folder, waits for it and never starts it twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from segue.adapters.backends import supervised
from segue.adapters.backends.process_per_message import ProcessPerMessage
from segue.adapters.backends.programs import checked_options
from segue.application.file_handles import retry_without_handles
from segue.application.ports.backend import Capabilities, Message, Reply, SessionRequest
from segue.domain.environment import PassEnv, basic_environment
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost
from segue.domain.permissions import SESSION_VARIABLE

_PLACEHOLDER = re.compile(r"\{(briefing_file|working_dir|model)\}")
_FIRST_LOOK_SECONDS = 0.01
_LAST_LOOK_SECONDS = 0.2


def _as_arguments(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


class CommandOptions(BaseModel):
    """What may stand under `options` of an agent on the `command` back end."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    command: Annotated[
        tuple[str, ...], BeforeValidator(_as_arguments, json_schema_input_type=str | tuple[str, ...])
    ] = Field(min_length=1)
    """Program and arguments; {briefing_file}, {working_dir} and {model} are filled in."""
    briefing: Literal["stdin", "file"] = "stdin"
    """How the program gets its briefing; in both cases SEGUE_BRIEFING_FILE names the file."""
    pass_env: PassEnv = ()
    """Environment variables to hand on besides PATH, HOME and their like, by name or as AWS_*."""
    set_env: dict[str, str] = Field(default_factory=dict)
    """Environment variables to set."""
    ok_exit_codes: tuple[int, ...] = (0,)
    """Exit codes that mean success."""
    max_reply_bytes: int = Field(default=10_000_000, gt=0)
    """A longer reply is a failure."""


class CommandBackend(ProcessPerMessage):
    """Runs the program of the agent's options."""

    name = "command"
    Options = CommandOptions
    capabilities = Capabilities(resume=True, once=True, rerun=True)

    def _check_request(self, request: SessionRequest) -> None:
        _find_program(request, _options_of(request))

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Start the program with the message, unless it was started with it before."""
        options = _options_of(request)
        program = _find_program(request, options)
        try:
            # The folder is the mark: whoever makes it starts the program, and nobody else ever does.
            folder = self._root / session / message.id
            folder.mkdir()

            async def begin() -> int:
                await asyncio.to_thread(_write_files, folder, options, message)
                return _start(folder, program, request, options)

            self._own.setdefault(session, []).append(await retry_without_handles(begin))
        except FileExistsError:
            return
        except FileNotFoundError as error:
            raise SessionLost("the folder of its session is gone") from error
        except OSError as error:
            raise BackendUnavailable(f"could not start {options.command[0]}: {error.strerror}") from error

    async def wait(self, session: str, message_id: str) -> Reply:
        """The program's output once it has ended well."""
        folder = self._root / session / message_id
        if not folder.is_dir():
            raise SessionLost("the folder of its process is gone")
        pause = _FIRST_LOOK_SECONDS
        while (code := supervised.exit_code(folder)) is None:
            _check_size(folder)
            if supervised.supervisor_of(folder) is None and supervised.exit_code(folder) is None:
                raise self._vanished(session)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LAST_LOOK_SECONDS)
        return await asyncio.to_thread(_read_reply, folder, code)


def _options_of(request: SessionRequest) -> CommandOptions:
    whose = f'agent "{request.agent_name}" runs on the back end "command"'
    return checked_options(CommandOptions, request.profile.options, whose)


def _find_program(request: SessionRequest, options: CommandOptions) -> str:
    """The program's full path, so that the shell takes none of its own commands instead."""
    program = options.command[0]
    whose = f'the command "{program}" of agent "{request.agent_name}"'
    if not Path(request.working_dir).is_dir():
        raise BackendUnavailable(f"the working directory {request.working_dir} is gone")
    if os.sep not in program:
        if found := shutil.which(program, path=_environment(options).get("PATH")):
            return str(Path(found).absolute())
        raise BackendUnavailable(
            f'{whose} is not on the PATH; install it or set "command" in the agent\'s options'
        )
    path = Path(request.working_dir, Path(program).expanduser())
    if not path.is_file():
        raise BackendUnavailable(f'{whose} does not exist; set "command" in the agent\'s options')
    if not os.access(path, os.X_OK):
        raise BackendUnavailable(f"{whose} is not executable; run chmod +x {path}")
    return str(path)


def _write_files(folder: Path, options: CommandOptions, message: Message) -> None:
    (folder / "briefing.md").write_text(message.text, encoding="utf-8")
    terms = options.model_dump_json(include={"max_reply_bytes", "ok_exit_codes"})
    (folder / "terms.json").write_text(terms, encoding="utf-8")


def _start(folder: Path, program: str, request: SessionRequest, options: CommandOptions) -> int:
    briefing = str(folder / "briefing.md")
    filled = {"briefing_file": briefing, "working_dir": request.working_dir, "model": request.model or ""}
    arguments = [_PLACEHOLDER.sub(lambda m: filled[m[1]], argument) for argument in options.command[1:]]
    return supervised.start(
        folder,
        [program, *arguments],
        source=briefing if options.briefing == "stdin" else os.devnull,
        working_dir=request.working_dir,
        environment={
            "SEGUE_BRIEFING_FILE": briefing,
            **_environment(options),
            SESSION_VARIABLE: str(folder.parent),
        },
    )


def _environment(options: CommandOptions) -> dict[str, str]:
    return basic_environment(os.environ, pass_env=options.pass_env) | options.set_env


def _check_size(folder: Path) -> None:
    """A program that floods its output is not waited for: it fails, and is aborted for that."""
    try:
        size = (folder / "stdout").stat().st_size
    except FileNotFoundError:
        return
    limit = json.loads((folder / "terms.json").read_bytes())["max_reply_bytes"]
    if size > limit:
        raise AgentFailed(f"its reply has {size} bytes, more than max_reply_bytes ({limit}) allows")


def _read_reply(folder: Path, code: int) -> Reply:
    if code not in json.loads((folder / "terms.json").read_bytes())["ok_exit_codes"]:
        raise AgentFailed(supervised.describe_exit(folder, code, "its command"))
    _check_size(folder)
    text = (folder / "stdout").read_text(encoding="utf-8", errors="replace")
    if not text.strip():
        raise AgentFailed("its command ended well, but wrote nothing on its standard output")
    # PostgreSQL cannot keep a NUL in a text.
    return Reply(text=text.replace("\0", "\ufffd"))
