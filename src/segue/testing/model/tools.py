"""Puts a step into a tool that the agent offers, whatever its name and its arguments are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from segue.testing.model.request import ModelRequest, OfferedTool
from segue.testing.model.script import Arguments, Call, Edit, Read, Shell, Text, Write

_NAMES = {
    Write: ("write", "write_file", "create_file", "write_to_file"),
    Edit: ("edit", "edit_file", "replace", "str_replace"),
    Read: ("read", "read_file", "view", "view_file"),
    Shell: ("bash", "shell", "exec_command", "shell_command", "run_shell_command", "execute_command"),
}
_ARGUMENTS = {
    "path": ("filepath", "path", "absolutepath", "file", "filename"),
    "content": ("content", "contents", "filetext", "text"),
    "old": ("oldstring", "oldstr", "oldtext", "before", "search"),
    "new": ("newstring", "newstr", "newtext", "after", "replace"),
    "command": ("command", "cmd", "script"),
}
_PLAIN: Mapping[str, Any] = {"boolean": False, "integer": 10, "number": 10, "array": [], "object": {}}


_REPLACE = """\
import pathlib, sys
path, old, new = pathlib.Path(sys.argv[1]), *sys.argv[2:]
text = path.read_text()
sys.exit("the text is not in the file") if old not in text else path.write_text(text.replace(old, new, 1))
"""


class NoTool(LookupError):
    """The agent offers no tool for a step."""


@dataclass(frozen=True, slots=True)
class ScriptedToolCall:
    """A call of a tool that the agent offers."""

    tool: OfferedTool
    arguments: Mapping[str, Any] | str


def call_tool(step: Write | Edit | Read | Shell | Call, request: ModelRequest) -> ScriptedToolCall:
    """The call that does a step."""
    if isinstance(step, Call):
        return _named_call(step, request)
    for made in _ways(step, request):
        if made is not None:
            return made
    offered = ", ".join(tool.full_name for tool in request.tools) or "none"
    raise NoTool(f"The agent offers no tool to {type(step).__name__.lower()} with; it offers: {offered}.")


def make_text(text: Text, request: ModelRequest) -> str:
    """A text of the script, with the working directory put in."""
    made = text if isinstance(text, str) else text(request)
    return made.replace("{cwd}", request.cwd) if request.cwd else made


def _named_call(step: Call, request: ModelRequest) -> ScriptedToolCall:
    found = [tool for tool in request.tools if step.tool in (tool.name, tool.full_name)] or [
        tool for tool in request.tools if tool.full_name.lower().endswith(step.tool.lower())
    ]
    if not found:
        offered = ", ".join(tool.full_name for tool in request.tools) or "none"
        raise NoTool(f"The agent offers no tool named {step.tool!r}; it offers: {offered}.")
    return ScriptedToolCall(
        min(found, key=lambda tool: len(tool.full_name)), _make_arguments(step.arguments, request)
    )


def _make_arguments(arguments: Arguments, request: ModelRequest) -> Mapping[str, Any] | str:
    made = arguments(request) if callable(arguments) else arguments
    if isinstance(made, str):
        return made
    return {
        key: make_text(value, request) if isinstance(value, str) or callable(value) else value
        for key, value in made.items()
    }


def _ways(step: Write | Edit | Read | Shell, request: ModelRequest) -> Iterator[ScriptedToolCall | None]:
    """The ways to do a step, best first."""
    if isinstance(step, Shell):
        yield _shell(make_text(step.command, request), request)
        return
    path = _place(step.path, request)
    wanted = {"path": path, **_texts(step, request)}
    yield _fitting(type(step), wanted, request)
    yield _editor(step, wanted, request)
    if isinstance(step, Write):
        yield _patch(wanted, request)
    yield _shell(_command(step, wanted), request)


def _place(path: str, request: ModelRequest) -> str:
    """The path as the agent needs it: absolute when its working directory is known."""
    if request.cwd is None:
        return path.replace("{cwd}/", "").replace("{cwd}", ".")
    return str(PurePosixPath(request.cwd, path.replace("{cwd}", request.cwd)))


def _texts(step: Write | Edit | Read, request: ModelRequest) -> dict[str, str]:
    match step:
        case Write():
            return {"content": make_text(step.content, request)}
        case Edit():
            return {"old": step.old, "new": make_text(step.new, request)}
        case Read():
            return {}


def _find(names: tuple[str, ...], request: ModelRequest) -> Iterator[OfferedTool]:
    """The tools of these names; a prefix that ends in `__` or `.` does not matter."""
    for name in names:
        for tool in request.tools:
            if tool.name.lower().replace(".", "__").rsplit("__", 1)[-1] == name:
                yield tool


def _fitting(
    kind: type[Write | Edit | Read | Shell], wanted: Mapping[str, Any], request: ModelRequest
) -> ScriptedToolCall | None:
    for tool in _find(_NAMES[kind], request):
        if (arguments := _fill(tool, wanted)) is not None:
            return ScriptedToolCall(tool, arguments)
    return None


def _fill(tool: OfferedTool, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """The wanted values under the names that the tool has for them; None when one has no place."""
    names = {name.replace("_", "").lower(): name for name in tool.properties}
    filled: dict[str, Any] = {}
    for meaning, value in wanted.items():
        name = next((names[known] for known in _ARGUMENTS[meaning] if known in names), None)
        if name is None:
            return _fill_edits(tool, wanted) if "old" in wanted else None
        is_list = tool.properties[name].get("type") == "array"
        filled[name] = ["bash", "-lc", value] if is_list and meaning == "command" else value
    return _complete(tool, filled)


def _fill_edits(tool: OfferedTool, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """For tools that take a list of edits."""
    items = (tool.properties.get("edits") or {}).get("items")
    outer = _fill(tool, {"path": wanted["path"]})
    inner = items and _fill(OfferedTool(tool.name, items), {"old": wanted["old"], "new": wanted["new"]})
    return None if outer is None or not inner else {**outer, "edits": [inner]}


def _complete(tool: OfferedTool, filled: dict[str, Any]) -> dict[str, Any]:
    """Something harmless for what the tool also insists on."""
    for name in tool.schema.get("required") or ():
        if name not in filled:
            rule = tool.properties.get(name) or {}
            kinds = rule.get("type")
            kind = kinds[0] if isinstance(kinds, list) else kinds
            choices = rule.get("enum")
            filled[name] = choices[0] if choices else _PLAIN.get(str(kind), "scripted step")
    return filled


def _editor(
    step: Write | Edit | Read, wanted: Mapping[str, str], request: ModelRequest
) -> ScriptedToolCall | None:
    """For agents with one editor tool that takes a command."""
    command = {Write: "write", Edit: "str_replace", Read: "view"}[type(step)]
    names = {"path": "path", "content": "file_text", "old": "old_str", "new": "new_str"}
    for tool in _find(("text_editor", "str_replace_editor"), request):
        choices = (tool.properties.get("command") or {}).get("enum") or [command]
        chosen = command if command in choices else "create"
        return ScriptedToolCall(
            tool, {"command": chosen, **{names[key]: value for key, value in wanted.items()}}
        )
    return None


def _patch(wanted: Mapping[str, str], request: ModelRequest) -> ScriptedToolCall | None:
    """For agents with a tool for patches: a new file is one; an edit within a line is none."""
    for tool in _find(("apply_patch",), request):
        lines = "".join(f"+{line}\n" for line in wanted["content"].splitlines())
        text = f"*** Begin Patch\n*** Add File: {wanted['path']}\n{lines}*** End Patch\n"
        return ScriptedToolCall(tool, text if tool.freeform else {next(iter(tool.properties), "input"): text})
    return None


def _shell(command: str, request: ModelRequest) -> ScriptedToolCall | None:
    return _fitting(Shell, {"command": command}, request)


def _command(step: Write | Edit | Read, wanted: Mapping[str, str]) -> str:
    path = shlex.quote(wanted["path"])
    match step:
        case Write():
            folder = shlex.quote(str(PurePosixPath(wanted["path"]).parent))
            return f"mkdir -p {folder} && printf %s {shlex.quote(wanted['content'])} > {path}"
        case Edit():
            words = ("python3", "-c", _REPLACE, wanted["path"], wanted["old"], wanted["new"])
            return shlex.join(words)
        case Read():
            return f"cat {path}"
