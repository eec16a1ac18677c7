"""Where each tool keeps its sessions on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_TOOLS = ("claude", "codex", "opencode", "goose", "pi", "omp")


def known_tools() -> tuple[str, ...]:
    """The tools whose sessions can be read."""
    return _TOOLS


def folder_of(tool: str, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder, or for OpenCode the database, that holds a tool's sessions."""
    home = Path.home()

    def named(variable: str, default: Path) -> Path:
        value = environment.get(variable, "").strip()
        return Path(value).expanduser() if value else default

    if tool == "claude":
        return named("CLAUDE_CONFIG_DIR", home / ".claude") / "projects"
    if tool == "codex":
        return named("CODEX_HOME", home / ".codex") / "sessions"
    if tool == "opencode":
        data = named("XDG_DATA_HOME", home / ".local" / "share") / "opencode"
        database = named("OPENCODE_DB", data / "opencode.db")
        return database if database.is_absolute() else data / database
    if tool == "goose":
        root = environment.get("GOOSE_PATH_ROOT", "").strip()
        own = Path(root) / "data" if root else named("XDG_DATA_HOME", home / ".local" / "share") / "goose"
        return own / "sessions"
    if tool == "pi":
        own = named("PI_CODING_AGENT_DIR", home / ".pi" / "agent") / "sessions"
        return named("PI_CODING_AGENT_SESSION_DIR", own)
    return named("PI_CODING_AGENT_DIR", home / ".omp" / "agent") / "sessions"


def database_of(tool: str) -> Path | None:
    """The database that holds a tool's sessions; none if it writes a file for each."""
    if tool == "opencode":
        return folder_of(tool)
    return folder_of(tool) / "sessions.db" if tool == "goose" else None


def session_files(tool: str, working_dir: Path | None = None) -> list[tuple[float, int, Path]]:
    """The files of a tool's sessions with their time and size, the newest first."""
    root = folder_of(tool)
    if tool == "claude":
        folders = [root / claude_name(working_dir)] if working_dir else []
        found = _files(folder for folder in folders or _folders(root))
        found = found or _files(_folders(root))
    elif tool == "codex":
        found = _files(_days(root))
    else:
        found = _files([root, *_folders(root)])
    return sorted(found, reverse=True)


def claude_name(working_dir: Path) -> str:
    """The name that Claude Code gives to the folder of a project's sessions."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(working_dir))


def _files(folders: Iterator[Path] | list[Path]) -> list[tuple[float, int, Path]]:
    found = []
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if (
                        entry.name.endswith(".jsonl")
                        and not entry.name.startswith("agent-")
                        and entry.is_file()
                    ):
                        stat = entry.stat()
                        found.append((stat.st_mtime, stat.st_size, Path(entry.path)))
        except OSError:
            continue
    return found


def _folders(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _days(root: Path) -> list[Path]:
    """The folders year/month/day of Codex, and beside them those of archived sessions."""
    days = [day for year in _folders(root) for month in _folders(year) for day in _folders(month)]
    return [root, *days, root.parent / "archived_sessions"]
