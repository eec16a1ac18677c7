"""Reads the transcripts of Codex: its rollout files, old and new."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.adapters.transcripts.lines import Lines
from segue.domain.transcripts import Branch, Recorder, Transcript
from segue.domain.transcripts.loose import count, first_text, joined, listed, mapping, moment, text, whole
from segue.domain.transcripts.recording import stated_exit_code
from segue.domain.usage import Usage

TOOL = "codex"
_ITEMS = frozenset(
    {
        "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
        "custom_tool_call_output", "local_shell_call",
    }
)  # fmt: skip
_NOT_THE_USER = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions",
    "<turn_aborted>", "<subagent_notification>", "<skill>", "<INSTRUCTIONS>", "<user_shell_command>",
)  # fmt: skip
_FAILED = ("apply_patch verification failed", "aborted by user", "failed", "error", "exec_command failed")

_AFTER_TIMES = re.compile(r"\A(?:Wall time:[^\n]{0,100}\n)+")
"""How long a command took, said before what became of it."""


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """True if these are lines of such a transcript."""
    if any(isinstance(record.get("payload"), dict) for record in records):
        return True
    first = records[0] if records else {}
    return "type" not in first and "id" in first and "timestamp" in first


def read(path: Path) -> Transcript:
    """The session in a file."""
    lines = Lines(path)
    reading = _CodexReading()
    for record in lines:
        reading.take(record)
    return reading.transcript(path, lines.skipped)


class _CodexReading:
    def __init__(self) -> None:
        self._recorder = Recorder()
        self._facts: dict[str, str] = {}
        self._started: datetime | None = None
        self._updated: datetime | None = None
        self._usage: Usage | None = None
        self._branches: list[Branch] = []

    def take(self, record: Mapping[str, Any]) -> None:
        kind = text(record.get("type"))
        at = moment(record.get("timestamp"))
        self._started = self._started or at
        self._updated = at or self._updated
        payload = mapping(record.get("payload"))
        if kind in _ITEMS and not payload:  # the oldest files hold bare items
            self._take_item(record, at)
        elif kind == "response_item":
            self._take_item(payload, at)
        elif kind == "event_msg":
            self._take_event(payload, at)
        elif kind in ("session_meta", "turn_context") or "id" in record:
            self._note_facts(payload or record)
        elif kind == "compacted":
            self._recorder.summed_up(text(payload.get("message")), at)

    def _note_facts(self, told: Mapping[str, Any]) -> None:
        for name in ("id", "cwd"):
            if name not in self._facts and (found := text(told.get(name))):
                self._facts[name] = found
        if model := text(told.get("model")):
            self._facts["model"] = model

    def _take_item(self, item: Mapping[str, Any], at: datetime | None) -> None:
        kind = text(item.get("type"))
        call = text(item.get("call_id")) or text(item.get("id"))
        if kind == "message":
            self._take_message(item, at)
        elif kind == "function_call":
            self._recorder.called(call, text(item.get("name")), _arguments(item.get("arguments")), at)
        elif kind == "custom_tool_call":
            self._recorder.called(call, text(item.get("name")), text(item.get("input")), at)
        elif kind == "local_shell_call":
            self._recorder.called(call, "local_shell", mapping(item.get("action")), at)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._take_output(call, item.get("output"))

    def _take_message(self, item: Mapping[str, Any], at: datetime | None) -> None:
        words = joined(item.get("content"), "input_text", "output_text", "text")
        role = item.get("role")
        if role == "assistant":
            self._recorder.said(words, at)
        elif role == "user" and is_own(item, words):
            self._recorder.user(words, at)

    def _take_output(self, call: str, output: Any) -> None:
        told = mapping(output)
        words = text(output) or joined(output, "input_text", "output_text", "text")
        words = words or first_text(told, "content", "output")
        ok = told.get("success") if isinstance(told.get("success"), bool) else None
        code = None
        if words.startswith("{") and (inner := _arguments(words)):
            code = whole(mapping(mapping(inner).get("metadata")).get("exit_code"))
            words = text(mapping(inner).get("output")) or words
        code = stated_exit_code(words) if code is None else code
        if code is not None:
            ok = code == 0
        elif (
            ok is None
            and not words.startswith("Process running")
            and "\nProcess running with" not in words[:300]
        ):
            ok = not _AFTER_TIMES.sub("", words).casefold().startswith(_FAILED)
        _, mark, shown = words.partition("\nOutput:\n")
        self._recorder.returned(call, shown if mark else words, ok=ok, exit_code=code)

    def _take_event(self, event: Mapping[str, Any], at: datetime | None) -> None:
        kind = text(event.get("type"))
        if kind == "token_count":
            self._note_usage(mapping(event.get("info")))
        elif kind == "turn_aborted":
            self._recorder.failed(
                f"the turn was aborted ({text(event.get('reason')) or 'no reason given'})", at
            )
        elif kind in ("error", "stream_error"):
            self._recorder.failed(text(event.get("message")), at)
        elif kind == "exec_command_end":
            self._note_exit(text(event.get("call_id")), event)
        elif kind == "item_completed":
            item = mapping(event.get("item"))
            if item.get("type") == "CommandExecution":
                self._note_exit(text(item.get("id")), item)
        elif kind == "thread_rolled_back":
            gone = self._recorder.roll_back(count(event.get("num_turns")))
            self._branches.append(Branch(leaf="rolled back", entries=gone))
        elif kind == "thread_name_updated" and (title := text(event.get("thread_name"))):
            self._facts["title"] = title

    def _note_exit(self, call: str, told: Mapping[str, Any]) -> None:
        code = whole(told.get("exit_code"))
        if code is not None:
            output = text(told.get("aggregated_output"))
            self._recorder.returned(call, output, ok=code == 0, exit_code=code)

    def _note_usage(self, info: Mapping[str, Any]) -> None:
        total, last = mapping(info.get("total_token_usage")), mapping(info.get("last_token_usage"))
        if total:
            cached = count(total.get("cached_input_tokens"))
            self._usage = Usage(
                input_tokens=max(count(total.get("input_tokens")) - cached, 0),
                output_tokens=count(total.get("output_tokens")),
                cache_read_tokens=cached,
                context_tokens=count(last.get("input_tokens")) or None,
                context_window=count(info.get("model_context_window")) or None,
            )

    def transcript(self, path: Path, skipped: int) -> Transcript:
        return Transcript(
            tool=TOOL,
            session_id=self._facts.get("id") or path.stem,
            working_dir=self._facts.get("cwd"),
            title=self._facts.get("title"),
            started_at=self._started,
            updated_at=self._updated,
            model=self._facts.get("model"),
            entries=self._recorder.entries,
            branches=tuple(self._branches),
            skipped=skipped,
            left_out=self._recorder.left_out,
            usage=self._usage,
        )


def is_own(item: Mapping[str, Any], words: str) -> bool:
    """True if the user wrote it, and not the program under the user's name."""
    told = mapping(item.get("internal_chat_message_metadata_passthrough"))
    kinds = [text(kind) for kind in listed(told.get("content_item_kinds"))]
    if kinds and all("." in kind for kind in kinds) and not any(kind.startswith("user.") for kind in kinds):
        return False
    return not words.lstrip().startswith(_NOT_THE_USER)


def _arguments(value: Any) -> Mapping[str, Any] | str:
    if isinstance(value, str):
        try:
            found = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return text(value)
        return found if isinstance(found, dict) else text(value)
    return mapping(value)
