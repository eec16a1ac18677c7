"""Every statement of a plain reply is in the next briefing, or listed as left out of it."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

from segue import Predecessor, brief
from segue.adapters.tokens import counter_for
from segue.domain.handoff import Origin, extract_handoff

BENCH = run_path(str(Path(__file__).parents[2] / "bench" / "passed_on.py"))
REPLIES = {path.stem: path for path in sorted(Path(__file__).with_name("plain_replies").glob("*.md"))}


@pytest.mark.parametrize("budget", [400, 800, None])
@pytest.mark.parametrize("name", REPLIES)
def test_every_statement_reaches_the_next_agent(name: str, budget: int | None) -> None:
    reply = REPLIES[name].read_text(encoding="utf-8")
    briefing = BENCH["brief_next"](reply, budget, counter_for(None))
    assert list(BENCH["statements_in"](reply))
    assert list(BENCH["withheld"](reply, briefing)) == []


def test_a_bold_question_that_heads_nothing_is_an_open_question() -> None:
    reply = "I added the importer.\n\n**Which of the two tables should it fill?**\n"
    found = extract_handoff(reply, origin=Origin.REPLY)
    assert found.handoff is not None
    assert [each.question for each in found.handoff.open_questions] == [
        "**Which of the two tables should it fill?**"
    ]


def test_a_lone_heading_that_says_something_reaches_the_next_agent() -> None:
    reply = "**Summary of the seventh sprint, for the record:**\n\n**Done:**\n\n- Added the importer\n"
    found = extract_handoff(reply, origin=Origin.REPLY)
    assert found.handoff is not None
    briefing = brief(
        prompt="x",
        agent_name="b",
        job="y",
        predecessors=[Predecessor(agent_name="a", handoff=found.handoff, reply=reply)],
    )
    assert "Summary of the seventh sprint" in briefing.text
