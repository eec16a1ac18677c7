"""The real programs write real transcripts, with the scripted model as their only one; Segue reads them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from segue.adapters.transcripts.local import LocalTranscripts
from segue.domain.transcripts import ToolCall, summarise
from segue.testing import ScriptedModel, say, script, shell, turn, write
from tests.agents import rig_claude_code, rig_codex, rig_opencode
from tests.agents.programs import need

pytestmark = pytest.mark.all_agents

PLAN = script(
    {
        "page": [
            turn(say("I write it."), write("page.txt", "hello\n")),
            shell("test -f page.txt"),
            shell("test -f absent.txt || exit 3"),
            say("## What Was Done\n- Wrote the page.\n\n## Next Agent Context\nRead page.txt first."),
        ]
    },
    default="page",
)
PROMPT = "[[page]] Write a page. It must hold one line."


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(PLAN) as running:
        yield running


def run(arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={**kept, **environment, "PWD": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def run_claude(home: Path, folder: Path, url: str) -> None:
    environment = dict(rig_claude_code.make(home, url).options["set_env"])
    environment.pop("CLAUDE_CONFIG_DIR")
    options = ["--model", "scripted", "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    run([str(need("claude")), "-p", PROMPT, *options], folder, environment)


def run_codex(home: Path, folder: Path, url: str) -> None:
    environment = dict(rig_codex.make(home, url).options["set_env"])
    options = ["-m", "scripted", "-s", "danger-full-access", "--skip-git-repo-check"]
    run([str(need("codex")), "exec", *options, PROMPT], folder, environment)


def run_opencode(home: Path, folder: Path, url: str) -> None:
    rig = rig_opencode.make(home, url)
    environment = {**rig_opencode.environment(home), "OPENCODE_CONFIG_CONTENT": ""}
    config = {**rig.options["config"], "permission": {"*": "allow"}, "share": "disabled", "autoupdate": False}
    environment["OPENCODE_CONFIG_CONTENT"] = json.dumps(config)
    run([str(need("opencode")), "run", PROMPT], folder, environment)


RUNS: dict[str, Callable[[Path, Path, str], None]] = {
    "claude": run_claude,
    "codex": run_codex,
    "opencode": run_opencode,
}


@pytest.mark.parametrize("tool", sorted(RUNS))
def test_a_real_session_is_read(tool: str, own_home: Path, repository: Path, model: ScriptedModel) -> None:
    RUNS[tool](own_home, repository, model.url)
    shelf = LocalTranscripts()
    found = shelf.find(working_dir=repository)
    assert [(each.tool, each.working_dir) for each in found] == [(tool, str(repository))]
    transcript = shelf.read("latest", tool=tool, working_dir=repository)
    assert transcript.session_id == found[0].session_id
    assert transcript.skipped == 0
    assert transcript.branches == ()
    shells = [
        e for e in transcript.entries if isinstance(e, ToolCall) and e.command and "test -f" in e.command
    ]
    assert [call.exit_code for call in shells][-2:] == [0, 3]
    handoff = summarise(transcript)
    assert handoff.goal is not None
    assert "Write a page. It must hold one line." in handoff.goal
    assert len(handoff.constraints) == 1
    assert [each.path for each in handoff.files_created] == ["page.txt"]
    assert handoff.what_was_done == ("Wrote the page.",)
    assert handoff.next_agent_context == "Read page.txt first."
    assert [each.exit_code for each in handoff.commands_run][-2:] == [0, 3]
    assert not (handoff.blockers)
    assert not (handoff.suggested_next_steps)
