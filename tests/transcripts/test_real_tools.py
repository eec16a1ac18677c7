"""The real programs write real transcripts, with the scripted model as their only one; Segue reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from segue.adapters.transcripts.local import LocalTranscripts
from segue.domain.transcripts import ToolCall, summarise
from segue.testing import ScriptedModel, say, script, shell, turn, write
from tests.transcripts.tools_at_home import TOOLS, make_home

pytestmark = pytest.mark.thorough

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


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_session_is_read(tool: str, own_home: Path, repository: Path, model: ScriptedModel) -> None:
    make_home(own_home, model.url, repository).run(tool, PROMPT, repository)
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
    assert handoff.goal == PROMPT
    assert len(handoff.constraints) == 1
    assert [each.path for each in handoff.files_created] == ["page.txt"]
    assert handoff.what_was_done == ("Wrote the page.",)
    assert handoff.next_agent_context == "Read page.txt first."
    assert [each.exit_code for each in handoff.commands_run][-2:] == [0, 3]
    assert not (handoff.blockers)
    assert not (handoff.suggested_next_steps)
