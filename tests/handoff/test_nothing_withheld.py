"""Every statement of a plain reply is in the next briefing, or listed as left out of it."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

from segue.adapters.tokens import counter_for

BENCH = run_path(str(Path(__file__).parents[2] / "bench" / "passed_on.py"))
REPLIES = {path.stem: path for path in sorted(Path(__file__).with_name("plain_replies").glob("*.md"))}


@pytest.mark.parametrize("budget", [400, 800, None])
@pytest.mark.parametrize("name", REPLIES)
def test_every_statement_reaches_the_next_agent(name: str, budget: int | None) -> None:
    reply = REPLIES[name].read_text(encoding="utf-8")
    briefing = BENCH["brief_next"](reply, budget, counter_for(None))
    assert list(BENCH["statements_in"](reply))
    assert list(BENCH["withheld"](reply, briefing)) == []
