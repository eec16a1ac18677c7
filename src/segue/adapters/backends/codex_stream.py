"""What Codex writes with `codex exec --json`, and what its own record of a thread says about usage."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from segue.adapters.backends.streams import Line, StreamReader, flat, model_error, short
from segue.application.ports.backend import (
    Reply,
    Retrying,
    Said,
    SessionEvent,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.permissions import Tool
from segue.domain.usage import Usage

LOGIN = "run `codex login`, or set the key that its config.toml names"
OFFLINE = "waiting for network"
"""Codex says so again and again while it cannot reach the provider, and never gives up."""

_RETRY = "Reconnecting..."
_STATUS = re.compile(r"status:? (\d{3})")
_TELLING = {
    "currently experiencing high demand": 500,  # what Codex makes of every server error
    "model_not_found": 404,
    "invalid_api_key": 401,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
}
"""Words that stand for a status where there is none."""
_TAIL_BYTES = 512_000


class CodexReader(StreamReader):
    """Reads the stream of one message."""

    def __init__(self, model: str | None = None, record: Callable[[str], Usage | None] | None = None) -> None:
        self._model = model
        self._record = record or (lambda _: None)
        """Thread -> what Codex's own record of it says about usage."""
        self._usage: Usage | None = None
        self._error: str | None = None
        self._said: str | None = None
        self._done = False

    def feed(self, line: Line) -> Iterator[SessionEvent]:
        """Take the next line in."""
        match line.get("type"):
            case "thread.started":
                self.conversation = line.get("thread_id")
            case "item.started" | "item.completed":
                yield from self._item(line.get("item") or {}, ended=line["type"] == "item.completed")
            case "error":
                yield from self._failing(str(line.get("message") or ""))
            case "turn.failed":
                self._error = str((line.get("error") or {}).get("message") or "no reason was given")
            case "turn.completed":
                self._done, self._error = True, None
                self._usage = thread_usage(line.get("usage") or {})
                yield from self._report()

    def usage(self) -> Usage | None:
        """What the thread has used so far, all its messages together."""
        told = self._record(self.conversation) if self.conversation else None
        if told is None or self._usage is None:
            return told or self._usage
        return replace(self._usage, context_tokens=told.context_tokens, context_window=told.context_window)

    def reply(self) -> Reply | None:
        """The last words of the turn, or what went wrong."""
        if self._error is not None:
            raise model_error(
                _plain(self._error), status=_status(self._error), model=self._model, login=LOGIN
            )
        return Reply(text=self._said or "") if self._done else None

    def _item(self, item: Mapping[str, Any], *, ended: bool) -> Iterator[SessionEvent]:
        if item.get("type") == "agent_message" and ended:
            text = str(item.get("text") or "")
            yield Said(text=text if self._said is None else f"\n\n{text}")
            self._said = text
        elif (call := _call(item, ended=ended)) is not None:
            yield call
            if ended:
                yield from self._report()

    def _failing(self, message: str) -> Iterator[SessionEvent]:
        if message.startswith(_RETRY):
            yield Retrying(reason=message.removeprefix(_RETRY).strip())
        else:
            self._error = message

    def _report(self) -> Iterator[SessionEvent]:
        if (usage := self.usage()) is not None:
            yield UsageReported(usage=usage)


def _call(item: Mapping[str, Any], *, ended: bool) -> ToolUsed | None:
    """A tool call, if the item is one."""
    match item.get("type"):
        case "command_execution":
            tool, name, target = Tool.SHELL, "shell", _command(str(item.get("command") or ""))
        case "file_change":
            paths = [str(change.get("path")) for change in item.get("changes") or ()]
            tool, name, target = Tool.EDIT, "apply_patch", ", ".join(paths)
        case "mcp_tool_call":
            name = f"mcp__{item.get('server')}__{item.get('tool')}"
            tool, target = Tool.MCP, name
        case "collab_tool_call":
            tool, name, target = Tool.OTHER, "agent", str(item.get("tool") or "")
        case "web_search":
            tool, name, target = Tool.FETCH, "web_search", str(item.get("query") or "")
        case _:
            return None
    failed = item.get("status") in ("failed", "declined") or item.get("exit_code") not in (None, 0)
    state = ToolState.STARTED if not ended else ToolState.FAILED if failed else ToolState.DONE
    result = item.get("aggregated_output") or flat(item.get("result")) or _message(item.get("error"))
    return ToolUsed(
        call_id=str(item.get("id")),
        tool=tool,
        name=name,
        state=state,
        target=target,
        exit_code=item.get("exit_code") if ended else None,
        output=short(result) if ended else "",
    )


def _command(text: str) -> str:
    """The command as the agent wrote it, without the shell that Codex puts around it."""
    try:
        parts = shlex.split(text)
    except ValueError:
        return text
    return parts[2] if len(parts) == 3 and parts[1] in ("-c", "-lc") else text


def _message(error: Any) -> str:
    return str(error.get("message") or "") if isinstance(error, dict) else str(error or "")


def _plain(message: str) -> str:
    """The words of an error that may be the provider's whole JSON answer."""
    try:
        found = json.loads(message)
    except ValueError:
        return message
    error = found.get("error") if isinstance(found, dict) else None
    return f"{_message(error)} {error.get('code') or ''}" if isinstance(error, dict) else message


def _status(message: str) -> int | None:
    found = _STATUS.search(message)
    if found:
        return int(found[1])
    return next((status for words, status in _TELLING.items() if words in message), None)


def thread_usage(
    total: Mapping[str, Any], last: Mapping[str, Any] | None = None, window: Any = None
) -> Usage:
    """Usage in our measure: Codex counts what came from a cache as input too."""
    cached, written = total.get("cached_input_tokens") or 0, total.get("cache_write_input_tokens") or 0
    return Usage(
        input_tokens=max(0, (total.get("input_tokens") or 0) - cached - written),
        output_tokens=total.get("output_tokens") or 0,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        context_tokens=last.get("input_tokens") if last else None,
        context_window=window,
    )


def recorded_usage(home: Path, thread: str) -> Usage | None:
    """What Codex's own record of a thread says last about tokens; none if there is no such record."""
    try:
        with _record_of(home, thread).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        if b'"token_count"' in line and (info := _token_count(line)):
            return thread_usage(
                info.get("total_token_usage") or {},
                info.get("last_token_usage"),
                info.get("model_context_window"),
            )
    return None


@lru_cache(maxsize=64)
def _record_of(home: Path, thread: str) -> Path:
    """Where the record is; looked for among all of them, so only once for each thread."""
    for path in (home / "sessions").rglob(f"rollout-*-{thread}.jsonl"):
        return path
    raise FileNotFoundError(thread)


def _token_count(line: bytes) -> dict[str, Any] | None:
    try:
        payload = json.loads(line).get("payload") or {}
    except (ValueError, AttributeError):
        return None
    info = payload.get("info") if payload.get("type") == "token_count" else None
    return info if isinstance(info, dict) else None
