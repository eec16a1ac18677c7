"""`segue session import` and `segue handoff from`, with what lies in a home of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from segue.adapters.installs import pinned_program
from segue.domain.handoff import extract_handoff
from segue.interfaces.cli.handoff_from import STARTS
from tests.cli.conftest import Ran
from tests.git.repositories import new_repository, write
from tests.transcripts import samples
from tests.transcripts.samples import Step

Run = Callable[..., Ran]
TOOLS = sorted(samples.WRITERS)


@pytest.fixture
def sessions(own_home: Path, project: Path) -> dict[str, Path]:
    """A session of each tool in this folder, the first of the alphabet the oldest."""
    found = {tool: samples.WRITERS[tool](own_home, str(project)) for tool in TOOLS}
    for at, tool in enumerate(TOOLS):
        os.utime(found[tool], (1_700_000_000 + at, 1_700_000_000 + at))
    return found


def prompt_in(printed: str) -> tuple[list[str], str]:
    """The command that was printed after `cd FOLDER &&`, and its prompt."""
    words = shlex.split(printed)
    assert words[0] == "cd"
    assert words[2] == "&&"
    return words[3:], words[-1]


@pytest.mark.usefixtures("sessions")
def test_it_lists_what_is_here(segue: Run, project: Path) -> None:
    found = json.loads(segue("session", "import", "--json").out)
    assert sorted(each["tool"] for each in found) == TOOLS
    assert [each["updated_at"] for each in found] == sorted((e["updated_at"] for e in found), reverse=True)
    by_tool = {each["tool"]: each for each in found}
    for tool in TOOLS:
        assert by_tool[tool]["session_id"] == samples.IDS[tool]
        assert by_tool[tool]["working_dir"] == str(project)
    assert by_tool["claude"]["title"].startswith("Add a login page")
    assert by_tool["codex"]["title"].startswith("Add a login page")
    assert by_tool["omp"]["title"] == by_tool["opencode"]["title"] == "Login page"
    table = segue("session", "import")
    assert table.code == 0
    assert "Login page" in table.out
    only = json.loads(segue("session", "import", "--json", "--tool", "pi").out)
    assert [each["tool"] for each in only] == ["pi"]
    assert json.loads(segue("session", "import", "--json", "--dir", "/nowhere").out) == []


def test_only_the_newest_are_listed_unless_all_are_asked_for(segue: Run, own_home: Path) -> None:
    for number in range(35):
        path = samples.pi(own_home, f"/work/{number}")
        path.rename(path.with_name(f"{number}_{number:08}.jsonl"))
    assert len(json.loads(segue("session", "import", "--json").out)) == 30
    assert len(json.loads(segue("session", "import", "--json", "--all").out)) == 35


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("tool", TOOLS)
def test_it_shows_and_writes_the_handoff(tool: str, segue: Run, project: Path) -> None:
    shown = segue("session", "import", samples.IDS[tool][:12])
    assert shown.code == 0, shown.err
    found = extract_handoff(shown.out).handoff
    assert found is not None
    assert found.constraints[0] == "Never touch the database schema."
    written = segue("session", "import", samples.IDS[tool], "-o", "out.md")
    assert written.code == 0
    assert (project / "out.md").read_text() == shown.out


def test_a_file_is_as_good_as_an_id(segue: Run, sessions: dict[str, Path]) -> None:
    for path in sessions.values():
        assert segue("session", "import", str(path)).code == 0


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize(("source", "target"), list(product(TOOLS, STARTS)))
def test_every_tool_hands_off_to_every_other(source: str, target: str, segue: Run, project: Path) -> None:
    done = segue("handoff", "from", source, "--to", target, "--print", "--focus", "the footer; 'quoted'")
    assert done.code == 0, done.err
    command, prompt = prompt_in(done.out)
    assert command == STARTS[target](prompt)
    assert shlex.split(done.out)[1] == str(project)
    assert "Focus on this: the footer; 'quoted'" in prompt
    assert prompt.count("<handoff-context>") == prompt.count("</handoff-context>") == 1
    inside = prompt.partition("<handoff-context>")[2].partition("</handoff-context>")[0]
    found = extract_handoff(inside).handoff
    assert found is not None
    assert found.goal is not None
    assert found.goal.startswith(samples.ASKED)
    assert [each.path for each in found.files_created] == ["login.py"]


def test_the_users_rules_outlive_every_hop(segue: Run, own_home: Path, project: Path) -> None:
    samples.claude(own_home, str(project))
    for source, target in (("claude", "codex"), ("codex", "pi"), ("pi", "opencode"), ("opencode", "omp")):
        done = segue("handoff", "from", source, "--to", target, "--print")
        _, prompt = prompt_in(done.out)
        story = [Step("user", prompt), Step("write", f"{target}.py"), Step("say", f"{target} did its part.")]
        samples.WRITERS[target](own_home, str(project), story)
    last = extract_handoff(segue("handoff", "from", "omp").out).handoff
    assert last is not None
    assert last.goal is not None
    assert last.goal.startswith(samples.ASKED)
    assert last.constraints == (
        "Never touch the database schema.",
        "Tests must stay green.",
        "Please do not add a dependency.",
    )
    assert last.what_was_done == ("omp did its part.",)


@pytest.mark.parametrize("notation", ["yaml", "json", "four", "six", "task"])
def test_the_notation_is_chosen(notation: str, segue: Run, own_home: Path, project: Path) -> None:
    samples.codex(own_home, str(project))
    done = segue("handoff", "from", "codex", "latest", "--notation", notation)
    found = extract_handoff(done.out).handoff
    assert found is not None
    assert "The login page works with cookies." in found.what_was_done


def test_another_folder_is_named(segue: Run, own_home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    samples.claude(own_home, str(other))
    assert segue("handoff", "from", "claude").code == 2
    assert segue("handoff", "from", "claude", "--dir", str(other)).code == 0


def test_faults_are_one_sentence(segue: Run, project: Path, own_home: Path) -> None:
    none = segue("handoff", "from", "claude")
    assert none.code == 2
    assert str(project) in none.err
    assert str(own_home / ".claude" / "projects") in none.err
    assert 'no tool "cursor"' in segue("handoff", "from", "cursor").err
    assert 'no tool "vim"' in segue("handoff", "from", "claude", "--to", "vim").err
    assert "no session 12345678" in segue("session", "import", "12345678").err
    assert "is no folder" in segue("handoff", "from", "claude", "--dir", "absent").err
    empty = samples.claude(own_home, str(project), [Step("user", "<command-name>/model</command-name>")])
    said = segue("handoff", "from", "claude", "--to", "codex")
    assert said.code == 2
    assert f"nothing was said in the claude session {samples.CLAUDE_ID}" in said.err
    empty.unlink()
    (project / "a.jsonl").write_text("nothing\n")
    assert "tried claude, codex, opencode, goose, pi, omp" in segue("session", "import", "a.jsonl").err


def test_an_id_that_is_not_clear_is_asked_for_again(segue: Run, own_home: Path) -> None:
    for number in (1, 2):
        path = samples.claude(own_home, f"/home/{number}")
        path.rename(path.with_name(f"same-{number}.jsonl"))
    done = segue("session", "import", "same-")
    assert done.code == 2
    assert "same-1" in done.err
    assert "same-2" in done.err


def run_here(folder: Path, *arguments: str, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "segue", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def make_program(path: Path) -> Path:
    """A program that tells where it runs, whose child it is and what it was given first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    told = "os.getcwd(), os.getppid(), os.environ['PWD'], sys.argv[1]"
    path.write_text(f"#!{sys.executable}\nimport os, sys\nprint({told})\nsys.exit(7)\n")
    path.chmod(0o755)
    return path


