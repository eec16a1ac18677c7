"""Which back end is the default: by files alone, on the PATH before what Segue installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends import BACKENDS, backend_class
from segue.adapters.backends.acp.agents import KNOWN
from segue.adapters.backends.agents import AGENT_PROGRAMS, PLAIN, AgentPrograms
from segue.adapters.backends.streamed import StreamedBackend
from segue.adapters.installs import known_programs
from segue.domain.errors import UnknownName

Put = Callable[[str], Path]


@pytest.fixture
def put(no_agents: Path) -> Put:
    """Puts a program onto the PATH that fails if it is ever started."""

    def make(name: str) -> Path:
        path = no_agents / name
        path.write_text("#!/bin/sh\nexit 99\n")
        path.chmod(0o755)
        return path

    return make


def programs(installed: dict[str, str] | None = None, **options: dict[str, Any]) -> AgentPrograms:
    def find(name: str) -> Path | None:
        return Path(installed[name]) if installed and name in installed else None

    return AgentPrograms(installed=find, options=options)


def chosen(found: AgentPrograms) -> tuple[str, str]:
    choice = found.choose()
    assert choice is not None
    return choice.label, choice.why


def test_none_is_chosen_where_none_is_there(no_agents: Path) -> None:
    assert programs().choose() is None


def test_the_first_in_the_order_is_chosen(put: Put) -> None:
    order = ["pi-acp", "goose", "codex", "claude", "opencode"]
    labels = ["acp pi", "acp goose", "codex", "claude_code", "opencode"]
    for program, label in zip(order, labels, strict=True):
        put(program)
        assert chosen(programs()) == (label, "found on the PATH")


def test_a_file_that_cannot_be_run_is_no_program(put: Put) -> None:
    put("opencode").chmod(0o644)
    put("codex")
    assert chosen(programs()) == ("codex", "found on the PATH")


def test_what_segue_installed_counts_and_its_place_is_told_to_the_back_end(no_agents: Path) -> None:
    found = programs({"opencode": "/own/opencode", "goose": "/own/goose"})
    assert chosen(found) == ("opencode", "installed by Segue")
    assert found.complete("opencode", {"snapshot": True}) == {"snapshot": True, "program": "/own/opencode"}
    assert found.complete("opencode", {"agent": "plan"}) == {"agent": "plan", "program": "/own/opencode"}
    assert found.complete("acp", {"agent": "goose"}) == {"agent": "goose", "command": ["/own/goose"]}
    assert found.complete("acp", {"agent": "gemini"}) == {"agent": "gemini"}
    assert found.complete("command", {"command": "x"}) == {"command": "x"}


def test_the_user_s_own_program_comes_before_the_installed_one(put: Put) -> None:
    put("opencode")
    found = programs({"opencode": "/own/opencode"})
    assert chosen(found) == ("opencode", "found on the PATH")
    assert found.complete("opencode", {}) == {}


def test_a_program_that_the_options_name_is_left_alone(no_agents: Path) -> None:
    found = programs({"opencode": "/own/opencode"})
    for options in ({"program": "~/mine"}, {"url": "http://127.0.0.1:1"}):
        assert found.complete("opencode", options) == options


def test_the_settings_can_name_the_program_or_the_server(put: Put) -> None:
    mine = put("my-codex")
    assert programs(codex={"program": "/nowhere/codex"}).choose() is None
    assert chosen(programs(codex={"program": str(mine)})) == ("codex", "named in the options")
    assert chosen(programs(acp={"agent": "qwen", "command": f"{mine} --acp"})) == (
        "acp qwen",
        "named in the options",
    )
    assert chosen(programs(opencode={"url": "http://127.0.0.1:1"})) == (
        "opencode",
        "its server is named in the options",
    )


def test_a_path_of_the_agent_s_own_is_searched(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put("codex").parent
    monkeypatch.setenv("PATH", "/nowhere")
    assert programs().choose() is None
    assert chosen(programs(codex={"set_env": {"PATH": str(folder)}})) == ("codex", "found on the PATH")


def test_other_ways_to_an_agent_are_looked_at_only_where_they_are(put: Put) -> None:
    def names() -> list[str]:
        return [candidate.name for candidate in programs().candidates() if candidate.is_agent]

    assert names()[:4] == ["opencode", "claude_code", "codex", "acp goose"]
    put("gemini")
    put("opencode")
    assert names()[:4] == ["opencode", "claude_code", "codex", "acp gemini"]


def test_candidates_are_found_by_all_their_names(no_agents: Path) -> None:
    def names(*wanted: str) -> list[str]:
        return [candidate.name for candidate in programs().candidates(wanted)]

    assert names("claude") == ["claude_code", "acp claude"]
    assert names("goose", "scripted") == ["acp goose", "scripted"]
    assert names("my_module:MyBackend") == ["my_module:MyBackend"]
    with pytest.raises(UnknownName, match='Did you mean "opencode"'):
        names("opncode")


def test_every_back_end_is_an_agent_or_plain() -> None:
    assert {known.backend for known in AGENT_PROGRAMS} | set(PLAIN) == set(BACKENDS)


def test_the_table_says_what_the_back_ends_say() -> None:
    for known in AGENT_PROGRAMS:
        if known.install:
            assert known.install in known_programs()
        if known.backend == "acp":
            assert known.agent is not None
            assert KNOWN[known.agent].command[0] == known.program
            assert KNOWN[known.agent].installable == (known.install is not None)
        elif issubclass(found := backend_class(known.backend), StreamedBackend):
            assert found.program == known.program
        else:
            assert found.Options().model_dump()["program"] == known.program
    assert {known.agent for known in AGENT_PROGRAMS if known.backend == "acp"} == set(KNOWN)
