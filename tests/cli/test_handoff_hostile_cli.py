"""`segue handoff` on hostile documents, and as other programs run it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Ran
from tests.cli.documents import REPLY, TASK

Run = Callable[..., Ran]


ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202e"
HOSTILE = REPLY.replace("JWT", f"JWT {ESCAPES}[bold red]").replace("Add refresh", f"{ESCAPES} Add refresh")
ALIASES = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in itertools.pairwise("abcdefghijklmnopqrstuvwxyz")
)


class TestHostile:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["extract"],
            ["extract", "--json"],
            ["lint"],
            ["lint", "--format", "json"],
            ["lint", "--format", "github"],
            ["brief"],
        ],
    )
    def test_terminal_escapes_reach_no_terminal(self, segue: Run, arguments: list[str]) -> None:
        ran = segue("handoff", *arguments, stdin=f"## Open Questions\n- {ESCAPES}\n\n{HOSTILE}".encode())
        printed = ran.out + ran.err
        assert printed
        assert not set(printed) & set("\x1b\x07\x9b\x7f")

    def test_markup_in_a_text_is_text(self, segue: Run) -> None:
        assert "[bold red]" in segue("handoff", "extract", stdin=HOSTILE.encode()).out

    def test_a_converted_document_is_exact_in_a_pipe_and_harmless_on_a_terminal(self, project: Path) -> None:
        (project / "a.md").write_text(HOSTILE)
        command = [sys.executable, "-m", "segue", "handoff", "convert", "a.md", "--to", "four"]
        piped = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout
        assert b"\x7f" in piped
        master, slave = os.openpty()
        with subprocess.Popen(command, stdout=slave, stderr=subprocess.DEVNULL) as process:
            os.close(slave)
            shown = b""
            try:
                while piece := os.read(master, 65536):
                    shown += piece
            except OSError:  # how Linux says that the other end is closed
                pass
            finally:
                os.close(master)
            assert process.wait(60) == 0
        assert b"Use JWT" in shown
        assert b"\x1b" not in shown

    def test_a_bomb_of_aliases_ends_small(self, segue: Run) -> None:
        bomb = f"```yaml\n{ALIASES}what_was_done: *z\n```\n".encode()
        for command in (["extract", "--json"], ["lint", "--format", "json"], ["brief"]):
            ran = segue("handoff", *command, stdin=bomb)
            assert ran.code in {0, 1}
            assert len(ran.out) < 100_000

    @pytest.mark.thorough
    def test_five_megabytes_are_read(self, segue: Run, project: Path) -> None:
        lines = "".join(f"- Fixed the thing number {n} in src/part_{n}.py\n" for n in range(100_000))
        (project / "long.md").write_text(f"## What Was Done\n{lines}")
        assert (project / "long.md").stat().st_size > 4_500_000
        ran = segue("handoff", "extract", "long.md", "--json")
        assert ran.code == 0
        assert len(json.loads(ran.out)["handoff"]["what_was_done"]) > 10_000
        assert segue("handoff", "lint", "long.md", "--select", "H001").code == 0

    def test_these_commands_load_no_server_no_database_and_no_engine(self, folder: Path) -> None:
        script = """
import sys
from segue.__main__ import LazyParts
from segue.interfaces.cli.app import run_cli
for arguments in (
    "extract coder.md", "extract coder.md --json", "lint .", "lint . --fix --format sarif", "rules H012",
    "convert coder.md --to six", "new", "brief coder.md --budget 300",
):
    run_cli(LazyParts(), ["handoff", *arguments.split()])
heavy = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "sqlite3", "dbos", "psycopg", "alembic"}
print("LOADED", *sorted(heavy & set(sys.modules)))
"""
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
        )
        assert ran.stdout.splitlines()[-1] == "LOADED"


def test_the_hook_runs_the_linter_on_files_that_it_names(folder: Path) -> None:
    [hook] = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    (folder / "handoff-1.md").write_text(REPLY)
    program, *arguments = hook["entry"].split()
    assert program == "segue"
    ran = subprocess.run(
        [sys.executable, "-m", "segue", *arguments, "coder.md", "handoff-1.md"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0
    assert [line.split(" ")[0] for line in ran.stdout.splitlines()] == ["coder.md:1:1:", "handoff-1.md:1:1:"]


def run_shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = f'segue() {{ "{sys.executable}" -m segue "$@"; }}; {command}'
    return subprocess.run(
        ["sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | environment,
    )


def test_a_closed_standard_input_is_said(project: Path) -> None:
    ran = run_shell("segue handoff lint <&-")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "segue: cannot read -: standard input is closed\n"


def test_a_terminal_that_knows_no_umlauts_is_no_reason_to_fail(project: Path) -> None:
    (project / "a.md").write_text("## What Was Done\n- Café ✔\n")
    ran = run_shell("segue handoff extract a.md", PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert "- Caf\\xe9 \\u2714" in ran.stdout


def test_a_converted_document_can_go_into_a_pipe_by_name(folder: Path) -> None:
    ran = run_shell("segue handoff convert coder.md --to yaml --output /dev/stdout | grep -c JWT")
    assert ran.stdout == "1\n"


def test_a_full_disk_is_said(folder: Path) -> None:
    ran = run_shell("segue handoff convert coder.md --to yaml --output /dev/full")
    assert ran.returncode == 1
    assert ran.stderr.endswith("segue: cannot write /dev/full: No space left on device\n")


def test_a_reader_that_leaves_early_sees_no_traceback(folder: Path) -> None:
    lines = "".join(f"- TODO\n- Thing {n}\n" for n in range(20_000))
    (folder / "long.md").write_text(f"## What Was Done\n{lines}")
    ran = run_shell("segue handoff lint long.md | head -n 1")
    assert ran.stdout.startswith("long.md:")
    assert "Traceback" not in ran.stderr


def test_a_fix_that_cannot_be_written_leaves_the_document_whole(project: Path) -> None:
    (project / "task.md").write_text(TASK)
    ran = run_shell("ulimit -f 0; segue handoff lint --fix task.md")
    assert ran.returncode == 2
    assert "segue: cannot write task.md: File too large" in ran.stderr
    assert "fixed" not in ran.stderr
    assert "task.md:9:10: H002" in ran.stdout
    assert (project / "task.md").read_text() == TASK
    assert [each.name for each in project.iterdir()] == ["task.md"]
