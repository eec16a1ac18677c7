"""Reads the sessions of goose: from its database, opened to read only, from older files, from exports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.adapters.transcripts.databases import LONGEST_ROW, columns_of, decoded, reading_only
from segue.adapters.transcripts.exported import Damaged, pieces
from segue.adapters.transcripts.lines import Lines
from segue.domain.errors import InvalidRequest
from segue.domain.transcripts import FileChangeKind, Recorder, Transcript
from segue.domain.transcripts.loose import count, first_text, joined, listed, mapping, moment, text, whole
from segue.domain.usage import Usage

TOOL = "goose"
_WHAT = "a goose database"
_LISTED = ("id", "name", "description", "working_dir", "updated_at", "session_type")
_ASIDE = ("sub_agent", "hidden")
"""Kinds of sessions that no person began."""
_COMPACTED = "Your context was compacted"
"""How goose continues after a summary."""


def is_database(path: Path) -> bool:
    """True if a database is one of goose's."""
    return "working_dir" in columns_of(path, "sessions")


def is_export(path: Path) -> bool:
    """True if it begins as an exported session does."""
    with path.open("rb") as stream:
        start = stream.read(4000).lstrip()
    return start.startswith(b"{") and b'"working_dir"' in start and b'"id"' in start


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """True if these are lines of such a transcript."""
    first = records[0] if records else {}
    is_header = "description" in first and ("working_dir" in first or "message_count" in first)
    return is_header or any(_is_message(record) for record in records[:2])


def sessions_in(path: Path) -> Iterator[Mapping[str, Any]]:
    """The sessions of the database in which something was said, the newest first."""
    columns = ", ".join(name for name in _LISTED if name in columns_of(path, "sessions")) or "id"
    said = "EXISTS (SELECT 1 FROM messages WHERE messages.session_id = sessions.id)"
    query = f"SELECT {columns} FROM sessions WHERE {said} ORDER BY updated_at DESC, id DESC"  # noqa: S608
    with reading_only(path, _WHAT) as database:
        for row in database.execute(query):
            found = dict(row)
            if found.get("session_type") not in _ASIDE:
                yield found


def read_database(path: Path, session_id: str) -> Transcript:
    """One session of the database."""
    with reading_only(path, _WHAT) as database:
        row = database.execute("SELECT * FROM sessions WHERE id = ?", (session_id,)).fetchone()
        if row is None:
            raise InvalidRequest(f"no session {session_id} in {path}")
        info = dict(row)
        reading = _GooseReading({**info, "model_config": decoded(info.get("model_config_json"))})
        skipped = 0
        for message in _messages(database, session_id):
            content = decoded(message.get("content_json"))
            skipped += not isinstance(content, list)
            reading.take({**message, "content": content, "metadata": decoded(message.get("metadata_json"))})
        return reading.transcript(session_id, skipped)


def read_export(path: Path) -> Transcript:
    """The session that `goose session export --format json` wrote."""
    reading = _GooseReading({})
    skipped = 0
    info: dict[str, Any] = {}
    try:
        for key, value in pieces(path, "conversation"):
            if key == "conversation":
                reading.take(mapping(value))
            else:
                info[key] = value
    except Damaged:
        skipped = 1
    reading.info = info
    return reading.transcript(path.stem, skipped)


def read(path: Path) -> Transcript:
    """The session in a file of an older version: what it is about, then a message a line."""
    lines = Lines(path)
    reading = _GooseReading({})
    for record in lines:
        if _is_message(record):
            reading.take(record)
        elif not reading.info:
            reading.info = record
    reading.info = {**reading.info, "id": path.stem}
    return reading.transcript(path.stem, lines.skipped)


def title_of(info: Mapping[str, Any]) -> str:
    """What the session is called; older versions call it a description."""
    return first_text(info, "name", "description")


def _is_message(record: Mapping[str, Any]) -> bool:
    return (
        record.get("role") in ("user", "assistant")
        and isinstance(record.get("content"), list)
        and "created" in record
    )


