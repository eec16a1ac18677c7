"""Handing over in a step when something else goes wrong, or comes at the same moment."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from segue.application.ports.backend import Message, SessionRequest
from segue.application.ports.store import Reads
from segue.application.segue import Segue
from segue.application.views import AttemptProgress
from segue.domain.briefing.handover_prompt import QUESTION
from segue.domain.errors import SessionLost
from segue.domain.handoff.model import Blocker
from segue.domain.pipeline import PipelineStatus
from segue.domain.session import Session
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.engine.test_handing_over import DONE, FULL, LONG, ONE_STEP, WORK, Surviving
from tests.holding import hold_until
from tests.sessions.scripts import HANDOFF, agent, until, write_catalog

pytestmark = pytest.mark.thorough

DECISION = "the page itself is right"
"""Words that stand in the handoff of the first session, and nowhere else."""


async def begun(segue: Segue, backend: ScriptedBackend, messages: int) -> str:
    """Submit the step; what opens its tools, once so many messages were sent."""
    pipeline = await segue.pipelines.submit(ONE_STEP)
    await until(lambda: len(backend.received.get("developer", ())) == messages)

    def newest(rows: Reads) -> str | None:
        attempt = rows.newest_attempt(pipeline.steps[0].id)
        return rows.get(Session, attempt.session_id).token if attempt is not None else None

    token = await segue.pipelines._store.read(newest)
    assert token is not None
    return token


async def test_a_successor_that_is_lost_does_not_take_the_handoff_with_it(
    tmp_path: Path, repository: Path
) -> None:
    write_catalog(repository, {"developer": agent(*WORK, given=[{"crash": 2}, *DONE])})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        tries = (await segue.views.step(ended.id, 1)).attempts
    assert ended.status is PipelineStatus.DONE
    assert [each.status for each in tries] == [
        AttemptProgress.HANDED_OVER,
        AttemptProgress.LOST,
        AttemptProgress.DONE,
    ]
    assert tries[-1].text.count(DECISION) == 1
    assert "An earlier attempt was cut off" in tries[-1].text


async def test_a_handoff_and_a_blocker_through_tools_count_while_handing_over(
    tmp_path: Path, repository: Path
) -> None:
    asked: list[Any] = [hold_until(tmp_path / "submitted"), {"say": "I have submitted the handoff."}]
    write_catalog(repository, {"developer": agent(*WORK, asked=asked, given=DONE)})
    backend = ScriptedBackend()
    record = {
        "what_was_done": ["Found the double binding in button.js"],
        "critical_context": ["Use one handler"],
        "next_agent_context": "Remove the second binding",
    }
    async with build_test_segue(tmp_path, backend) as segue:
        token = await begun(segue, backend, 2)
        await segue.tools.submit_handoff(token, {"outcome": "completed", **record})
        await segue.tools.report_blocker(token, Blocker(blocker="The key of the shop is missing"))
        (tmp_path / "submitted").touch()
        ended = await follow_to_end(segue, 1)
        tries = (await segue.views.step(1, 1)).attempts
    assert ended.steps[0].handovers == 1
    assert "Use one handler" in tries[-1].carry_over
    assert "key of the shop" in tries[-1].carry_over
    assert len(backend.received["developer"]) == 3, "nothing was wrong with it"


async def test_who_submits_in_the_last_moment_is_not_cut_off(tmp_path: Path, repository: Path) -> None:
    work: list[Any] = [{"delay": 0.3}, FULL, {"delay": 4}, {"say": "All done, I have submitted it."}]
    write_catalog(repository, {"developer": agent(*work, given=DONE)})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        token = await begun(segue, backend, 1)
        await asyncio.sleep(0.7)
        done = {"outcome": "completed", "what_was_done": ["Looked at the button and found it sound"]}
        assert (await segue.tools.submit_handoff(token, done)).is_accepted
        ended = await follow_to_end(segue, 1)
    assert (ended.status, ended.steps[0].attempt_count) == (PipelineStatus.DONE, 1)


async def test_a_submission_that_was_refused_holds_no_limit_off(tmp_path: Path, repository: Path) -> None:
    work: list[Any] = [hold_until(tmp_path / "go"), FULL, LONG]
    write_catalog(repository, {"developer": agent(*work, given=DONE)})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        token = await begun(segue, backend, 1)
        half = {"outcome": "partial", "what_was_done": ["half"]}
        assert not (await segue.tools.submit_handoff(token, half)).is_accepted
        (tmp_path / "go").touch()
        ended = await follow_to_end(segue, 1)
    assert (ended.status, ended.steps[0].handovers) == (PipelineStatus.DONE, 1)


class Forgetful(ScriptedBackend):
    """Cannot take up a session of an earlier process."""

    async def resume(self, request: SessionRequest, session: str) -> None:
        """It says so at once."""
        if session not in self._numbers:
            raise SessionLost("its session is gone")


async def test_what_was_said_before_a_crash_counts_though_the_session_is_gone(
    tmp_path: Path, repository: Path
) -> None:
    lie = HANDOFF + "\n## Files changed\n- `gone.js` (created)\n"
    write_catalog(repository, {"developer": agent(*WORK, asked=[{"say": lie}], fix=[LONG], given=DONE)})
    before = ScriptedBackend()
    async with build_test_segue(tmp_path, before) as segue:
        await begun(segue, before, 3)
        await asyncio.sleep(0.2)
    async with build_test_segue(tmp_path, Forgetful()) as segue:
        ended = await follow_to_end(segue, 1)
        tries = (await segue.views.step(1, 1)).attempts
    assert (ended.status, ended.steps[0].handovers) == (PipelineStatus.DONE, 1)
    assert DECISION in tries[-1].text


async def test_a_document_that_cannot_be_written_stops_nobody(tmp_path: Path, repository: Path) -> None:
    write_catalog(repository, {"developer": agent(*WORK, given=DONE)})
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        (tmp_path / "data" / "personas").rmdir()
        (tmp_path / "data" / "personas").write_text("in the way")
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        first, second = (await segue.views.step(1, 1)).attempts
        left = (await segue.sessions.show(first.session)).handoffs
    assert ended.status is PipelineStatus.DONE
    assert left[0].file_path is None
    assert DECISION in second.text


class Held(Surviving):
    """Does not take the question until it is let go."""

    holding = True
    is_asked = False

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Hold what asks for a handoff."""
        if self.holding and QUESTION in message.text:
            self.is_asked = True
            await asyncio.sleep(600)
        await super().send(request, session, message)


