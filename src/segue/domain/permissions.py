"""What an agent may do: rules by tool and target, the last one that fits decides.

The rules guard against mistakes, not against malice: a shell command can do anything in a way that no pattern
foresees. Where an agent brings a sandbox of its own, its back end turns that on too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache
from glob import escape
from typing import Literal

from pydantic import BaseModel, ConfigDict

SESSION_VARIABLE = "SEGUE_SESSION"
"""Set for everything that an agent's session starts."""


class Tool(StrEnum):
    """The kinds of tool, whatever an agent calls them."""

    READ = "read"
    EDIT = "edit"
    SHELL = "shell"
    FETCH = "fetch"
    MCP = "mcp"
    OTHER = "other"


class Ruling(StrEnum):
    """What a rule says."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    """A person decides, through an approval."""


class PermissionRule(BaseModel):
    """One rule of a policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    tool: Tool | Literal["*"] = "*"
    """The kind of tool, or * for all."""
    pattern: str = "*"
    """Shell-like: of a command's text, or of a path, relative inside the workspace and absolute outside."""
    action: Ruling
    """allow, deny or ask."""

    def fits(self, tool: Tool, target: str) -> bool:
        """True if the rule speaks of this."""
        return self.tool in ("*", tool) and _compiled(self.pattern).match(target) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What an agent wants to do."""

    tool: Tool
    targets: tuple[str, ...] = ()
    """Paths, or the command, or the address; empty if it is not known."""


DEFAULT_RULES = (
    PermissionRule(action=Ruling.ALLOW),
    PermissionRule(tool=Tool.EDIT, pattern="/*", action=Ruling.DENY),
    PermissionRule(tool=Tool.SHELL, pattern="*git push*", action=Ruling.DENY),
    PermissionRule(tool=Tool.SHELL, pattern="*git * push*", action=Ruling.DENY),
)
"""Everything, but no writing outside the workspace and no pushing."""


def rules_for(
    own: Iterable[PermissionRule], workspace: str, credential: str | None
) -> tuple[PermissionRule, ...]:
    """The rules of an agent: the default ones, its own, and those about the credential, which always hold.

    `credential` is the file that opens Segue's own interface to its owner. Nobody reads or writes that, nor
    runs a command that names it, however the folder of it is spelled.
    """
    if credential is None:
        return (*DEFAULT_RULES, *own)
    path = escape(_as_written(Tool.READ, credential, workspace))
    named = escape("/".join(credential.split("/")[-2:]))
    return (
        *DEFAULT_RULES,
        *own,
        PermissionRule(tool=Tool.READ, pattern=path, action=Ruling.DENY),
        PermissionRule(tool=Tool.EDIT, pattern=path, action=Ruling.DENY),
        *(
            PermissionRule(tool=Tool.SHELL, pattern=pattern, action=Ruling.DENY)
            for pattern in (f"*{named}", f"*{named}[!a-zA-Z0-9_.-]*", "*segue token*")
        ),
    )


def decide(rules: Sequence[PermissionRule], access: Access, workspace: str) -> Ruling:
    """What the rules say; of several targets, the strictest ruling counts."""
    found = {
        _ruling(rules, access.tool, _as_written(access.tool, target, workspace))
        for target in access.targets or ("",)
    }
    return next(r for r in (Ruling.DENY, Ruling.ASK, Ruling.ALLOW) if r in found)


def always(rules: Iterable[PermissionRule], tool: Tool) -> Ruling | None:
    """What the rules say of a kind of tool whatever its target; none if that depends on the target."""
    found: Ruling | None = Ruling.ASK
    for rule in rules:
        if rule.tool not in ("*", tool):
            continue
        if rule.pattern == "*":
            found = rule.action
        elif rule.action is not found:
            found = None
    return found


def _ruling(rules: Sequence[PermissionRule], tool: Tool, target: str) -> Ruling:
    return next((rule.action for rule in reversed(rules) if rule.fits(tool, target)), Ruling.ASK)


def _as_written(tool: Tool, target: str, workspace: str) -> str:
    """The target as patterns speak of it; a path through `..` or a link is what it leads to."""
    if tool not in (Tool.READ, Tool.EDIT) or not target:
        return target
    root = os.path.realpath(workspace)
    path = os.path.realpath(os.path.join(root, target))  # noqa: PTH118  # a plain text is wanted
    inside = path == root or path.startswith(root + os.sep)
    return os.path.relpath(path, root) if inside else path


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
