"""The command line: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from rich.console import Console

from segue import check_handoff, extract_handoff
from segue.__main__ import LazyParts
from segue.application.pipelines.submit import Pipelines
from segue.application.segue import Segue
from segue.interfaces.cli import live
from segue.interfaces.cli.app import run_cli
from segue.interfaces.cli.demo import program_name
from segue.testing import trust_project
from tests.interrupts import hearing_ctrl_c
from tests.serving import ServedSegue, write_catalog
from tests.trusting import write_project

Run = Callable[..., tuple[int, str, str]]

CATALOG = """
agents:
  writer:
    backend: command
    options: {command: [sh, -c, 'printf "## What Was Done\\n- Wrote %s\\n" "$(cat | wc -l)"']}
  broken:
    backend: command
    options: {command: [sh, -c, "echo no disk left >&2; exit 3"]}
  slow:
    backend: command
    options: {command: [sleep, "86399"]}
templates:
  write: {steps: [{agent: writer, description: Write.}]}
  break: {steps: [{agent: broken, description: Break.}]}
  wait: {steps: [{agent: slow, description: Wait.}]}
"""


@pytest.fixture
def run(project: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process; gives its exit code, output and errors."""
    write_catalog(project, CATALOG)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run_cli(LazyParts(), list(arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def assert_one_sentence(result: tuple[int, str, str], code: int, *words: str) -> None:
    """It failed with this code and one sentence on stderr that holds these words."""
    assert result[0] == code, result
    assert "Traceback" not in result[1] + result[2]
    assert len(result[2].strip().splitlines()) == 1, result[2]
    for word in words:
        assert word in result[2]


def test_a_run_shows_its_steps_beside_its_result(run: Run) -> None:
    code, out, err = run("run", "write", "Write something.")
    assert code == 0
    assert "1  Write something." in err
    assert "1 writer: ● done" in err
    assert "handed off: 1 done" in err
    assert out.startswith("Done in ")


def test_a_run_as_json_prints_json_alone(run: Run) -> None:
    code, out, _ = run("run", "write", "Write something.", "--json")
    assert code == 0
    assert json.loads(out)["steps"][0]["latest_handoff"]["metadata"]["what_was_done"]


def test_a_command_that_exits_with_3_fails_the_run_and_says_so(run: Run) -> None:
    code, out, _ = run("run", "break", "Break something.")
    assert code == 1
    assert "its command exited with 3: no disk left" in out
    assert "Traceback" not in out


def test_a_step_over_its_time_fails_the_run_and_says_so(run: Run) -> None:
    code, out, _ = run("run", "wait", "Wait.", "--timeout", "0.3")
    assert code == 1
    assert "timed out after 0.3 s" in out


def test_unknown_names_are_misuse_with_the_nearest_one(run: Run) -> None:
    assert_one_sentence(run("run", "wrte", "x"), 2, 'no template "wrte"', 'Did you mean "write"?')
    assert_one_sentence(run("pipelines", "list", "--status", "dane"), 2, 'Did you mean "done"?')


def test_an_unknown_agent_in_a_template_names_file_and_line(run: Run, project: Path) -> None:
    write_catalog(project, "templates:\n  mine:\n    steps:\n      - agent: develper\n")
    result = run("run", "mine", "x")
    assert_one_sentence(result, 2, "catalog.yaml:4", "develper", 'Did you mean "developer"?')


def test_a_broken_yaml_file_names_file_and_line(run: Run, project: Path) -> None:
    write_catalog(project, "agents:\n  a: {description: [}\n")
    assert_one_sentence(run("agents", "list"), 2, "catalog.yaml:2")
    assert_one_sentence(run("run", "write", "x"), 2, "catalog.yaml:2")


def test_a_database_that_cannot_be_opened_is_one_sentence(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "file").write_text("in the way")
    monkeypatch.setenv("SEGUE_DATABASE_URL", f"sqlite:///{project}/file/segue.db")
    assert_one_sentence(run("pipelines", "list"), 1, "cannot open the database", "SEGUE_DATABASE_URL")
    monkeypatch.delenv("SEGUE_DATABASE_URL")
    monkeypatch.setenv("SEGUE_DATA_DIR", f"{project}/file/data")
    ran = run("run", "quick_fix", "x", "--dir", str(project.parent))
    assert_one_sentence(ran, 1, "cannot make the data folder", "SEGUE_DATA_DIR")


def test_a_port_in_use_is_one_sentence(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("serve", "--port", str(port))
    assert_one_sentence(result, 1, f"cannot listen on 127.0.0.1:{port}", "--port")


def test_a_wrong_setting_names_its_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_PORT", "many")
    assert_one_sentence(run("pipelines", "list"), 2, "SEGUE_PORT")


def test_a_pipeline_that_does_not_exist_is_one_sentence(run: Run) -> None:
    for command in ("show", "watch", "abort", "resume"):
        assert_one_sentence(run("pipelines", command, "77"), 1, "no pipeline 77")


def test_lists_and_shows_are_readable_and_json(run: Run) -> None:
    assert "no pipelines yet" in run("pipelines", "list")[1]
    run("run", "write", "Write something.", "--title", "A title")
    run("run", "break", "Break something.")
    _, out, _ = run("pipelines", "list")
    assert out.index("✗ failed") < out.index("● done")
    listed = json.loads(run("pipelines", "list", "--json", "--text", "A title")[1])
    assert [each["title"] for each in listed["items"]] == ["A title"]
    _, shown, _ = run("pipelines", "show", "1")
    assert "A title" in shown
    assert "handoff of writer" in shown
    _, step, _ = run("pipelines", "show", "1", "--step", "1")
    assert "Briefing, as sent" in step
    assert "Write something." in step
    found = json.loads(run("pipelines", "show", "1", "--json")[1])
    assert found["steps"][0]["status"] == "done"
    assert_one_sentence(run("pipelines", "show", "1", "--step", "9"), 1, "1 to 1")


def test_watching_an_ended_run_tells_its_end(run: Run) -> None:
    run("run", "break", "Break something.")
    code, out, _ = run("pipelines", "watch", "1")
    assert code == 1
    assert "exited with 3" in out


def test_aborting_what_has_ended_is_refused(run: Run) -> None:
    run("run", "write", "Write something.")
    assert_one_sentence(run("pipelines", "abort", "1"), 1, "pipeline 1", "done")


class TooLate(LazyParts):
    """Segue whose aborts come when the run is over."""

    @asynccontextmanager
    async def open(self, settings: Any, *, hosting: bool = False) -> AsyncIterator[Segue]:
        """Segue with a deaf ear for aborts."""
        async with super().open(settings, hosting=hosting) as segue:
            yield replace(segue, pipelines=Deaf())


class Deaf(Pipelines):
    """Aborts nothing."""

    def __init__(self) -> None:
        pass

    async def abort(self, pipeline_id: int, reason: str = "", *, actor: str | None = None) -> None:
        """The run has ended otherwise meanwhile."""


def test_an_abort_that_came_too_late_tells_how_the_run_ended(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run("run", "write", "Write something.")
    code = run_cli(TooLate(), ["pipelines", "abort", "1"])
    printed = capsys.readouterr()
    assert_one_sentence((code, printed.out, printed.err), 1, "pipeline 1 is done")
    assert printed.out == ""


READS = (("pipelines", "list", "--json"), ("pipelines", "show", "1", "--json"))


@pytest.mark.thorough
def test_after_a_crash_every_read_prints_json_alone_and_logs_nothing(project: Path, tmp_path: Path) -> None:
    for arguments in READS:
        data = tmp_path / "-".join(arguments)
        served = ServedSegue(project, data)
        write_catalog(project, CATALOG)
        trust_project(project, data_dir=data)
        try:
            served.start()
            served.submit(template="wait", prompt="Wait.")
            served.kill()
            ran = served.run_cli(*arguments)
            assert ran.returncode == 0, ran.stderr
            assert json.loads(ran.stdout)
            assert ran.stderr == ""
            assert served.run_cli("pipelines", "abort", "1").returncode == 0
        finally:
            served.close()


def test_debug_logs_go_to_stderr_too(run: Run) -> None:
    code, out, err = run("--debug", "run", "write", "Write something.", "--json")
    assert code == 0
    assert json.loads(out)["status"] == "done"
    assert "pipeline_submitted" in err


def test_agents_and_templates_are_listed(run: Run, no_agents: Path) -> None:
    _, out, _ = run("agents", "list")
    assert "writer" in out
    assert "not set" in out
    assert json.loads(run("agents", "list", "--json")[1])["slow"]["backend"] == "command"
    assert "developer → senior_reviewer" in run("templates", "list")[1]
    assert "quick_fix" in json.loads(run("templates", "list", "--json")[1])


def test_init_writes_a_catalog_that_runs_and_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert run("init", str(fresh))[0] == 0
    code, out, _ = run("run", "ask", "Say hello.", "--dir", str(fresh))
    assert code == 0, out
    (fresh / ".segue" / "catalog.yaml").write_text("agents: {}\n")
    assert_one_sentence(run("init", str(fresh)), 1, "exist", "--force")
    assert (fresh / ".segue" / "catalog.yaml").read_text() == "agents: {}\n"


def test_the_sample_of_init_hands_off_that_it_is_a_sample(run: Run, tmp_path: Path) -> None:
    assert run("init", str(tmp_path))[0] == 0
    ended = json.loads(run("run", "ask", "Say hello.", "--dir", str(tmp_path), "--json")[1])
    handoff = extract_handoff(ended["steps"][0]["latest_handoff"]["content_md"]).handoff
    assert handoff is not None
    assert "only a sample" in str(handoff.what_was_done[0])
    assert check_handoff(handoff) == []


@pytest.mark.parametrize("program", ["claude", "codex", "opencode", "gemini"])
def test_the_settings_of_init_hold_the_lines_that_make_the_built_in_agents_run(
    run: Run, project: Path, program: str
) -> None:
    assert run("init", str(project), "--force")[0] == 0
    path = project / ".segue" / "segue.yaml"
    lines = path.read_text().splitlines()
    wanted = [line for line in lines if line == "# backend: command" or f'command: "{program} ' in line]
    assert len(wanted) == 2
    text = "\n".join(line.removeprefix("# ") if line in wanted else line for line in lines)
    write_project(project, text, path.name)
    developer = json.loads(run("agents", "list", "--json")[1])["developer"]
    assert developer["backend"] == "command"
    assert developer["options"]["command"].startswith(program)
    assert developer["options"]["pass_env"]


@pytest.mark.thorough
def test_a_command_sees_of_the_environment_what_it_is_handed(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "k-123")
    monkeypatch.setenv("OTHER_KEY", "k-456")
    (project / "agent").write_text('#!/bin/sh\necho "$MY_KEY and $OTHER_KEY."\n')
    (project / "agent").chmod(0o755)
    task = ("run", "quick_fix", "x", "--command", "./agent", "--json")
    for number, (extra, said) in enumerate(
        [
            ((), " and ."),
            (("--pass-env", "MY_KEY"), "k-123 and ."),
            (("--pass-env", "MY_KEY", "--pass-env", "OTHER_KEY"), "k-123 and k-456."),
        ],
        1,
    ):
        assert run(*task, *extra)[0] == 3  # its words are no handoff: a person reviews them
        assert run("pipelines", "abort", str(number))[0] == 0
        reply = json.loads(run("pipelines", "show", str(number), "--step", "1", "--json")[1])["attempts"][0][
            "reply"
        ]
        assert reply.strip() == said.strip()
    assert_one_sentence(run(*task, "--pass-env", "MY_KEY=1"), 2, "MY_KEY=1")


CODEX = """#!/bin/sh
echo '{"type": "item.completed", "item": {"type": "agent_message", "text": "'"$AWS_PROFILE, $NPM_TOKEN."'"}}'
echo '{"type": "turn.completed", "usage": {}}'
"""


@pytest.mark.thorough
def test_a_native_agent_is_handed_what_pass_env_names(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "codex").write_text(CODEX)
    (project / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(project), prepend=":")
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("NPM_TOKEN", "n-123")
    task = ("run", "quick_fix", "x", "--backend", "codex", "--json")
    for number, (extra, said) in enumerate([((), ", ."), (("--pass-env", "aws_*"), "work, .")], 1):
        assert run(*task, *extra)[0] == 3  # its words are no handoff: a person reviews them
        assert run("pipelines", "abort", str(number))[0] == 0
        shown = json.loads(run("pipelines", "show", str(number), "--step", "1", "--json")[1])
        assert shown["attempts"][0]["reply"].strip() == said
    scripted = ("run", "quick_fix", "x", "--backend", "scripted", "--pass-env", "AWS_PROFILE")
    assert_one_sentence(run(*scripted), 2, 'the back end "scripted" has no option "pass_env"')


@pytest.mark.parametrize("timeout", ["1e12", "nan", "inf", "0"])
def test_a_time_that_cannot_be_is_misuse(run: Run, timeout: str) -> None:
    assert_one_sentence(run("run", "write", "x", "--timeout", timeout), 2, "step_timeout")


def test_names_from_files_are_shown_as_they_are(run: Run, project: Path) -> None:
    write_catalog(
        project,
        'agents: {"[/x]": {backend: command, options: {command: [no-such-program]}}}\n'
        'templates: {"[bold]": {description: "[/y]", steps: [{agent: "[/x]", description: "[/z]"}]}}\n',
    )
    code, out, err = run("run", "[bold]", "[/task]")
    assert code == 1, err
    assert "1 [/x]: " in err
    assert "[bold]" in err
    for arguments in (("list",), ("show", "1"), ("show", "1", "--step", "1"), ("watch", "1")):
        code, out, err = run("pipelines", *arguments)
        assert "Traceback" not in err
        assert "[/" in out + err
    assert "[/x]" in run("agents", "list")[1]
    assert "[/y]" in run("templates", "list")[1]


def test_a_step_that_never_began_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)
    step = SimpleNamespace(
        id=1,
        order_index=0,
        agent_name="qa",
        name="qa",
        status="failed",
        started_at=None,
        finished_at=now,
        attempt_count=0,
        handovers=0,
        error_message="no back end",
        latest_handoff=None,
        usage=None,
    )
    detail: Any = SimpleNamespace(steps=[step], status="failed", approvals=[])
    shown = StringIO()
    lines = live._Lines(Console(file=shown, highlight=False), detail)
    lines.update(detail)
    assert shown.getvalue() == "1 qa: \u2717 failed  no back end\n"


def test_a_prompt_can_come_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"From a pipe.")))
    assert run("run", "write", "-")[0] == 0
    assert "From a pipe." in run("pipelines", "show", "1")[1]


