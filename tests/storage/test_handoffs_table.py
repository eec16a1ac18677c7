"""The handoffs table, scenario by scenario, on its rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from segue.adapters.storage.database import SqlDatabase
from segue.adapters.storage.tables import AgentRow, HandoffRow


@pytest.fixture
async def session(database: SqlDatabase) -> AsyncIterator[AsyncSession]:
    """A session on an empty, migrated database."""
    async with database.begin() as work:
        yield work._session


@pytest.fixture
async def agent(session: AsyncSession) -> AgentRow:
    """An agent that is saved."""
    row = AgentRow(name="developer", backend="scripted", key="k1")
    session.add(row)
    await session.flush()
    return row


async def save(session: AsyncSession, row: HandoffRow) -> HandoffRow:
    """Save a row and read it back from the database."""
    session.add(row)
    await session.flush()
    row_id = row.id
    session.expire_all()
    return (await session.scalars(select(HandoffRow).where(HandoffRow.id == row_id))).one()


async def reload(session: AsyncSession, agent: AgentRow) -> AgentRow:
    """The agent as the database has it."""
    await session.refresh(agent, ["id", "handoffs"])
    return agent


async def test_the_migration_makes_the_table_with_its_columns(session: AsyncSession) -> None:
    columns = await session.run_sync(lambda s: inspect(s.connection()).get_columns("handoffs"))
    wanted = {"id", "agent_id", "reason", "file_path", "injection_prompt", "created_at"}
    assert wanted <= {column["name"] for column in columns}
    nullable = {column["name"]: column["nullable"] for column in columns}
    assert (nullable["agent_id"], nullable["reason"], nullable["created_at"]) == (False, False, False)
    assert (nullable["file_path"], nullable["injection_prompt"]) == (True, True)


async def test_ids_count_up_and_are_not_used_again(session: AsyncSession, agent: AgentRow) -> None:
    first = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    first_id = first.id
    await session.delete(first)
    await session.flush()
    second = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    assert second.id > first_id


async def test_a_handoff_leads_to_its_agent(session: AsyncSession, agent: AgentRow) -> None:
    saved = await save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    assert saved.agent is agent


async def test_a_handoff_without_an_agent_is_refused(session: AsyncSession) -> None:
    with pytest.raises(IntegrityError):
        await save(session, HandoffRow(reason="context_limit"))


async def test_a_handoff_of_an_agent_that_does_not_exist_is_refused(session: AsyncSession) -> None:
    with pytest.raises(IntegrityError):
        await save(session, HandoffRow(agent_id=4711, reason="context_limit"))


async def test_an_agent_that_is_deleted_takes_its_handoffs_along(
    session: AsyncSession, agent: AgentRow
) -> None:
    await save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    await session.delete(await reload(session, agent))
    await session.flush()
    assert await session.scalar(text("SELECT count(*) FROM handoffs")) == 0


async def test_so_does_one_that_is_deleted_behind_the_back_of_the_models(
    session: AsyncSession, agent: AgentRow
) -> None:
    await save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    await session.execute(text("DELETE FROM agents"))
    assert await session.scalar(text("SELECT count(*) FROM handoffs")) == 0


@pytest.mark.parametrize("reason", ["context_limit", "shift_end", "task_boundary"])
async def test_each_known_reason_is_kept(session: AsyncSession, agent: AgentRow, reason: str) -> None:
    assert (await save(session, HandoffRow(agent_id=agent.id, reason=reason))).reason == reason


@pytest.mark.parametrize("reason", ["tired", "", "CONTEXT_LIMIT", None])
async def test_any_other_reason_is_refused(
    session: AsyncSession, agent: AgentRow, reason: str | None
) -> None:
    with pytest.raises(IntegrityError):
        await save(session, HandoffRow(agent_id=agent.id, reason=reason))


async def test_the_path_of_the_document_is_kept(session: AsyncSession, agent: AgentRow) -> None:
    path = "data/personas/developer-con-1/handoffs/20260220T143025-4b6f8a2c.md"
    saved = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end", file_path=path))
    assert saved.file_path == path


async def test_path_and_prompt_are_null_unless_given(session: AsyncSession, agent: AgentRow) -> None:
    saved = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    assert saved.file_path is None
    assert saved.injection_prompt is None


async def test_a_long_injection_prompt_is_kept_word_for_word(session: AsyncSession, agent: AgentRow) -> None:
    prompt = "Read the handoff, größer 🚀, then go on.\n" * 5000
    saved = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end", injection_prompt=prompt))
    assert saved.injection_prompt == prompt


async def test_the_time_is_now_in_utc_unless_given(session: AsyncSession, agent: AgentRow) -> None:
    before = datetime.now(UTC)
    saved = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    assert saved.created_at.utcoffset() == timedelta(0)
    assert before <= saved.created_at <= datetime.now(UTC)


async def test_a_time_of_another_zone_is_the_same_moment_in_utc(
    session: AsyncSession, agent: AgentRow
) -> None:
    noon = datetime.fromisoformat("2026-02-20T12:00:00.123456+05:30")
    saved = await save(session, HandoffRow(agent_id=agent.id, reason="shift_end", created_at=noon))
    assert saved.created_at == noon
    assert saved.created_at.tzinfo is UTC


async def test_an_agent_with_handoffs_leads_to_the_newest(session: AsyncSession, agent: AgentRow) -> None:
    await save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    newest = await save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    assert (await reload(session, agent)).handoff is newest


async def test_an_agent_without_a_handoff_leads_to_none(session: AsyncSession, agent: AgentRow) -> None:
    assert (await reload(session, agent)).handoff is None