def test_the_other_tool_takes_over(own_home: Path, project: Path, tmp_path: Path) -> None:
    samples.pi(own_home, str(project))
    program = make_program(tmp_path / "bin" / "claude")
    done = run_here(project, "handoff", "from", "pi", "--to", "claude", path=str(program.parent))
    assert done.returncode == 7
    assert done.stdout.startswith(f"{project} {os.getpid()} {project} Continue the work")
    assert "Never touch the database schema." in done.stdout
    assert f"cd {project} && claude 'Continue" in done.stderr
    none = run_here(project, "handoff", "from", "pi", "--to", "codex", path=str(program.parent))
    assert none.returncode == 2
    assert "codex is not on the PATH, and Segue has not installed it" in none.stderr
    assert f"cd {project} && codex 'Continue" in none.stderr


@pytest.mark.thorough
def test_a_tool_is_found_as_a_back_end_finds_it(own_home: Path, project: Path, tmp_path: Path) -> None:
    """The one that the settings name, else one on the PATH, else the one that Segue installed."""
    samples.pi(own_home, str(project))
    pinned = pinned_program("codex")
    own = own_home / "data" / "segue" / "agents" / "codex" / pinned.version / "node_modules" / pinned.package
    installed = make_program(own / pinned.program.replace("*", "x"))
    on_path = make_program(tmp_path / "bin" / "codex")
    named = make_program(tmp_path / "my codex")

    def started(*more: str) -> subprocess.CompletedProcess[str]:
        return run_here(project, "handoff", "from", "pi", "--to", "codex", *more, path=str(on_path.parent))

    on_path.rename(tmp_path / "away")
    found = started()
    assert (found.returncode, found.stdout.split(maxsplit=3)[3][:8]) == (7, "Continue")
    assert f"&& {installed} 'Continue" in found.stderr
    assert shlex.split(started("--print").stdout)[3] == str(installed)

    (tmp_path / "away").rename(on_path)
    assert "&& codex 'Continue" in started().stderr

    settings = own_home / "config" / "segue" / "segue.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"backend_options: {{codex: {{program: '{named}', idle_timeout: 9}}}}\n")
    assert f"&& '{named}' 'Continue" in started().stderr
    named.unlink()
    gone = started()
    assert gone.returncode == 2
    assert f"{named}, which the settings name as the program of codex, is not there" in gone.stderr


