"""OpenCode's tools in our words: their kinds, targets and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.application.ports.backend import ToolState, ToolUsed
from segue.domain.permissions import Tool

KINDS: Mapping[Tool, tuple[str, ...]] = {
    Tool.READ: ("read", "grep", "glob", "list"),
    Tool.EDIT: ("edit",),
    Tool.SHELL: ("bash",),
    Tool.FETCH: ("webfetch", "websearch", "codesearch"),
    Tool.MCP: (),
    Tool.OTHER: ("task", "skill", "todowrite", "lsp"),
}
"""The permissions that OpenCode asks for, by kind; all its tools that write ask for `edit`."""

_MORE = {"write": Tool.EDIT, "patch": Tool.EDIT, "apply_patch": Tool.EDIT, "multiedit": Tool.EDIT}
_OWN = {
    "todoread",
    "question",
    "invalid",
    "batch",
    "plan_enter",
    "plan_exit",
    "doom_loop",
    "external_directory",
    "StructuredOutput",
}
_BY_NAME = {name: tool for tool, names in KINDS.items() for name in names} | _MORE
_TARGETS = ("filePath", "command", "url", "path", "pattern", "query", "description", "name")
_LONGEST_OUTPUT = 2000
_STATES = {"running": ToolState.STARTED, "completed": ToolState.DONE, "error": ToolState.FAILED}


def kind_of(name: str) -> Tool:
    """The kind of a tool; what OpenCode did not bring itself comes from an MCP server."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return Tool.OTHER if name in _OWN or "_" not in name else Tool.MCP


def tool_used(part: Mapping[str, Any]) -> ToolUsed | None:
    """A tool call as it stands; none before it has begun."""
    state = part.get("state") or {}
    if state.get("status") not in _STATES:
        return None
    given, metadata = state.get("input") or {}, state.get("metadata") or {}
    name, code = str(part.get("tool", "")), metadata.get("exit")
    return ToolUsed(
        call_id=str(part.get("callID", "")),
        tool=kind_of(name),
        name=name,
        state=_STATES[state["status"]],
        target=next((str(given[key]) for key in _TARGETS if given.get(key)), ""),
        exit_code=code if isinstance(code, int) else None,
        output=str(state.get("output") or state.get("error") or "")[-_LONGEST_OUTPUT:],
    )
