"""`segue agents doctor`: agents that work, that do not, that are not there; and the default."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends import LoadedBackends
from segue.application.doctor import Candidate, examine
from segue.application.ports.backend import AgentBackend, Probe
from segue.domain.errors import BackendUnavailable
from segue.testing import ScriptedBackend
from tests.agents import programs, rig_opencode
from tests.cli.conftest import Ran
from tests.trusting import write_project

Segue = Callable[..., Ran]

CLAUDE = """#!/bin/sh
case "$1" in
  --version) echo "2.1.0 (Claude Code)" ;;
  *) echo '{"loggedIn": true, "authMethod": "test"}' ;;
esac
"""


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def rows(ran: Ran) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(ran.out)["backends"]}


@pytest.mark.usefixtures("project", "no_agents")
def test_without_any_agent_it_says_what_to_install(segue: Segue) -> None:
    ran = segue("agents", "doctor")
    assert (ran.code, ran.err) == (1, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["·", "opencode", "not", "installed:", "segue", "agents", "install", "opencode"] in lines
    assert ["·", "claude_code", "not", "installed:", "segue", "agents", "install", "claude"] in lines
    assert ["✔", "command"] in [line[:2] for line in lines]
    assert "by default: none, no agent program was found; run `segue agents install opencode`" in ran.out


@pytest.mark.usefixtures("project")
def test_an_agent_that_works_is_the_default_and_makes_the_exit_code(segue: Segue, no_agents: Path) -> None:
    put(no_agents, "claude", CLAUDE)
    ran = segue("agents", "doctor", "claude_code")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[1].split()[:3] == ["✔", "claude_code", "2.1.0"]
    assert "by default: claude_code, found on the PATH\n" in ran.out


@pytest.mark.usefixtures("project")
def test_an_agent_that_does_not_start_is_told_with_its_words(segue: Segue, no_agents: Path) -> None:
    put(no_agents, "codex", "#!/bin/sh\necho no such library >&2\nexit 127\n")
    ran = segue("agents", "doctor")
    assert ran.code == 1
    assert "✘  codex" in ran.out
    assert "no such library" in ran.out
    assert "by default: codex, found on the PATH; it does not work yet, see above" in ran.out


@pytest.mark.usefixtures("project")
def test_json_has_every_back_end_and_no_option(
    segue: Segue, no_agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(no_agents, "claude", CLAUDE)
    monkeypatch.setenv(
        "SEGUE_BACKEND_OPTIONS", '{"claude_code": {"set_env": {"ANTHROPIC_API_KEY": "s3cret"}}}'
    )
    ran = segue("agents", "doctor", "--json")
    shown = json.loads(ran.out)
    assert shown["default"] == {
        "name": "claude_code",
        "backend": "claude_code",
        "why": "found on the PATH",
    }
    found = rows(ran)
    assert found["claude_code"]["program"] == str(no_agents / "claude")
    assert found["claude_code"]["works"]
    assert found["opencode"]["hint"] == "segue agents install opencode"
    assert [name for name, row in found.items() if not row["is_agent"]] == ["command", "scripted"]
    assert "s3cret" not in ran.out


@pytest.mark.usefixtures("project")
def test_what_is_withheld_is_told_by_name_and_never_by_value(
    segue: Segue, no_agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(no_agents, "claude", CLAUDE)
    for name in ("AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "SEGUE_PORT"):
        monkeypatch.setenv(name, "8765")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    ran = segue("agents", "doctor", "claude_code")
    (line,) = [line for line in ran.out.splitlines() if line.startswith("not shown to agents")]
    assert {"AWS_SECRET_ACCESS_KEY", "NPM_TOKEN"} <= {*line.partition(": ")[2].split(", ")}
    assert "pass_env" in line
    assert "SEGUE_PORT" not in line
    assert "8765" not in ran.out
    said = rows(segue("agents", "doctor", "claude_code", "--json"))["claude_code"]["said"]
    assert "CLAUDE_CODE_USE_BEDROCK is set, but AWS_SECRET_ACCESS_KEY is withheld" in said
    monkeypatch.setenv("SEGUE_BACKEND_OPTIONS", '{"claude_code": {"pass_env": ["AWS_*"]}}')
    ran = segue("agents", "doctor", "claude_code", "--json")
    assert "is withheld" not in rows(ran)["claude_code"]["said"]
    assert "NPM_TOKEN" in json.loads(ran.out)["withheld"]
    assert "AWS_SECRET_ACCESS_KEY" not in json.loads(ran.out)["withheld"]


@pytest.mark.usefixtures("project", "no_agents")
def test_the_setting_is_the_default(segue: Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_BACKEND", "scripted")
    assert "by default: scripted, set as the default back end" in segue("agents", "doctor").out


@pytest.mark.usefixtures("project", "no_agents")
def test_an_unknown_name_is_misuse(segue: Segue) -> None:
    ran = segue("agents", "doctor", "opncode")
    assert ran.code == 2
    assert ran.err.startswith('segue: no back end "opncode". Known: acp, acp claude')
    assert ran.err.endswith('Did you mean "opencode"?\n')


@pytest.mark.usefixtures("project", "no_agents")
def test_a_back_end_that_cannot_be_loaded_is_one_row(segue: Segue) -> None:
    ran = segue("agents", "doctor", "no_such_module:Backend", "--json")
    assert ran.code == 1
    assert "No module named 'no_such_module'" in rows(ran)["no_such_module:Backend"]["said"]


@pytest.mark.thorough
@pytest.mark.usefixtures("project")
def test_one_that_does_not_answer_is_told(segue: Segue, no_agents: Path) -> None:
    put(no_agents, "goose", "#!/bin/sh\nexec sleep 86396\n")
    ran = segue("agents", "doctor", "--timeout", "2", "--json")
    assert ran.code == 1
    assert rows(ran)["acp goose"]["said"] == "did not answer within 2 s"


@pytest.mark.thorough
def test_a_real_opencode_answers(segue: Segue, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = programs.need("opencode")
    monkeypatch.setenv("SEGUE_DATA_DIR", str(project / "data"))
    options = rig_opencode.make(project / "home", "http://127.0.0.1:9").options
    monkeypatch.setenv("SEGUE_BACKEND_OPTIONS", json.dumps({"opencode": dict(options)}))
    ran = segue("agents", "doctor", "opencode", "--timeout", "120", "--json")
    assert ran.code == 0, ran.out
    assert rows(ran)["opencode"]["program"] == str(program)
    assert rows(ran)["opencode"]["version"]


class Probed(ScriptedBackend):
    """A back end whose probe does as it is told."""

    def __init__(self, act: Callable[[], Any]) -> None:
        super().__init__()
        self._act = act

    async def probe(self, options: Mapping[str, Any]) -> Probe:
        await self._act()
        return Probe(program=None, version="1", works=True, said=str(dict(options)))


async def fail(error: BaseException) -> None:
    raise error


async def hold_out() -> None:
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        await asyncio.sleep(0.2)
        raise


async def test_whatever_a_probe_does_is_a_sentence(tmp_path: Path) -> None:
    acts: dict[str, Callable[[], Any]] = {
        "well": lambda: asyncio.sleep(0),
        "broken": lambda: fail(ZeroDivisionError("division by zero")),
        "refused": lambda: fail(BackendUnavailable("no more rooms")),
        "gave up": lambda: fail(asyncio.CancelledError()),
        "late": hold_out,
    }
    given: dict[str, AgentBackend] = {name: Probed(act) for name, act in acts.items()}
    candidates = [Candidate(name=name, backend=name, options={"a": 1}) for name in acts]
    found = await examine(candidates, LoadedBackends(sessions_dir=tmp_path, given=given), seconds=1)
    assert {one.name: (one.works, one.said) for one in found} == {
        "well": (True, "{'a': 1}"),
        "broken": (False, "its probe is broken: ZeroDivisionError: division by zero"),
        "refused": (False, "no more rooms"),
        "gave up": (False, "the look at it was given up"),
        "late": (False, "did not answer within 1 s"),
    }


@pytest.mark.usefixtures("project")
def test_a_run_says_which_back_end_works_and_why(segue: Segue, no_agents: Path) -> None:
    put(no_agents, "claude", f"#!{sys.executable}\nraise SystemExit('no model today')\n")
    ran = segue("run", "quick_fix", "Fix it.", "--in-place")
    assert ran.code == 1
    assert ran.err.splitlines()[2] == "on claude_code, found on the PATH"


@pytest.mark.usefixtures("project", "no_agents")
def test_a_run_names_the_agents_where_their_back_ends_differ(segue: Segue, project: Path) -> None:
    write_project(
        project,
        "agents:\n"
        "  a: {backend: scripted, model: big, options: {actions: [{say: hello}]}}\n"
        "  b: {}\n"
        "templates:\n  two: {on_bad_handoff: note, steps: [{agent: a}, {agent: b}]}\n",
    )
    ran = segue("run", "two", "Fix it.", "--in-place", "--command", "cat")
    assert ran.err.splitlines()[2:4] == [
        "a on scripted, named in its profile, model big",
        "b on command, set as the default back end",
    ]
