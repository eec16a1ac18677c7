"""`segue handoff extract` and `lint` on real files: what they print, fix and complain about."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from segue import Handoff, extract_handoff
from tests.cli.conftest import Ran
from tests.cli.documents import KEY, REPLY, TASK

Run = Callable[..., Ran]


class TestExtract:
    def test_one_file_is_one_object(self, segue: Run, folder: Path) -> None:
        ran = segue("handoff", "extract", "coder.md", "--json")
        found = json.loads(ran.out)
        assert ran.code == 0
        assert list(found) == ["handoff", "notation", "spans", "notes", "coverage", "guessed"]
        assert Handoff.model_validate(found["handoff"]) == extract_handoff(REPLY).handoff
        span = found["spans"]["decisions_made[0]"]
        assert REPLY[span["start"] : span["end"]] == "Use JWT"

    def test_a_reply_need_not_look_like_a_handoff(self, segue: Run, folder: Path) -> None:
        (folder / "reply.txt").write_text(
            "I could not run the migration: permission denied.\n", encoding="utf-8"
        )
        assert segue("handoff", "extract", "reply.txt").code == 1
        found = json.loads(segue("handoff", "extract", "--reply", "reply.txt", "--json").out)
        assert found["handoff"]["outcome"] == "blocked"
        assert found["coverage"] == 1.0

    def test_items_show_what_introduced_them(self, segue: Run, folder: Path) -> None:
        (folder / "reply.txt").write_text(
            "## Next steps\n\nOnly after the release on Friday:\n\n- Drop the old table\n- Tag it\n",
            encoding="utf-8",
        )
        shown = " ".join(segue("handoff", "extract", "--reply", "reply.txt").out.split())
        assert shown.count("under: Only after the release on Friday") == 2

    def test_several_are_a_list_with_paths(self, segue: Run, folder: Path) -> None:
        found = json.loads(segue("handoff", "extract", "coder.md", "deep", "--json").out)
        assert [each["path"] for each in found] == ["coder.md", "deep/er/planner.markdown"]
        assert found[1]["handoff"]["decisions_made"][0]["decision"] == "Use cookies"

    def test_a_folder_is_a_list_even_with_one_file_in_it(self, segue: Run, folder: Path) -> None:
        assert len(json.loads(segue("handoff", "extract", "deep", "--json").out)) == 1

    @pytest.mark.parametrize("arguments", [[], ["-"]])
    def test_standard_input(self, segue: Run, arguments: list[str]) -> None:
        ran = segue("handoff", "extract", "--json", *arguments, stdin=REPLY.encode())
        assert json.loads(ran.out)["handoff"]["next_agent_context"] == "Add refresh tokens."

    def test_people_see_notation_fields_and_items(self, segue: Run, folder: Path) -> None:
        ran = segue("handoff", "extract", "coder.md")
        assert "notation: sections" in ran.out
        assert "- Added POST /auth/login" in ran.out
        assert "next agent context" in ran.out

    def test_a_file_is_read_once(self, segue: Run, folder: Path) -> None:
        found = json.loads(segue("handoff", "extract", "coder.md", ".", "./coder.md", "--json").out)
        assert [each["path"] for each in found] == ["coder.md", "deep/er/planner.markdown"]

    @pytest.mark.parametrize("text", [b"", b"\n", b"\xef\xbb\xbf"])
    def test_nothing_found_is_exit_code_1(self, segue: Run, text: bytes) -> None:
        ran = segue("handoff", "extract", "--json", stdin=text)
        assert ran.code == 1
        assert json.loads(ran.out)["handoff"] is None
        assert "no handoff in -" in ran.err


class TestUnreadable:
    """One sentence each, exit code 2, and the rest is done."""

    def check(self, segue: Run, name: str, *words: str) -> None:
        ran = segue("handoff", "extract", "--json", name, "coder.md")
        assert ran.code == 2
        assert [each["path"] for each in json.loads(ran.out)] == ["coder.md"]
        [line] = ran.err.splitlines()
        assert line.startswith("segue: ")
        assert all(word in line for word in words)

    def test_a_file_that_is_not_there(self, segue: Run, folder: Path) -> None:
        self.check(segue, "codr.md", "cannot read codr.md", "No such file")

    def test_a_binary_file(self, segue: Run, folder: Path) -> None:
        self.check(segue, "deep/picture.png", "cannot read deep/picture.png", "binary")

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
    def test_another_encoding(self, segue: Run, folder: Path, encoding: str) -> None:
        (folder / "old.md").write_text("## What Was Done\ncafé\n", encoding=encoding)
        self.check(segue, "old.md", "not UTF-8")

    def test_a_symlink_loop(self, segue: Run, folder: Path) -> None:
        (folder / "loop.md").symlink_to("loop.md")
        self.check(segue, "loop.md", "cannot read loop.md", "symbolic links")

    def test_a_broken_link_in_a_folder(self, segue: Run, folder: Path) -> None:
        (folder / "deep" / "er" / "planner.markdown").unlink()
        (folder / "deep" / "gone.md").symlink_to("nowhere.md")
        self.check(segue, "deep", "cannot read deep/gone.md", "No such file")

    def test_no_name_at_all(self, segue: Run, folder: Path) -> None:
        self.check(segue, "", "cannot read a file without a name")

    def test_a_folder_without_documents(self, segue: Run, folder: Path) -> None:
        (folder / "empty").mkdir()
        self.check(segue, "empty", "nothing to read in empty", "*.md")

    def test_a_path_through_a_file(self, segue: Run, folder: Path) -> None:
        self.check(segue, "coder.md/x.md", "cannot read coder.md/x.md", "Not a directory")

    def test_a_file_larger_than_any_handoff(self, segue: Run, folder: Path) -> None:
        with (folder / "huge.md").open("wb") as stream:
            stream.truncate(40_000_000)
        self.check(segue, "huge.md", "larger than 32 MB")

    def test_names_that_drive_a_terminal_are_printed_without(self, segue: Run, folder: Path) -> None:
        self.check(segue, "\x1b]0;owned\x07\nx.md", "cannot read �]0;owned��x.md")

    def test_names_that_are_not_utf_8(self, segue: Run, folder: Path) -> None:
        name = os.fsdecode(b"caf\xe9.md")
        (folder / name).write_text(REPLY)
        ran = segue("handoff", "extract", "--json", name, "coder.md")
        assert [each["path"] for each in json.loads(ran.out)] == ["caf�.md", "coder.md"]

    def test_folders_that_lead_back_are_not_entered(self, segue: Run, folder: Path) -> None:
        (folder / "deep" / "up").symlink_to("..", target_is_directory=True)
        found = json.loads(segue("handoff", "extract", "--json", "deep").out)
        assert [each["path"] for each in found] == ["deep/er/planner.markdown"]

    def test_a_pipe_in_a_folder_is_passed_over(self, segue: Run, folder: Path) -> None:
        os.mkfifo(folder / "deep" / "pipe.md")
        assert len(json.loads(segue("handoff", "extract", "--json", "deep").out)) == 1


class TestLint:
    def test_lines_and_columns_hold_with_a_mark_and_windows_line_ends(
        self, segue: Run, project: Path
    ) -> None:
        text = f"\ufeff## What Was Done\n- Added it\n- The key is {KEY}\n"
        (project / "a.md").write_bytes(text.replace("\n", "\r\n").encode())
        ran = segue("handoff", "lint", "a.md", "--select", "H050")
        assert ran.code == 1
        assert ran.out == (
            "a.md:3:3: H050 holds what looks like a secret (AWS access key id) [what_was_done[1]]\n"
        )
        assert KEY not in ran.out + ran.err

    def test_a_problem_of_the_first_line_after_a_mark_stands_in_column_1(
        self, segue: Run, project: Path
    ) -> None:
        (project / "a.md").write_text(f"\ufeff{REPLY}")
        assert segue("handoff", "lint", "a.md", "--select", "H001").out.startswith("a.md:1:1: H001 ")

    def test_warnings_leave_exit_code_0(self, segue: Run, project: Path) -> None:
        (project / "a.md").write_text("## What Was Done\n- TODO\n")
        ran = segue("handoff", "lint", "a.md", "--ignore", "H001")
        assert ran.code == 0
        assert ran.out == 'a.md:2:3: H030 "TODO" is a placeholder, not a statement [what_was_done[0]]\n'
        assert "0 errors, 1 warning" in ran.err

    def test_nothing_wrong_prints_nothing(self, segue: Run, folder: Path) -> None:
        ran = segue("handoff", "lint", "coder.md", "--ignore", "H001")
        assert (ran.code, ran.out) == (0, "")
        assert "no problems" in ran.err

    def test_a_named_document_without_a_handoff_is_an_error(self, segue: Run, project: Path) -> None:
        (project / "empty.md").write_text("")
        ran = segue("handoff", "lint", "empty.md")
        assert ran.code == 1
        assert ran.out.startswith("empty.md:1:1: H001 ")
        assert "no handoff in empty.md" in ran.err

    def test_other_documents_in_a_folder_are_passed_over(self, segue: Run, folder: Path) -> None:
        (folder / "empty.md").write_text("")
        ran = segue("handoff", "lint", ".", "--ignore", "H001")
        assert ran.code == 0
        assert "passed over 1 file without a handoff" in ran.err

    def test_errors_and_an_unreadable_file_are_exit_code_2(self, segue: Run, folder: Path) -> None:
        ran = segue("handoff", "lint", "coder.md", "codr.md")
        assert ran.code == 2
        assert "coder.md:1:1: H001" in ran.out
        assert "cannot read codr.md" in ran.err

    @pytest.mark.parametrize("option", ["--select", "--ignore"])
    def test_an_unknown_code_is_misuse_and_names_the_nearest(self, segue: Run, option: str) -> None:
        ran = segue("handoff", "lint", option, "H001,H0500")
        assert ran.code == 2
        assert 'no rule "H0500"' in ran.err
        assert 'Did you mean "H050"?' in ran.err

    def test_an_unknown_format_is_misuse(self, segue: Run) -> None:
        ran = segue("handoff", "lint", "--format", "xml")
        assert ran.code == 2
        assert "sarif" in ran.err

    def test_codes_may_be_repeated_or_joined(self, segue: Run, project: Path) -> None:
        (project / "a.md").write_text(f"## What Was Done\n- TODO\n- {KEY}\n")
        joined = segue("handoff", "lint", "a.md", "--select", "H03,H05")
        repeated = segue("handoff", "lint", "a.md", "--select", "h030", "--select", "H050")
        assert [line.split()[1] for line in joined.out.splitlines()] == ["H030", "H050"]
        assert repeated.out == joined.out

    def test_json(self, segue: Run, folder: Path) -> None:
        [problem] = json.loads(segue("handoff", "lint", "coder.md", "--format", "json").out)
        assert problem["path"] == "coder.md"
        assert (problem["code"], problem["severity"], problem["line"]) == ("H001", "warning", 1)

    def test_github(self, segue: Run, folder: Path) -> None:
        ran = segue("handoff", "lint", "coder.md", "--format", "github")
        assert ran.out.startswith("::warning file=coder.md,line=1,col=1,title=H001::")

    def test_sarif(self, segue: Run, folder: Path) -> None:
        ran = segue("handoff", "lint", "coder.md", "deep", "--format", "sarif")
        results = json.loads(ran.out)["runs"][0]["results"]
        places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results]
        assert places == ["coder.md", "deep/er/planner.markdown"]

    def test_standard_input_is_called_by_its_dash(self, segue: Run) -> None:
        assert segue("handoff", "lint", stdin=REPLY.encode()).out.startswith("-:1:1: H001 ")


class TestFix:
    def test_standard_input_cannot_be_fixed(self, segue: Run) -> None:
        for arguments in ([], ["-"]):
            ran = segue("handoff", "lint", "--fix", *arguments, stdin=REPLY.encode())
            assert ran.code == 2
            assert "--fix changes files in place" in ran.err

    def test_a_document_without_a_safe_fix_stays_untouched(self, segue: Run, folder: Path) -> None:
        before = (folder / "coder.md").stat()
        segue("handoff", "lint", "--fix", ".")
        after = (folder / "coder.md").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_a_task_file_keeps_all_but_the_words_in_question(self, segue: Run, project: Path) -> None:
        before = "\ufeff" + TASK.replace("\n", "\r\n")
        (project / "task.md").write_bytes(before.encode())
        ran = segue("handoff", "lint", "--fix", "task.md")
        assert ran.code == 0
        expected = before.replace("Done", "completed").replace("./src", "src").replace("L4-L9", "4-9")
        assert (project / "task.md").read_bytes().decode() == expected
        assert 'task.md: fixed H002 outcome: "Done" is now "completed"' in ran.err
        assert ran.err.count("fixed") == 3

    def test_words_outside_the_handoff_part_stay(self, segue: Run, project: Path) -> None:
        text = TASK.replace("outcome: Done\n", "").replace("## Log\n", "## Status\nDone\n\n## Log\n")
        (project / "task.md").write_text(text)
        segue("handoff", "lint", "--fix", "task.md")
        assert "## Status\nDone\n" in (project / "task.md").read_text()
        assert "lines: 4-9" in (project / "task.md").read_text()

    def test_only_selected_rules_fix(self, segue: Run, project: Path) -> None:
        (project / "task.md").write_text(TASK)
        segue("handoff", "lint", "--fix", "task.md", "--select", "H021")
        assert (project / "task.md").read_text() == TASK.replace("L4-L9", "4-9")

    def test_mode_and_link_stay_and_nothing_is_left_behind(self, segue: Run, project: Path) -> None:
        (project / "task.md").write_text(TASK)
        (project / "task.md").chmod(0o640)
        (project / "link.md").symlink_to("task.md")
        assert segue("handoff", "lint", "--fix", "link.md").code == 0
        assert (project / "link.md").is_symlink()
        assert stat.S_IMODE((project / "task.md").stat().st_mode) == 0o640
        assert "outcome: completed" in (project / "task.md").read_text()
        assert sorted(each.name for each in project.iterdir()) == ["link.md", "task.md"]