def _messages(database: sqlite3.Connection, session_id: str) -> Iterator[dict[str, Any]]:
    query = (
        f"SELECT role, CASE WHEN length(content_json) > {LONGEST_ROW} THEN NULL ELSE content_json END "  # noqa: S608
        "AS content_json, created_timestamp AS created, metadata_json FROM messages "
        "WHERE session_id = ? ORDER BY id"
    )
    for row in database.execute(query, (session_id,)):
        yield dict(row)


class _GooseReading:
    def __init__(self, info: Mapping[str, Any]) -> None:
        self.info = info
        self._recorder = Recorder()
        self._started: datetime | None = None
        self._updated: datetime | None = None
        self._held = ""
        """What only the model saw under the user's name: a summary, if goose then says so."""
        self._asked = ""
        """What the user said last."""
        self._may_repeat = False
        """True after a compaction, which puts the user's last words behind the summary once more."""

    def take(self, message: Mapping[str, Any]) -> None:
        at = moment(message.get("created"))
        self._started = self._started or at
        self._updated = at or self._updated
        role, content = text(message.get("role")), message.get("content")
        if mapping(message.get("metadata")).get("userVisible") is False:
            self._take_hidden(role, joined(content), at)
            return
        for block in map(mapping, listed(content)):
            self._take_block(role, block, at)

    def _take_hidden(self, role: str, words: str, at: datetime | None) -> None:
        """What the user does not see: a summary, and after it how goose continues."""
        if role == "assistant" and words.startswith(_COMPACTED):
            self._recorder.summed_up(self._held, at)
            self._may_repeat = True
        self._held = words if role == "user" else ""

    def _take_block(self, role: str, block: Mapping[str, Any], at: datetime | None) -> None:
        kind = text(block.get("type"))
        if kind == "text":
            self._take_text(role, text(block.get("text")), at)
        elif kind in ("toolRequest", "frontendToolRequest"):
            call = mapping(mapping(block.get("toolCall")).get("value"))
            name = text(call.get("name")).rpartition("__")[2]  # older versions put the extension before it
            self._recorder.called(text(block.get("id")), name, mapping(call.get("arguments")), at)
        elif kind == "toolResponse":
            self._take_result(text(block.get("id")), mapping(block.get("toolResult")))

    def _take_text(self, role: str, words: str, at: datetime | None) -> None:
        if role == "assistant":
            self._recorder.said(words, at)
        elif role == "user":
            if not (self._may_repeat and words == self._asked):
                self._recorder.user(words, at)
            self._asked, self._may_repeat = words, False

    def _take_result(self, call: str, result: Mapping[str, Any]) -> None:
        value = result.get("value")
        told = mapping(value)
        output = joined(told.get("content")) or joined(value) or text(result.get("error"))
        code = whole(mapping(told.get("structuredContent")).get("exit_code"))
        ok = result.get("status") == "success" and told.get("isError") is not True
        change = FileChangeKind.MODIFIED if output.startswith("Wrote ") else None  # else it says `Created`
        self._recorder.returned(call, output, ok=ok, exit_code=code, change=change)

    def transcript(self, name: str, skipped: int) -> Transcript:
        info = self.info
        return Transcript(
            tool=TOOL,
            session_id=text(info.get("id")) or name,
            working_dir=text(info.get("working_dir")) or None,
            title=title_of(info) or None,
            started_at=moment(info.get("created_at")) or self._started,
            updated_at=moment(info.get("updated_at")) or self._updated,
            model=text(mapping(info.get("model_config")).get("model_name")) or None,
            entries=self._recorder.entries,
            skipped=skipped,
            left_out=self._recorder.left_out,
            usage=_usage(info),
        )


def _usage(info: Mapping[str, Any]) -> Usage | None:
    cost = info.get("accumulated_cost")
    usage = Usage(
        input_tokens=count(info.get("accumulated_input_tokens")) or count(info.get("input_tokens")),
        output_tokens=count(info.get("accumulated_output_tokens")) or count(info.get("output_tokens")),
        context_tokens=count(info.get("input_tokens")) or None,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
    return usage if usage.total_tokens or usage.cost is not None else None
