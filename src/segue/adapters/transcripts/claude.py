"""Reads the transcripts of Claude Code: a chain of uuids, with sub-agents and rewound branches apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.adapters.transcripts.tree import TreeReading
from segue.domain.transcripts import Branch, FileChangeKind, Transcript
from segue.domain.transcripts.loose import count, first_text, joined, listed, mapping, moment, text
from segue.domain.usage import Usage

TOOL = "claude"
_INTERRUPTED = "[Request interrupted by user"
_CHANGES = {"create": FileChangeKind.CREATED, "update": FileChangeKind.MODIFIED}


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """True if these are lines of such a transcript."""
    return any("sessionId" in record and "payload" not in record for record in records)


def read(path: Path) -> Transcript:
    """The session in a file, on the way to its newest entry."""
    return _ClaudeReading.read(path)


class _ClaudeReading(TreeReading):
    def __init__(self, on_path: bytearray | None = None, names: dict[int, str] | None = None) -> None:
        super().__init__(on_path, names)
        self._message = ""
        self._cost: float | None = None
        self._aside = 0

    def _take(self, record: Mapping[str, Any]) -> None:
        kind = text(record.get("type"))
        if record.get("isSidechain") is True:
            self._aside += 1
            return
        self._note_facts(kind, record)
        own = text(record.get("uuid"))
        if not own:
            return
        self._step(own)
        if self._on_path is None:
            self._link(own, kind, record)
        at = moment(record.get("timestamp"))
        self._note_moment(at)
        message = mapping(record.get("message"))
        if kind == "user":
            self._take_user(record, message, at, here=self._is_here())
        elif kind == "assistant" and (self._is_here() or text(message.get("id")) == self._message):
            self._take_assistant(record, message, at)
        elif kind == "attachment" and self._is_here():
            self._take_attachment(mapping(record.get("attachment")), at)

    def _link(self, own: str, kind: str, record: Mapping[str, Any]) -> None:
        parent = first_text(record, "parentUuid", "logicalParentUuid") or None
        folded = record.get("subtype") == "compact_boundary" or record.get("isCompactSummary") is True
        prompt = kind == "user" and not _results(record)
        self._chain.add(own, parent, counts=prompt, is_root=parent is None and not folded)

    def _note_facts(self, kind: str, record: Mapping[str, Any]) -> None:
        for name, key in (("id", "sessionId"), ("cwd", "cwd")):
            if name not in self._facts and (found := text(record.get(key))):
                self._facts[name] = found
        if kind in ("custom-title", "ai-title") and (
            title := first_text(record, "customTitle", "aiTitle", "title")
        ):
            self._facts["title"] = title
        if kind == "cost-state" and isinstance(record.get("totalCostUSD"), int | float):
            self._cost = float(record["totalCostUSD"])

    def _take_user(
        self, record: Mapping[str, Any], message: Mapping[str, Any], at: datetime | None, *, here: bool
    ) -> None:
        # The result of one of several calls at once may hang beside the path; its id tells its call.
        for block in _results(record):
            self._take_result(block, mapping(record.get("toolUseResult")))
        words = joined(message.get("content"))
        if not here or record.get("isMeta") is True or not words:
            return
        if record.get("isCompactSummary") is True:
            self._recorder.summed_up(words, at)
        elif words.startswith(_INTERRUPTED):
            self._recorder.failed(words, at)
        else:
            self._recorder.user(words, at)

    def _take_result(self, block: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        ok = block.get("is_error") is not True
        ended = ok and "stdout" in told and not told.get("interrupted")
        plain = not told.get("backgroundTaskId") and not told.get("returnCodeInterpretation")
        self._recorder.returned(
            text(block.get("tool_use_id")),
            joined(block.get("content")),
            ok=ok,
            exit_code=0 if ended and plain else None,
            change=_CHANGES.get(text(told.get("type"))),
        )

    def _take_assistant(
        self, record: Mapping[str, Any], message: Mapping[str, Any], at: datetime | None
    ) -> None:
        content = message.get("content")
        if record.get("isApiErrorMessage") is True:
            self._recorder.failed(joined(content), at)
            return
        model = text(message.get("model"))
        if model and model != "<synthetic>":
            self._facts["model"] = model
        own = text(message.get("id"))
        if not own or own != self._message:
            self._usage += _usage(mapping(message.get("usage")))
        self._message = own or "none"
        if isinstance(content, str):
            self._recorder.said(text(content), at)
        for block in map(mapping, listed(content)):
            if block.get("type") == "text":
                self._recorder.said(text(block.get("text")), at)
            elif block.get("type") == "tool_use":
                self._recorder.called(
                    text(block.get("id")), text(block.get("name")), mapping(block.get("input")), at
                )

    def _take_attachment(self, attachment: Mapping[str, Any], at: datetime | None) -> None:
        if attachment.get("type") == "queued_command":  # what the user typed while the agent worked
            self._recorder.user(joined(attachment.get("prompt")), at)

    def _transcript(self, path: Path, skipped: int, branches: Sequence[Branch]) -> Transcript:
        usage = self._usage + Usage(cost=self._cost)
        return Transcript(
            tool=TOOL,
            session_id=self._facts.get("id") or path.stem,
            working_dir=self._facts.get("cwd"),
            title=self._facts.get("title"),
            started_at=self._started,
            updated_at=self._updated,
            model=self._facts.get("model"),
            entries=self._recorder.entries,
            branches=tuple(branches),
            skipped=skipped,
            left_out=self._recorder.left_out,
            aside=self._aside,
            usage=usage if usage.total_tokens or usage.cost is not None else None,
        )


def _results(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    blocks = map(mapping, listed(mapping(record.get("message")).get("content")))
    return [block for block in blocks if block.get("type") == "tool_result"]


def _usage(told: Mapping[str, Any]) -> Usage:
    read, written = count(told.get("cache_read_input_tokens")), count(told.get("cache_creation_input_tokens"))
    fresh = count(told.get("input_tokens"))
    return Usage(
        input_tokens=fresh,
        output_tokens=count(told.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
        context_tokens=(fresh + read + written) or None,
    )
