"""What a person sees of a session that hands over in the middle of a step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Ran
from tests.sessions.scripts import agent
from tests.trusting import write_project

FULL = {"usage": {"context_tokens": 80, "context_window": 100, "input_tokens": 80}}
DONE = "## What Was Done\n- Fixed it.\n"


def test_the_limit_the_handoff_and_the_lineage_are_shown(segue: Callable[..., Ran], repository: Path) -> None:
    developer = agent(FULL, {"delay": 600}, given=[{"say": DONE}])
    catalog = {"agents": {"developer": developer}, "templates": {"fix": {"steps": [{"agent": "developer"}]}}}
    write_project(repository, json.dumps(catalog))
    ran = segue("run", "fix", "Fix it.")
    assert ran.code == 0, ran.err
    limit = "↪ developer reached a limit (context_limit): it is asked to hand over"
    assert ran.err.index(limit) < ran.err.index(
        "1 developer: ↪ handed over once; it continues in a new session"
    )
    shown = segue("pipelines", "show", "1").out
    assert "handed over once" in " ".join(shown.split())
    assert "attempt" not in shown, "nothing went wrong"
    whole = segue("pipelines", "show", "1", "--step", "1").out
    assert "Attempt 1: handed_over (context_limit), session 1" in whole
    family = segue("session", "lineage", "2").out
    assert "pipeline" in family.splitlines()[0]
    refused = segue("session", "say", "1", "Hello?")
    assert refused.code == 1
    assert "only that pipeline speaks with it" in refused.err
