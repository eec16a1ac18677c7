"""What an agent does while it works is written down, and what it asks reaches a person."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.storage.queries import SqlRows
from segue.adapters.storage.views import SqlViews
from segue.application.event_stream import BEGINNING, StreamPosition, follow
from segue.application.pipelines.submit import PipelineRequest
from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.application.segue import Segue
from segue.domain.activity import Activity, ActivityKind
from segue.domain.approvals import Approval
from segue.domain.audit import FINAL_KINDS, AuditEntry
from segue.domain.errors import ApprovalNotFound, IllegalMove
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.holding import hold_until

ONE_STEP = PipelineRequest(custom_steps=(TemplateStep(agent="developer"),), prompt="Fix it.")
WORK: list[dict[str, Any]] = [
    {"say": "I look around."},
    {"write": {"path": "a.txt", "text": "a"}},
    {"run": ["sh", "-c", "echo out; exit 3"]},
    {"usage": {"input_tokens": 900, "output_tokens": 100, "cost": 0.25, "context_tokens": 500}},
]


async def asked_by(segue: Segue, pipeline_id: int) -> Approval:
    async with asyncio.timeout(120):
        while not (found := await segue.views.approvals(pipeline_id=pipeline_id)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return found[0]


async def events_of(
    segue: Segue, pipeline_id: int, after: StreamPosition = BEGINNING
) -> list[tuple[str, AuditEntry | Activity]]:
    found: list[tuple[str, AuditEntry | Activity]] = []
    async with aclosing(follow(segue, after, pipeline_id=pipeline_id)) as events:
        async for position, event in events:
            found.append((str(position), event))
            if isinstance(event, AuditEntry) and event.event_type in FINAL_KINDS:
                return found
    raise AssertionError(found)


async def test_words_tool_calls_and_usage_are_kept_in_their_order(tmp_path: Path, project: Path) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [*WORK, say_handoff()]})) as segue:
        pipeline = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        activity = await segue.views.activity_after(0, pipeline_id=pipeline.id)
    kinds = [each.kind for each in activity]
    assert kinds[:3] == ["agent_said", "agent_used_tool", "agent_used_tool"]
    assert activity[0].payload["text"].startswith("I look around.")
    assert activity[1].payload["target"] == "a.txt"
    assert activity[2].payload["exit_code"] == 3
    assert activity[2].payload["output"] == "out"
    usage = pipeline.steps[0].usage
    assert usage is not None
    assert (usage.total_tokens, usage.cost, usage.context_tokens) == (1000, 0.25, 500)


@pytest.mark.parametrize(("approve", "word"), [(True, "approved"), (False, "rejected")])
async def test_a_question_waits_for_a_person_and_the_agent_hears_the_answer(
    tmp_path: Path, project: Path, approve: bool, word: str
) -> None:
    script = [{"ask": "run npm publish"}, say_handoff()]
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": script})) as segue:
        pipeline_id = (await segue.pipelines.submit(ONE_STEP)).id
        asked = await asked_by(segue, pipeline_id)
        assert asked.title == "run npm publish"
        assert [a.id for a in (await segue.views.pipeline(pipeline_id)).approvals] == [asked.id]
        await segue.approvals.decide_next(
            pipeline_id, HumanDecision(approve=approve, comment="Because.", decided_by="Eva")
        )
        ended = await follow_to_end(segue, pipeline_id)
        handoff = ended.steps[0].latest_handoff
        assert handoff is not None
        assert f"run npm publish: {word}: Because." in handoff.content_md
        assert ended.approvals == []
        with pytest.raises(IllegalMove, match=f"{asked.id} is {word} already"):
            await segue.approvals.decide(asked.id, HumanDecision(approve=True))
        with pytest.raises(IllegalMove, match="does not wait"):
            await segue.approvals.decide_next(pipeline_id, HumanDecision(approve=True))
        with pytest.raises(ApprovalNotFound, match="99"):
            await segue.approvals.decide(99, HumanDecision(approve=True))
        kinds = [
            str(entry.event_type) for entry in await segue.views.entries_after(0, pipeline_id=pipeline_id)
        ]
        assert kinds.index("permission_asked") < kinds.index("permission_decided")


async def test_a_question_is_void_once_its_step_has_ended(tmp_path: Path, project: Path) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [{"ask": "push"}]})) as segue:
        pipeline_id = (await segue.pipelines.submit(ONE_STEP)).id
        asked = await asked_by(segue, pipeline_id)
        await segue.pipelines.abort(pipeline_id)
        assert await segue.views.approvals(pipeline_id=pipeline_id) == []
        with pytest.raises(IllegalMove, match="void"):
            await segue.approvals.decide(asked.id, HumanDecision(approve=True))


async def test_what_is_being_written_when_the_reply_comes_is_kept(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, writing = SqlRows.insert_all, threading.Event()

    def add_slowly(self: SqlRows, values: Sequence[object]) -> None:
        if not writing.is_set() and any(isinstance(value, Activity) for value in values):
            writing.set()
            (tmp_path / "go").touch()
            time.sleep(1)
        add(self, values)

    monkeypatch.setattr(SqlRows, "insert_all", add_slowly)
    script: list[Any] = [{"say": "I look around."}, hold_until(tmp_path / "go"), say_handoff()]
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": script})) as segue:
        pipeline = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        activity = await segue.views.activity_after(0, pipeline_id=pipeline.id)
    said = "".join(each.payload["text"] for each in activity if each.kind is ActivityKind.SAID)
    assert said.startswith("I look around.")
    assert said.count("I look around.") == said.count("Did the work.") == 1


@pytest.mark.parametrize("slow", ["entries_after", "activity_after"])
async def test_what_has_happened_is_told_in_its_order_however_slow_one_table_is(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    read = getattr(SqlViews, slow)

    async def read_slowly(self: SqlViews, *args: Any, **more: Any) -> Any:
        await asyncio.sleep(0.1)
        return await read(self, *args, **more)

    monkeypatch.setattr(SqlViews, slow, read_slowly)
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [*WORK, say_handoff()]})) as segue:
        pipeline_id = (await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)).id
        told = [event for _, event in await events_of(segue, pipeline_id)]
    where = [str(event.event_type) if isinstance(event, AuditEntry) else str(event.kind) for event in told]
    assert where.index("message_sent") < where.index("agent_said") < where.index("handoff_created")
    assert (where[0], where[-1]) == ("pipeline_created", "pipeline_done")


async def test_the_stream_ends_with_the_run_and_goes_on_from_any_event(tmp_path: Path, project: Path) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [*WORK, say_handoff()]})) as segue:
        pipeline_id = (await segue.pipelines.submit(ONE_STEP)).id
        live = await events_of(segue, pipeline_id)
        kinds = [type(event).__name__ for _, event in live]
        assert kinds[-1] == "AuditEntry"
        assert kinds.count("Activity") == len(await segue.views.activity_after(0, pipeline_id=pipeline_id))
        for where, (position, _) in enumerate(live[:-1]):
            entry, _, activity = position.partition("-")
            rest = await events_of(segue, pipeline_id, StreamPosition(int(entry), int(activity)))
            assert {event.id for _, event in rest} == {event.id for _, event in live[where + 1 :]}


async def test_a_position_of_another_database_begins_with_what_comes_next(
    tmp_path: Path, project: Path
) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [*WORK, say_handoff()]})) as segue:
        first = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        told: list[tuple[str, AuditEntry | Activity]] = []
        feed: Any = segue.activity

        async def listen() -> None:
            ended = False
            async with aclosing(follow(segue, StreamPosition(900, 900))) as events:
                async for position, event in events:
                    told.append((str(position), event))
                    ended |= isinstance(event, AuditEntry) and event.event_type in FINAL_KINDS
                    # of no run in particular: its last activity may come after its last entry
                    if ended and any(isinstance(each, Activity) for _, each in told):
                        return

        async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
            tasks.create_task(listen())
            while not feed._subscribers:  # noqa: ASYNC110  # it is subscribed to last
                await asyncio.sleep(0.01)
            tasks.create_task(segue.pipelines.submit(ONE_STEP))
    assert {type(event) for _, event in told} == {AuditEntry, Activity}
    assert {event.pipeline_id for _, event in told} == {first.id + 1}
    assert "900" not in told[-1][0].split("-")
