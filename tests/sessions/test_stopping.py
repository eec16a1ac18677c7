"""What a caller can follow and stop while a session works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from segue.application.handoffs.outcomes import Stage, StageChange
from segue.application.ports.backend import Capabilities, Said, SessionEvent
from segue.application.segue import Segue
from segue.domain.errors import TurnStopped
from segue.testing import ScriptedBackend, build_test_segue
from tests.sessions.scripts import GIVEN, HANDOFF, agent, handed, talked, until, write_catalog


class QuietBackend(ScriptedBackend):
    """Tells nothing while it works."""

    capabilities = Capabilities(usage=True)

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:
        nothing: tuple[SessionEvent, ...] = ()
        for event in nothing:
            yield event


async def test_a_turn_is_stopped_and_the_session_answers(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent(Slow=[{"delay": 600}])})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        assert not await segue.sessions.stop(session_id)
        saying = asyncio.create_task(segue.sessions.say(session_id, "Slow, please."))
        await until(lambda: len(backend.received["helper"]) == 2)
        assert await segue.sessions.stop(session_id)
        with pytest.raises(TurnStopped, match="stopped before it had answered"):
            await saying
        assert len(backend.aborted) == 1
        assert (await segue.sessions.show(session_id)).said[-1].status == "cancelled"
        assert (await segue.sessions.say(session_id, "Are you there?")).reply == "Hello."


async def test_a_successor_that_is_stopped_has_the_handoff(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent(given=[{"delay": 600}])})
    moves: list[StageChange] = []
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        handing = asyncio.create_task(
            segue.sessions.hand_off(session_id, reason="shift_end", on_stage=moves.append)
        )
        await until(lambda: moves and moves[-1].stage is Stage.TAKEN)
        successor = moves[-1].successor
        assert successor is not None
        await until(lambda: any(GIVEN in text for text in backend.received["helper"]))
        assert await segue.sessions.stop(successor.id)
        outcome = handed(await handing)
        assert (outcome.successor_id, outcome.reply) == (successor.id, None)
        assert outcome.problem == "it was stopped before it had answered"
        assert (await segue.sessions.say(successor.id, "Are you there?")).reply == "Hello."


async def test_the_stages_of_a_handoff_are_told_in_order(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent(asked=[{"say": "No."}], fix=[{"say": HANDOFF}])})
    moves: list[StageChange] = []
    async with build_test_segue(tmp_path, backend, auto_handoff=True, handoff_turns=1) as segue:
        session = await segue.sessions.start("helper")
        answer = await segue.sessions.say(session.id, "Hi.", on_stage=moves.append)
    assert [each.stage for each in moves][:3] == [Stage.ASKED, Stage.REPAIRING, Stage.TAKEN]
    assert moves[0].is_automatic
    assert moves[2].successor is not None
    assert moves[2].successor.id == handed(answer.handoffs[0]).successor_id


async def test_the_reply_is_told_even_by_a_back_end_that_tells_nothing(
    tmp_path: Path, repository: Path
) -> None:
    write_catalog(repository, {"helper": agent()})
    told: list[SessionEvent] = []
    async with build_test_segue(tmp_path, QuietBackend()) as segue:
        session = await segue.sessions.start("helper")
        await segue.sessions.say(session.id, "Hi.", on_event=told.append)
    assert told == [Said(text="Hello.")]


async def test_words_that_were_told_are_not_told_again(segue: Segue) -> None:
    session = await segue.sessions.start("helper")
    told: list[SessionEvent] = []
    await segue.sessions.say(session.id, "Hi.", on_event=told.append)
    assert told == [Said(text="Hello.\n")]


async def test_auto_is_the_default_back_end(segue: Segue, repository: Path) -> None:
    name, profile = segue.sessions.profile("auto", str(repository))
    assert (name, profile.backend) == ("scripted", "scripted")
    assert {"helper", "opencode"} <= set(segue.sessions.names(str(repository)))


async def test_a_back_end_as_it_is_has_the_options_of_the_settings(tmp_path: Path, repository: Path) -> None:
    options = {"scripted": {"actions": [{"say": "From the settings."}], "when": {"x": []}}}
    async with build_test_segue(tmp_path, ScriptedBackend(), backend_options=options) as segue:
        session = await segue.sessions.start("auto")
        assert (await segue.sessions.say(session.id, "Hi.")).reply == "From the settings."