def test_a_task_that_is_no_text_is_misuse(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_one_sentence(run("run", "write", "a\udcffb"), 2, "not UTF-8")
    assert_one_sentence(run("pipelines", "list", "--text", "a\udcffb"), 2, "not UTF-8")
    for given, word in ((b"a\xffb", "byte 1"), (b"a\0b", "NUL")):
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given)))
        assert_one_sentence(run("run", "write", "-"), 2, word)
    assert run("pipelines", "show", str(2**31))[0] == 2
    assert run("pipelines", "list", "--before", str(2**31))[0] == 2


def test_terminal_escapes_of_an_agent_do_not_reach_the_terminal(run: Run, project: Path) -> None:
    evil = project / "evil"
    evil.write_text("#!/bin/sh\nprintf '\\033]0;owned\\007\\n## What Was Done\\n- x\\033]0;owned\\007'\n")
    evil.chmod(0o755)
    agent = "{a: {backend: command, options: {command: [./evil]}}}"
    write_catalog(project, f"agents: {agent}\ntemplates: {{t: {{steps: [{{agent: a}}]}}}}")
    assert run("run", "t", "x")[0] == 0
    for arguments in (("show", "1"), ("show", "1", "--step", "1")):
        assert "\x1b]0;" not in run("pipelines", *arguments)[1]


