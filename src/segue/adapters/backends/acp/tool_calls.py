"""Tool calls as ACP tells them, piece by piece, turned into ours: kind, target, exit code, output."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from segue.application.ports.backend import ToolState, ToolUsed
from segue.domain.permissions import Access, Tool

_KINDS = {
    "read": Tool.READ,
    "search": Tool.READ,
    "edit": Tool.EDIT,
    "delete": Tool.EDIT,
    "move": Tool.EDIT,
    "execute": Tool.SHELL,
    "fetch": Tool.FETCH,
}
_NAMES = {
    Tool.READ: ("read", "view", "grep", "glob", "ls", "list", "tree", "search", "read_file", "analyze"),
    Tool.EDIT: (
        "write",
        "edit",
        "create",
        "patch",
        "apply_patch",
        "text_editor",
        "write_file",
        "delete",
        "move",
    ),
    Tool.SHELL: ("shell", "bash", "execute", "exec_command", "run_shell_command", "terminal"),
    Tool.FETCH: ("fetch", "webfetch", "web_fetch", "web_scrape"),
}
_BY_NAME = {name: tool for tool, names in _NAMES.items() for name in names}
_PATH_KEYS = (
    "file_path",
    "filePath",
    "filepath",
    "path",
    "absolute_path",
    "abs_path",
    "destination",
    "new_path",
)
_EXIT_KEYS = ("exit_code", "exitCode", "exit")
_OUTPUT_LIMIT = 2000


class AcpToolCall:
    """One call: what is known of it so far."""

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.told: ToolState | None = None
        """The state that was last told."""
        self._known: dict[str, Any] = {}
        self._first_title = ""

    def add(self, update: Mapping[str, Any]) -> None:
        """Take in what an update says; what it leaves out, or leaves empty, stays."""
        self._known |= _filled(update)
        self._first_title = self._first_title or str(update.get("title") or "")

    def ask(self, told: Mapping[str, Any]) -> AcpToolCall:
        """The call as a question about it tells it; the call itself only learns what it did not know."""
        question = AcpToolCall(self.id)
        question._known, question._first_title = dict(self._known), self._first_title
        question.add(told)
        self._known = _filled(told) | self._known
        self._first_title = question._first_title
        return question

    @property
    def state(self) -> ToolState:
        """How far it has come."""
        ends = {"completed": ToolState.DONE, "failed": ToolState.FAILED}
        return ends.get(str(self._known.get("status")), ToolState.STARTED)

    @property
    def runs(self) -> bool:
        """It is more than announced."""
        return self._known.get("status") == "in_progress"

    @property
    def title(self) -> str:
        """A line for people."""
        return " ".join(str(self._known.get("title") or self._first_title or "a tool").split())[:300]

    @property
    def name(self) -> str:
        """The agent's own name of the tool, where it tells one."""
        for part in _mapping(self._known.get("_meta")).values():
            inner = _mapping(_mapping(part).get("toolCall")) or _mapping(part)
            if inner.get("toolName"):
                extension = inner.get("extensionName")
                name = str(inner["toolName"])
                return f"{extension}__{name}" if extension and extension != "developer" else name
        title = self._first_title.removeprefix("Tool: ")
        return title if title and not re.search(r"\s", title) else str(self._known.get("kind") or "tool")

    def tool(self, servers: Sequence[str]) -> Tool:
        """Its kind; `servers` are the MCP servers that the agent was given."""
        name = self.name.lower()
        if name.startswith("mcp_") or any(
            name.startswith((f"{server}_", f"{server}.", f"{server}/", f"{server}:")) for server in servers
        ):
            return Tool.MCP
        return _KINDS.get(str(self._known.get("kind"))) or _BY_NAME.get(name, Tool.OTHER)

    def targets(self, tool: Tool) -> tuple[str, ...]:
        """What it acts on; while it is only announced, that may not be known yet."""
        given = _mapping(self._known.get("rawInput"))
        guess = () if self._known.get("status") == "pending" else (self.title,)
        if tool is Tool.SHELL:
            command = _command(given)
            return (command,) if command else guess
        if tool is Tool.FETCH:
            return tuple(str(given[key]) for key in ("url", "uri") if given.get(key)) or guess
        if tool is Tool.MCP:
            return (self.name,)
        places = [*_sequence(self._known.get("locations")), *_sequence(self._known.get("content"))]
        paths = [str(place["path"]) for place in map(_mapping, places) if place.get("path")]
        paths += [str(given[key]) for key in _PATH_KEYS if isinstance(given.get(key), str)]
        return tuple(dict.fromkeys(paths))

    def access(self, servers: Sequence[str]) -> Access:
        """What the rules are asked about."""
        tool = self.tool(servers)
        return Access(
            tool=tool, targets=self.targets(tool) or (self.title,) * (tool in (Tool.SHELL, Tool.FETCH))
        )

    def event(self, servers: Sequence[str], state: ToolState) -> ToolUsed:
        """The call as it is told in a state."""
        tool = self.tool(servers)
        ended = state is not ToolState.STARTED
        return ToolUsed(
            call_id=self.id,
            tool=tool,
            name=self.name,
            state=state,
            target=next(iter(self.targets(tool)), ""),
            exit_code=self._exit_code() if ended and tool is Tool.SHELL else None,
            output=self._output()[-_OUTPUT_LIMIT:] if ended else "",
        )

    def _exit_code(self) -> int | None:
        given = _mapping(self._known.get("rawOutput"))
        for place in (given, _mapping(given.get("metadata")), _mapping(self._known.get("_meta"))):
            for key in _EXIT_KEYS:
                if isinstance(place.get(key), int):
                    return int(place[key])
        return None

    def _output(self) -> str:
        raw = self._known.get("rawOutput")
        if isinstance(raw, str):
            return raw
        given = _mapping(raw)
        for key in ("formatted_output", "output", "stdout", "error"):
            if isinstance(given.get(key), str) and given[key]:
                return str(given[key])
        blocks = [_mapping(_mapping(block).get("content")) for block in _sequence(self._known.get("content"))]
        return "\n".join(str(block["text"]) for block in blocks if block.get("text"))


def _filled(update: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in update.items() if value not in (None, "", [], {})}


def _command(given: Mapping[str, Any]) -> str:
    command = given.get("command") or given.get("cmd") or given.get("script")
    if isinstance(command, str):
        return command
    words = [str(word) for word in _sequence(command)]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]  # a shell around the command itself
    return shlex.join(words)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
