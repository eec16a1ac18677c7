"""The hook that Claude Code runs before each tool call: the rules decide, or a person through Segue does.

Run as `python -m segue.adapters.backends.claude_hook FOLDER`. The folder of the message has the rules in
`permissions.json`; every decision is written to `permissions.jsonl` there, from which the events are read. A
question stands there too, and its answer comes as a file in `answers`: so it outlives a restart of Segue.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from segue.adapters.backends.claude_stream import tool_of
from segue.application.ports.backend import PermissionAsked, PermissionSettled, SessionEvent
from segue.domain.permissions import Access, PermissionRule, Ruling, Tool, decide

_RULES, _JOURNAL, _ANSWERS = "permissions.json", "permissions.jsonl", "answers"
_LOOK_SECONDS = 0.1
_BLOCK = 2
"""The exit code by which a hook blocks a call whatever else it says."""


def write_rules(folder: Path, rules: Sequence[PermissionRule], workspace: str, own: str | None) -> None:
    """Lay down what the hook decides by; `own` is the name of Segue's tool server."""
    content = {
        "rules": [rule.model_dump(mode="json") for rule in rules],
        "workspace": workspace,
        "own": f"mcp__{own}__" if own else None,
    }
    (folder / _RULES).write_text(json.dumps(content), encoding="utf-8")
    (folder / _JOURNAL).touch()
    (folder / _ANSWERS).mkdir(exist_ok=True)


def journal(folder: Path) -> Path:
    """The file with what was decided and asked."""
    return folder / _JOURNAL


def told(line: Mapping[str, Any]) -> SessionEvent:
    """What a line of the journal says."""
    access = Access(tool=Tool(line["tool"]), targets=tuple(line["targets"]))
    if line["ruling"] == Ruling.ASK:
        return PermissionAsked(id=line["id"], access=access, title=line["title"])
    return PermissionSettled(access=access, allowed=line["ruling"] == Ruling.ALLOW)


def answer(folders: Iterable[Path], permission_id: str, *, allow: bool, comment: str) -> None:
    """Answer a question of one of these messages; what was answered before stays as it is."""
    if _file_name(permission_id) != permission_id:
        return
    for folder in folders:
        with suppress(FileNotFoundError):
            asked = f'"id": "{permission_id}"' in (folder / _JOURNAL).read_text(encoding="utf-8")
            place = folder / _ANSWERS / permission_id
            if asked and not place.exists():
                half = place.with_suffix(".half")
                half.write_text(json.dumps({"allow": allow, "comment": comment}), encoding="utf-8")
                half.rename(place)


def main(folder: Path, call: Mapping[str, Any]) -> dict[str, Any]:
    """What the hook says about a tool call."""
    terms = json.loads((folder / _RULES).read_bytes())
    name = str(call["tool_name"])
    tool, target = tool_of(name, call.get("tool_input") or {})
    access = Access(tool=tool, targets=(target,) if target else ())
    rules = [PermissionRule.model_validate(rule) for rule in terms["rules"]]
    own = terms["own"] is not None and name.startswith(terms["own"])
    ruling = Ruling.ALLOW if own else decide(rules, access, terms["workspace"])
    number = _file_name(str(call.get("tool_use_id") or time.time_ns()))
    _note(folder, number, access, ruling, f"{name}: {target}"[:200])
    if ruling is Ruling.ASK:
        return _answered(folder, number)
    reason = "allowed by the rules" if ruling is Ruling.ALLOW else "refused by the rules of this workspace"
    return _decision(ruling is Ruling.ALLOW, reason)


def _note(folder: Path, number: str, access: Access, ruling: Ruling, title: str) -> None:
    line = {"id": number, "tool": access.tool, "targets": access.targets, "ruling": ruling, "title": title}
    with (folder / _JOURNAL).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _answered(folder: Path, number: str) -> dict[str, Any]:
    """Wait for the answer; whoever aborts the session ends the wait."""
    place = folder / _ANSWERS / number
    while not place.exists():
        time.sleep(_LOOK_SECONDS)
    found = json.loads(place.read_bytes())
    words = "allowed by a person" if found["allow"] else "refused by a person"
    return _decision(found["allow"], f"{words}: {found['comment']}" if found["comment"] else words)


def _decision(allow: bool, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow" if allow else "deny",
            "permissionDecisionReason": reason,
        }
    }


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


if __name__ == "__main__":
    try:
        said = main(Path(sys.argv[1]), json.load(sys.stdin))
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"the rules could not be applied: {error!r}\n")
        sys.exit(_BLOCK)
    sys.stdout.write(json.dumps(said))
