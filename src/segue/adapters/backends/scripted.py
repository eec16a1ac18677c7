"""An agent that replays a script: words, file edits, commands, delays, failures, crashes. No model.

For demonstrations and for tests; what it does to files and commands is real.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from segue.adapters.backends.process_group import run_in_group
from segue.application.file_handles import retry_without_handles
from segue.application.ports.backend import (
    AgentBackend,
    Capabilities,
    Message,
    PermissionAsked,
    Reply,
    Said,
    SessionEvent,
    SessionRequest,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.environment import agent_environment
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost, describe_known
from segue.domain.permissions import Access, Tool
from segue.domain.usage import Usage

_GONE = "its scripted session ended with the process it lived in"


class FileText(BaseModel):
    """A file of the working directory and its text."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    text: str


class FileEdit(BaseModel):
    """A place in a file, and what shall stand there."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    find: str
    replace: str


class Action(BaseModel):
    """One thing the agent does; exactly one key is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    say: str | None = None
    """Words of the reply; {output} and {exit_code} are those of the last command."""
    write: FileText | None = None
    append: FileText | None = None
    edit: FileEdit | None = None
    delete: str | None = None
    run: tuple[str, ...] | None = Field(default=None, min_length=1)
    """A command in the working directory."""
    ask: str | None = Field(default=None, min_length=1)
    """What it wants to do, put to a person; it says the answer and continues."""
    usage: dict[str, float] | None = None
    """What the session has used by now, as the fields of Usage."""
    delay: float | None = Field(default=None, ge=0)
    """Seconds to wait."""
    fail: str | None = None
    """The agent ends with this error."""
    crash: int | None = Field(default=None, ge=1)
    """The session vanishes, in the first so many sessions of this agent."""

    @model_validator(mode="after")
    def _one_key(self) -> Action:
        given = [name for name in self.model_fields_set if getattr(self, name) is not None]
        if len(given) != 1 or len(self.model_fields_set) != 1:
            known = ", ".join(type(self).model_fields)
            raise ValueError(f"an action has exactly one of these keys: {known}")
        return self


