"""Lists the sessions that lie on this machine: from the heads and tails of files, never from whole ones."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from segue.adapters.transcripts import claude, codex, goose, opencode, pi
from segue.adapters.transcripts.lines import head_of, tail_of
from segue.adapters.transcripts.session_locations import database_of, known_tools, session_files
from segue.domain.errors import InvalidRequest
from segue.domain.transcripts import FoundSession
from segue.domain.transcripts.loose import first_text, head, joined, mapping, moment, text
from segue.domain.transcripts.wishes import own_words

MOST_LOOKED_INTO = 3000
_TITLE = 100
_FIRST = 5
"""Records that tell which tool wrote a file."""
_Records: TypeAlias = Sequence[Mapping[str, Any]]
_Facts: TypeAlias = tuple[str, str, str]
_EPOCH = datetime.fromtimestamp(0, UTC)


def find_sessions(
    tools: Sequence[str] = (), working_dir: Path | None = None, most: int | None = None
) -> list[FoundSession]:
    """The sessions of these tools, or of all, the newest first; those of one folder if it is named."""
    found = (sessions_of(tool, working_dir) for tool in tools or known_tools())
    newest = heapq.merge(*found, key=lambda each: each.updated_at, reverse=True)
    return list(islice(_once(newest), most))


def sessions_of(tool: str, working_dir: Path | None = None) -> Iterator[FoundSession]:
    """The sessions of one tool, the newest first, looked into one by one."""
    if tool == opencode.TOOL:
        yield from _in_database(tool, working_dir)
    elif tool == goose.TOOL:
        yield from _of_goose(working_dir)
    else:
        yield from _in_files(tool, working_dir)


def _of_goose(working_dir: Path | None) -> Iterator[FoundSession]:
    """Those of its database, and files of older versions that it has not taken over."""
    stored = list(_in_database(goose.TOOL, working_dir))
    ids = {session.session_id for session in stored}
    files = (each for each in _in_files(goose.TOOL, working_dir) if each.session_id not in ids)
    yield from heapq.merge(stored, files, key=lambda each: each.updated_at, reverse=True)


def _in_files(tool: str, working_dir: Path | None) -> Iterator[FoundSession]:
    for modified, size, path in session_files(tool, working_dir)[:MOST_LOOKED_INTO]:
        session = _look_into(tool, path, datetime.fromtimestamp(modified, UTC), size)
        if session and session.tool == tool and (working_dir is None or is_in(session, working_dir)):
            yield session


def is_in(session: FoundSession, working_dir: Path) -> bool:
    """True if the session worked in this folder."""
    return session.working_dir is not None and os.path.realpath(session.working_dir) == os.path.realpath(
        working_dir
    )


def _once(sessions: Iterator[FoundSession]) -> Iterator[FoundSession]:
    seen: set[tuple[str, str]] = set()
    for session in sessions:
        if (session.path, session.session_id) not in seen:
            seen.add((session.path, session.session_id))
            yield session


def _in_database(tool: str, working_dir: Path | None) -> Iterator[FoundSession]:
    path = database_of(tool)
    if path is None or not path.is_file():
        return
    try:
        for row in opencode.sessions_in(path) if tool == opencode.TOOL else goose.sessions_in(path):
            session = FoundSession(
                tool=tool,
                session_id=text(row.get("id")),
                title=_short(first_text(row, "title", "name", "description")),
                working_dir=first_text(row, "directory", "working_dir") or None,
                updated_at=moment(row.get("time_updated") or row.get("updated_at")) or _EPOCH,
                size=None,
                path=str(path),
            )
            if working_dir is None or is_in(session, working_dir):
                yield session
    except InvalidRequest:
        return  # a database of another version has nothing to list


def _look_into(tool: str, path: Path, modified: datetime, size: int) -> FoundSession | None:
    try:
        records = head_of(path)
        first = list(islice(records, _FIRST))
        facts = _facts(tool, path, first, chain(first, records))
    except OSError:
        return None
    if facts is None:
        return None
    own, working_dir, title = facts
    return FoundSession(
        tool=pi.tool_of(first) if tool in (pi.PI, pi.OMP) else tool,
        session_id=own or path.stem,
        title=_short(title),
        working_dir=working_dir or None,
        updated_at=modified,
        size=size,
        path=str(path),
    )


def _facts(tool: str, path: Path, first: _Records, records: Iterable[Mapping[str, Any]]) -> _Facts | None:
    """Id, folder and first words; none if another tool wrote it. Reads no further than it must."""
    if tool == claude.TOOL:
        if not claude.looks_like(first):
            return None
        folder, words = _claude_facts(records)
        told = _claude_title(path)
        return path.stem, folder or told[0], told[1] or words
    if tool == codex.TOOL:
        return _codex_facts(records) if codex.looks_like(first) else None
    if tool == goose.TOOL:
        return _goose_facts(path, records) if goose.looks_like(first) else None
    return _pi_facts(records) if pi.looks_like(first) else None


def _claude_facts(records: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    folder = words = ""
    for record in records:
        folder = folder or text(record.get("cwd"))
        own = record.get("isSidechain") is not True and record.get("isMeta") is not True
        if own and record.get("type") == "user":
            words = words or own_words(joined(mapping(record.get("message")).get("content")))
        if folder and words:
            break
    return folder, words


def _claude_title(path: Path) -> tuple[str, str]:
    """The folder and the newest title that the end of the file tells."""
    folder = title = ""
    for record in tail_of(path):
        folder = folder or text(record.get("cwd"))
        if record.get("type") in ("custom-title", "ai-title"):
            title = first_text(record, "customTitle", "aiTitle", "title")
            break
    return folder, title


def _codex_facts(records: Iterable[Mapping[str, Any]]) -> _Facts:
    own = folder = words = ""
    for record in records:
        payload = mapping(record.get("payload")) or record
        if record.get("type") in ("session_meta", "turn_context", None):
            own = own or text(payload.get("id"))
            folder = folder or text(payload.get("cwd"))
        if payload.get("type") == "message" and payload.get("role") == "user":
            said = joined(payload.get("content"), "input_text", "text")
            words = said if codex.is_own(payload, said) else ""
        if own and folder and words:
            break
    return own, folder, words


def _goose_facts(path: Path, records: Iterable[Mapping[str, Any]]) -> _Facts:
    folder = title = words = ""
    for record in records:
        folder = folder or text(record.get("working_dir"))
        title = title or goose.title_of(record)
        if record.get("role") == "user" and (words := joined(record.get("content"))):
            break
    return path.stem, folder, title or words


def _pi_facts(records: Iterable[Mapping[str, Any]]) -> _Facts:
    own = folder = title = words = ""
    for record in records:
        kind = record.get("type")
        if kind == "session":
            own, folder = text(record.get("id")), text(record.get("cwd"))
        title = (text(record.get("title")) if kind in ("title", "session") else "") or title
        message = mapping(record.get("message"))
        if message.get("role") == "user" and (words := joined(message.get("content"))):
            break
    return own, folder, title or words


def _short(title: str) -> str:
    return head(" ".join(title.split()), _TITLE)
