"""Sessions outside of pipelines and their messages, on their rows; on either kind of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from segue.adapters.storage.database import SqlDatabase
from segue.adapters.storage.tables import AgentRow, MessageRow
from segue.application.ports import NewHandoff
from segue.application.session_ports import NewMessage, NewSession
from segue.domain.catalog import AgentProfile
from segue.domain.errors import IllegalMove, SessionNotFound
from segue.domain.sessions import MessageStatus, Reason, Role
from tests.storage.test_unit_of_work import new_pipeline

NOW = datetime(2026, 2, 20, 14, 30, 25, tzinfo=UTC)


def new_session(key: str, parent_id: int | None = None) -> NewSession:
    return NewSession(
        name="helper",
        backend="scripted",
        key=key,
        parent_id=parent_id,
        title="The button",
        model=None,
        working_dir="/project",
        profile=AgentProfile(backend="scripted", options={"actions": [{"say": "größer 🚀"}]}),
        base_mark="a" * 40,
        started_at=NOW,
    )


def new_message(session_id: int, message_id: str = "m1") -> NewMessage:
    return NewMessage(
        agent_id=session_id, role=Role.USER, message_id=message_id, text="Größer 🚀", created_at=NOW
    )


async def test_a_session_comes_back_as_it_was_saved(database: SqlDatabase) -> None:
    async with database.begin() as work:
        saved = await work.sessions.add(new_session("k1"))
        await work.commit()
    async with database.begin() as work:
        found = await work.sessions.get(saved.id)
        assert found == saved
        assert found.profile == new_session("k1").profile
        await work.sessions.save(replace(found, session_ref="there", ended_at=NOW))
        assert (await work.sessions.get(saved.id)).session_ref == "there"
        with pytest.raises(SessionNotFound):
            await work.sessions.get(saved.id + 1)


async def test_a_session_of_a_step_is_none_of_these(database: SqlDatabase) -> None:
    async with database.begin() as work:
        pipeline = await work.pipelines.add(new_pipeline())
        row = AgentRow(name="developer", backend="scripted", key="k1", step_id=pipeline.steps[0].id)
        work._session.add(row)
        await work._session.flush()
        with pytest.raises(IllegalMove, match="only that pipeline speaks with it"):
            await work.sessions.get(row.id)
        await work.commit()
    assert (await database.views.sessions()).items == []
    shown = await database.views.session(row.id)
    assert (shown.pipeline_id, shown.step_id) == (pipeline.id, pipeline.steps[0].id)


async def test_messages_are_kept_in_order_and_go_with_their_session(database: SqlDatabase) -> None:
    async with database.begin() as work:
        session = await work.sessions.add(new_session("k1"))
        first = await work.sessions.add_message(new_message(session.id, "m1"))
        await work.sessions.add_message(new_message(session.id, "m2"))
        replied = replace(first, status=MessageStatus.REPLIED, reply="Ja.", replied_at=NOW)
        await work.sessions.save_message(replied)
        await work.sessions.drop_waiting(session.id, "no more")
        said = await work.sessions.messages(session.id)
        assert said[0] == replied
        assert (said[1].status, said[1].error) == (MessageStatus.CANCELLED, "no more")
        await work.commit()
    assert (await database.views.session(session.id)).messages == 3
    async with database.begin() as work:
        await work.sessions.remove(session.id)
        assert await work._session.scalar(text("SELECT count(*) FROM messages")) == 0


async def test_a_message_id_counts_once_in_a_session(database: SqlDatabase) -> None:
    async with database.begin() as work:
        session = await work.sessions.add(new_session("k1"))
        other = await work.sessions.add(new_session("k2"))
        await work.sessions.add_message(new_message(session.id))
        await work.sessions.add_message(new_message(other.id))
        with pytest.raises(IllegalMove, match="m1"):
            await work.sessions.add_message(new_message(session.id))


@pytest.mark.parametrize("wrong", [{"role": "nobody"}, {"status": "lost"}, {"agent_id": 4711}])
async def test_what_is_none_is_refused(database: SqlDatabase, wrong: dict[str, object]) -> None:
    async with database.begin() as work:
        session = await work.sessions.add(new_session("k1"))
        values = {"agent_id": session.id, "role": "user", "status": "sent", "message_id": "m", "text": "x"}
        work._session.add(MessageRow(**(values | wrong)))
        with pytest.raises(IntegrityError):
            await work._session.flush()


async def test_lineage_and_the_last_handoff_are_found(database: SqlDatabase) -> None:
    async with database.begin() as work:
        first = await work.sessions.add(new_session("k1"))
        second = await work.sessions.add(new_session("k2", first.id))
        third = await work.sessions.add(new_session("k3", second.id))
        assert await work.sessions.last_handoff(first.id) is None
        for stalled in (1, 2):
            handoff_id = await work.handoffs.add(
                NewHandoff(
                    agent_id=first.id,
                    step_id=None,
                    reason=Reason.SHIFT_END,
                    content_md="goal: x",
                    metadata_json=f'{{"goal": "{stalled}"}}',
                    ledger_json=None,
                    is_synthetic=False,
                    created_at=NOW,
                    file_path="data/personas/helper/handoffs/20260220T143025-4b6f8a2c.md",
                    injection_prompt="Go on.",
                    stalled=stalled,
                )
            )
        last = await work.sessions.last_handoff(first.id)
        assert last is not None
        assert (last.metadata_json, last.stalled) == ('{"goal": "2"}', 2)
        await work.sessions.remove_handoff(handoff_id)
        await work.commit()
    family = await database.views.lineage(second.id)
    assert [each.id for each in (*family.parents, family.session, *family.children)] == [
        first.id,
        second.id,
        third.id,
    ]
    (left,) = (await database.views.session(first.id)).handoffs
    assert (left.injection_prompt, left.metadata) == ("Go on.", {"goal": "1"})