def test_the_version_and_misuse(run: Run) -> None:
    assert run("--version")[1].startswith("segue ")
    assert run("run")[0] == 2
    assert run("nonsense")[0] == 2


@pytest.mark.thorough
def test_ctrl_c_aborts_the_run_and_its_agent(project: Path, tmp_path: Path) -> None:
    write_catalog(project, CATALOG)
    environment = os.environ | {"SEGUE_DATA_DIR": str(tmp_path / "data")}
    process = subprocess.Popen(
        hearing_ctrl_c([sys.executable, "-u", "-m", "segue", "run", "wait", "Wait."]),
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        agents = _wait_for_agent(tmp_path)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, out
    assert "Aborted by you at step 1 of 1 after" in out
    assert "Traceback" not in out
    assert not [each for each in agents if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def test_the_demo_shows_what_was_claimed_beside_what_was_measured(tmp_path: Path, own_home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "segue", "demo", "--keep", str(tmp_path / "demo")],
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "two scripted agents, no model, no network",
        "● 1 developer  scripted",
        "Sent back",
        "says: completed  ✗ refuted  exit 1",
        "“All 2 tests pass”                    ✗ refuted     1 failed, 1 passed",
        "“All 2 tests pass”                    ✓ confirmed   2 passed",
        "│ - Added a test for negative numbers",
        "Next step: Add the missing test for negative numbers.",
        "  + ",
        "Next, in your own project",
    ):
        assert words in done.stdout
    assert len(done.stdout.splitlines()) <= 50, "the commands at its end are long here"
    worktree = next((tmp_path / "demo" / "data" / "worktrees").glob("*/1"))
    tests = subprocess.run([sys.executable, "-m", "unittest"], cwd=worktree, check=False)
    assert tests.returncode == 0, "the bug is really fixed"
    untouched = (tmp_path / "demo" / "project" / "stats.py").read_text()
    assert untouched.endswith("return ordered[len(ordered) // 2]\n"), "the checkout is never touched"
    assert not (own_home / "data").exists(), "the demo keeps its own data"


def test_the_demo_suggests_commands_that_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "my bin" / "segue"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    assert program_name(str(program)) == f"'{program}'"
    assert program_name(".venv/bin/segue") == ".venv/bin/segue"
    assert program_name("/x/segue/__main__.py") == f"{sys.executable} -m segue"
    monkeypatch.setenv("PATH", str(program.parent))
    assert program_name(str(program)) == "segue"
    assert program_name(".venv/bin/segue") == ".venv/bin/segue", "the PATH has another one"


def test_a_record_looks_the_same_wherever_it_is_shown(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = (
        "```yaml\noutcome: completed\nwhat_was_done: [Wrote it, Tried it]\n"
        "gotchas:\n  - {issue: It is slow, mitigation: Wait, severity: low}\n```\n"
    )
    (project / "reply.md").write_text(reply)
    monkeypatch.setenv("COLUMNS", "120")
    assert run("run", "quick_fix", "x", "--command", "cat reply.md")[0] == 0
    extracted = run("handoff", "extract", "reply.md")[1].splitlines()
    shown = [line.strip("│ ") for line in run("pipelines", "show", "1")[1].splitlines()]
    statements = [line.strip() for line in extracted[3:]]
    assert any("It is slow  mitigation: Wait" in line for line in statements)
    assert set(statements) <= set(shown)


def _wait_for_agent(tmp_path: Path) -> list[psutil.Process]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = []
        for process in psutil.process_iter(["cmdline", "environ"]):
            variables = process.info["environ"] or {}
            if str(tmp_path) in variables.get("SEGUE_SESSION", ""):
                found.append(process)
        if any((process.info["cmdline"] or [""])[-1] == "86399" for process in found):
            return found
        time.sleep(0.05)
    raise AssertionError("the agent did not start")
