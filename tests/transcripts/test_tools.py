"""What a tool call names, changes and runs; what the user's words ask for."""

from __future__ import annotations

import pytest

from segue.domain.transcripts import FileChangeKind, Recorder, Transcript, summarise
from segue.domain.transcripts.loose import clip, head, moment, tail
from segue.domain.transcripts.model import ToolKind
from segue.domain.transcripts.tools import kind_of, read_call
from segue.domain.transcripts.wishes import directives_in, own_words, turns_away
from segue.domain.transcripts.work import relative


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Read", "read"), ("write_file", "write"), ("MultiEdit", "edit"), ("apply_patch", "edit"),
        ("exec_command", "shell"), ("Bash", "shell"), ("TodoWrite", "plan"), ("update_plan", "plan"),
        ("grep_files", "search"), ("mcp__files__write", "other"), ("", "other"),
    ],
)  # fmt: skip
def test_a_name_tells_the_kind(name: str, kind: str) -> None:
    assert kind_of(name) is ToolKind(kind)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cat > a.py <<'EOF'\nx > y.txt\nEOF", {"a.py": "created"}),
        ("mkdir -p d && cat >> 'd/a.py' <<EOF\nx\nEOF", {"d/a.py": "modified"}),
        ("printf %s 'a > b' > c.txt", {"c.txt": "created"}),
        ("echo hi >> notes.md; ls", {"notes.md": "modified"}),
        ("echo hi > /dev/null", {}),
        ("echo hi 2> err.txt", {}),
        ("echo hi > $OUT", {}),
        ("echo 'unclosed > a.txt", {}),
        ("grep x a.py > found.txt", {}),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\nEOF",
         {"a": "deleted", "b": "created"}),
        ("pytest -q", {}),
    ],
)  # fmt: skip
def test_a_command_tells_the_files_it_fills(command: str, files: dict[str, str]) -> None:
    call = read_call("bash", {"command": command})
    assert {each.path: str(each.change) for each in call.changes} == files


def test_a_shell_that_wraps_a_command_is_taken_off() -> None:
    assert read_call("shell", {"command": ["bash", "-lc", "make all"]}).command == "make all"
    assert read_call("shell", {"command": ["make", "all"]}).command == "make all"


def test_a_view_by_an_editing_tool_changes_nothing() -> None:
    assert read_call("str_replace_editor", {"command": "view", "path": "a"}).changes == ()
    created = read_call("str_replace_editor", {"command": "create", "path": "a"}).changes
    assert [each.change for each in created] == [FileChangeKind.CREATED]


def made_of(*calls: tuple[str, str]) -> Transcript:
    recorder = Recorder()
    for at, (name, path) in enumerate(calls):
        given = {"input": path} if name == "apply_patch" else {"path": path}
        recorder.called(str(at), name, given)
        recorder.returned(str(at), "", ok=True)
    return Transcript(tool="t", session_id="s", working_dir="/p", entries=recorder.entries)


def test_a_file_is_told_in_its_last_state() -> None:
    gone = "*** Begin Patch\n*** Delete File: new.py\n*** Delete File: old.py\n*** End Patch"
    handoff = summarise(
        made_of(
            ("write", "/p/new.py"), ("edit", "new.py"), ("edit", "./old.py"), ("apply_patch", gone),
            ("write", "/p/kept.py"), ("edit", "kept.py"), ("read", "seen.py"), ("write", "seen.py"),
            ("write", "/elsewhere/x.py"),
        )
    )  # fmt: skip
    assert [each.path for each in handoff.files_created] == ["kept.py", "/elsewhere/x.py"]
    modified = [(each.path, each.change_type) for each in handoff.files_modified]
    assert modified == [("old.py", "delete"), ("seen.py", "modify")]


def test_a_call_that_failed_changes_nothing() -> None:
    recorder = Recorder()
    recorder.called("1", "write", {"path": "a.py"})
    recorder.returned("1", "no room", ok=False)
    handoff = summarise(Transcript(tool="t", session_id="s", entries=recorder.entries))
    assert handoff.files_created == ()
    assert "which failed" in str(handoff.next_agent_context)


def test_the_agents_own_list_says_what_is_left() -> None:
    recorder = Recorder()
    todos = [
        {"content": "Write it", "status": "completed"},
        {"content": "Test it", "status": "in_progress"},
        {"content": "Ship it", "status": "pending"},
    ]
    recorder.called("1", "TodoWrite", {"todos": todos})
    recorder.returned("1", "ok", ok=True)
    recorder.said("More to do.")
    handoff = summarise(Transcript(tool="t", session_id="s", entries=recorder.entries))
    assert [(each.step, each.priority) for each in handoff.suggested_next_steps] == [
        ("Test it", "high"),
        ("Ship it", None),
    ]


