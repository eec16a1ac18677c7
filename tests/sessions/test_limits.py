"""Limits: when a session hands itself over, with which reason, and what ends a chain that goes nowhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from segue.application.sessions.model import Answer
from segue.domain.session import HandoffLimits, HandoffReason, stalled_after
from segue.domain.usage import Usage
from segue.testing import ScriptedBackend, build_test_segue
from tests.sessions.scripts import ASKED, HANDOFF, agent, failed, handed, talked, write_catalog

START = datetime(2026, 2, 20, tzinfo=UTC)
FULL = {"context_tokens": 80, "context_window": 100}
EMPTY = {"context_tokens": 10, "context_window": 100}


@pytest.mark.parametrize(
    ("limits", "usage", "turns", "minutes", "reason"),
    [
        ({}, Usage(**FULL), 1, 1, HandoffReason.CONTEXT_LIMIT),
        ({}, Usage(context_tokens=75, context_window=100), 1, 1, HandoffReason.CONTEXT_LIMIT),
        ({}, Usage(context_tokens=74, context_window=100), 1, 1, None),
        ({"context_share": 0.9}, Usage(**FULL), 1, 1, None),
        ({"context_share": None}, Usage(**FULL), 1, 1, None),
        ({}, None, 10_000, 10_000, None),
        ({}, Usage(context_tokens=80), 1, 1, None),
        ({"turns": 3}, None, 2, 1, None),
        ({"turns": 3}, None, 3, 1, HandoffReason.SHIFT_END),
        ({"minutes": 5}, None, 1, 4.9, None),
        ({"minutes": 5}, None, 1, 5, HandoffReason.SHIFT_END),
        ({"cost": 1.0}, Usage(cost=0.99), 1, 1, None),
        ({"cost": 1.0}, Usage(cost=1.0), 1, 1, HandoffReason.SHIFT_END),
        ({"cost": 1.0}, Usage(), 1, 1, None),
        ({"turns": 1, "minutes": 1}, Usage(**FULL), 5, 5, HandoffReason.CONTEXT_LIMIT),
    ],
)
def test_a_limit_is_reached_by_what_was_reported(
    limits: dict[str, Any], usage: Usage | None, turns: int, minutes: float, reason: HandoffReason | None
) -> None:
    now = START + timedelta(minutes=minutes)
    assert HandoffLimits(**limits).reached(usage, turns, START, now) is reason


def test_handoffs_without_progress_are_counted_in_a_row() -> None:
    assert stalled_after(2, has_changes=False, is_same=True) == 3
    assert stalled_after(2, has_changes=True, is_same=True) == 1
    assert stalled_after(2, has_changes=False, is_same=False) == 1


async def run(
    tmp_path: Path, repository: Path, helper: dict[str, Any], **settings: Any
) -> tuple[Answer, list[int], ScriptedBackend]:
    """Say one thing with automatic handoffs on; the answer, the lineage and the back end."""
    write_catalog(repository, {"helper": helper})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend, **{"auto_handoff": True, **settings}) as segue:
        session = await segue.sessions.start("helper")
        answer = await segue.sessions.say(session.id, "Fix the button.")
        family = await segue.sessions.lineage(session.id)
    return answer, [each.id for each in (*family.parents, family.session, *family.children)], backend


async def test_a_full_session_hands_itself_over_and_the_successor_goes_on(
    tmp_path: Path, repository: Path
) -> None:
    helper = agent({"usage": FULL}, {"say": "Full."}, given=[{"usage": EMPTY}, {"say": "Done."}])
    answer, family, _ = await run(tmp_path, repository, helper)
    (outcome,) = answer.handoffs
    assert (handed(outcome).reason, handed(outcome).reply) == (HandoffReason.CONTEXT_LIMIT, "Done.")
    assert answer.reply == "Full."
    assert [answer.session_id] == family[1:]


async def test_a_session_that_is_not_full_stays(tmp_path: Path, repository: Path) -> None:
    answer, family, _ = await run(tmp_path, repository, agent({"usage": EMPTY}, {"say": "Hello."}))
    assert (answer.handoffs, len(family)) == ((), 1)


async def test_nothing_happens_unless_it_is_wanted(tmp_path: Path, repository: Path) -> None:
    helper = agent({"usage": FULL}, {"say": "Full."})
    answer, family, _ = await run(tmp_path, repository, helper, auto_handoff=False)
    assert (answer.handoffs, len(family)) == ((), 1)


async def test_turns_end_a_shift(tmp_path: Path, repository: Path) -> None:
    write_catalog(repository, {"helper": agent()})
    async with build_test_segue(tmp_path, ScriptedBackend(), handoff_turns=2, auto_handoff=True) as segue:
        session_id = await talked(segue)
        assert (await segue.sessions.show(session_id)).handoffs == []
        (outcome,) = (await segue.sessions.say(session_id, "And?")).handoffs
        assert handed(outcome).reason is HandoffReason.SHIFT_END


async def test_the_question_itself_never_makes_a_session_hand_over(tmp_path: Path, repository: Path) -> None:
    """The reply to it takes the session over its limit; it is asked once all the same."""
    helper = agent(asked=[{"usage": FULL}, {"say": HANDOFF}], given=[{"usage": EMPTY}, {"say": "On."}])
    write_catalog(repository, {"helper": helper})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend, auto_handoff=True) as segue:
        session_id = await talked(segue)
        handed(await segue.sessions.hand_off(session_id, reason="task_boundary"))
        assert len((await segue.sessions.lineage(session_id)).children) == 1
    assert sum(ASKED in text for text in backend.received["helper"]) == 1


async def test_a_chain_that_brings_nothing_new_ends_with_the_reason(tmp_path: Path, repository: Path) -> None:
    """Every session is full at once, changes nothing, and says the same."""
    helper = agent({"usage": FULL}, {"say": "Full."}, given=[{"usage": FULL}, {"say": "Full again."}])
    answer, family, backend = await run(tmp_path, repository, helper)
    assert len(answer.handoffs) == 3
    assert "3 handoffs in a row brought nothing new" in failed(answer.handoffs[-1])
    assert len(family) == 3
    assert answer.session_id == family[-1]
    assert sum(ASKED in text for text in backend.received["helper"]) == 3


async def test_a_chain_that_changes_files_goes_on(tmp_path: Path, repository: Path) -> None:
    """Each successor writes a line; after the sixth the work is done."""
    (repository / "log.txt").write_text("")
    work = "echo line >> log.txt; wc -l < log.txt"
    helper = agent(
        {"usage": FULL},
        {"say": "Full."},
        given=[{"run": ["sh", "-c", work]}, {"usage": FULL}, {"say": "{output}"}],
    )
    write_catalog(repository, {"helper": helper})
    async with build_test_segue(tmp_path, ScriptedBackend(), auto_handoff=True, handoff_turns=None) as segue:
        session = await segue.sessions.start("helper")
        real = segue.sessions._reached
        done = repository / "log.txt"

        async def until_done(session_id: int) -> HandoffReason | None:
            return None if done.read_text().count("\n") == 6 else await real(session_id)

        segue.sessions._reached = until_done  # type: ignore[method-assign]
        answer = await segue.sessions.say(session.id, "Fix the button.")
    assert [handed(each).reply for each in answer.handoffs] == ["1", "2", "3", "4", "5", "6"]


async def test_a_person_may_hand_over_as_often_as_they_like(tmp_path: Path, repository: Path) -> None:
    write_catalog(repository, {"helper": agent()})
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        session_id = await talked(segue)
        for _ in range(5):
            outcome = await segue.sessions.hand_off(session_id, reason="task_boundary")
            session_id = handed(outcome).successor_id
        assert len((await segue.sessions.lineage(session_id)).parents) == 5