class ScriptedOptions(BaseModel):
    """What may stand under `options` of an agent on the `scripted` back end."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    actions: tuple[Action, ...] = ()
    """What the agent does."""
    later: tuple[tuple[Action, ...], ...] = ()
    """What it does when it is spoken to again: for the second message, the third, and so on."""
    when: Mapping[str, tuple[Action, ...]] = Field(default_factory=dict)
    """Words -> what it does if a message holds them, before all else."""
    script: Path | None = None
    """A YAML file that maps agent names to lists of actions, used where `actions` is empty."""


class ScriptedBackend(AgentBackend):
    """Plays scripts in this process: a session dies with Segue, as a good test of recovery needs."""

    Options = ScriptedOptions
    # Nothing runs but what the script names, and each of that is told.
    capabilities = Capabilities(events=True, usage=True, tool_log=True, whole_log=True, asks=True)

    def __init__(
        self,
        scripts: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        *,
        sessions_dir: Path | None = None,  # given where a profile names it, as to all back ends
    ) -> None:
        self._scripts = {name: _actions(name, actions) for name, actions in (scripts or {}).items()}
        self._opened: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._tasks: dict[str, asyncio.Task[str]] = {}
        self._players: dict[str, _Player] = {}
        self._messages: dict[str, list[str]] = {}
        self._usage: dict[str, Usage] = {}
        self._is_observed = sessions_dir is None
        """Made by a test, which asks later what was said; one that a profile names would fill the memory."""
        self.received: dict[str, list[str]] = {}
        """Agent name -> the messages it was sent, in order: for assertions."""
        self.aborted: list[str] = []
        """Sessions that were aborted, in order."""
        self.closed: list[str] = []
        """Sessions that were closed, in order."""

    async def open(self, request: SessionRequest) -> str:
        """Begin a session."""
        if request.key not in self._numbers:
            self._opened[request.agent_name] = self._opened.get(request.agent_name, 0) + 1
            self._numbers[request.key] = self._opened[request.agent_name]
        return request.key

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Begin to play the script."""
        if message.id in self._tasks:
            return
        if session not in self._numbers:
            raise SessionLost(_GONE)
        actions = self._script_of(request, len(self._messages.get(session, ())), message.text)
        if self._is_observed:
            self.received.setdefault(request.agent_name, []).append(message.text)
        player = _Player(Path(request.working_dir), self._numbers[session], self._usage.get(session))
        self._players[message.id] = player
        self._tasks[message.id] = asyncio.create_task(player.play(actions))
        self._messages.setdefault(session, []).append(message.id)

    async def wait(self, session: str, message_id: str) -> Reply:  # noqa: ARG002  # message ids are unique
        """The words of the script."""
        if (task := self._tasks.get(message_id)) is None:
            raise SessionLost(_GONE)
        await asyncio.wait({task})
        if task.cancelled():
            raise AgentFailed("its session was aborted")
        return Reply(text=task.result())

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:
        """What the script does, as it does it."""
        player, task = self._players.get(message_id), self._tasks.get(message_id)
        if player is None or task is None:
            return
        async for event in player.told(task):
            if isinstance(event, UsageReported):
                self._usage[session] = event.usage
            yield event

    async def usage(self, session: str) -> Usage | None:
        """What the script said that it used."""
        return self._usage.get(session)

    async def answer(self, session: str, permission_id: str, *, allow: bool, comment: str = "") -> None:
        """Let a script that asked continue."""
        for message_id in self._messages.get(session, ()):
            self._players[message_id].take_answer(permission_id, allow=allow, comment=comment)

    async def abort(self, session: str) -> None:
        """Stop playing."""
        if self._is_observed:
            self.aborted.append(session)
        await self._cancel([self._tasks[message_id] for message_id in self._messages.get(session, ())])

    async def close(self, session: str) -> None:
        """Forget the session."""
        if self._is_observed:
            self.closed.append(session)
        self._numbers.pop(session, None)
        for message_id in self._messages.pop(session, ()):
            del self._tasks[message_id], self._players[message_id]

    async def shutdown(self) -> None:
        """Stop every script."""
        await self._cancel(list(self._tasks.values()))

    async def _cancel(self, tasks: Sequence[asyncio.Task[str]]) -> None:
        playing = [task for task in tasks if not task.done()]
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)

    async def converses(self, request: SessionRequest) -> bool:
        """Whether the script has something for a second message."""
        options = self._options_of(request)
        return bool(options.later or options.when)

    async def answers(self, request: SessionRequest, text: str) -> bool:
        """Whether the script names words of this message: else it would only begin anew."""
        return any(words in text for words in self._options_of(request).when)

    def _options_of(self, request: SessionRequest) -> ScriptedOptions:
        try:
            return ScriptedOptions.model_validate(dict(request.profile.options))
        except ValidationError as error:
            raise BackendUnavailable(_wrong_script(request.agent_name, error)) from error

    def _script_of(self, request: SessionRequest, messages_before: int, text: str) -> Sequence[Action]:
        options = self._options_of(request)
        if (fitting := next((words for words in options.when if words in text), None)) is not None:
            return options.when[fitting]
        if messages_before and options.later:
            return options.later[min(messages_before, len(options.later)) - 1]
        if options.actions:
            return options.actions
        if options.script is not None:
            return _read_script(Path(request.working_dir) / options.script, request.agent_name)
        if request.agent_name in self._scripts:
            return self._scripts[request.agent_name]
        raise BackendUnavailable(
            f'agent "{request.agent_name}" has no script: give "actions" or "script" in its options'
        )


