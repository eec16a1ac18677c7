"""A database of an older Segue opens: everything is there, and what was interrupted continues to its end.

`at_0005.json` is what revision 0005 left after kill -9 in each of these states, with the sessions of the
agent program that outlived it. The title of a run names its state.
"""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Connection, DateTime, MetaData, text

from segue.adapters.processes import host_name
from segue.adapters.storage.migrations.running import upgrade
from segue.application.segue import Segue
from segue.application.views import PipelineDetail, PipelineFilter
from segue.testing import build_test_segue, follow_to_end
from tests.engine.killing import CATALOG
from tests.engine.outside import OutsideBackend
from tests.storage.test_migrations import connected

_DATA = (Path(__file__).parent / "at_0005.json").read_text(encoding="utf-8")

# State -> how the run ends, its attempts, and what each living session was sent in all.
ENDS: Mapping[str, tuple[str, list[str], list[int]]] = {
    "done": ("done", ["done", "done"], [3, 1]),
    "failed": ("failed", ["failed"], [1]),
    "pending": ("done", ["done"], [1]),
    "started": ("done", ["done"], [1]),
    "between_steps": ("done", ["done", "done"], [1, 1]),
    "no_step_left": ("done", ["done"], [1]),
    "opening": ("done", ["done"], [1]),
    "opened": ("done", ["done"], [1]),
    "sending": ("done", ["done"], [1]),
    "delivered": ("done", ["done"], [1]),
    "sent": ("done", ["done"], [1]),
    "sent_then_lost": ("done", ["lost", "done"], [1]),
    "replied": ("done", ["done"], [1]),
    "repair_sending": ("done", ["done"], [3]),
    "repair_sent": ("done", ["done"], [3]),
    "repair_then_lost": ("waiting_for_approval", ["replied"], []),
    "second_repair": ("done", ["done"], [3]),
    "handing_over": ("done", ["handed_over", "done"], [2, 1]),
    "asked_to_hand_over": ("done", ["handed_over", "done"], [2, 1]),
    "asking_to_hand_over": ("done", ["handed_over", "done"], [2, 1]),
    "handing_over_then_lost": ("done", ["handed_over", "done"], [1]),
    "handed_over": ("done", ["handed_over", "done"], [2, 1]),
    "submitted": ("done", ["done"], [1]),
    "attempt_failed": ("failed", ["failed"], [1]),
    "aborting": ("aborted", ["aborted"], [1]),
    "asks_a_person": ("done", ["lost", "done"], [1]),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Interrupted:
    """What an older Segue left."""

    folder: Path
    url: str
    rows: Mapping[str, list[dict[str, Any]]]
    outside: OutsideBackend

    def sent(self, pipeline_id: int) -> list[int]:
        """How many messages each session of a run was sent, oldest first."""
        with connected(self.url) as connection:
            keys = connection.execute(
                text(
                    "SELECT a.key FROM agents a JOIN steps s ON s.id = a.step_id "
                    "WHERE s.pipeline_id = :id ORDER BY a.id"
                ),
                {"id": pipeline_id},
            ).scalars()
            living = self.outside.sessions()
            return [len(self.outside.turns(key)) for key in keys if key in living]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)])
def interrupted(request: pytest.FixtureRequest, tmp_path: Path) -> Interrupted:
    """A database of revision 0005 with the rows of that time."""
    (tmp_path / "data").mkdir(mode=0o700)
    url = f"sqlite:///{tmp_path / 'data' / 'segue.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    saved = json.loads(_DATA.replace("{folder}", str(tmp_path)).replace("{host}", host_name()))
    with connected(url) as connection:
        upgrade(connection, saved["revision"])
        insert(connection, saved["tables"], saved["at"])
    for row in saved["tables"]["agents"]:
        Path(row["working_dir"]).mkdir(parents=True, exist_ok=True)
    for row in saved["tables"]["pipelines"]:
        Path(row["working_dir"]).mkdir(parents=True, exist_ok=True)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "catalog.yaml").write_text(f"{CATALOG}  asker: {{backend: scripted}}\n")
    outside = OutsideBackend(tmp_path / "outside")
    for key, session in saved["outside"].items():
        (tmp_path / "outside" / f"{key}.json").write_text(json.dumps(session))
    return Interrupted(folder=tmp_path, url=url, rows=saved["tables"], outside=outside)


def insert(connection: Connection, rows: Mapping[str, list[dict[str, Any]]], at: str) -> None:
    """Insert rows as if the older Segue had been killed just now."""
    away = datetime.now(UTC) - datetime.fromisoformat(at).replace(tzinfo=UTC)
    tables = MetaData()
    tables.reflect(connection)
    for name, found in rows.items():
        table = tables.tables[name]
        for row in found:
            values = dict(row)
            for column in table.columns:
                if isinstance(column.type, DateTime) and column.name in values:
                    moment = datetime.fromisoformat(values[column.name]).replace(tzinfo=UTC) + away
                    is_sqlite = connection.dialect.name == "sqlite"
                    values[column.name] = moment.replace(tzinfo=None) if is_sqlite else moment
                elif isinstance(column.type, Boolean) and column.name in values:
                    values[column.name] = bool(values[column.name])
            connection.execute(table.insert(), values)
        if connection.dialect.name == "postgresql" and name != "workers":
            highest = f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name}"
            connection.execute(text(highest))


