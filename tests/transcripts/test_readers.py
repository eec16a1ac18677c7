"""Each tool's transcript is read as what happened; the same story gives the same handoff."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from segue.adapters.transcripts.local import LocalTranscripts
from segue.domain.errors import InvalidRequest, UnknownName
from segue.domain.transcripts import (
    AssistantText,
    Failure,
    Summary,
    ToolCall,
    Transcript,
    UserMessage,
    is_empty,
    summarise,
)
from tests.transcripts import samples
from tests.transcripts.samples import ClaudeLines, PiLines, Step, write_lines

CWD = "/home/ann/shop"
TOOLS = sorted(samples.WRITERS)


def read(path: Path) -> Transcript:
    return LocalTranscripts().read(str(path))


def words_of(transcript: Transcript) -> list[str]:
    return [e.text for e in transcript.entries if isinstance(e, UserMessage | AssistantText)]


def calls_of(transcript: Transcript) -> list[ToolCall]:
    return [e for e in transcript.entries if isinstance(e, ToolCall)]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_session_is_read_as_it_went(tool: str, own_home: Path) -> None:
    found = read(samples.WRITERS[tool](own_home, CWD))
    assert (found.tool, found.session_id, found.working_dir) == (tool, samples.IDS[tool], CWD)
    assert found.model == "scripted"
    assert words_of(found) == [samples.ASKED, "I look first.", samples.TURNED, samples.REPORT]
    assert (found.skipped, found.left_out, found.branches) == (0, 0, ())
    shells = [call for call in calls_of(found) if call.command and "cat" not in call.command]
    assert [(call.command, call.exit_code, call.ok) for call in shells] == [
        ("pytest -q", 1, False),
        ("ls", 0, True),
        ("pytest -q", 0, True),
    ]
    assert "1 failed" in shells[0].output
    assert found.usage is not None
    assert found.usage.input_tokens > 0
    assert found.started_at is not None
    assert found.updated_at is not None
    assert found.started_at < found.updated_at


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_gives_the_same_handoff(tool: str, own_home: Path) -> None:
    handoff = summarise(read(samples.WRITERS[tool](own_home, CWD)))
    assert handoff.goal == f"{samples.ASKED}\n\nThe user changed this later: {samples.TURNED}"
    assert handoff.constraints == (
        "Never touch the database schema.",
        "Tests must stay green.",
        "Please do not add a dependency.",
    )
    assert [each.path for each in handoff.files_created] == ["login.py"]
    assert [(each.path, each.change_type) for each in handoff.files_modified] == [("app.py", "modify")]
    assert [(each.command, each.exit_code) for each in handoff.commands_run] == [("pytest -q", 0)]
    assert handoff.what_was_done == (
        "The login page works with cookies.",
        "login.py holds the form",
        "app.py routes to it",
    )
    assert not (handoff.blockers)
    assert not (handoff.failed_approaches)
    assert not (handoff.suggested_next_steps)
    assert handoff.outcome is None
    assert f"the {tool} session {samples.IDS[tool]}" in handoff.other_sections[-1].text


@pytest.mark.parametrize("tool", TOOLS)
def test_a_session_that_was_cut_off_says_in_the_middle_of_what(tool: str, own_home: Path) -> None:
    story = [Step("user", "Fix it."), Step("say", "I run the tests."), Step("shell", "make test", code=None)]
    handoff = summarise(read(samples.WRITERS[tool](own_home, CWD, story)))
    assert "`make test`" in handoff.suggested_next_steps[0].step
    assert "has no result" in str(handoff.next_agent_context)
    assert "I run the tests." in str(handoff.next_agent_context)
    assert not (handoff.what_was_done)
    assert not (handoff.commands_run)


def test_an_exported_session_is_read_like_the_database(own_home: Path, tmp_path: Path) -> None:
    exported = read(samples.opencode_export(tmp_path / "export.json", CWD))
    stored = read(samples.opencode(own_home, CWD))
    assert exported.entries == stored.entries
    assert exported.title == stored.title == "Login page"


def test_claude_leaves_sub_agents_and_rewound_branches_apart(tmp_path: Path) -> None:
    lines = ClaudeLines(CWD)
    lines.user("Add a page.")
    fork = lines.say({"type": "text", "text": "Which one?"})
    lines.user("The blue one.")
    left = lines.say({"type": "text", "text": "Blue it is."})
    lines.parent = fork
    lines.user("The red one.")
    lines.records.append({**lines.records[-1], "uuid": "side", "isSidechain": True, "type": "assistant"})
    lines.say({"type": "text", "text": "Red it is."})
    found = read(write_lines(tmp_path / "s.jsonl", lines.records))
    assert words_of(found) == ["Add a page.", "Which one?", "The red one.", "Red it is."]
    assert [(each.leaf, each.entries) for each in found.branches] == [(left, 2)]
    assert found.aside == 1
    assert "1 other branches were left out" in summarise(found).other_sections[-1].text


def test_claude_keeps_all_results_of_calls_at_once(tmp_path: Path) -> None:
    lines = ClaudeLines(CWD)
    lines.user("Look.")
    first = lines.say({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make a"}})
    lines.say({"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make b"}})
    last = lines.result("t2", "b", {"stdout": "b", "interrupted": False})
    lines.parent = first
    lines.result("t1", "a", {"stdout": "a", "interrupted": False})
    lines.parent = last
    lines.say({"type": "text", "text": "Both made."})
    found = read(write_lines(tmp_path / "s.jsonl", lines.records))
    assert [(call.command, call.exit_code, call.output) for call in calls_of(found)] == [
        ("make a", 0, "a"),
        ("make b", 0, "b"),
    ]
    assert found.branches == ()


def test_claude_goes_on_behind_a_compaction(tmp_path: Path) -> None:
    lines = ClaudeLines(CWD)
    lines.user("Add a page. Never use tables.")
    lines.step(Step("write", "page.html"))
    before = lines.parent
    lines.parent = None
    lines.add("system", subtype="compact_boundary", logicalParentUuid=before)
    lines.user("1. Pending Tasks:\n   - Write the footer", isCompactSummary=True)
    lines.user("a caveat of the tool", isMeta=True)
    lines.user("<command-name>/model</command-name>")
    lines.user("Go on.")
    lines.user("[Request interrupted by user]")
    found = read(write_lines(tmp_path / "s.jsonl", lines.records))
    assert [type(entry) for entry in found.entries[-3:]] == [UserMessage, UserMessage, Failure]
    assert sum(isinstance(entry, Summary) for entry in found.entries) == 1
    handoff = summarise(found)
    assert handoff.goal == "Add a page. Never use tables."
    assert handoff.constraints == ("Never use tables.",)
    assert [each.path for each in handoff.files_created] == ["page.html"]
    assert "interrupted" in handoff.blockers[0].blocker
    assert "Go on." in handoff.suggested_next_steps[0].step


def test_claude_a_missing_line_does_not_break_the_chain(tmp_path: Path) -> None:
    path = samples.claude(tmp_path, CWD)
    lines = path.read_text().splitlines(keepends=True)
    lines[4] = lines[4][:40] + "\n"
    path.write_text("".join(lines))
    found = read(path)
    assert found.skipped == 1
    assert words_of(found)[0] == samples.ASKED
    assert words_of(found)[-1] == samples.REPORT


def test_codex_rolls_back_and_knows_old_files(tmp_path: Path) -> None:
    def user(text: str) -> dict[str, object]:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    call = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": '{"command":["bash","-lc","make"]}',
    }
    output = json.dumps({"output": "no rule", "metadata": {"exit_code": 2}})
    old: list[Mapping[str, object]] = [
        {"id": "old-1", "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        user("Build it."),
        call,
        {"type": "function_call_output", "call_id": "c", "output": output},
    ]
    found = read(write_lines(tmp_path / "old.jsonl", old))
    assert (found.session_id, words_of(found)) == ("old-1", ["Build it."])
    assert [(each.command, each.exit_code, each.output) for each in calls_of(found)] == [
        ("make", 2, "no rule")
    ]
    new = [{"type": "session_meta", "payload": {"id": "n", "cwd": CWD}}]
    new += [{"type": "response_item", "payload": user(text)} for text in ("One.", "Two.", "Three.")]
    new.append({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 2}})
    new.append({"type": "compacted", "payload": {"message": "It was about one."}})
    new.append({"type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}})
    found = read(write_lines(tmp_path / "new.jsonl", new))
    assert words_of(found) == ["One."]
    assert found.branches[0].entries == 2
    assert isinstance(found.entries[-1], Failure)
    assert isinstance(found.entries[-2], Summary)


def test_pi_follows_the_newest_leaf_and_lists_the_others(tmp_path: Path) -> None:
    lines = PiLines(CWD)
    lines.header()
    lines.step(Step("user", "Add a page."))
    fork = lines.parent
    lines.step(Step("say", "A green one."))
    left = lines.parent
    lines.parent = fork
    lines.add("branch_summary", fromId=left, summary="Green was tried.")
    lines.message("bashExecution", command="make page", output="done", exitCode=0)
    lines.add("compaction", summary="## Goal\nA page\n\n## Next Steps\n1. Write the footer")
    lines.message("assistant", content=[], stopReason="error", errorMessage="the model is overloaded")
    found = read(write_lines(tmp_path / "s.jsonl", lines.records))
    assert words_of(found) == ["Add a page."]
    assert [(each.leaf, each.entries) for each in found.branches] == [(left, 1)]
    assert [call.command for call in calls_of(found)] == ["make page"]
    handoff = summarise(found)
    assert "Write the footer" in [each.step for each in handoff.suggested_next_steps]
    assert "the model is overloaded" in handoff.blockers[0].blocker


@pytest.mark.parametrize("version", [1, 2])
def test_pi_reads_older_versions(version: int, tmp_path: Path) -> None:
    path = samples.pi(tmp_path, CWD)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    records[0]["version"] = version
    if version == 1:
        records = [{k: v for k, v in r.items() if k not in ("parentId", "version")} for r in records]
        records = [records[0], *({k: v for k, v in r.items() if k != "id"} for r in records[1:])]
    found = read(write_lines(path, records))
    assert words_of(found) == [samples.ASKED, "I look first.", samples.TURNED, samples.REPORT]


def test_opencode_leaves_out_what_was_undone(own_home: Path) -> None:
    import sqlite3

    path = samples.opencode(own_home, CWD)
    database = sqlite3.connect(path)
    turned = database.execute("SELECT message_id FROM part WHERE data LIKE '%cookies instead%'").fetchone()[0]
    database.execute("UPDATE session SET revert = ?", (json.dumps({"messageID": turned}),))
    database.execute("UPDATE part SET data = '{' WHERE data LIKE '%I look first%'")
    database.commit()
    database.close()
    found = read(path)
    assert words_of(found) == [samples.ASKED]
    assert found.branches[0].entries == 5
    assert found.skipped == 1


def test_the_database_is_not_changed(own_home: Path) -> None:
    path = samples.opencode(own_home, CWD)
    path.chmod(0o444)
    before = path.read_bytes()
    read(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_transcript_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"hello": 1}\n')
    with pytest.raises(
        InvalidRequest, match=r"notes.jsonl is no transcript .*tried claude, codex, opencode, goose, pi"
    ):
        read(path)
    with pytest.raises(InvalidRequest, match="there is no file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(UnknownName, match='no tool "cursor"'):
        LocalTranscripts().read("latest", tool="cursor")


def test_a_command_that_the_user_stopped_did_not_succeed(own_home: Path, tmp_path: Path) -> None:
    """In the words of each tool; what stopped it comes after it."""
    story = [Step("user", "Build it."), Step("shell", "make", code=None)]
    stopped = {
        "status": "completed",
        "input": {"command": "make"},
        "output": "<shell_metadata>\nUser aborted the command\n</shell_metadata>",
        "metadata": {"exit": None},
    }
    document = json.loads(samples.opencode_export(tmp_path / "e.json", CWD, story).read_text())
    document["messages"][1]["parts"][0]["state"] = stopped
    document["messages"][1]["info"]["error"] = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    (tmp_path / "e.json").write_text(json.dumps(document))
    records = [json.loads(line) for line in samples.codex(own_home, CWD, story).read_text().splitlines()]
    call = next(r["payload"]["call_id"] for r in records if r["payload"].get("type") == "function_call")
    ended = {
        "type": "function_call_output",
        "call_id": call,
        "output": "Wall time: 4.0 seconds\naborted by user",
    }
    records.append({"type": "response_item", "payload": ended})
    records.append({"type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}})
    for path in (tmp_path / "e.json", write_lines(tmp_path / "c.jsonl", records)):
        found = read(path)
        assert [(each.command, each.ok, each.exit_code) for each in calls_of(found)] == [
            ("make", False, None)
        ]
        assert isinstance(found.entries[-1], Failure)
        assert "abort" in summarise(found).blockers[0].blocker.casefold()


def test_what_was_given_to_opencode_in_one_piece_has_no_quotes(tmp_path: Path) -> None:
    story = [Step("user", '"Say \\"hello\\" to all"'), Step("user", '"one" and "two"'), Step("user", '"')]
    found = read(samples.opencode_export(tmp_path / "e.json", CWD, story))
    assert words_of(found) == ['Say "hello" to all', '"one" and "two"', '"']


def test_a_session_in_which_nothing_was_said_is_not_the_newest(own_home: Path) -> None:
    spoken = samples.claude(own_home, CWD)
    lines = ClaudeLines(CWD)
    lines.user("a caveat of the tool", isMeta=True)
    lines.user("<command-name>/model</command-name>\n<command-args></command-args>")
    empty = write_lines(spoken.with_name("empty.jsonl"), lines.records)
    os.utime(spoken, (1_700_000_000, 1_700_000_000))
    assert is_empty(read(empty))
    assert not is_empty(LocalTranscripts().read("latest", tool="claude", working_dir=Path(CWD)))
    spoken.unlink()
    assert is_empty(LocalTranscripts().read("latest", tool="claude", working_dir=Path(CWD)))