def test_a_prompt_that_no_command_line_takes_goes_through_a_file(
    segue: Run, own_home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    wide = "\U0001f600" * 5
    story = [Step("user", "Start.")]
    story += [Step("user", f"{number} must be {wide * 70}") for number in range(120)]
    story.append(Step("say", wide * 1000))
    samples.codex(own_home, str(project), story)
    done = segue("handoff", "from", "codex", "--to", "claude", "--print", "--notation", "json")
    _, prompt = prompt_in(done.out)
    assert len(prompt) < 500
    held = next(Path(word.rstrip(":")) for word in prompt.split() if word.startswith(str(tmp_path)))
    assert "<handoff-context>" in held.read_text()
    assert held.stat().st_mode & 0o077 == 0


def test_the_folders_of_the_tools_can_be_elsewhere(
    segue: Run, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {tool: samples.WRITERS[tool](tmp_path, "/p") for tool in TOOLS}
    assert json.loads(segue("session", "import", "--json").out) == []
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    monkeypatch.setenv("OPENCODE_DB", str(written["opencode"]))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / ".pi" / "agent"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data" / "goose").rename(tmp_path / "elsewhere" / "data")
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path / "elsewhere"))
    found = json.loads(segue("session", "import", "--json").out)
    assert sorted(each["tool"] for each in found) == ["claude", "codex", "goose", "opencode", "pi"]


def test_in_a_repository_the_handoff_is_verified_before_it_is_written(
    segue: Run, own_home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    new_repository(project, {"old.py": "x = 1\n"})
    write(project, {"there.py": "def f(): pass\n"})
    story = [
        Step("user", "Build it."),
        Step("write", "there.py"),
        Step("write", "gone.py"),
        Step("say", "Done: deleted old.py."),
    ]
    samples.claude(own_home, str(project), story)
    done = segue("handoff", "from", "claude")
    assert done.code == 0, done.err
    found = extract_handoff(done.out).handoff
    assert found is not None
    assert [each.path for each in found.files_created] == ["there.py"]
    sections = {each.heading: each.text for each in found.other_sections}
    assert "gone.py" in sections["Files left out, git does not show them"]
    assert "there.py (new, +1 -0: `f` added)" in sections["Measured by Segue"]
    assert "deleted old.py" in done.out
    assert "(false: " in done.out
    assert "false by git" in done.err
