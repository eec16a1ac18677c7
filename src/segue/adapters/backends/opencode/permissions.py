"""Our rules in OpenCode's words, and OpenCode's questions in ours.

What is allowed outright needs no rule: OpenCode's own ones stay, which may be stricter. What is refused
outright is taken from the agent. For all else OpenCode asks, and `decide` answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from segue.adapters.backends.opencode.kinds import KINDS, kind_of
from segue.domain.permissions import Access, PermissionRule, Ruling, Tool, always

Rule = Mapping[str, str]
LOOP = "doom_loop"
"""What OpenCode asks when the agent makes the same call again and again."""
_WITH_TARGETS = ("bash", "edit", "read")
"""Permissions whose patterns are about what ours are about."""
_SETS = re.compile(r"\[!?\]?[^]]*\]")
"""What OpenCode's patterns do not have."""
_PATH_KEYS = ("filePath", "path", "filepath")


def session_rules(
    rules: Sequence[PermissionRule],
    *,
    agent_rules: Sequence[Rule],
    mcp_servers: Collection[str],
    own_tools: str | None,
) -> list[Rule]:
    """The rules of a session; OpenCode's last one that fits decides.

    Sub-agents inherit refusals and what is said of other directories, nothing else. So what is not simply
    allowed is refused first, which holds for them; then comes that the session itself is to ask.
    """
    refused: list[Rule] = []
    asked: list[Rule] = []
    for tool in Tool:
        about = [rule for rule in rules if not _is_beyond_border(rule, tool)]
        verdict = always(about, tool)
        for name in [f"{name}_*" for name in sorted(mcp_servers)] if tool is Tool.MCP else KINDS[tool]:
            refused += [
                _rule(name, Ruling.DENY, pattern) for pattern in _kept_from_sub_agents(about, tool, name)
            ]
            if verdict is not Ruling.ALLOW and not _denied(agent_rules, name):
                asked.append(_rule(name, verdict or Ruling.ASK))
    asked += [_rule("external_directory", Ruling.ASK), _rule("question", Ruling.DENY)]
    return [*refused, *asked, *_tool_server_rules(own_tools)]


def access_of(asked: Mapping[str, Any], call: tuple[str, Mapping[str, Any]] | None) -> Access:
    """What the agent wants to do, from OpenCode's question and the tool call it is about."""
    metadata = asked.get("metadata") or {}
    name, given = call or (str(asked.get("permission", "")), {})
    command = metadata.get("command") or given.get("command")
    if asked.get("permission") in ("bash", "external_directory") and command:
        return Access(tool=Tool.SHELL, targets=(str(command),))
    tool = kind_of(name)
    if tool in (Tool.READ, Tool.EDIT):
        return Access(tool=tool, targets=_paths(asked, metadata, given))
    patterns = tuple(str(pattern) for pattern in asked.get("patterns") or ())
    if tool is Tool.FETCH:
        return Access(tool=tool, targets=(str(given["url"]),) if given.get("url") else patterns)
    return Access(tool=tool, targets=(name,))


def title_of(access: Access) -> str:
    """What it wants, in a line."""
    what = ", ".join(access.targets)
    return f"{access.tool.value}: {what}" if what else access.tool.value


def _paths(
    asked: Mapping[str, Any], metadata: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[str, ...]:
    files = metadata.get("files")
    if isinstance(files, list):
        found = [file.get("filePath") for file in files if isinstance(file, Mapping)]
        moved = [file.get("movePath") for file in files if isinstance(file, Mapping)]
        if any(found):
            return tuple(str(path) for path in (*found, *moved) if path)
    for source in (given, metadata):
        for key in _PATH_KEYS:
            if source.get(key):
                return (str(source[key]),)
    if asked.get("permission") in ("glob", "grep", "list"):
        return (".",)
    return tuple(str(pattern) for pattern in asked.get("patterns") or ())


def _is_beyond_border(rule: PermissionRule, tool: Tool) -> bool:
    """True if it is about reading in other directories alone: OpenCode asks about those in any case."""
    return tool is Tool.READ and rule.pattern.startswith("/")


def _kept_from_sub_agents(rules: Sequence[PermissionRule], tool: Tool, name: str) -> list[str]:
    """What a sub-agent may not do, in OpenCode's patterns: rather too much than too little."""
    found = ["*"]
    for rule in rules:
        if rule.tool not in ("*", tool):
            continue
        if rule.pattern == "*":
            found = [] if rule.action is Ruling.ALLOW else ["*"]
        elif rule.action is not Ruling.ALLOW and name in _WITH_TARGETS:
            pattern = _SETS.sub("?", rule.pattern)
            # Its paths begin at the root of the repository, and ours at the workspace, which may lie deeper.
            found += [pattern, f"*/{pattern}"] if tool is not Tool.SHELL else [pattern]
    return found


def _denied(agent_rules: Sequence[Rule], name: str) -> bool:
    """True if OpenCode's own agent may not do this at all, as its plan agent may not edit."""
    for rule in reversed(agent_rules):
        if rule.get("pattern") == "*" and fnmatchcase(name, str(rule.get("permission", ""))):
            return rule.get("action") == Ruling.DENY
    return False


def _tool_server_rules(own: str | None) -> list[Rule]:
    """Tool servers are there for a whole directory: each session may use its own alone."""
    rules = [_rule("*_s????????_*", Ruling.DENY)]
    return [*rules, _rule(f"{own}_*", Ruling.ALLOW)] if own else rules


def _rule(permission: str, action: Ruling, pattern: str = "*") -> Rule:
    return {"permission": permission, "pattern": pattern, "action": action.value}