async def test_a_question_that_waited_for_days_still_has_its_time(tmp_path: Path, repository: Path) -> None:
    asked: list[Any] = [{"delay": 0.5}, {"say": HANDOFF}]
    write_catalog(repository, {"developer": agent(*WORK, asked=asked, given=DONE)})
    backend = Held()
    async with build_test_segue(tmp_path, backend) as segue:
        await segue.pipelines.submit(ONE_STEP)
        await until(lambda: backend.is_asked)
    backend.holding = False
    with closing(sqlite3.connect(tmp_path / "data" / "segue.db")) as database, database:
        database.execute("UPDATE messages SET created_at = '2025' || substr(created_at, 5)")
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, 1)
        tries = (await segue.views.step(1, 1)).attempts
    assert (ended.status, ended.steps[0].handovers) == (PipelineStatus.DONE, 1)
    assert DECISION in tries[-1].text


async def test_a_session_that_did_nothing_is_not_asked(tmp_path: Path, repository: Path) -> None:
    write_catalog(repository, {"developer": agent(LONG, given=[say_handoff("Fixed it.")])})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend, handoff_minutes=0.01) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
    assert (ended.status, ended.steps[0].handovers) == (PipelineStatus.DONE, 1)
    second = backend.received["developer"][-1]
    assert "it had done nothing yet" in second
    assert "ended without a handoff" in second
