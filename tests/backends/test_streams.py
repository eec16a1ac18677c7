"""The streams of Claude Code and Codex, line by line; needs neither program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends.claude_stream import LOGIN, ClaudeReader, tool_of
from segue.adapters.backends.codex_stream import CodexReader, recorded_usage
from segue.adapters.backends.streams import StreamReader, Tail
from segue.application.ports.backend import (
    Retrying,
    Said,
    SessionEvent,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost
from segue.domain.permissions import Tool
from segue.domain.usage import Usage


def feed(reader: StreamReader, *lines: dict[str, Any]) -> list[SessionEvent]:
    """What lines tell."""
    return [event for line in lines for event in reader.feed(line)]


def claude_says(
    number: str, *content: dict[str, Any], parent: str | None = None, **usage: int
) -> dict[str, Any]:
    """A line with a message of Claude Code."""
    message = {"id": number, "model": "m", "content": list(content), "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, "session_id": "c1"}


def claude_call(number: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": number, "name": name, "input": given}


def claude_gave(number: str, content: Any, *, failed: bool = False, told: Any = None) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": number, "content": content, "is_error": failed}
    return {"type": "user", "message": {"content": [block]}, "tool_use_result": told}


def claude_ends(text: str = "", **changes: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": text, **changes}


TEXT = {"type": "text", "text": "Half."}


class TestClaude:
    """`claude -p --output-format stream-json`."""

    def test_words_are_joined_by_message(self) -> None:
        reader = ClaudeReader()
        events = feed(
            reader,
            claude_says("1", TEXT),
            claude_says("2", {"type": "text", "text": "Whole."}),
            claude_ends(""),
        )
        assert [event.text for event in events if isinstance(event, Said)] == ["Half.", "\n\nWhole."]
        reply = reader.reply()
        assert reply is not None
        assert reply.text == "Whole."
        assert reader.conversation == "c1"

    def test_words_of_a_helper_are_not_its_own(self) -> None:
        reader = ClaudeReader()
        events = feed(reader, claude_says("1", TEXT, parent="t1", input_tokens=7), claude_ends("Done."))
        assert not [event for event in events if isinstance(event, Said)]
        usage = reader.usage()
        assert usage is not None
        assert usage.context_tokens is None

    @pytest.mark.parametrize(
        ("name", "output", "failed", "told", "code"),
        [
            ("Bash", "Exit code 3\nbad", True, "Error: Exit code 3\nbad", 3),
            ("Bash", "refused by the rules", True, "Error: refused", None),
            ("Bash", "good", False, {"stdout": "good", "interrupted": False}, 0),
            ("Bash", "", False, {"stdout": "", "returnCodeInterpretation": "No matches found"}, None),
            ("Bash", "started", False, {"backgroundTaskId": "b1"}, None),
            ("Bash", "", False, {"interrupted": True}, None),
            ("Monitor", "started", False, {"stdout": ""}, None),
        ],
    )
    def test_an_exit_code_is_told_only_if_it_is_known(
        self, name: str, output: str, failed: bool, told: Any, code: int | None
    ) -> None:
        call = claude_call("t1", name, command="make")
        events = feed(
            ClaudeReader(), claude_says("1", call), claude_gave("t1", output, failed=failed, told=told)
        )
        began, ended = (event for event in events if isinstance(event, ToolUsed))
        assert (began.tool, began.target, began.state) == (Tool.SHELL, "make", ToolState.STARTED)
        assert ended.exit_code == code
        assert ended.state is (ToolState.FAILED if failed else ToolState.DONE)

    @pytest.mark.parametrize(
        ("name", "given", "tool", "target"),
        [
            ("Write", {"file_path": "/w/a", "content": "x"}, Tool.EDIT, "/w/a"),
            ("NotebookEdit", {"notebook_path": "n.ipynb"}, Tool.EDIT, "n.ipynb"),
            ("Grep", {"pattern": "x"}, Tool.READ, "."),
            ("Glob", {"pattern": "*", "path": "src"}, Tool.READ, "src"),
            ("WebFetch", {"url": "http://x"}, Tool.FETCH, "http://x"),
            ("mcp__a__b", {"command": "x"}, Tool.MCP, "mcp__a__b"),
            ("PowerShell", {"command": "dir"}, Tool.SHELL, "dir"),
            ("Task", {"prompt": "look"}, Tool.OTHER, "Task"),
        ],
    )
    def test_tools_have_a_kind_and_a_target(
        self, name: str, given: dict[str, Any], tool: Tool, target: str
    ) -> None:
        assert tool_of(name, given) == (tool, target)

    def test_usage_grows_with_the_messages_and_ends_with_the_result(self) -> None:
        reader = ClaudeReader()
        spent: dict[str, Any] = {
            "input_tokens": 10,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 2,
        }
        feed(reader, {"type": "system", "subtype": "init", "model": "m"})
        events = feed(
            reader,
            claude_says("1", TEXT, **spent, output_tokens=1),
            claude_says("1", claude_call("t", "Read"), **spent, output_tokens=1),
            claude_says("2", TEXT, input_tokens=30, output_tokens=1),
        )
        told = [event.usage for event in events if isinstance(event, UsageReported)]
        assert [(usage.input_tokens, usage.context_tokens) for usage in told] == [(10, 17), (40, 30)]
        side = {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.01, "contextWindow": 900_000}
        main = {"inputTokens": 40, "outputTokens": 9, "cacheReadInputTokens": 5, "contextWindow": 200_000}
        feed(reader, claude_ends("x", modelUsage={"m": main, "small": side}, total_cost_usd=0.25))
        assert reader.usage() == Usage(
            input_tokens=43,
            output_tokens=10,
            cache_read_tokens=5,
            cost=0.25,
            context_tokens=30,
            context_window=200_000,
        )

    def test_results_that_follow_each_other_are_added_up(self) -> None:
        reader = ClaudeReader()
        once = {"m": {"inputTokens": 40, "outputTokens": 9, "costUSD": 0.1}}
        feed(reader, claude_ends("a", model_usage_since_last_result=once, total_cost_usd=0.1))
        feed(reader, claude_ends("b", model_usage_since_last_result=once, total_cost_usd=0.2))
        usage, reply = reader.usage(), reader.reply()
        assert usage is not None
        assert reply is not None
        assert (usage.input_tokens, usage.cost, reply.text) == (80, 0.2, "b")

    @pytest.mark.parametrize(
        ("changes", "kind", "sentence"),
        [
            (
                {"result": "API Error: 401 bad key", "api_error_status": 401},
                BackendUnavailable,
                f"it is not logged in, or its key is wrong (API Error: 401 bad key): {LOGIN}",
            ),
            (
                {"result": "Not logged in · Please run /login"},
                BackendUnavailable,
                f"it is not logged in, or its key is wrong (Not logged in · Please run /login): {LOGIN}",
            ),
            (
                {"result": "API Error: 529 Overloaded.", "api_error_status": 529},
                AgentFailed,
                "the provider of its model had an error (API Error: 529 Overloaded)",
            ),
            (
                {
                    "result": "Prompt is too long",
                    "api_error_status": 400,
                    "terminal_reason": "prompt_too_long",
                },
                AgentFailed,
                "the context of its model is full (prompt is too long)",
            ),
            (
                {"subtype": "error_max_turns", "result": None, "terminal_reason": "max_turns"},
                AgentFailed,
                "it stopped because it took as many turns as max_turns allows",
            ),
            (
                {"subtype": "error_during_execution", "terminal_reason": "aborted_streaming"},
                AgentFailed,
                "it was interrupted before it could reply",
            ),
            (
                {"subtype": "error_during_execution", "errors": ["No conversation found with session ID: x"]},
                SessionLost,
                "Claude Code does not know the conversation any more",
            ),
            (
                {"subtype": "error_during_execution", "errors": ["it\nbroke"]},
                AgentFailed,
                "Claude Code reported an error: it broke",
            ),
        ],
    )
    def test_every_error_is_one_sentence(
        self, changes: dict[str, Any], kind: type[Exception], sentence: str
    ) -> None:
        reader = ClaudeReader()
        feed(reader, claude_ends("", is_error=True) | changes)
        with pytest.raises(kind) as caught:
            reader.reply()
        assert str(caught.value) == sentence

    def test_a_refusal_is_named_where_there_is_no_reply(self) -> None:
        reader = ClaudeReader()
        denial = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
        feed(reader, claude_ends("", permission_denials=[denial]))
        with pytest.raises(AgentFailed, match="it was refused: Bash git push"):
            reader.reply()

    def test_a_stream_without_an_end_has_no_reply(self) -> None:
        reader = ClaudeReader()
        retry = {"attempt": 1, "max_retries": 9, "error_status": 500, "error": "server_error"}
        events = feed(reader, {"type": "system", "subtype": "api_retry"} | retry, claude_says("1", TEXT))
        assert Retrying(reason="server_error (500), attempt 1 of 9") in events
        assert reader.reply() is None


def codex_item(kind: str, *, ended: bool = True, **item: Any) -> dict[str, Any]:
    """A line with an item of Codex."""
    return {
        "type": "item.completed" if ended else "item.started",
        "item": {"id": "item_1", "type": kind, **item},
    }


class TestCodex:
    """`codex exec --json`."""

    def test_the_last_words_are_the_reply(self) -> None:
        reader = CodexReader()
        events = feed(
            reader,
            {"type": "thread.started", "thread_id": "t1"},
            codex_item("error", message="Model metadata for `x` not found."),
            codex_item("agent_message", text="First."),
            {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"},
            codex_item("agent_message", text="Last."),
            {
                "type": "turn.completed",
                "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2},
            },
        )
        reply = reader.reply()
        assert reply is not None
        assert reply.text == "Last."
        assert reader.conversation == "t1"
        assert Retrying(reason="1/5 (stream disconnected)") in events
        assert reader.usage() == Usage(input_tokens=5, cache_read_tokens=4, output_tokens=2)

    def test_calls_are_told_in_our_words(self) -> None:
        command = "/bin/bash -lc 'echo bad; exit 3'"
        change = {"path": "/w/a.py", "kind": "update"}
        call: dict[str, Any] = {"server": "segue", "tool": "hand", "status": "completed"}
        events = feed(
            CodexReader(),
            codex_item("command_execution", ended=False, command=command, status="in_progress"),
            codex_item(
                "command_execution", command=command, exit_code=3, aggregated_output="bad\n", status="failed"
            ),
            codex_item("file_change", changes=[change], status="completed"),
            codex_item("mcp_tool_call", **call, result={"content": [{"type": "text", "text": "taken"}]}),
            codex_item("web_search", query="weather"),
            codex_item("todo_list", items=[]),
        )
        told = [(e.tool, e.state, e.target, e.exit_code) for e in events if isinstance(e, ToolUsed)]
        assert told == [
            (Tool.SHELL, ToolState.STARTED, "echo bad; exit 3", None),
            (Tool.SHELL, ToolState.FAILED, "echo bad; exit 3", 3),
            (Tool.EDIT, ToolState.DONE, "/w/a.py", None),
            (Tool.MCP, ToolState.DONE, "mcp__segue__hand", None),
            (Tool.FETCH, ToolState.DONE, "weather", None),
        ]
        assert [event.output for event in events if isinstance(event, ToolUsed)][3] == "taken"

    @pytest.mark.parametrize(
        ("message", "kind", "sentence"),
        [
            (
                "unexpected status 401 Unauthorized: bad key, url: http://x/v1/responses",
                BackendUnavailable,
                "it is not logged in, or its key is wrong (unexpected status 401",
            ),
            (
                "Missing environment variable: `KEY`.",
                BackendUnavailable,
                "it is not logged in, or its key is",
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                AgentFailed,
                "the provider of its model takes",
            ),
            (
                "We are currently experiencing high demand, which may",
                AgentFailed,
                "the provider of its model had",
            ),
            ("unexpected status 404 Not Found: nope", AgentFailed, 'its model "gpt" does not exist'),
            (
                json.dumps({"error": {"message": "Too much.", "code": "context_length_exceeded"}}),
                AgentFailed,
                "the context of its model is full (Too much. context_length_exceeded)",
            ),
            (
                "stream disconnected before completion: x",
                AgentFailed,
                "the connection to its model was cut (stream",
            ),
            (
                "Connection failed: error sending request",
                AgentFailed,
                "the provider of its model cannot be reached",
            ),
            ("something else", AgentFailed, "its model gave an error (something else)"),
        ],
    )
    def test_every_error_is_one_sentence(self, message: str, kind: type[Exception], sentence: str) -> None:
        reader = CodexReader("gpt")
        feed(
            reader,
            {"type": "error", "message": message},
            {"type": "turn.failed", "error": {"message": message}},
        )
        with pytest.raises(kind) as caught:
            reader.reply()
        assert str(caught.value).startswith(sentence)

    def test_its_own_record_tells_how_full_the_context_is(self, tmp_path: Path) -> None:
        folder = tmp_path / "sessions" / "2026" / "11" / "16"
        folder.mkdir(parents=True)
        lines = [
            count(100, 100),
            {"type": "event_msg", "payload": {"type": "task_complete"}},
            count(350, 250),
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "rollout-2026-11-16T01-00-00-t1.jsonl").write_text(text + "{half")
        assert recorded_usage(tmp_path, "t1") == Usage(
            input_tokens=350, output_tokens=7, context_tokens=250, context_window=190_000
        )
        assert recorded_usage(tmp_path, "t2") is None


def count(total: int, last: int) -> dict[str, Any]:
    """A line of Codex's own record of a thread."""
    info = {
        "total_token_usage": {"input_tokens": total, "output_tokens": 7},
        "last_token_usage": {"input_tokens": last},
        "model_context_window": 190_000,
    }
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


class TestTail:
    """A file that grows."""

    def test_a_line_is_read_when_it_is_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "stdout"
        tail = Tail(path)
        assert tail.read() == []
        path.write_bytes(b'no json\n[1]\n{"a": 1}\n{"b"')
        assert tail.read() == [{"a": 1}]
        with path.open("ab") as file:
            file.write(': "größer"}\n{"c": 3}'.encode())
        assert tail.read() == [{"b": "größer"}]
        assert tail.read(ended=True) == [{"c": 3}]
