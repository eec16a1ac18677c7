"""The handoffs table, scenario by scenario, on its rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, event, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.tables import AgentRow, HandoffRow


@pytest.fixture
def session(database: SqlStore, database_url: str) -> Iterator[Session]:
    """A session of SQLAlchemy on an empty, migrated database."""
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda made, _: made.execute("PRAGMA foreign_keys=ON"))
    with Session(engine) as opened:
        yield opened
    engine.dispose()


@pytest.fixture
def agent(session: Session) -> AgentRow:
    """An agent that is saved."""
    row = AgentRow(name="developer", backend="scripted", key="k1")
    session.add(row)
    session.flush()
    return row


def save(session: Session, row: HandoffRow) -> HandoffRow:
    """Save a row and read it back from the database."""
    session.add(row)
    session.flush()
    row_id = row.id
    session.expire_all()
    return (session.scalars(select(HandoffRow).where(HandoffRow.id == row_id))).one()


def reload(session: Session, agent: AgentRow) -> AgentRow:
    """The agent as the database has it."""
    session.refresh(agent, ["id", "handoffs"])
    return agent


def test_the_migration_makes_the_table_with_its_columns(session: Session) -> None:
    columns = inspect(session.connection()).get_columns("handoffs")
    wanted = {"id", "agent_id", "reason", "file_path", "injection_prompt", "created_at"}
    assert wanted <= {column["name"] for column in columns}
    nullable = {column["name"]: column["nullable"] for column in columns}
    assert (nullable["agent_id"], nullable["reason"], nullable["created_at"]) == (False, False, False)
    assert (nullable["file_path"], nullable["injection_prompt"]) == (True, True)


def test_ids_count_up_and_are_not_used_again(session: Session, agent: AgentRow) -> None:
    first = save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    first_id = first.id
    session.delete(first)
    session.flush()
    second = save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    assert second.id > first_id


def test_a_handoff_leads_to_its_agent(session: Session, agent: AgentRow) -> None:
    saved = save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    assert saved.agent is agent


def test_a_handoff_without_an_agent_is_refused(session: Session) -> None:
    with pytest.raises(IntegrityError):
        save(session, HandoffRow(reason="context_limit"))


def test_a_handoff_of_an_agent_that_does_not_exist_is_refused(session: Session) -> None:
    with pytest.raises(IntegrityError):
        save(session, HandoffRow(agent_id=4711, reason="context_limit"))


def test_an_agent_that_is_deleted_takes_its_handoffs_along(session: Session, agent: AgentRow) -> None:
    save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    session.delete(reload(session, agent))
    session.flush()
    assert session.scalar(text("SELECT count(*) FROM handoffs")) == 0


def test_so_does_one_that_is_deleted_behind_the_back_of_the_models(session: Session, agent: AgentRow) -> None:
    save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    session.execute(text("DELETE FROM agents"))
    assert session.scalar(text("SELECT count(*) FROM handoffs")) == 0


@pytest.mark.parametrize("reason", ["context_limit", "shift_end", "task_boundary"])
def test_each_known_reason_is_kept(session: Session, agent: AgentRow, reason: str) -> None:
    assert (save(session, HandoffRow(agent_id=agent.id, reason=reason))).reason == reason


@pytest.mark.parametrize("reason", ["tired", "", "CONTEXT_LIMIT", None])
def test_any_other_reason_is_refused(session: Session, agent: AgentRow, reason: str | None) -> None:
    with pytest.raises(IntegrityError):
        save(session, HandoffRow(agent_id=agent.id, reason=reason))


def test_the_path_of_the_document_is_kept(session: Session, agent: AgentRow) -> None:
    path = "data/personas/developer-con-1/handoffs/20260220T143025-4b6f8a2c.md"
    saved = save(session, HandoffRow(agent_id=agent.id, reason="shift_end", file_path=path))
    assert saved.file_path == path


def test_path_and_prompt_are_null_unless_given(session: Session, agent: AgentRow) -> None:
    saved = save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    assert saved.file_path is None
    assert saved.injection_prompt is None


def test_a_long_injection_prompt_is_kept_word_for_word(session: Session, agent: AgentRow) -> None:
    prompt = "Read the handoff, größer 🚀, then go on.\n" * 5000
    saved = save(session, HandoffRow(agent_id=agent.id, reason="shift_end", injection_prompt=prompt))
    assert saved.injection_prompt == prompt


def test_the_time_is_now_in_utc_unless_given(session: Session, agent: AgentRow) -> None:
    before = datetime.now(UTC)
    saved = save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    assert saved.created_at.utcoffset() == timedelta(0)
    assert before <= saved.created_at <= datetime.now(UTC)


def test_a_time_of_another_zone_is_the_same_moment_in_utc(session: Session, agent: AgentRow) -> None:
    noon = datetime.fromisoformat("2026-02-20T12:00:00.123456+05:30")
    saved = save(session, HandoffRow(agent_id=agent.id, reason="shift_end", created_at=noon))
    assert saved.created_at == noon
    assert saved.created_at.tzinfo is UTC


def test_an_agent_with_handoffs_leads_to_the_newest(session: Session, agent: AgentRow) -> None:
    save(session, HandoffRow(agent_id=agent.id, reason="shift_end"))
    newest = save(session, HandoffRow(agent_id=agent.id, reason="context_limit"))
    assert (reload(session, agent)).handoff is newest


def test_an_agent_without_a_handoff_leads_to_none(session: Session, agent: AgentRow) -> None:
    assert (reload(session, agent)).handoff is None