def opened(left: Interrupted) -> Any:
    """Today's Segue on that database."""
    return build_test_segue(left.folder, left.outside, database_url=left.url)


async def outcome(segue: Segue, left: Interrupted, run: PipelineDetail) -> tuple[str, list[str], list[int]]:
    """How a run ended."""
    steps = [await segue.views.step(run.id, number + 1) for number in range(len(run.steps))]
    attempts = [str(attempt.status) for step in steps for attempt in step.attempts]
    return str(run.status), attempts, await asyncio.to_thread(left.sent, run.id)


async def test_every_run_continues_from_its_state(interrupted: Interrupted) -> None:
    runs = {row["title"]: row["id"] for row in interrupted.rows["pipelines"]}
    assert set(runs) == set(ENDS)
    async with opened(interrupted) as segue, asyncio.timeout(300):
        ended = {title: await follow_to_end(segue, run) for title, run in runs.items()}
        found = {title: await outcome(segue, interrupted, run) for title, run in ended.items()}
        submitted = ended["submitted"].steps[0].latest_handoff
        done = await segue.views.step(runs["done"], 1)
        approvals = await segue.views.approvals(everything=True)
    assert found == ENDS
    assert submitted is not None
    assert submitted.metadata is not None
    assert submitted.metadata["what_was_done"] == ["Looked at the button and found it sound"]
    assert "key of the shop" in json.dumps(submitted.metadata["blockers"])
    assert [repair.reply is not None for repair in done.attempts[0].repairs] == [True, True]
    assert [(str(each.kind), str(each.status)) for each in approvals] == [
        ("permission", "void"),
        ("review", "pending"),
    ]


async def test_nothing_of_an_older_database_is_lost(interrupted: Interrupted) -> None:
    async with opened(interrupted) as segue:
        runs = (await segue.views.pipelines(PipelineFilter(limit=100))).items
        sessions = (await segue.views.sessions(limit=100)).items
        entries = await segue.views.entries_after(0, limit=10_000)
        activity = await segue.views.activity_after(0, limit=10_000)
    rows = interrupted.rows
    assert [run.id for run in reversed(runs)] == [row["id"] for row in rows["pipelines"]]
    chats = [row["id"] for row in rows["agents"] if "step_id" not in row]
    assert [session.id for session in reversed(sessions)] == chats
    assert {row["id"] for row in rows["audit_events"]} <= {entry.id for entry in entries}
    assert {row["id"] for row in rows["activity"]} <= {each.id for each in activity}


async def test_an_older_file_is_kept_beside_the_new_one(interrupted: Interrupted) -> None:
    path = interrupted.folder / "data" / "segue.db"
    if not path.exists():
        pytest.skip("a server's database is backed up by its owner")
    async with opened(interrupted) as segue:
        assert (await segue.views.pipelines(PipelineFilter())).items
    kept = path.with_name("segue.db.0005")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with connected(f"sqlite:///{kept}") as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "0005"
        found = connection.execute(text("SELECT count(*) FROM repairs")).scalar()
    assert found == len(interrupted.rows["repairs"])


async def test_the_messages_of_older_steps_are_shown(interrupted: Interrupted) -> None:
    attempts = {row["id"]: row for row in interrupted.rows["attempts"]}
    repair = interrupted.rows["repairs"][0]
    attempt = attempts[repair["attempt_id"]]
    async with opened(interrupted) as segue:
        said = (await segue.views.session(attempt["agent_id"])).said
    assert [str(message.kind) for message in said][:2] == ["briefing", "repair"]
    assert said[0].text.startswith(attempt["briefing"])
    assert (said[0].reply, said[1].text) == (attempt["reply"], repair["text"])


async def test_a_chat_continues_with_the_message_that_was_open(interrupted: Interrupted) -> None:
    open_messages = ["m-chat_sending", "m-chat_delivered", "m-chat_sent"]
    said = {row["message_id"]: row for row in interrupted.rows["messages"]}
    keys = {row["id"]: row["key"] for row in interrupted.rows["agents"]}
    async with opened(interrupted) as segue:
        for name in [*open_messages, "m-chat_replied"]:
            session = said[name]["agent_id"]
            answer = await segue.sessions.say(session, said[name]["text"], message_id=name)
            shown = (await segue.views.session(session)).said
            assert [(str(each.status), each.reply) for each in shown] == [("replied", answer.reply)], name
            assert len(interrupted.outside.turns(keys[session])) == 1, name


async def test_a_chat_that_handed_over_keeps_its_successor(interrupted: Interrupted) -> None:
    (parent,) = [row for row in interrupted.rows["agents"] if row["title"] == "chat_handed_over"][:1]
    async with opened(interrupted) as segue:
        family = await segue.views.lineage(parent["id"])
        (successor,) = family.children
        left = (await segue.views.session(parent["id"])).handoffs
        assert (await segue.sessions.say(successor.id, "Do more.")).reply
    assert left[0].injection_prompt