def test_an_older_report_in_sections_is_not_lost_behind_small_talk() -> None:
    recorder = Recorder()
    recorder.user("Do it.")
    recorder.said("## Outcome\ncompleted\n\n## What Was Done\n- Did it\n\n## Decisions Made\n- Plain text")
    recorder.user("Thanks. Rename it.")
    recorder.said("Renamed.")
    handoff = summarise(Transcript(tool="t", session_id="s", entries=recorder.entries))
    assert handoff.what_was_done == ("Did it", "Renamed.")
    assert [each.decision for each in handoff.decisions_made] == ["Plain text"]
    assert handoff.outcome is None, "it speaks of an earlier state"
    assert handoff.critical_context == ("The user said later: Thanks. Rename it.",)


def test_rules_are_kept_word_for_word() -> None:
    message = (
        "Build the shop. You must NOT use jQuery; it is old. Should it only run here?\n\n"
        "* always   write tests\n1. Nice colours\n```\nnever_this = 1  # must not count\n```\n"
        "> never quoted\n\nBitte keine neuen Tabellen anlegen."
    )
    assert directives_in([message, "You must NOT use jQuery; it is old."]).kept == (
        "always   write tests",
        "Bitte keine neuen Tabellen anlegen.",
        "You must NOT use jQuery; it is old.",
    )


def test_the_newest_rules_are_kept_and_the_dropped_ones_are_listed() -> None:
    recorder = Recorder()
    recorder.user("Build it.")
    for number in range(70):
        recorder.user(f"Never use colour number {number}.")
    recorder.user("You must " + "really " * 100 + "hurry.")
    handoff = summarise(Transcript(tool="t", session_id="s", entries=recorder.entries))
    assert "Never use colour number 69." in handoff.constraints
    assert "Never use colour number 9." not in handoff.constraints
    (left_out,) = [
        each for each in handoff.other_sections if each.heading == "Said by the user, and left out"
    ]
    assert "- Never use colour number 9." in left_out.text
    assert "- You must really really" in left_out.text
    assert len(left_out.text) < 20_000


def test_files_are_those_of_calls_that_succeeded_and_not_those_the_agent_names() -> None:
    recorder = Recorder()
    recorder.user("Go")
    for name, ok in (("good.py", True), ("bad.py", False), ("open.py", None)):
        recorder.called(name, "Write", {"file_path": name, "content": "x"})
        recorder.returned(name, "", ok=ok)
    recorder.said(
        "## Files Created\n- good.py: the start\n- bad.py\n- dreamt.py\n\n## What Was Done\n- All\n"
    )
    handoff = summarise(Transcript(tool="t", session_id="s", entries=recorder.entries))
    assert [(each.path, each.purpose) for each in handoff.files_created] == [("good.py", "the start")]


@pytest.mark.parametrize(
    ("message", "turns"),
    [
        ("Actually, use cookies", True),
        ("No, the other one", True),
        ("stop, undo that", True),
        ("Now the tests", False),
    ],
)
def test_a_change_of_mind_is_seen(message: str, turns: bool) -> None:
    assert turns_away(message) is turns


def test_what_a_tool_added_is_not_the_users() -> None:
    assert own_words("<system-reminder>never do x</system-reminder>\nHello <b>you</b>") == "Hello <b>you</b>"
    assert own_words("<command-name>/clear</command-name>\n<command-args></command-args>") == ""
    typed = "<command-name>/fix</command-name>\n<command-args>{}</command-args>"
    assert own_words(typed.format("the login, never the schema ")) == "/fix the login, never the schema"
    assert own_words("<system-reminder>" * 20_000) != ""


def test_texts_are_cut_at_white_space() -> None:
    words = "secret-one secret-two secret-three " * 100
    for cut in (clip(words, 100), head(words, 50), tail(words, 50)):
        assert set(cut.split()) <= {"secret-one", "secret-two", "secret-three", "[...]"}
        assert len(cut) < 120


def test_moments_and_paths_of_all_kinds() -> None:
    assert moment("2026-11-15T19:58:56.170Z") == moment(1_794_772_736_170)
    nothing: list[object] = ["yesterday", float("nan"), 1e300, True, None, [], "9" * 40]
    assert [moment(each) for each in nothing] == [None] * len(nothing)
    assert relative("/p/a/../b.py", "/p") == "b.py"
    assert relative("file:///p/b.py", "/p/") == "b.py"
    assert relative("../x.py", "/p/q") == "/p/x.py"
    assert relative("b.py", None) == "b.py"
    assert relative("/other/b.py", "/p") == "/other/b.py"
