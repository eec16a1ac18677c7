"""The back end of agents whose profile names none: found, kept with the run; and the rules of the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from segue.application.pipelines.submit import PipelineRequest
from segue.bootstrap import open_catalog
from segue.domain.permissions import DEFAULT_RULES, Access, PermissionRule, Ruling, Tool, decide
from segue.settings import Settings, load_settings
from segue.testing import ScriptedBackend, build_test_segue
from tests.trusting import write_project

PAGE = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text(encoding="utf-8")


def put(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\nexit 99\n")
    (folder / name).chmod(0o755)


def backend_of(agent: str, settings: Settings) -> str | None:
    return open_catalog(settings).load(".").agents[agent].backend


@pytest.mark.parametrize("value", [None, "", "auto"])
@pytest.mark.usefixtures("project")
def test_auto_is_the_default(value: str | None, no_agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if value is not None:
        monkeypatch.setenv("SEGUE_BACKEND", value)
    settings = load_settings()
    assert settings.backend == "auto"
    assert backend_of("developer", settings) is None
    put(no_agents, "codex")
    assert backend_of("developer", settings) == "codex"


def test_a_profile_may_say_auto_too(project: Path, no_agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_BACKEND", "scripted")
    write_project(project, "agents:\n  any: {backend: auto}\n")
    assert backend_of("any", load_settings()) == "scripted"
    monkeypatch.delenv("SEGUE_BACKEND")
    assert backend_of("any", load_settings()) is None


def test_an_open_catalog_sees_what_is_installed_meanwhile(project: Path, no_agents: Path) -> None:
    catalog = open_catalog(load_settings())
    assert catalog.load(str(project)).agents["developer"].backend is None
    put(no_agents, "claude")
    assert catalog.load(str(project)).agents["developer"].backend == "claude_code"
    assert catalog.why_backend("developer", str(project)) == "found on the PATH"


def test_what_segue_installed_is_found_by_its_place(
    project: Path, no_agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.adapters.installs import pinned_program

    pinned = pinned_program("opencode")
    place = project / "data" / "agents" / "opencode" / pinned.version
    folder = place / "node_modules" / pinned.package / "bin"
    folder.mkdir(parents=True)
    put(folder, "opencode")
    monkeypatch.setenv("SEGUE_DATA_DIR", str(project / "data"))
    write_project(project, "agents:\n  named: {backend: opencode}\n")
    agents = open_catalog(load_settings()).load(str(project)).agents
    for name in ("named", "developer"):
        assert agents[name].backend == "opencode"
        assert agents[name].options == {"program": str(folder / "opencode")}


async def test_the_choice_is_kept_with_the_run(tmp_path: Path, project: Path, no_agents: Path) -> None:
    put(no_agents, "codex")
    wanted = PipelineRequest(prompt="x", template="quick_fix", idempotency_key="first")
    async with build_test_segue(tmp_path, ScriptedBackend(), backend="auto") as segue:
        first = await segue.pipelines.submit(wanted)
        assert {agent.backend for agent in first.plan.agents.values()} == {"codex"}
        await segue.pipelines.abort(first.id)
    put(no_agents, "opencode")
    async with build_test_segue(tmp_path, ScriptedBackend(), backend="auto") as segue:
        again = await segue.pipelines.submit(wanted)
        assert again.id == first.id
        assert again.plan == first.plan
        second = await segue.pipelines.submit(replace(wanted, idempotency_key=None))
        assert {agent.backend for agent in second.plan.agents.values()} == {"opencode"}
        await segue.pipelines.abort(second.id)


def blocks() -> list[str]:
    section = PAGE.partition("## What an agent may do")[2].partition("\n## ")[0]
    return re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)


def test_the_page_shows_the_rules_that_stand_before_all() -> None:
    shown = tuple(PermissionRule.model_validate(rule) for rule in yaml.safe_load(blocks()[0]))
    assert shown == DEFAULT_RULES


@pytest.mark.parametrize(
    ("tool", "target", "verdict"),
    [
        (Tool.READ, "README.md", Ruling.ALLOW),
        (Tool.EDIT, "README.md", Ruling.DENY),
        (Tool.EDIT, "src/deep/app.py", Ruling.ALLOW),
        (Tool.EDIT, "src/secrets/key", Ruling.DENY),
        (Tool.EDIT, "src/../README.md", Ruling.DENY),
        (Tool.EDIT, "/etc/passwd", Ruling.DENY),
        (Tool.SHELL, "pytest -q", Ruling.ALLOW),
        (Tool.SHELL, "pytest; rm x", Ruling.ALLOW),
        (Tool.SHELL, "make", Ruling.ASK),
        (Tool.SHELL, "git push", Ruling.ASK),
        (Tool.FETCH, "https://example.org", Ruling.DENY),
    ],
)
def test_the_rules_of_the_page_s_example_do_what_it_says(
    project: Path, tool: Tool, target: str, verdict: Ruling
) -> None:
    write_project(project, blocks()[1])
    profile = open_catalog(load_settings()).load(str(project)).agents["careful"]
    rules = (*DEFAULT_RULES, *profile.permissions)
    assert decide(rules, Access(tool=tool, targets=(target,)), str(project)) is verdict
