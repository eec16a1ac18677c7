"""The windows of models, as Claude Code told them once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.adapters.backends.claude_stream import ClaudeReader
from segue.adapters.backends.claude_windows import Windows

INIT: dict[str, Any] = {"type": "system", "subtype": "init", "model": "opus"}
WORDS: dict[str, Any] = {
    "type": "assistant",
    "session_id": "s",
    "message": {"id": "m1", "content": [], "usage": {"input_tokens": 700, "output_tokens": 1}},
}
RESULT: dict[str, Any] = {
    "type": "result",
    "result": "Done.",
    "modelUsage": {"opus": {"contextWindow": 1000}},
}


def share(windows: Windows, *lines: dict[str, Any]) -> float | None:
    """How full the context is after these lines."""
    reader = ClaudeReader(windows)
    for line in lines:
        for _ in reader.feed(line):
            pass
    usage = reader.usage()
    assert usage is not None
    return usage.context_share


def test_what_one_message_told_is_known_while_the_next_is_under_way(tmp_path: Path) -> None:
    windows = Windows(tmp_path / "windows.json")
    assert share(windows, INIT, WORDS) is None
    assert share(windows, INIT, WORDS, RESULT) == 0.7
    assert share(Windows(tmp_path / "windows.json"), INIT, WORDS) == 0.7
    assert share(windows, {**INIT, "model": "haiku"}, WORDS) is None


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    path = tmp_path / "windows.json"
    path.write_text('["opus"')
    assert Windows(path).of("opus") is None
    Windows(path).learn("opus", 1000)
    Windows(path).learn("haiku", 500)
    Windows(path).learn(None, 7)
    assert (Windows(path).of("opus"), Windows(path).of("haiku")) == (1000, 500)


def test_a_folder_that_cannot_be_written_costs_no_reply(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    windows = Windows(tmp_path / "in the way" / "windows.json")
    assert share(windows, INIT, WORDS, RESULT) == 0.7
    assert windows.of("opus") is None
