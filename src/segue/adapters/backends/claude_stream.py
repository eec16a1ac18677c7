"""What Claude Code writes with `--output-format stream-json`: its words, tool calls, usage and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from segue.adapters.backends.claude_windows import Windows
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
from segue.domain.errors import AgentFailed, SessionLost
from segue.domain.permissions import Tool
from segue.domain.usage import Usage

LOGIN = "run `claude` once and log in, or set ANTHROPIC_API_KEY"

KINDS = {
    "Read": Tool.READ,
    "Grep": Tool.READ,
    "Glob": Tool.READ,
    "LS": Tool.READ,
    "Edit": Tool.EDIT,
    "Write": Tool.EDIT,
    "MultiEdit": Tool.EDIT,
    "NotebookEdit": Tool.EDIT,
    "Bash": Tool.SHELL,
    "WebFetch": Tool.FETCH,
    "WebSearch": Tool.FETCH,
}
"""Its tools by name; whatever else takes a `command` is a shell too."""

_TARGETS = ("command", "file_path", "notebook_path", "path", "url", "query")
_EXIT = re.compile(r"(?:Error: )?Exit code (\d+)")
_ENDS = {
    "max_turns": "it stopped because it took as many turns as max_turns allows",
    "error_max_turns": "it stopped because it took as many turns as max_turns allows",
    "error_max_budget_usd": "it stopped because it spent as much as its budget allows",
    "prompt_too_long": "the context of its model is full (prompt is too long)",
    "aborted_streaming": "it was interrupted before it could reply",
    "aborted_tools": "it was interrupted before it could reply",
}
"""`terminal_reason` or `subtype` -> what that means."""
_SYNTHETIC = "<synthetic>"
"""The model of messages that the program itself wrote, as about an error."""


def tool_of(name: str, given: Mapping[str, Any]) -> tuple[Tool, str]:
    """The kind of a tool call, and what it is about."""
    target = next((str(given[key]) for key in _TARGETS if given.get(key)), "")
    if name.startswith("mcp__"):
        return Tool.MCP, name
    if "command" in given:
        return Tool.SHELL, target
    kind = KINDS.get(name, Tool.OTHER)
    return kind, target or ("." if kind is Tool.READ else name if kind is Tool.OTHER else "")


class ClaudeReader(StreamReader):
    """Reads the stream of one message."""

    def __init__(self, windows: Windows | None = None) -> None:
        self._windows = windows
        self._model: str | None = None
        self._kind: str | None = None
        """The program's own name of an error."""
        self._calls: dict[str, ToolUsed] = {}
        self._texts: dict[str, str] = {}
        """Message -> its words; the last one is the reply if the result has none."""
        self._spent: dict[str, Usage] = {}
        """Message -> what it took, as far as that was told."""
        self._context: int | None = None
        self.compaction: Line | None = None
        """What was said of a compaction when it ended."""
        self._result: Line | None = None
        self._results = Usage()

    def feed(self, line: Line) -> Iterator[SessionEvent]:
        """Take the next line in."""
        match line.get("type"):
            case "system":
                yield from self._system(line)
            case "assistant":
                yield from self._assistant(line)
            case "user":
                yield from self._user(line)
            case "result":
                self._end(line)
                yield from self._report()

    def usage(self) -> Usage | None:
        """What the result says; before it, what the messages so far say."""
        if self._result is not None:
            return self._results
        if not self._spent:
            return None
        window = self._windows.of(self._model) if self._windows is not None else None
        return sum(self._spent.values(), Usage(context_tokens=self._context, context_window=window))

    def reply(self) -> Reply | None:
        """The reply, or what went wrong."""
        result = self._result
        if result is None:
            return None
        text = str(result.get("result") or "")
        if result.get("is_error"):
            raise self._error(result, text)
        text = text if text.strip() else next(reversed(self._texts.values()), "")
        if not text.strip() and (refused := _refused(result)):
            raise AgentFailed(f"it wrote no reply, and it was refused: {refused}")
        return Reply(text=text)

    def _system(self, line: Line) -> Iterator[SessionEvent]:
        if line.get("subtype") == "init":
            self._model = line.get("model")
        elif line.get("subtype") == "api_retry":
            status = line.get("error_status")
            why = f"{line.get('error')} ({status})" if status else str(line.get("error"))
            yield Retrying(reason=f"{why}, attempt {line.get('attempt')} of {line.get('max_retries')}")
        elif line.get("compact_result"):
            self.compaction = line
        elif line.get("subtype") == "compact_boundary":
            left = (line.get("compact_metadata") or {}).get("post_tokens")
            self._context = left if isinstance(left, int) else self._context

    def _assistant(self, line: Line) -> Iterator[SessionEvent]:
        message: Mapping[str, Any] = line.get("message") or {}
        self.conversation = line.get("session_id") or self.conversation
        if message.get("model") == _SYNTHETIC:
            self._kind = line.get("error") or self._kind
            return
        number, own = str(message.get("id")), not line.get("parent_tool_use_id")
        for block in message.get("content") or ():
            if block.get("type") == "text" and own:
                yield self._said(number, block["text"])
            elif block.get("type") == "tool_use":
                yield self._began(block)
        if isinstance(message.get("usage"), dict):
            known, self._spent[number] = self._spent.get(number), _usage(message["usage"])
            self._context = _context(message["usage"]) if own else self._context
            if self._spent[number] != known:
                yield from self._report()

    def _said(self, number: str, text: str) -> Said:
        first = not self._texts
        self._texts[number] = f"{self._texts.pop(number, '')}{text}"
        return Said(text=text if first else f"\n\n{text}")

    def _began(self, block: Mapping[str, Any]) -> ToolUsed:
        tool, target = tool_of(block["name"], block.get("input") or {})
        call = ToolUsed(
            call_id=block["id"], tool=tool, name=block["name"], state=ToolState.STARTED, target=target
        )
        self._calls[block["id"]] = call
        return call

    def _user(self, line: Line) -> Iterator[SessionEvent]:
        content = (line.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result" and (call := self._calls.get(block["tool_use_id"])):
                output, failed = flat(block.get("content")), bool(block.get("is_error"))
                yield ToolUsed(
                    call_id=call.call_id,
                    tool=call.tool,
                    name=call.name,
                    state=ToolState.FAILED if failed else ToolState.DONE,
                    target=call.target,
                    exit_code=_exit_code(call, line, output, failed) if call.tool is Tool.SHELL else None,
                    output=short(output),
                )

    def _end(self, line: Line) -> None:
        self.conversation = line.get("session_id") or self.conversation
        since = line.get("model_usage_since_last_result")
        models: Mapping[str, Any] = since or line.get("modelUsage") or {}
        before = self._results if since and self._result is not None else Usage()
        self._result = line
        windows = [found.get("contextWindow") for found in models.values()]
        main = (models.get(self._model or "") or {}).get("contextWindow")
        if self._windows is not None:
            self._windows.learn(self._model, main)
        spent = [_model_usage(found) for found in models.values()] or [_usage(line.get("usage") or {})]
        cost = sum(float(found.get("costUSD") or 0) for found in models.values()) if models else None
        total = line.get("total_cost_usd")
        self._results = before + Usage(
            input_tokens=sum(usage.input_tokens for usage in spent),
            output_tokens=sum(usage.output_tokens for usage in spent),
            cache_read_tokens=sum(usage.cache_read_tokens for usage in spent),
            cache_write_tokens=sum(usage.cache_write_tokens for usage in spent),
            cost=cost if since else float(total) if total is not None else cost,
            context_tokens=self._context,
            context_window=main or max((window for window in windows if window), default=None),
        )

    def _report(self) -> Iterator[SessionEvent]:
        if (usage := self.usage()) is not None:
            yield UsageReported(usage=usage)

    def _error(self, result: Line, text: str) -> Exception:
        """What went wrong; `subtype` says "success" even of an error of the model."""
        errors, subtype = result.get("errors") or [""], str(result.get("subtype") or "")
        text = text or str(errors[0]) or subtype
        if "No conversation found" in text:
            return SessionLost("Claude Code does not know the conversation any more")
        for word, sentence in _ENDS.items():
            if word in (result.get("terminal_reason"), subtype):
                return AgentFailed(sentence)
        status = 404 if self._kind == "model_not_found" else result.get("api_error_status")
        if subtype == "success" or status is not None:
            return model_error(text, status=status, model=self._model, login=LOGIN)
        return AgentFailed(f"Claude Code reported an error: {' '.join(text.split())[:300]}")


def _exit_code(call: ToolUsed, line: Line, output: str, failed: bool) -> int | None:
    """The code of a command, where the stream tells it: in words if it failed, by silence if not."""
    if failed:
        found = _EXIT.match(output)
        return int(found[1]) if found else None
    told = line.get("tool_use_result")
    unknown = ("backgroundTaskId", "returnCodeInterpretation")
    if call.name != "Bash" or not isinstance(told, dict) or any(told.get(key) for key in unknown):
        return None
    return None if told.get("interrupted") else 0


def _usage(found: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=found.get("input_tokens") or 0,
        output_tokens=found.get("output_tokens") or 0,
        cache_read_tokens=found.get("cache_read_input_tokens") or 0,
        cache_write_tokens=found.get("cache_creation_input_tokens") or 0,
    )


def _model_usage(found: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=found.get("inputTokens") or 0,
        output_tokens=found.get("outputTokens") or 0,
        cache_read_tokens=found.get("cacheReadInputTokens") or 0,
        cache_write_tokens=found.get("cacheCreationInputTokens") or 0,
    )


def _context(found: Mapping[str, Any]) -> int:
    usage = _usage(found)
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def _refused(result: Line) -> str:
    """What the program was not allowed to do, in a line."""
    denials = result.get("permission_denials") or ()
    named = [(str(denial.get("tool_name")), denial.get("tool_input") or {}) for denial in denials]
    return ", ".join(f"{name} {tool_of(name, given)[1]}" for name, given in named)[:300]
