"""Settings of a test runner inside of a file with others, such as `pyproject.toml`: taken out, put back."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any

_SECTION = re.compile(r"^\[+\s*([^\]]+?)\s*\]+\s*(?:[#;].*)?$")
_RUNNER_SECTION = re.compile(r"^(tool\.)?(pytest|coverage)\b|^(tool:pytest|pytest|coverage|testenv)\b")
_RUNNER_KEYS = ("scripts", "jest", "mocha", "vitest", "ava", "nyc", "c8", "tap")


def restore_runner_settings(path: str, before: str, after: str) -> str:
    """The file after the step, with the runner's settings of before."""
    if PurePosixPath(path).name == "package.json":
        return _restore_keys(before, after)
    kept = [text for name, text in _sections(after) if not _RUNNER_SECTION.search(name)]
    restored = [text for name, text in _sections(before) if _RUNNER_SECTION.search(name)]
    return "\n".join([*kept, *restored]) + "\n"


def runner_part(path: str, text: str) -> str:
    """The runner's settings alone, to be compared."""
    if PurePosixPath(path).name == "package.json":
        found = _object(text)
        part = {} if found is None else {key: found[key] for key in _RUNNER_KEYS if key in found}
        return json.dumps(part, sort_keys=True)
    return "\n".join(part.strip() for name, part in _sections(text) if _RUNNER_SECTION.search(name))


def _restore_keys(before: str, after: str) -> str:
    old, new = _object(before), _object(after)
    if old is None or new is None:
        return after
    kept = {key: value for key, value in new.items() if key not in _RUNNER_KEYS}
    return json.dumps(kept | {key: old[key] for key in _RUNNER_KEYS if key in old}, indent=2)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _sections(text: str) -> list[tuple[str, str]]:
    """The sections of a TOML or INI file with their text; what is above the first has no name."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if header := _SECTION.match(line):
            found.append((header[1].replace('"', ""), []))
        found[-1][1].append(line)
    return [(name, "\n".join(lines)) for name, lines in found]
