"""Sessions and their messages, on their rows; on either kind of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.queries import SqlRows
from segue.application.conversations.transactions import add_message
from segue.application.sessions.transactions import find_session
from segue.domain.errors import AlreadyThere, IllegalMove, SessionNotFound
from segue.domain.handoff import Handoff
from segue.domain.handoff_record import HandoffRecord
from segue.domain.session import HandoffReason, MessageKind, MessageStatus, Session, SessionMessage
from tests.storage.test_store import add_pipeline, new_session

NOW = datetime(2026, 2, 20, 14, 30, 25, tzinfo=UTC)


def new_message(session: Session, key: str = "m1") -> SessionMessage:
    return session.message(MessageKind.USER, key, "Größer 🚀", NOW)


async def test_what_changes_in_a_session_is_saved(database: SqlStore) -> None:
    saved = await database.write(lambda rows: rows.insert(new_session()))
    opened = replace(saved, session_ref="there", ended_at=NOW)
    await database.write(lambda rows: rows.save(saved, opened))
    assert await database.read(lambda rows: find_session(rows, saved.id)) == opened
    with pytest.raises(SessionNotFound):
        await database.read(lambda rows: find_session(rows, saved.id + 1))


async def test_a_session_of_a_step_is_spoken_with_by_its_pipeline_alone(database: SqlStore) -> None:
    def add(rows: SqlRows) -> tuple[int, Session]:
        pipeline = add_pipeline(rows)
        return pipeline.id, rows.insert(replace(new_session(), step_id=pipeline.steps[0].id))

    pipeline_id, session = await database.write(add)
    with pytest.raises(IllegalMove, match="only that pipeline speaks with it"):
        await database.read(lambda rows: find_session(rows, session.id))
    assert (await database.views.sessions()).items == []
    shown = await database.views.session(session.id)
    assert (shown.pipeline_id, shown.step_id) == (pipeline_id, session.step_id)


async def test_messages_are_kept_in_order_and_go_with_their_session(database: SqlStore) -> None:
    session = await database.write(lambda rows: rows.insert(new_session()))

    def talk(rows: SqlRows) -> tuple[SessionMessage, ...]:
        first = rows.insert(new_message(session, "m1"))
        rows.insert(new_message(session, "m2"))
        rows.save(first, first.sent(first.text, NOW).replied("Ja.", NOW))
        rows.settle_messages(session.id, MessageStatus.CANCELLED, "no more", unsent_only=True)
        return rows.find(SessionMessage, session_id=session.id)

    first, second = await database.write(talk)
    assert (first.status, first.reply, first.sent_at, first.replied_at) == ("replied", "Ja.", NOW, NOW)
    assert first.sha256 is not None
    assert (second.status, second.error) == (MessageStatus.CANCELLED, "no more")
    assert (await database.views.session(session.id)).messages == 3
    await database.write(lambda rows: rows.delete(session))
    assert await database.read(lambda rows: rows.find(SessionMessage)) == ()


async def test_a_message_counts_once_in_a_session(database: SqlStore) -> None:
    session = await database.write(lambda rows: rows.insert(new_session("k1")))
    other = await database.write(lambda rows: rows.insert(new_session("k2")))
    saved = await database.write(lambda rows: add_message(rows, None, new_message(session)))
    assert await database.write(lambda rows: add_message(rows, None, new_message(session))) == saved
    assert (await database.write(lambda rows: add_message(rows, None, new_message(other)))).id != saved.id
    with pytest.raises(AlreadyThere):
        await database.write(lambda rows: rows.insert(new_message(session)))


@pytest.mark.parametrize("wrong", [{"kind": "nobody"}, {"status": "lost"}, {"session_id": 4711}])
async def test_what_is_none_is_refused(database: SqlStore, wrong: dict[str, Any]) -> None:
    session = await database.write(lambda rows: rows.insert(new_session()))
    message = replace(new_message(session), **wrong)
    with pytest.raises(Exception, match=r"(?i)constraint"):
        await database.write(lambda rows: rows.insert(message))
    assert await database.read(lambda rows: rows.find(SessionMessage)) == ()


async def test_lineage_and_the_last_handoff_are_found(database: SqlStore) -> None:
    def begin(rows: SqlRows) -> tuple[Session, Session, Session]:
        first = rows.insert(new_session("k1"))
        second = rows.insert(new_session("k2", first.id))
        return first, second, rows.insert(new_session("k3", second.id))

    first, second, third = await database.write(begin)

    def hand_off(rows: SqlRows) -> HandoffRecord:
        assert rows.last_handoff(first.id) is None
        for stalled in (1, 2):
            saved = rows.insert(
                HandoffRecord(
                    session_id=first.id,
                    step_id=None,
                    reason=HandoffReason.SHIFT_END,
                    content_md="goal: x",
                    handoff=Handoff(goal=str(stalled)),
                    created_at=NOW,
                    file_path="data/personas/helper/handoffs/20260220T143025-4b6f8a2c.md",
                    injection_prompt="Go on.",
                    stalled=stalled,
                )
            )
        assert rows.last_handoff(first.id) == saved
        return saved

    last = await database.write(hand_off)
    assert (last.handoff, last.stalled) == (Handoff(goal="2"), 2)
    await database.write(lambda rows: rows.delete(last))
    family = await database.views.lineage(second.id)
    assert [each.id for each in (*family.parents, family.session, *family.children)] == [
        first.id,
        second.id,
        third.id,
    ]
    (left,) = (await database.views.session(first.id)).handoffs
    assert (left.injection_prompt, left.metadata) == ("Go on.", {"goal": "1"})
