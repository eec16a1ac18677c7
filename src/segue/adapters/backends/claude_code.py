"""Claude Code as an agent, by its own stream: `claude -p --output-format stream-json`.

The rules of a session are applied by a hook that Claude Code runs before each tool call, so that all of them
hold, and the rule `ask` works. The program's own modes and the user's own settings stay in force beside it.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import Field

from segue.adapters.backends import claude_hook, programs
from segue.adapters.backends.claude_stream import KINDS, LOGIN, ClaudeReader
from segue.adapters.backends.claude_windows import Windows
from segue.adapters.backends.programs import ProgramOptions
from segue.adapters.backends.streamed import Launch, StreamedBackend, StreamedTurn, messages, write_secret
from segue.adapters.backends.streams import StreamReader, Tail
from segue.application.ports.backend import (
    Capabilities,
    Message,
    SessionEvent,
    SessionRequest,
    ToolServer,
)
from segue.domain.environment import cloud_hint
from segue.domain.errors import AgentFailed, BackendUnavailable
from segue.domain.permissions import PermissionRule, Ruling, Tool, always

_COMPACT = "/compact"
_HOOK_SECONDS = 7 * 24 * 3600
"""A person may take so long to answer; the step's own time-out comes first."""


class ClaudeCodeOptions(ProgramOptions):
    """What may stand under `options` of an agent on the `claude_code` back end."""

    permission_mode: Literal["acceptEdits", "default", "dontAsk", "plan"] = "acceptEdits"
    """Claude Code's own mode, for whatever the rules do not reach."""
    max_turns: int | None = Field(default=None, gt=0)
    """It fails if it takes more turns than this for one message."""


class ClaudeCodeBackend(StreamedBackend):
    """Runs `claude -p` for each message of a session; later messages resume the conversation."""

    Options = ClaudeCodeOptions
    capabilities = Capabilities(
        resume=True,
        once=True,
        conversation=True,
        events=True,
        usage=True,
        tool_log=True,
        # Each tool call is a line of the stream, which is a file: nothing is missed while Segue is away.
        whole_log=True,
        asks=True,
        mcp=True,
        compaction=True,
    )
    name = "claude_code"
    title = "Claude Code"
    program = "claude"
    install = "install it with `segue agents install claude` or `npm install -g @anthropic-ai/claude-code`"
    hidden = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")

    async def answer(self, session: str, permission_id: str, *, allow: bool, comment: str = "") -> None:
        """Answer a question that the hook asked."""
        claude_hook.answer(messages(self._root / session), permission_id, allow=allow, comment=comment)

    async def compact(self, request: SessionRequest, session: str) -> None:
        """Give it its own command for that, as a message of the session."""
        message = Message(id=f"compact-{len(messages(self._root / session))}", text=_COMPACT)
        await self.send(request, session, message)
        folder = self._root / session / message.id
        await self._until_ended(folder)
        reader, reply = await asyncio.to_thread(self._whole, session, folder)
        told = reader.compaction if isinstance(reader, ClaudeReader) else None
        if told is None or told["compact_result"] != "success":
            why = (told or {}).get("compact_error") or reply.text or "it gave no reason"
            raise AgentFailed(f"the session was not compacted: {' '.join(str(why).split())[:300]}")

    def _launch(self, turn: StreamedTurn) -> Launch:
        request, options = turn.request, turn.options
        rules, tools = request.permissions, request.tools
        claude_hook.write_rules(turn.folder, rules, request.working_dir, tools.name if tools else None)
        settings = write_secret(turn.folder / "settings.json", _settings(turn.folder, rules, tools))
        arguments = ["-p", "--output-format", "stream-json", "--verbose"]
        arguments += ["--permission-mode", options.permission_mode, "--settings", settings]
        if turn.conversation:
            arguments += ["--resume", turn.conversation]
        else:
            arguments += ["--session-id", _conversation_of(turn)]
        if request.model:
            arguments += ["--model", request.model]
        if options.max_turns:
            arguments += ["--max-turns", str(options.max_turns)]
        if options.append_system_prompt:
            arguments += ["--append-system-prompt", options.append_system_prompt]
        if tools:
            config = write_secret(turn.folder / "mcp.json", _servers(tools))
            arguments += ["--strict-mcp-config", f"--mcp-config={config}"]
        if denied := [name for name, tool in KINDS.items() if always(rules, tool) is Ruling.DENY]:
            arguments += [f"--disallowedTools={','.join(denied)}"]
        # Else it hides them behind a search, and continues without them when they are slow to start.
        shown = {"ENABLE_TOOL_SEARCH": "false", "MCP_TIMEOUT": "60000"} if tools else {}
        return Launch(arguments=[*arguments, *options.arguments], environment=shown)

    def _reader(self, folder: Path) -> StreamReader:
        return _WithQuestions(folder, Windows(self._root.with_suffix(".windows.json")))

    def _news(self, reader: StreamReader, lines: Iterable[dict[str, Any]]) -> list[SessionEvent]:
        assert isinstance(reader, _WithQuestions)
        return [*super()._news(reader, lines), *map(claude_hook.told, reader.questions.read())]

    async def _ask_login(self, program: str, _options: Any, variables: Mapping[str, str]) -> str:
        code, answer = await programs.ask_program(program, "auth", "status", environment=variables)
        hint = f"; {found}" if (found := cloud_hint(variables, os.environ)) else ""
        if code != 0:
            reason = "it is not logged in" if '"loggedIn": false' in answer else answer[-200:]
            raise BackendUnavailable(f"{self.title} cannot work: {reason}; {LOGIN}{hint}")
        return f"ready: it starts and is logged in{hint}"


