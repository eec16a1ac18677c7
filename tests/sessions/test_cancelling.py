"""A handoff that is stopped, or that cannot be saved or started: all or nothing is left of it."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from segue.application.handoffs.handover import Draft
from segue.application.handoffs.outcomes import HandedOff, HandoffCancelled, Outcome
from segue.application.ports.backend import Message, SessionRequest
from segue.application.segue import Segue
from segue.domain.errors import BackendUnavailable, IllegalMove, TurnStopped
from segue.domain.session import MessageKind, MessageStatus
from segue.testing import ScriptedBackend, build_test_segue
from tests.holding import hold_until
from tests.sessions.scripts import (
    ASKED,
    GIVEN,
    HANDOFF,
    agent,
    documents,
    failed,
    handed,
    talked,
    until,
    write_catalog,
)

SLOW = {"helper": agent(asked=[{"delay": 600}])}


class SlowBackend(ScriptedBackend):
    """Takes its time to open sessions and to take messages, as real ones do; can refuse a successor."""

    refuses = False
    pause = 0.0
    opening = 0.0

    async def open(self, request: SessionRequest) -> str:
        await asyncio.sleep(self.pause + self.opening)
        if self.refuses:
            raise BackendUnavailable("the server is down")
        return await super().open(request)

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        await super().send(request, session, message)
        await asyncio.sleep(self.pause)


@asynccontextmanager
async def in_session(
    tmp_path: Path, repository: Path, agents: Mapping[str, object], backend: ScriptedBackend
) -> AsyncIterator[tuple[Segue, int]]:
    """A Segue with a session in which something was said."""
    write_catalog(repository, agents)
    async with build_test_segue(tmp_path, backend) as segue:
        yield segue, await talked(segue)


async def nothing_was_left(segue: Segue, folder: Path, session_id: int) -> None:
    """No document, no record, no successor; and the session answers and can hand over."""
    assert documents(folder) == []
    shown = await segue.sessions.show(session_id)
    assert shown.handoffs == []
    assert (await segue.sessions.lineage(session_id)).children == []
    assert all(message.status.is_final for message in shown.said)
    assert not segue.sessions.is_handing_off(session_id)
    assert (await segue.sessions.say(session_id, "Are you there?")).reply == "Hello."


async def test_cancel_stops_the_agent_and_is_told_apart_from_a_failure(
    tmp_path: Path, repository: Path
) -> None:
    backend = ScriptedBackend()
    async with in_session(tmp_path, repository, SLOW, backend) as (segue, session_id):
        handing = asyncio.create_task(segue.sessions.hand_off(session_id, reason="shift_end"))
        await until(lambda: any(ASKED in text for text in backend.received["helper"]))
        assert segue.sessions.is_handing_off(session_id)
        assert await segue.sessions.cancel(session_id)
        assert await handing == HandoffCancelled(session_id=session_id)
        assert len(backend.aborted) == 1
        await nothing_was_left(segue, tmp_path, session_id)


async def test_with_nothing_under_way_there_is_nothing_to_cancel(segue: Segue) -> None:
    session_id = await talked(segue)
    assert not await segue.sessions.cancel(session_id)
    await segue.sessions.hand_off(session_id, reason="shift_end")
    assert not await segue.sessions.cancel(session_id)


async def test_a_caller_that_is_cancelled_ends_cancelled(tmp_path: Path, repository: Path) -> None:
    backend = ScriptedBackend()
    async with in_session(tmp_path, repository, SLOW, backend) as (segue, session_id):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await segue.sessions.hand_off(session_id, reason="shift_end")
        await nothing_was_left(segue, tmp_path, session_id)


async def test_a_second_handoff_of_a_session_waits_for_nobody(tmp_path: Path, repository: Path) -> None:
    backend = ScriptedBackend()
    async with in_session(tmp_path, repository, SLOW, backend) as (segue, session_id):
        handing = asyncio.create_task(segue.sessions.hand_off(session_id, reason="shift_end"))
        await until(lambda: segue.sessions.is_handing_off(session_id))
        with pytest.raises(IllegalMove, match="is handing over already"):
            await segue.sessions.hand_off(session_id, reason="shift_end")
        assert await segue.sessions.cancel(session_id)
        await handing


async def test_ending_a_session_cancels_its_handoff(tmp_path: Path, repository: Path) -> None:
    backend = ScriptedBackend()
    async with in_session(tmp_path, repository, SLOW, backend) as (segue, session_id):
        handing = asyncio.create_task(segue.sessions.hand_off(session_id, reason="shift_end"))
        await until(lambda: any(ASKED in text for text in backend.received["helper"]))
        assert (await segue.sessions.end(session_id)).ended_at is not None
        assert isinstance(await handing, HandoffCancelled)


async def test_once_the_successor_has_it_the_handoff_is_a_fact(tmp_path: Path, repository: Path) -> None:
    backend = ScriptedBackend()
    agents: dict[str, object] = {"helper": agent(given=[hold_until(tmp_path / "go"), {"say": "I go on."}])}
    async with in_session(tmp_path, repository, agents, backend) as (segue, session_id):
        handing = asyncio.create_task(segue.sessions.hand_off(session_id, reason="shift_end"))
        await until(lambda: any(GIVEN in text for text in backend.received["helper"]))
        (successor,) = (await segue.sessions.lineage(session_id)).children
        while (await segue.sessions.show(successor.id)).said[0].status == "sending":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await asyncio.sleep(1)
        assert not await segue.sessions.cancel(session_id)
        (tmp_path / "go").touch()
        assert handed(await handing).reply == "I go on."


@pytest.mark.parametrize("by", ["stop", "task"])
async def test_a_message_cancelled_before_its_first_step_is_ended_too(segue: Segue, by: str) -> None:
    session_id = await talked(segue)
    talk = segue.sessions._conversations.of(await segue.sessions._open_one(session_id))
    asking = asyncio.create_task(talk.exchange(await talk.add(MessageKind.USER, "asked", "Are you there?")))
    await asyncio.sleep(0)  # it is begun, and nothing of it has run
    if by == "stop":
        assert await talk.stop()
    else:
        asking.cancel()
    with pytest.raises((asyncio.CancelledError, TurnStopped)):
        await asking
    assert (await segue.sessions.show(session_id)).said[-1].status is MessageStatus.CANCELLED


@pytest.mark.thorough
@pytest.mark.parametrize("by", ["cancel", "task"])
async def test_cancelling_at_any_moment_leaves_all_or_nothing(
    tmp_path: Path, repository: Path, by: str
) -> None:
    """Twenty moments, from the question to the successor's answer, the same in every run."""
    backend, moments = SlowBackend(), random.Random(f"handoff {by}")
    agents: dict[str, object] = {
        "helper": agent(asked=[{"delay": 0.02}, {"say": HANDOFF}], given=[{"delay": 0.02}, {"say": "On."}])
    }
    ends = []
    async with in_session(tmp_path, repository, agents, backend) as (segue, session_id):
        backend.pause = 0.02
        began = time.monotonic()
        handed(await segue.sessions.hand_off(session_id, reason="shift_end"))
        took = time.monotonic() - began
        for number in range(10):
            outcome = await _cancelled(segue, session_id, by, moments.uniform(0, took))
            ends.append(outcome)
            await _all_or_nothing(segue, tmp_path, session_id, outcome)
            if number % 3 == 0:
                assert (await segue.sessions.say(session_id, "Are you there?")).reply == "Hello."
    stopped = None if by == "task" else HandoffCancelled(session_id=session_id)
    assert stopped in ends