class _Player:
    """Plays one script in one folder."""

    def __init__(self, folder: Path, session_number: int, usage: Usage | None) -> None:
        self._folder = folder.resolve()
        self._session_number = session_number
        self._events: list[SessionEvent] = [UsageReported(usage=usage)] if usage else []
        self._told = asyncio.Event()
        self._answers: dict[str, asyncio.Future[str]] = {}
        self._words: list[str] = []
        self._output = ""
        self._exit_code = 0

    async def play(self, actions: Sequence[Action]) -> str:
        for number, action in enumerate(actions, 1):
            await self._act(action, f"call-{number}")
        return "\n".join(self._words)

    async def told(self, task: asyncio.Task[str]) -> AsyncIterator[SessionEvent]:
        """The events so far and those to come, until the script has ended."""
        task.add_done_callback(lambda _: self._told.set())
        seen = 0
        while True:
            self._told.clear()
            ended = task.done()
            for event in self._events[seen:]:
                seen += 1
                yield event
            if ended:
                return
            if not task.done() and seen == len(self._events):
                await self._told.wait()

    def take_answer(self, permission_id: str, *, allow: bool, comment: str) -> None:
        """A person has decided."""
        waiting = self._answers.get(permission_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(("approved" if allow else "rejected") + (f": {comment}" if comment else ""))

    def _tell(self, event: SessionEvent) -> None:
        self._events.append(event)
        self._told.set()

    def _tell_tool(self, call_id: str, tool: Tool, name: str, target: str, **facts: Any) -> None:
        used = ToolUsed(call_id=call_id, tool=tool, name=name, state=ToolState.DONE, target=target)
        self._tell(replace(used, **facts))

    async def _ask(self, call_id: str, wish: str) -> None:
        waiting = self._answers[call_id] = asyncio.get_running_loop().create_future()
        access = Access(tool=Tool.OTHER, targets=(wish,))
        self._tell(PermissionAsked(id=call_id, access=access, title=wish))
        self._say(f"{wish}: {await waiting}")

    def _say(self, words: str) -> None:
        self._words.append(words)
        self._tell(Said(text=words + "\n"))

    async def _act(self, action: Action, call_id: str) -> None:
        if action.say is not None:
            self._say(
                action.say.replace("{output}", self._output).replace("{exit_code}", str(self._exit_code))
            )
        elif action.ask is not None:
            await self._ask(call_id, action.ask)
        elif action.usage is not None:
            self._tell(UsageReported(usage=_usage_of(action.usage)))
        elif action.delay is not None:
            await asyncio.sleep(action.delay)
        elif action.run is not None:
            self._tell_tool(call_id, Tool.SHELL, "run", shlex.join(action.run), **await self._run(action.run))
        elif action.fail is not None:
            raise AgentFailed(action.fail)
        elif action.crash is not None:
            if self._session_number <= action.crash:
                raise SessionLost("its session crashed")
        else:
            try:
                told = await retry_without_handles(lambda: asyncio.to_thread(self._touch_files, action))
                self._tell_tool(call_id, Tool.EDIT, *told)
            except (OSError, UnicodeDecodeError) as error:
                raise AgentFailed(f"it could not do its file action: {error}") from error

    def _touch_files(self, action: Action) -> tuple[str, str]:
        """Do what the action says; gives its name and the path."""
        if action.write is not None:
            path = self._inside(action.write.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(action.write.text, encoding="utf-8")
            return "write", action.write.path
        if action.append is not None:
            with self._inside(action.append.path).open("a", encoding="utf-8") as file:
                file.write(action.append.text)
            return "append", action.append.path
        if action.edit is not None:
            self._edit(self._inside(action.edit.path), action.edit)
            return "edit", action.edit.path
        assert action.delete is not None  # an action has exactly one key
        self._inside(action.delete).unlink(missing_ok=True)
        return "delete", action.delete

    def _edit(self, path: Path, edit: FileEdit) -> None:
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if edit.find in before:
            path.write_text(before.replace(edit.find, edit.replace, 1), encoding="utf-8")
        elif not edit.replace or edit.replace not in before:  # else an earlier attempt has done it
            raise AgentFailed(f"it could not edit {edit.path}: the text to replace is not there")

    def _inside(self, name: str) -> Path:
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder):
            raise AgentFailed(f"it wanted to touch {name}, which is outside the working directory")
        return path

    async def _run(self, command: tuple[str, ...]) -> dict[str, Any]:
        try:
            self._exit_code, output = await run_in_group(command, self._folder, agent_environment(os.environ))
        except OSError as error:
            raise AgentFailed(f"it could not run {command[0]}: {error.strerror}") from error
        self._output = output.decode("utf-8", "replace").strip()
        return {"exit_code": self._exit_code, "output": self._output[-2000:]}


def _usage_of(numbers: Mapping[str, float]) -> Usage:
    try:
        return Usage(**{k: v if k == "cost" else int(v) for k, v in numbers.items()})  # type: ignore[arg-type]
    except TypeError as error:
        raise AgentFailed(f"its script reports a usage that is none: {error}") from error


def _actions(name: str, actions: Sequence[Mapping[str, Any]]) -> tuple[Action, ...]:
    try:
        return ScriptedOptions.model_validate({"actions": actions}).actions
    except ValidationError as error:
        raise BackendUnavailable(_wrong_script(name, error)) from error


def _read_script(path: Path, agent_name: str) -> tuple[Action, ...]:
    try:
        scripts = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BackendUnavailable(f"cannot read the script {path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BackendUnavailable(f"the script {path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(scripts, dict) or not isinstance(scripts.get(agent_name), list):
        raise BackendUnavailable(f'the script {path} has no list of actions under "{agent_name}"')
    return _actions(agent_name, scripts[agent_name])


def _wrong_script(agent_name: str, error: ValidationError) -> str:
    first = error.errors()[0]
    place, message = ".".join(map(str, first["loc"])), first["msg"]
    if first["type"] == "extra_forbidden":
        known = ScriptedOptions.model_fields if len(first["loc"]) == 1 else Action.model_fields
        message = f"unknown key. {describe_known(str(first['loc'][-1]), known)}"
    return f'the script of agent "{agent_name}" is wrong at {place}: {message}'
