"""No list, search or start reads every row: their statements ask an index, however much is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from operator import methodcaller
from pathlib import Path
from typing import Any

import psycopg
import pytest

from segue.adapters.storage.database import SqlStore, open_database
from segue.adapters.storage.postgres import PostgresConnection
from segue.adapters.storage.sqlite import SqliteConnection
from segue.adapters.storage.views import SqlViews
from segue.application.views import AuditFilter, PipelineFilter
from segue.domain.audit import AuditKind
from segue.domain.pipeline import PipelineStatus
from tests.storage.test_store import new_pipeline

Read = Callable[[SqlViews], Awaitable[Any]]
READS: dict[str, Read] = {
    "status": lambda views: views.pipelines(PipelineFilter(status=PipelineStatus.DONE)),
    "status, a later page": lambda views: views.pipelines(
        PipelineFilter(status=PipelineStatus.DONE, before=9)
    ),
    "template": lambda views: views.pipelines(PipelineFilter(template="bug_fix")),
    "text": lambda views: views.pipelines(PipelineFilter(text="login")),
    "text, a later page": lambda views: views.pipelines(PipelineFilter(text="login", before=9)),
    "conflicts": lambda views: views.conflicts("/src"),
    "approvals": lambda views: views.approvals(),
    "sessions": lambda views: views.sessions(),
    "audit of a pipeline": lambda views: views.audit(AuditFilter(pipeline_id=1)),
    "audit outside of pipelines": lambda views: views.audit(AuditFilter(pipeline_id=0)),
    "audit of a kind": lambda views: views.audit(AuditFilter(kind=AuditKind.PIPELINE_DONE)),
    "pipeline": lambda views: views.pipeline(1),
    "step": lambda views: views.step(1, 1),
    "entries": lambda views: views.entries_after(5, pipeline_id=1),
    "activity": lambda views: views.activity_after(5),
    "activity of a session": lambda views: views.activity_of(1),
}


async def test_reads_ask_an_index_on_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = await open_database(f"sqlite:///{tmp_path / 'test.db'}")
    await database.write(methodcaller("insert", new_pipeline()))
    await database.write(methodcaller("insert_all", [replace(new_pipeline().steps[0], pipeline_id=1)]))
    plans: list[str] = []
    ask = SqliteConnection.all

    def explain(self: SqliteConnection, sql: str, /, **given: Any) -> Any:
        plans.extend(row["detail"] for row in ask(self, f"EXPLAIN QUERY PLAN {sql}", **given))
        return ask(self, sql, **given)

    monkeypatch.setattr(SqliteConnection, "all", explain)
    for name, read in READS.items():
        plans.clear()
        await read(database.views)
        assert plans
        assert not [each for each in plans if _reads_all(each)], (name, plans)
    plans.clear()
    await database.read(lambda rows: rows.running_in_place("/src/a", counting=()))
    await database.read(lambda rows: rows.open_sessions(["x"]))
    await database.read(lambda rows: rows.owned("me"))
    assert len(plans) >= 3
    assert not [each for each in plans if _reads_all(each)], plans
    await database.close()


def _reads_all(step: str) -> bool:
    """A scan of a table, and not of an index that holds no more than what is asked for."""
    is_narrow = any(each in step for each in ("VIRTUAL TABLE", "ix_agents_open", "ix_agents_chats"))
    return step.startswith("SCAN") and not is_narrow


async def test_a_search_asks_the_index_of_texts_on_postgres(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = await open_database(postgres_url)
    await _store_many(database)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE pipelines")  # what is new waits in a list beside the index
    plans: list[str] = []
    ask = PostgresConnection.all

    def explain(self: PostgresConnection, sql: str, /, **given: Any) -> Any:
        plans.extend(row["QUERY PLAN"] for row in ask(self, f"EXPLAIN {sql}", **given))
        return ask(self, sql, **given)

    monkeypatch.setattr(PostgresConnection, "all", explain)
    found = await database.views.pipelines(PipelineFilter(text="zebra"))
    assert [each.title for each in found.items] == ["The zebra"]
    assert any("ix_pipelines_text" in step for step in plans), plans
    await database.close()


async def _store_many(database: SqlStore) -> None:
    now = datetime.now(UTC)
    runs = [replace(new_pipeline(), title=f"Run {n}", created_at=now, updated_at=now) for n in range(3000)]
    runs.append(replace(runs[0], title="The zebra"))
    await database.write(methodcaller("insert_all", runs))


async def test_a_text_is_found_wherever_it_stands_and_no_longer_once_it_is_deleted(
    database: SqlStore,
) -> None:
    for title in ("Fix the login", "修复登录页面的错误", 'Say "hello" AND NOT', "xy"):
        await database.write(methodcaller("insert", replace(new_pipeline(), title=title, prompt="Do it.")))

    async def found(text: str) -> list[int]:
        return [each.id for each in (await database.views.pipelines(PipelineFilter(text=text))).items]

    assert await found("ogi") == [1]
    assert await found("LOGIN") == [1]
    assert await found("登录页") == [2]
    assert await found("登录") == [2]  # shorter than an entry of the index
    assert await found('"hello" and not') == [3]
    assert await found("xy") == [4]
    assert await found("do it") == [4, 3, 2, 1]
    assert await found("nothing of it") == []
    await database.write(lambda rows: rows.delete(rows.pipeline(1)))
    assert await found("login") == []
    assert await found("do it") == [4, 3, 2]
