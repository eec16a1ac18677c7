"""Sessions: they are started, talked to, joined again and ended; each message counts once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from segue.adapters.catalog.trust_store import TrustStore
from segue.application.ports.backend import Said, SessionEvent
from segue.application.segue import Segue
from segue.domain.errors import (
    AgentFailed,
    BackendUnavailable,
    IllegalMove,
    InvalidRequest,
    NotTrusted,
    SessionLost,
    SessionNotFound,
    UnknownName,
)
from segue.domain.session import MessageKind, MessageStatus
from segue.testing import ScriptedBackend, build_test_segue
from tests.sessions.scripts import agent, talked, until, write_catalog


async def test_a_session_answers_and_keeps_what_was_said(segue: Segue, repository: Path) -> None:
    started = await segue.sessions.start("helper", title="The button", model="small")
    assert (started.name, started.backend, started.title, started.model) == (
        "helper",
        "scripted",
        "The button",
        "small",
    )
    assert started.working_dir == str(repository.resolve())
    told: list[SessionEvent] = []
    answer = await segue.sessions.say(started.id, "Hi.", on_event=told.append)
    assert (answer.reply, answer.session_id, answer.handoffs) == ("Hello.", started.id, ())
    assert "".join(event.text for event in told if isinstance(event, Said)) == "Hello.\n"
    shown = await segue.sessions.show(started.id)
    assert [(m.kind, m.text, m.status, m.reply) for m in shown.said] == [
        (MessageKind.USER, "Hi.", MessageStatus.REPLIED, "Hello.")
    ]
    assert shown.messages == 2
    assert shown.parent_id is None


async def test_an_open_session_asks_for_trust_again(segue: Segue, repository: Path, tmp_path: Path) -> None:
    session = await segue.sessions.start("helper")
    await segue.sessions.say(session.id, "Hi.")
    assert TrustStore(tmp_path / "data" / "trust.json").revoke(str(repository.resolve()))
    for act in (
        segue.sessions.say(session.id, "Hi."),
        segue.sessions.resume(session.id),
        segue.sessions.hand_off(session.id, reason="shift_end"),
    ):
        with pytest.raises(NotTrusted):
            await act


async def test_the_same_message_id_is_said_once(segue: Segue, backend: ScriptedBackend) -> None:
    session = await segue.sessions.start("helper")
    replies = await asyncio.gather(
        *(segue.sessions.say(session.id, "Hi.", message_id="m1") for _ in range(3))
    )
    assert {each.reply for each in replies} == {"Hello."}
    assert backend.received["helper"] == ["Hi."]
    assert len((await segue.sessions.show(session.id)).said) == 1


async def test_the_same_message_id_in_two_sessions_is_two_messages(
    segue: Segue, backend: ScriptedBackend
) -> None:
    for _ in range(2):
        session = await segue.sessions.start("helper")
        assert (await segue.sessions.say(session.id, "Hi.", message_id="m1")).reply == "Hello."
    assert backend.received["helper"] == ["Hi.", "Hi."]


async def test_secrets_are_kept_nowhere(tmp_path: Path, repository: Path, backend: ScriptedBackend) -> None:
    key = "ghp_" + "a1B2" * 9
    write_catalog(
        repository,
        {"helper": agent({"run": ["printf", "%s", key[:9], key[9:]]}, {"say": "The key is {output}"})},
    )
    async with build_test_segue(tmp_path, backend) as segue:
        session = await segue.sessions.start("helper")
        answer = await segue.sessions.say(session.id, f"Use {key}.")
    assert answer.reply.startswith("The key is ")
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes()


async def test_usage_is_saved_as_the_back_end_reports_it(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    usage = {"input_tokens": 70, "context_tokens": 50, "context_window": 100, "cost": 0.5}
    write_catalog(repository, {"helper": agent({"usage": usage}, {"say": "Hello."})})
    async with build_test_segue(tmp_path, backend) as segue:
        shown = await segue.sessions.show(await talked(segue))
    assert shown.usage is not None
    assert (shown.usage.input_tokens, shown.usage.context_share, shown.usage.cost) == (70, 0.5, 0.5)


async def test_standing_orders_come_before_the_first_message_alone(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent() | {"system_prompt_additions": "Be brief."}})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        await segue.sessions.say(session_id, "And?")
    assert backend.received["helper"] == ["Be brief.\n\nFix the button.", "And?"]


async def test_the_profile_is_frozen_when_the_session_begins(segue: Segue, repository: Path) -> None:
    session_id = await talked(segue)
    write_catalog(repository, {"helper": agent({"say": "I am another."})})
    assert (await segue.sessions.say(session_id, "Who?")).reply == "Hello."


async def test_a_failure_is_told_and_the_session_can_be_talked_to_again(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent(broken=[{"fail": "the model is overloaded"}])})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        with pytest.raises(AgentFailed, match="overloaded"):
            await segue.sessions.say(session_id, "broken", message_id="m1")
        failed = (await segue.sessions.show(session_id)).said[-1]
        assert (failed.status, failed.error) == (MessageStatus.FAILED, "the model is overloaded")
        with pytest.raises(IllegalMove, match="failed: the model is overloaded"):
            await segue.sessions.say(session_id, "broken", message_id="m1")
        assert (await segue.sessions.say(session_id, "Again?")).reply == "Hello."


async def test_who_is_cancelled_stops_the_agent_and_nothing_else(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent(slow=[{"delay": 600}])})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        saying = asyncio.create_task(segue.sessions.say(session_id, "slow"))
        await until(lambda: "slow" in backend.received["helper"])
        waiting = asyncio.create_task(segue.sessions.say(session_id, "Later."))
        saying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saying
        assert (await waiting).reply == "Hello."
        said = (await segue.sessions.show(session_id)).said
        assert [m.status for m in said] == ["replied", "cancelled", "replied"]
        assert len(backend.aborted) == 1


async def test_a_message_over_its_time_fails_and_the_agent_is_stopped(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent(slow=[{"delay": 600}]) | {"timeout": 0.2}})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        with pytest.raises(AgentFailed, match=r"timed out after 0\.2 s"):
            await segue.sessions.say(session_id, "slow")
        assert len(backend.aborted) == 1
        assert (await segue.sessions.say(session_id, "Again?")).reply == "Hello."


async def test_what_a_crash_left_open_is_brought_to_its_end_first(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent()})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
        talk = segue.sessions._conversations.of(await segue.sessions._open_one(session_id))
        await talk.add(MessageKind.USER, "m1", "Left open.")
    async with build_test_segue(tmp_path, backend) as segue:  # the back end lives on
        assert (await segue.sessions.say(session_id, "Next.")).reply == "Hello."
        said = (await segue.sessions.show(session_id)).said
    assert [(m.text, m.status) for m in said[1:]] == [("Left open.", "replied"), ("Next.", "replied")]
    assert backend.received["helper"][1:] == ["Left open.", "Next."]


async def test_a_session_that_its_back_end_lost_says_so(
    tmp_path: Path, repository: Path, backend: ScriptedBackend
) -> None:
    write_catalog(repository, {"helper": agent()})
    async with build_test_segue(tmp_path, backend) as segue:
        session_id = await talked(segue)
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        with pytest.raises(SessionLost):
            await segue.sessions.say(session_id, "Still there?")


async def test_an_ended_session_stays_readable_and_takes_nothing_more(
    segue: Segue, backend: ScriptedBackend
) -> None:
    session_id = await talked(segue)
    for _ in range(2):
        assert (await segue.sessions.end(session_id)).ended_at is not None
    assert len(backend.closed) == 1
    assert len((await segue.sessions.show(session_id)).said) == 1
    for act in (
        segue.sessions.say(session_id, "Hi."),
        segue.sessions.resume(session_id),
        segue.sessions.hand_off(session_id, reason="shift_end"),
    ):
        with pytest.raises(IllegalMove, match="has ended"):
            await act


async def test_the_list_is_newest_first_in_pages(segue: Segue) -> None:
    made = [(await segue.sessions.start("helper")).id for _ in range(3)]
    page = await segue.sessions.list(limit=2)
    assert [each.id for each in page.items] == [made[2], made[1]]
    rest = await segue.sessions.list(limit=2, before=page.next_cursor)
    assert ([each.id for each in rest.items], rest.next_cursor) == ([made[0]], None)


async def test_a_back_end_can_be_named_in_place_of_a_profile(segue: Segue) -> None:
    with pytest.raises(BackendUnavailable, match='"scripted" holds no conversation'):
        await segue.sessions.start("scripted")
    assert (await segue.sessions.list()).items == []


async def test_what_cannot_be_meant_is_refused(segue: Segue, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r'no agent or back end "helpre".*Did you mean "helper"'):
        await segue.sessions.start("helpre")
    with pytest.raises(InvalidRequest, match="does not exist"):
        await segue.sessions.start("helper", working_dir=str(tmp_path / "nowhere"))
    for act in (segue.sessions.say(99, "Hi."), segue.sessions.end(99), segue.sessions.lineage(99)):
        with pytest.raises(SessionNotFound, match="no session 99"):
            await act
    session_id = await talked(segue)
    with pytest.raises(InvalidRequest, match="empty"):
        await segue.sessions.say(session_id, " \n")
