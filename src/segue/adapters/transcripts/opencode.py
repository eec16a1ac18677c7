"""Reads the sessions of OpenCode: from its database, opened to read only, or from what `export` wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.adapters.transcripts.databases import LONGEST_ROW, decoded, reading_only
from segue.adapters.transcripts.exported import Damaged, pieces
from segue.domain.errors import InvalidRequest
from segue.domain.transcripts import Branch, FileChangeKind, Recorder, Transcript
from segue.domain.transcripts.loose import count, first_text, listed, mapping, moment, text, whole
from segue.domain.usage import Usage

TOOL = "opencode"
_WHAT = "an OpenCode database"


def is_export(path: Path) -> bool:
    """True if it begins as an exported session does."""
    with path.open("rb") as stream:
        start = stream.read(4000).lstrip()
    return start.startswith(b"{") and b'"info"' in start


def read_export(path: Path) -> Transcript:
    """The session of an exported file."""
    reading = _OpenCodeReading({})
    skipped = 0
    try:
        for key, value in pieces(path, "messages"):
            if key == "info":
                reading.info = mapping(value)
            elif key == "messages":
                message = mapping(value)
                reading.begin(mapping(message.get("info")))
                for part in listed(message.get("parts")):
                    reading.take(mapping(part))
                reading.end()
    except Damaged:
        skipped = 1
    return reading.transcript(path.stem, skipped)


def read_database(path: Path, session_id: str) -> Transcript:
    """One session of the database."""
    with reading_only(path, _WHAT) as database:
        row = database.execute("SELECT * FROM session WHERE id = ?", (session_id,)).fetchone()
        if row is None:
            raise InvalidRequest(f"no session {session_id} in {path}")
        reading = _OpenCodeReading(_info(dict(row)))
        skipped = 0
        for message in _rows(database, "message", "session_id", session_id):
            info = _decoded(message["data"])
            skipped += info is None
            if info is None or not reading.begin({**info, "id": message["id"]}):
                continue
            for part in _rows(database, "part", "message_id", message["id"]):
                found = _decoded(part["data"])
                skipped += found is None
                reading.take(mapping(found))
            reading.end()
        return reading.transcript(session_id, skipped)


def sessions_in(path: Path) -> Iterator[Mapping[str, Any]]:
    """The sessions of the database that no other session started, the newest first."""
    query = (
        "SELECT id, title, directory, time_updated FROM session WHERE parent_id IS NULL "
        "ORDER BY time_updated DESC"
    )
    with reading_only(path, _WHAT) as database:
        for row in database.execute(query):
            yield dict(row)


def _rows(database: sqlite3.Connection, table: str, key: str, value: str) -> Iterator[sqlite3.Row]:
    order = "time_created, id" if table == "message" else "id"
    query = (
        f"SELECT id, CASE WHEN length(data) > {LONGEST_ROW} THEN NULL ELSE data END AS data "  # noqa: S608
        f"FROM {table} WHERE {key} = ? ORDER BY {order}"
    )
    yield from database.execute(query, (value,))


def _decoded(data: Any) -> Mapping[str, Any] | None:
    found = decoded(data)
    return found if isinstance(found, dict) else None


def _info(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row of a session in the shape of an export."""
    return {
        "id": row.get("id"),
        "title": row.get("title"),
        "directory": row.get("directory"),
        "model": _decoded(row.get("model")),
        "cost": row.get("cost"),
        "revert": _decoded(row.get("revert")),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
        "tokens": {
            "input": row.get("tokens_input"),
            "output": row.get("tokens_output"),
            "cache": {"read": row.get("tokens_cache_read"), "write": row.get("tokens_cache_write")},
        },
    }


def unquoted(words: str) -> str:
    """What was given to `opencode run` in one piece, which puts quotes round it if it has blanks."""
    inner = words[1:-1]
    if " " in inner and words[0] == words[-1] == '"' and '"' not in inner.replace('\\"', ""):
        return inner.replace('\\"', '"')
    return words


class _OpenCodeReading:
    def __init__(self, info: Mapping[str, Any]) -> None:
        self.info = info
        self._recorder = Recorder()
        self._role = ""
        self._is_summary = False
        self._at: datetime | None = None
        self._model = ""
        self._undone = 0
        self._failure = ""

    def begin(self, message: Mapping[str, Any]) -> bool:
        """The next message; False if the user has undone it."""
        undone_from = text(mapping(self.info.get("revert")).get("messageID"))
        if undone_from and text(message.get("id")) >= undone_from:
            self._undone += 1
            self._role = ""
            return False
        self._role = text(message.get("role"))
        self._is_summary = message.get("summary") is True
        self._at = moment(mapping(message.get("time")).get("created"))
        self._model = text(message.get("modelID")) or self._model
        error = mapping(message.get("error"))
        self._failure = text(mapping(error.get("data")).get("message")) or text(error.get("name"))
        return True

    def end(self) -> None:
        """The message has no more parts: what ended it badly came after them."""
        self._recorder.failed(self._failure, self._at)
        self._failure = ""

    def take(self, part: Mapping[str, Any]) -> None:
        """The next part of the message."""
        kind = text(part.get("type"))
        if kind == "text" and not part.get("synthetic") and not part.get("ignored"):
            self._take_text(text(part.get("text")))
        elif kind == "tool" and self._role == "assistant":
            self._take_tool(part)

    def _take_text(self, words: str) -> None:
        if self._role == "user":
            self._recorder.user(unquoted(words), self._at)
        elif self._role == "assistant" and self._is_summary:
            self._recorder.summed_up(words, self._at)
        elif self._role == "assistant":
            self._recorder.said(words, self._at)

    def _take_tool(self, part: Mapping[str, Any]) -> None:
        state = mapping(part.get("state"))
        call = text(part.get("callID")) or text(part.get("id"))
        self._recorder.called(call, text(part.get("tool")), mapping(state.get("input")), self._at)
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        told = mapping(state.get("metadata"))
        exists = told.get("exists")
        stopped = "exit" in told and told["exit"] is None  # by the user, or because it took too long
        self._recorder.returned(
            call,
            first_text(state, "output", "error"),
            ok=status == "completed" and not stopped,
            exit_code=whole(told.get("exit")),
            change=(FileChangeKind.MODIFIED if exists else FileChangeKind.CREATED)
            if isinstance(exists, bool)
            else None,
        )

    def transcript(self, name: str, skipped: int) -> Transcript:
        info = self.info
        time = mapping(info.get("time"))
        tokens = mapping(info.get("tokens"))
        cost = info.get("cost")
        return Transcript(
            tool=TOOL,
            session_id=text(info.get("id")) or name,
            working_dir=text(info.get("directory")) or None,
            title=text(info.get("title")) or None,
            started_at=moment(time.get("created")),
            updated_at=moment(time.get("updated")) or self._at,
            model=first_text(mapping(info.get("model")), "id", "modelID") or self._model or None,
            entries=self._recorder.entries,
            branches=(Branch(leaf="undone", entries=self._undone),) if self._undone else (),
            skipped=skipped,
            left_out=self._recorder.left_out,
            usage=Usage(
                input_tokens=count(tokens.get("input")),
                output_tokens=count(tokens.get("output")),
                cache_read_tokens=count(mapping(tokens.get("cache")).get("read")),
                cache_write_tokens=count(mapping(tokens.get("cache")).get("write")),
                cost=float(cost) if isinstance(cost, int | float) else None,
            )
            if tokens
            else None,
        )
