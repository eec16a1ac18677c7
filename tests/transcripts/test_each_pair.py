"""From each real tool to each: one works and writes it down, Segue hands it over, the other one goes on.

Nothing here is made up: the programs run as a person runs them, each in a terminal, and what counts is what
the model was sent.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from segue.adapters.transcripts.local import LocalTranscripts
from segue.domain.handoff import Handoff
from segue.domain.transcripts import summarise
from segue.testing import ScriptedModel, edit, say, script, shell, turn, write
from segue.testing.model import RequestRecord
from tests.agents.programs import need
from tests.agents.rigs import git
from tests.transcripts.terminal import Terminal
from tests.transcripts.tools_at_home import TOOLS, Home, make_home
from tests.warm import run_warm

pytestmark = pytest.mark.thorough

PLAN = script(
    {
        "work": [
            turn(say("I write it."), write("page.txt", "hello\n")),
            edit("calc.py", "a - b", "a + b"),
            shell("test -f page.txt"),
            shell("test -f absent.txt || exit 3"),
            say("## What Was Done\n- Wrote the page.\n\n## Next Agent Context\nRead page.txt first."),
        ],
        "go-on": [say("I go on from here.")],
    },
    default="work",
)
ASKED = "Write a page and fix add. The page must hold one line."
PAIRS = [
    pytest.param(source, target, id=f"{source}-{target}")
    for at, target in enumerate(TOOLS)
    for source in (target, TOOLS[at - 1])
]
"""Each tool takes over from itself and from another one: what it is given does not depend on the source."""


class World:
    """A home with all tools, a project for each, and what each of them has done there."""

    def __init__(self, folder: Path, model: ScriptedModel) -> None:
        self.model = model
        self._projects = {tool: folder / f"work-of-{tool}" for tool in TOOLS}
        for project in self._projects.values():
            project.mkdir()
            (project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
            git(project, "init", "-q", "-b", "main")
            git(project, "add", ".")
            git(project, "commit", "-qm", "Begin")
        (folder / "home").mkdir()
        self.home: Home = make_home(folder / "home", model.url, *self._projects.values())
        self._sessions: dict[str, str] = {}

    def work_of(self, tool: str) -> tuple[Path, str]:
        """The project in which a tool has worked, and its session there."""
        project = self._projects[tool]
        if tool not in self._sessions:
            self.home.run(tool, ASKED, project)
            found = json.loads(
                self.segue(project, "session", "import", "--json", "--tool", tool, "--dir", ".")
            )
            assert [(each["tool"], each["working_dir"]) for each in found] == [(tool, str(project))]
            self._sessions[tool] = found[0]["session_id"]
        return project, self._sessions[tool]

    def segue(self, project: Path, *arguments: str) -> str:
        done = run_warm(*arguments, cwd=project, env=self.home.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


def handoff_of(tool: str, project: Path, words: str) -> Handoff:
    """The handoff of the newest session of a tool, once these words stand in it."""
    deadline = time.monotonic() + 120
    while True:
        found = summarise(LocalTranscripts().read("latest", tool=tool, working_dir=project))
        if words in found.what_was_done:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "segue", *arguments]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ScriptedModel(PLAN) as model:
        made = World(tmp_path_factory.mktemp("world").resolve(), model)
        yield made
    assert not left_behind(made.home.folder), "every tool has ended with its terminal"


def left_behind(home: Path) -> list[list[str]]:
    """The command lines of what still runs with this home, though it had time to end; it is ended, too."""
    deadline = time.monotonic() + 120
    while (running := [each for each in psutil.process_iter() if is_at(each, home)]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.2)
    found = []
    for process in running:
        with suppress(psutil.Error):
            found.append(process.cmdline())
            process.kill()
    return found


def is_at(process: psutil.Process, home: Path) -> bool:
    with suppress(psutil.Error):
        return process.environ().get("HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_work_goes_on(source: str, target: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    need(target)
    for name in ("HOME", "XDG_DATA_HOME", "CODEX_HOME"):
        monkeypatch.setenv(name, world.home.environment.get(name, ""))
    project, session = world.work_of(source)
    focus = f"[[go-on]] what {source} left to {target}"

    def is_it(record: RequestRecord) -> bool:
        return record.scenario == "go-on" and f"Focus on this: {focus}" in record.request.text

    arguments = ("handoff", "from", source, session, "--to", target, "--focus", focus)
    with Terminal(command(*arguments), cwd=project, env=world.home.environment) as terminal:
        try:
            got = world.model.wait_for(is_it, timeout=120)
        except TimeoutError as error:
            raise AssertionError(f"{error}\n{terminal.screen}") from error
        terminal.wait_for("I go on from here.", 120)
        onward = handoff_of(target, project, "I go on from here.")
    prompt = got.request.text
    inside = prompt.partition("<handoff-context>")[2].partition("</handoff-context>")[0]
    assert prompt.count("<handoff-context>") == 1
    assert f"goal: {ASKED}" in inside
    assert "constraints:\n  - The page must hold one line." in inside
    assert "files_created:\n  - path: page.txt" in inside
    assert "calc.py" in inside
    assert "  - command: test -f page.txt\n    exit_code: 0" in inside
    assert "  - command: test -f absent.txt || exit 3\n    exit_code: 3" in inside
    assert "what_was_done:\n  - Wrote the page." in inside
    assert "next_agent_context: Read page.txt first." in inside
    assert f"the {source} session {session}" in inside
    assert got.body["model"] == "scripted"
    assert onward.goal == ASKED, "the user's words outlive the next hop, too"
    assert onward.constraints == ("The page must hold one line.",)