async def _cancelled(segue: Segue, session_id: int, by: str, after: float) -> Outcome | None:
    handing = asyncio.create_task(segue.sessions.hand_off(session_id, reason="shift_end"))
    await asyncio.sleep(after)
    if by == "cancel":
        await segue.sessions.cancel(session_id)
    else:
        handing.cancel()
    try:
        return await handing
    except asyncio.CancelledError:
        return None


async def _all_or_nothing(segue: Segue, folder: Path, session_id: int, outcome: Outcome | None) -> None:
    """Documents, records and successors are the same in number, and each is whole."""
    shown = await segue.sessions.show(session_id)
    children = (await segue.sessions.lineage(session_id)).children
    paths = documents(folder)
    assert [str(path) for path in paths] == sorted(each.file_path or "" for each in shown.handoffs)
    assert len(children) == len(paths)
    for path in paths:
        assert path.suffix == ".md"
        assert path.read_text().startswith("---\n")
        assert path.read_text().endswith("```\n")
    for child in children:
        (first,) = (await segue.sessions.show(child.id)).said
        assert GIVEN in first.text
        assert first.status != "sending"
    if isinstance(outcome, HandedOff):
        assert children[-1].id == outcome.successor_id
    assert all(message.status.is_final for message in shown.said)


@pytest.mark.thorough
async def test_a_cancel_while_the_successor_opens_takes_everything_back(
    tmp_path: Path, repository: Path
) -> None:
    backend = SlowBackend()
    async with in_session(tmp_path, repository, {"helper": agent()}, backend) as (segue, session_id):
        backend.opening = 600
        handing = asyncio.create_task(segue.sessions.hand_off(session_id, reason="shift_end"))
        await until(lambda: documents(tmp_path))
        await asyncio.sleep(1)
        assert await segue.sessions.cancel(session_id)
        assert isinstance(await handing, HandoffCancelled)
        backend.opening = 0.0
        await nothing_was_left(segue, tmp_path, session_id)


