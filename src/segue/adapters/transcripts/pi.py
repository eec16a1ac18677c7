"""Reads the transcripts of pi and of oh-my-pi: a tree of entries, of which the newest leaf's way is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.adapters.transcripts.tree import TreeReading
from segue.domain.transcripts import Branch, Transcript
from segue.domain.transcripts.loose import count, first_text, joined, listed, mapping, moment, text, whole
from segue.domain.usage import Usage

PI, OMP = "pi", "omp"


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """True if these are lines of such a transcript."""
    return any(record.get("type") == "session" and "cwd" in record for record in records[:3])


def tool_of(records: Sequence[Mapping[str, Any]]) -> str:
    """Which of the two wrote it."""
    first = records[0] if records else {}
    return OMP if first.get("type") == "title" or "title" in first else PI


def read(path: Path) -> Transcript:
    """The session in a file, on the way to its newest entry."""
    return _PiReading.read(path)


class _PiReading(TreeReading):
    def __init__(self, on_path: bytearray | None = None, names: dict[int, str] | None = None) -> None:
        super().__init__(on_path, names)
        self._tool = PI

    def _take(self, record: Mapping[str, Any]) -> None:
        kind = text(record.get("type"))
        at = moment(record.get("timestamp"))
        self._note_moment(at)
        if kind in ("session", "title"):
            self._note_header(kind, record)
            return
        own = text(record.get("id"))
        self._step(own)
        if self._on_path is None:
            parent = text(record.get("parentId")) or None
            self._chain.add(own, parent, counts=kind == "message", is_root=bool(own) and parent is None)
        if self._is_here():
            self._take_entry(kind, record, at)

    def _note_header(self, kind: str, record: Mapping[str, Any]) -> None:
        if kind == "title" or "title" in record:
            self._tool = OMP
            self._facts["title"] = text(record.get("title")) or self._facts.get("title", "")
        if kind == "session" and "id" not in self._facts:
            self._facts["id"] = text(record.get("id"))
            self._facts["cwd"] = text(record.get("cwd"))

    def _take_entry(self, kind: str, record: Mapping[str, Any], at: datetime | None) -> None:
        if kind == "message":
            self._take_message(mapping(record.get("message")), at)
        elif kind == "compaction":
            self._recorder.summed_up(text(record.get("summary")), at)
        elif kind == "branch_summary":
            self._recorder.summed_up(text(record.get("summary")), at, of_branch=True)
        elif kind == "custom_message" and "<handoff-context>" in (words := joined(record.get("content"))):
            self._recorder.user(words, at)
        elif kind == "session_info" and (name := text(record.get("name"))):
            self._facts["title"] = name
        elif kind == "model_change" and (model := first_text(record, "modelId", "model")):
            self._facts["model"] = model

    def _take_message(self, message: Mapping[str, Any], at: datetime | None) -> None:
        role = text(message.get("role"))
        if role == "user":
            self._recorder.user(joined(message.get("content")), at)
        elif role == "assistant":
            self._take_assistant(message, at)
        elif role == "toolResult":
            self._take_result(message)
        elif role == "bashExecution":
            self._take_shell(message, at)
        elif role in ("compactionSummary", "branchSummary"):
            self._recorder.summed_up(text(message.get("summary")), at, of_branch=role == "branchSummary")

    def _take_assistant(self, message: Mapping[str, Any], at: datetime | None) -> None:
        self._facts["model"] = text(message.get("model")) or self._facts.get("model", "")
        self._usage += _usage(mapping(message.get("usage")))
        content = message.get("content")
        if isinstance(content, str):
            self._recorder.said(text(content), at)
        for block in map(mapping, listed(content)):
            if block.get("type") == "text":
                self._recorder.said(text(block.get("text")), at)
            elif block.get("type") == "toolCall":
                self._recorder.called(
                    text(block.get("id")), text(block.get("name")), mapping(block.get("arguments")), at
                )
        if message.get("stopReason") in ("error", "aborted"):
            reason = text(message.get("errorMessage")) or f"the turn was {message['stopReason']}"
            self._recorder.failed(reason, at)

    def _take_result(self, message: Mapping[str, Any]) -> None:
        ok = message.get("isError") is not True
        is_shell = text(message.get("toolName")) == "bash"
        details = mapping(message.get("details"))
        code = whole(details.get("exitCode"))
        if code is None and ok and is_shell and not details.get("async"):
            code = 0  # the tool reports every other code as an error
        self._recorder.returned(
            text(message.get("toolCallId")), joined(message.get("content")), ok=ok, exit_code=code
        )

    def _take_shell(self, message: Mapping[str, Any], at: datetime | None) -> None:
        """A command that the user ran."""
        call = f"user-{self._place}"
        self._recorder.called(call, "bash", {"command": text(message.get("command"))}, at)
        code = whole(message.get("exitCode"))
        ok = None if code is None else code == 0
        self._recorder.returned(call, text(message.get("output")), ok=ok, exit_code=code)

    def _transcript(self, path: Path, skipped: int, branches: Sequence[Branch]) -> Transcript:
        usage = self._usage
        return Transcript(
            tool=self._tool,
            session_id=self._facts.get("id") or path.stem.rpartition("_")[2],
            working_dir=self._facts.get("cwd") or None,
            title=self._facts.get("title") or None,
            started_at=self._started,
            updated_at=self._updated,
            model=self._facts.get("model") or None,
            entries=self._recorder.entries,
            branches=tuple(branches),
            skipped=skipped,
            left_out=self._recorder.left_out,
            usage=usage if usage.total_tokens or usage.cost is not None else None,
        )


def _usage(told: Mapping[str, Any]) -> Usage:
    read, written, fresh = (count(told.get(name)) for name in ("cacheRead", "cacheWrite", "input"))
    cost = mapping(told.get("cost")).get("total")
    return Usage(
        input_tokens=fresh,
        output_tokens=count(told.get("output")),
        cache_read_tokens=read,
        cache_write_tokens=written,
        cost=float(cost) if isinstance(cost, int | float) else None,
        context_tokens=(fresh + read + written) or None,
    )