class _WithQuestions(ClaudeReader):
    """The stream of a message, and beside it what the hook wrote down."""

    def __init__(self, folder: Path, windows: Windows) -> None:
        super().__init__(windows)
        self.questions = Tail(claude_hook.journal(folder))


def _conversation_of(turn: StreamedTurn) -> str:
    """An id of our own. A conversation that never began is left behind: its id may be taken already."""
    first = turn.folder.parent.name
    begun = len(messages(turn.folder.parent)) > 1
    name = f"{first}/{turn.folder.name}" if begun else first
    return _as_uuid(name)


def _as_uuid(name: str) -> str:
    try:
        return str(UUID(name))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, f"segue:{name}"))


def _settings(folder: Path, rules: Sequence[PermissionRule], tools: ToolServer | None) -> dict[str, Any]:
    """Our hook for every call; reading goes past it where the rules allow all of that but single files."""
    free = [name for name, tool in KINDS.items() if tool is Tool.READ]
    kept = [rule for rule in rules if _keeps_from_file(rule)]
    reads = always([rule for rule in rules if rule not in kept], Tool.READ) is Ruling.ALLOW
    # -P: nothing in the workspace can stand in for a module of ours.
    command = shlex.join([sys.executable, "-P", "-m", claude_hook.__name__, str(folder)])
    hook = {"type": "command", "command": command, "timeout": _HOOK_SECONDS}
    matcher = f"^(?!({'|'.join(free)})$).*" if reads else "*"
    return {
        "permissions": {
            "allow": [*(free if reads else ()), *([f"mcp__{tools.name}"] if tools else ())],
            "deny": [f"Read({_anchored(rule.pattern)})" for rule in kept] if reads else [],
        },
        "disableAllHooks": False,  # whatever the settings of the workspace say
        "hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]},
    }


def _keeps_from_file(rule: PermissionRule) -> bool:
    """True for a rule that Claude Code can apply itself: it denies reading one file of a plain name."""
    is_plain = re.fullmatch(r"[\w./ -]+", rule.pattern) is not None
    return rule.tool == Tool.READ and rule.action is Ruling.DENY and is_plain


def _anchored(path: str) -> str:
    """A path in the words of Claude Code, where one slash is the folder of the settings."""
    return f"/{path}" if path.startswith("/") else f"./{path}"


def _servers(tools: ToolServer) -> dict[str, Any]:
    program, *arguments = tools.command
    server = {"command": program, "args": arguments, "env": dict(tools.environment)}
    return {"mcpServers": {tools.name: server}}