async def test_if_the_document_cannot_be_written_nothing_is_started(tmp_path: Path, repository: Path) -> None:
    backend = ScriptedBackend()
    async with in_session(tmp_path, repository, {"helper": agent()}, backend) as (segue, session_id):
        (tmp_path / "data" / "personas").rmdir()
        (tmp_path / "data" / "personas").write_text("in the way")
        why = failed(await segue.sessions.hand_off(session_id, reason="shift_end"))
        assert "cannot write the handoff" in why
        (tmp_path / "data" / "personas").unlink()
        assert not any(GIVEN in text for text in backend.received["helper"])
        await nothing_was_left(segue, tmp_path, session_id)


async def test_if_the_records_cannot_be_written_nothing_is_started(tmp_path: Path, repository: Path) -> None:
    """The table is gone for a while; the document that was written already goes again."""
    backend = ScriptedBackend()
    async with in_session(tmp_path, repository, {"helper": agent()}, backend) as (segue, session_id):

        async def breaking(draft: Draft) -> str:
            await asyncio.to_thread(_rename_table, tmp_path, "handoffs", "gone")
            return draft.text

        why = failed(await segue.sessions.hand_off(session_id, reason="shift_end", edit=breaking))
        await asyncio.to_thread(_rename_table, tmp_path, "gone", "handoffs")
        assert "no such table: handoffs" in why
        assert list((tmp_path / "data" / "personas").rglob("handoffs")), "the document had its turn"
        assert not any(GIVEN in text for text in backend.received["helper"])
        await nothing_was_left(segue, tmp_path, session_id)


def _rename_table(folder: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(folder / "data" / "segue.db")) as connection:
        connection.execute(f"ALTER TABLE {old} RENAME TO {new}")


async def test_a_successor_that_cannot_start_leaves_the_document_and_says_where(
    tmp_path: Path, repository: Path
) -> None:
    backend = SlowBackend()
    async with in_session(tmp_path, repository, {"helper": agent()}, backend) as (segue, session_id):
        backend.refuses = True
        why = failed(await segue.sessions.hand_off(session_id, reason="shift_end"))
        (path,) = documents(tmp_path)
        assert "the new session could not be started: the server is down" in why
        assert f"The document is saved: {path}" in why
        (successor,) = (await segue.sessions.lineage(session_id)).children
        assert successor.ended_at is not None
        assert (await segue.sessions.show(session_id)).handoffs[0].file_path == str(path)
        assert (await segue.sessions.say(session_id, "Are you there?")).reply == "Hello."
