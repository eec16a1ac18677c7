"""OpenCode itself: a session is driven over its limit by what it reports, and its successor finishes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.application.ports.backend import SessionEvent, ToolUsed
from segue.bootstrap import open_segue
from segue.domain.session import HandoffReason, MessageKind
from segue.settings import Settings
from segue.testing import Playable, ScriptedModel, edit, read, say, shell, turn, usage
from tests.agents import rig_opencode
from tests.agents.rigs import make_project, profile_of
from tests.sessions.scripts import handed

pytestmark = pytest.mark.thorough

HANDOFF = """## Goal
Let add add.

## Constraints & Preferences
- Keep the change small

## Progress

### Done
- [x] Found the wrong sign in `calc.py`

## Key Decisions
- Only the sign changes: the rest is right

## Critical Context
- The next scenario is called [[finish]]

## Next Steps
- Fix the sign in `calc.py`
"""


def by_what_is_asked(request: object) -> str:
    """The handoff if it is asked for, else a few words."""
    return HANDOFF if "Stop here and hand over" in str(getattr(request, "text", "")) else "I see the bug."


async def test_a_session_hands_itself_over_and_its_successor_finishes(tmp_path: Path) -> None:
    plan: dict[str, Playable | list[Playable]] = {
        "look": [read("calc.py"), turn(say("The sign is wrong."), usage=usage(input=150_000, output=10))],
        "look/2": [turn(say(by_what_is_asked), usage=usage(input=160_000, output=200))],
        "finish": [
            read("calc.py"),
            edit("calc.py", "a - b", "a + b"),
            shell("git diff --stat"),
            turn(say("Fixed."), usage=usage(input=9_000, output=10)),
        ],
    }
    with ScriptedModel(plan) as model:
        rig = rig_opencode.make(tmp_path / "home", model.url)
        project = make_project(tmp_path / "project", {"agents": {"developer": profile_of(rig)}})
        settings = Settings(data_dir=tmp_path / "data", config_dir=tmp_path / "config", auto_handoff=True)
        told: list[SessionEvent] = []
        async with open_segue(settings) as segue:
            session = await segue.sessions.start("developer", working_dir=str(project), title="add")
            answer = await segue.sessions.say(session.id, "[[look]] Why is add wrong?", on_event=told.append)
            old, new = await segue.sessions.show(session.id), await segue.sessions.show(answer.session_id)
            family = await segue.sessions.lineage(answer.session_id)
            # The old session still answers, and knows what was said before.
            again = await segue.sessions.say(session.id, "And now?", auto_handoff=False)
            for each in (old, new):
                await segue.sessions.end(each.id)
    (outcome,) = answer.handoffs
    assert answer.reply == "The sign is wrong."
    assert (handed(outcome).reason, handed(outcome).reply) == (HandoffReason.CONTEXT_LIMIT, "Fixed.")
    assert handed(outcome).refuted == ()
    assert old.usage is not None
    assert (old.usage.context_share or 0) >= 0.75
    assert (new.usage.context_share or 1) < 0.75 if new.usage else False
    assert (project / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert [each.id for each in family.parents] == [session.id]
    assert new.parent_id == session.id
    assert [m.kind for m in new.said] == [MessageKind.INJECTION]
    assert again.reply
    assert any(isinstance(event, ToolUsed) for event in told)
    assert json.dumps(handed(outcome).text).count("Only the sign changes") == 1
    assert not list((tmp_path / "data").rglob("opencode/servers/*/state.json")), "no server is left behind"
