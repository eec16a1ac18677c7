"""Sessions on the command line: each command is a process of its own, the agent lives on."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import structlog

from segue.__main__ import LazyParts
from segue.application.ports.backend import SessionRequest
from segue.application.ports.engine import WorkerPolicy
from segue.application.segue import Segue
from segue.bootstrap import open_segue
from segue.interfaces.cli.app import run_cli
from segue.testing import ScriptedBackend
from tests.sessions.scripts import agent, write_catalog

AGENTS = {"helper": agent(), "mute": agent(asked=[{"say": ""}])}


class SharedParts(LazyParts):
    """The parts of a command, on a back end that outlives it."""

    def __init__(self, backend: ScriptedBackend) -> None:
        self._backend = backend

    def open(self, settings: Any, *, hosting: bool = False) -> AbstractAsyncContextManager[Segue]:
        policy = WorkerPolicy(hosting=hosting)
        return open_segue(settings, policy=policy, backends={"scripted": self._backend})


Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(repository: Path, backend: ScriptedBackend, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs one command; gives its exit code and what it printed."""
    write_catalog(repository, AGENTS)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_cli(SharedParts(backend), ["session", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def read(cli: Cli, *arguments: str) -> dict[str, Any]:
    code, out, err = cli(*arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_from_the_start_to_the_end(cli: Cli) -> None:
    assert "no sessions yet" in cli("list")[1]
    assert "session 1 is open" in cli("start", "helper", "--title", "The button")[1]
    code, _, err = cli("handoff", "1")
    assert (code, err) == (1, "segue: Nothing to hand off (no messages yet)\n")
    assert cli("say", "1", "Hi.")[1] == "Hello.\n"
    code, out, _ = cli("handoff", "1", "--focus", "the tests", "--reason", "shift_end")
    assert code == 0
    assert "New session 2 started with handoff context (shift_end)" in out
    assert "I go on from there." in out
    shown = read(cli, "show", "2")
    assert (shown["parent_id"], shown["said"][0]["kind"]) == (1, "injection")
    assert "<handoff-context>" in cli("show", "2")[1]
    family = read(cli, "lineage", "2")
    assert [each["id"] for each in family["parents"]] == [1]
    assert "The button" in cli("lineage", "1")[1]
    assert "session 1 answers again" in cli("resume", "1")[1]
    assert cli("say", "1", "Still there?")[1] == "Hello.\n"
    assert [each["id"] for each in read(cli, "list")["items"]] == [2, 1]
    assert "has ended" in cli("end", "1")[1]
    code, _, err = cli("say", "1", "Hi.")
    assert (code, err.count("\n")) == (1, 1)


def test_failed_and_cancelled_are_told_apart(cli: Cli) -> None:
    cli("start", "mute")
    cli("say", "1", "Hi.")
    code, out, _ = cli("handoff", "1")
    assert code == 1
    assert out.startswith("Handoff failed: its reply was empty")
    found = json.loads(cli("handoff", "1", "--json")[1])
    assert found["outcome"] == "failed"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("say", "7", "Hi."), 1, "no session 7"),
        (("start", "helpre"), 2, 'Did you mean "helper"'),
        (("start", "command"), 1, "holds no conversation"),
        (("start", "helper", "-C", "nowhere"), 2, "does not exist"),
        (("handoff", "7", "--reason", "tired"), 2, "context_limit, shift_end, task_boundary"),
    ],
)
def test_an_error_is_one_sentence(cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    ended, _, err = cli(*arguments)
    assert (ended, err.count("\n")) == (code, 1)
    assert said in err


class TellingBackend(ScriptedBackend):
    """Logs what it does, as real ones do."""

    async def open(self, request: SessionRequest) -> str:
        structlog.get_logger().info("server_started", pid=1)
        return await super().open(request)


def test_log_lines_do_not_get_into_what_is_printed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_catalog(repository, AGENTS)
    parts = SharedParts(TellingBackend())
    assert run_cli(parts, ["session", "start", "helper", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == 1
    assert run_cli(parts, ["--debug", "session", "start", "helper", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["id"] == 2
    assert "server_started" in printed.err
