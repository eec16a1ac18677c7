"""Runs that decide: waiting, answers, approvals, gates, sending back, restart; on real records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.queries import SqlRows
from segue.application.pipelines.submit import PipelineRequest
from segue.application.pipelines.transactions import create_pipeline
from segue.application.pipelines.transactions_deciding import HumanDecision, fire_due_approvals
from segue.application.segue import Segue
from segue.application.views import PipelineDetail
from segue.domain.approvals import Approval, ApprovalKind, ApprovalStatus
from segue.domain.audit import AuditKind
from segue.domain.catalog import Plan
from segue.domain.errors import IllegalMove, InvalidRequest, PipelineNotFound
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.template import PipelineTemplate
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.storage.test_store import NOW, PLACE, new_pipeline
from tests.trusting import write_project

DONE = {"say": "```yaml\noutcome: completed\nwhat_was_done: [Looked at it]\n```"}
BLOCKED = {
    "say": "```yaml\noutcome: blocked\nblockers: [{blocker: no key, suggested_resolution: give one}]\n```"
}
FAILED = {"say": "```yaml\noutcome: failed\nblockers: [{blocker: the disk is full}]\n```"}
ASKS = {"say": "```yaml\nopen_questions: [{question: Which database?, recommendation: PostgreSQL}]\n```"}
NOTED = {"on_bad_handoff": "note", "on_refuted": "note"}
SENT_BACK, ANSWERED = "This step was sent back", "A person answered"


def agent(*actions: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    return {"backend": "scripted", "options": {"actions": list(actions), **options}}


def write_templates(project: Path, agents: Mapping[str, Any], **templates: Any) -> None:
    """A trusted catalog of the project."""
    made = {name: {"steps": steps, **NOTED} for name, steps in templates.items()}
    write_project(project, json.dumps({"agents": agents, "templates": made}))


async def run(segue: Segue, project: Path, template: str = "t") -> PipelineDetail:
    request = PipelineRequest(template=template, prompt="Do it.", working_dir=str(project))
    return await follow_to_end(segue, (await segue.pipelines.submit(request)).id)


def yes(comment: str | None = None) -> HumanDecision:
    return HumanDecision(approve=True, comment=comment, decided_by="ana")


def no(comment: str | None = None) -> HumanDecision:
    return HumanDecision(approve=False, comment=comment, decided_by="ana")


async def test_a_blocked_agent_waits_and_continues_with_the_answer(tmp_path: Path, repository: Path) -> None:
    agents = {"dev": agent(BLOCKED, when={ANSWERED: [DONE]}), "qa": agent(DONE)}
    write_templates(repository, agents, t=[{"agent": "dev"}, {"agent": "qa"}])
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        waiting = await run(segue, repository)
        assert (waiting.status, waiting.worker_id) == (PipelineStatus.WAITING_FOR_APPROVAL, None)
        assert waiting.reason == "step 1 (dev) waits for you: it is blocked: no key"
        assert waiting.steps[1].status is StepStatus.PENDING
        (asked,) = waiting.approvals
        assert (asked.kind, asked.title) == (ApprovalKind.QUESTION, "it is blocked: no key")
        with pytest.raises(InvalidRequest, match="in words"):
            await segue.approvals.decide_next(waiting.id, yes())
        await segue.approvals.decide_next(waiting.id, yes("The key is under the mat."), is_answer=True)
        ended = await follow_to_end(segue, waiting.id)
        assert ended.status is PipelineStatus.DONE
        assert ended.steps[0].attempt_count == 1
    told = 'ana answered "it is blocked: no key": The key is under the mat.'
    assert told in backend.received["qa"][0]
    assert "ana: The key is under the mat." in backend.received["dev"][1]


async def test_what_an_agent_recommends_stands_with_its_question(tmp_path: Path, repository: Path) -> None:
    write_templates(repository, {"dev": agent(ASKS)}, t=[{"agent": "dev"}])
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        (asked,) = (await run(segue, repository)).approvals
        assert (asked.title, asked.recommendation) == ("it asks: Which database?", "PostgreSQL")
        (entry,) = await segue.views.inbox()
        assert (entry.approval, entry.step_number, entry.step_name) == (asked, 1, "dev")


async def test_a_failed_outcome_fails_the_run_and_keeps_the_handoff(tmp_path: Path, repository: Path) -> None:
    write_templates(
        repository, {"dev": agent(FAILED), "qa": agent(DONE)}, t=[{"agent": "dev"}, {"agent": "qa"}]
    )
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        ended = await run(segue, repository)
    assert (ended.status, ended.reason) == (PipelineStatus.FAILED, "step 1 (dev) failed: the disk is full")
    assert ended.steps[0].latest_handoff is not None
    assert not ended.steps[0].latest_handoff.is_synthetic
    assert ended.steps[1].status is StepStatus.PENDING


APPROVAL = [
    {"agent": "planner", "name": "plan"},
    {"type": "approval", "name": "ok", "description": "Build it this way?", "back_to": "plan"},
    {"agent": "dev"},
]


async def test_an_approval_survives_the_end_of_segue_and_counts_once(
    tmp_path: Path, repository: Path
) -> None:
    write_templates(repository, {"planner": agent(DONE), "dev": agent(DONE)}, t=APPROVAL)
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        waiting = await run(segue, repository)
        assert waiting.reason == "step 2 (ok) waits for you: Build it this way?"
        assert waiting.steps[1].type == "approval"
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        still = await segue.views.pipeline(waiting.id)
        assert still.status is PipelineStatus.WAITING_FOR_APPROVAL
        decided = await segue.approvals.decide_next(waiting.id, yes("Good, but keep the old flag."))
        assert decided.status is ApprovalStatus.APPROVED
        with pytest.raises(IllegalMove, match="already by ana"):
            await segue.approvals.decide(decided.id, no())
        ended = await follow_to_end(segue, waiting.id)
        assert ended.status is PipelineStatus.DONE
    assert "ana approved step 2 (ok): Good, but keep the old flag." in backend.received["dev"][0]


async def test_a_rejection_sends_the_work_back_with_the_comment(tmp_path: Path, repository: Path) -> None:
    plan = agent(DONE, when={SENT_BACK: [{"write": {"path": "plan.md", "text": "two\n"}}, DONE]})
    write_templates(repository, {"planner": plan, "dev": agent(DONE)}, t=APPROVAL)
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        waiting = await run(segue, repository)
        assert waiting.approvals[0].back_to == "plan"
        await segue.approvals.decide_next(waiting.id, no("Too large; split it."))
        again = await follow_to_end(segue, waiting.id)
        assert [step.round for step in again.steps] == [2, 2, 1]
        text = backend.received["planner"][-1]
        assert "## This step was sent back (try 2)" in text
        assert "rejected by ana: Too large; split it." in text
        assert "- Try 1 (planner, commit " in text
        await segue.approvals.decide_next(waiting.id, yes())
        ended = await follow_to_end(segue, waiting.id)
    assert ended.status is PipelineStatus.DONE
    assert [step.attempt_count for step in ended.steps] == [2, 0, 1]


async def test_a_rejection_ends_the_run_where_nothing_goes_back(tmp_path: Path, repository: Path) -> None:
    steps = [{"agent": "dev"}, {"type": "approval", "description": "Ship?"}]
    write_templates(repository, {"dev": agent(DONE)}, t=steps)
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        waiting = await run(segue, repository)
        await segue.approvals.decide_next(waiting.id, no("Not today."))
        ended = await follow_to_end(segue, waiting.id)
    assert ended.status is PipelineStatus.FAILED
    assert ended.reason == "step 2 (approval) failed: rejected by ana: Not today."


@pytest.mark.parametrize("step", [{"agent": "dev"}, {"type": "approval"}], ids=["question", "approval"])
async def test_what_waits_can_be_aborted(tmp_path: Path, repository: Path, step: Mapping[str, Any]) -> None:
    agents = {"dev": agent(BLOCKED), "qa": agent(DONE)}
    write_templates(repository, agents, t=[{"agent": "qa"}, step])
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        waiting = await run(segue, repository)
        await segue.pipelines.abort(waiting.id, "enough")
        ended = await segue.views.pipeline(waiting.id)
        assert (ended.status, ended.approvals) == (PipelineStatus.ABORTED, [])
        assert await segue.views.inbox() == []
        with pytest.raises(IllegalMove, match="does not wait"):
            await segue.approvals.decide_next(waiting.id, yes("x"))


GATE = {"type": "gate", "name": "tests", "checks": ["test -f b.txt"], "back_to": "dev", "at_most": 3}


async def test_a_gate_sends_back_with_its_output_until_it_passes(tmp_path: Path, repository: Path) -> None:
    tries = [[{"write": {"path": name, "text": "x\n"}}, DONE] for name in ("a.txt", "b.txt")]
    dev = agent(
        {"write": {"path": "0.txt", "text": "x\n"}}, DONE, when={"try 2 of 3": tries[0], "try 3": tries[1]}
    )
    check = "echo 'no file b.txt here' && test -f b.txt"
    write_templates(repository, {"dev": dev}, t=[{"agent": "dev"}, {**GATE, "checks": [check]}])
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await run(segue, repository)
        assert ended.status is PipelineStatus.DONE, ended.reason
        assert [(step.round, step.attempt_count) for step in ended.steps] == [(3, 3), (3, 0)]
        text = backend.received["dev"][-1]
        assert "Step 2 (tests) sent it back: `echo" in text
        assert "no file b.txt here" in text
        assert text.count("- Try ") == 2
        trail = [each.event_type for each in await segue.views.entries_after(0, pipeline_id=ended.id)]
        assert [each for each in trail if each.startswith("gate")] == [
            AuditKind.GATE_FAILED,
            AuditKind.GATE_FAILED,
            AuditKind.GATE_PASSED,
        ]


async def test_a_gate_that_never_passes_fails_with_its_last_words(tmp_path: Path, repository: Path) -> None:
    more = {"run": ["sh", "-c", "echo x >> log.txt"]}
    write_templates(
        repository,
        {"dev": agent(more, DONE), "lazy": agent(DONE)},
        t=[{"agent": "dev"}, {**GATE, "at_most": 2}],
        unchanged=[{"agent": "lazy"}, {**GATE, "back_to": "lazy"}],
        alone=[{"agent": "dev"}, {"type": "gate", "checks": ["echo broken; exit 3"]}],
    )
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        used_up = await run(segue, repository)
        unchanged = await run(segue, repository, "unchanged")
        alone = await run(segue, repository, "alone")
    assert used_up.steps[0].round == 2
    assert used_up.reason is not None
    assert used_up.reason.startswith("step 2 (tests) failed: `test -f b.txt` ended with exit code 1")
    assert unchanged.reason is not None
    assert "No file was changed since it failed" in unchanged.reason
    assert alone.reason == "step 2 (gate) failed: `echo broken; exit 3` ended with exit code 3: broken"


async def test_a_gate_may_wait_for_a_test_that_fails(tmp_path: Path, repository: Path) -> None:
    red = {"type": "gate", "until": "fails", "checks": ["exit 1"]}
    gone = {"type": "gate", "until": "fails", "checks": ["no-such-program-here"]}
    write_templates(
        repository, {"dev": agent(DONE)}, t=[{"agent": "dev"}, red], gone=[{"agent": "dev"}, gone]
    )
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        assert (await run(segue, repository)).status is PipelineStatus.DONE
        assert (await run(segue, repository, "gone")).status is PipelineStatus.FAILED


async def test_a_reviewer_sends_the_work_back_by_its_outcome(tmp_path: Path, repository: Path) -> None:
    dev = agent({"write": {"path": "a.txt", "text": "1\n"}}, DONE)
    review = agent(FAILED, when={"a second round": [DONE]})
    dev["options"]["when"] = {
        SENT_BACK: [{"write": {"path": "a.txt", "text": "2\n"}}, {"say": "a second round\n" + DONE["say"]}]
    }
    steps = [
        {"agent": "dev"},
        {"agent": "review", "on_outcome": {"failed": "back_to"}, "back_to": "dev", "at_most": 2},
    ]
    write_templates(repository, {"dev": dev, "review": review}, t=steps)
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await run(segue, repository)
    assert ended.status is PipelineStatus.DONE, ended.reason
    assert [step.round for step in ended.steps] == [2, 2]
    assert "Step 2 (review) sent it back: the disk is full." in backend.received["dev"][-1]


async def test_restart_runs_no_finished_step_again(tmp_path: Path, repository: Path) -> None:
    dev = agent(FAILED, when={"An earlier attempt failed": [DONE]})
    write_templates(repository, {"plan": agent(DONE), "dev": dev}, t=[{"agent": "plan"}, {"agent": "dev"}])
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        failed = await run(segue, repository)
        assert failed.status is PipelineStatus.FAILED
        await segue.pipelines.restart(failed.id, "The disk has room now.")
        ended = await follow_to_end(segue, failed.id)
        assert ended.status is PipelineStatus.DONE
        text = backend.received["dev"][-1]
        assert "ended so: the disk is full" in text
        assert "The person who restarted the run says: The disk has room now." in text
        with pytest.raises(IllegalMove, match="is done; nothing is left to run"):
            await segue.pipelines.restart(ended.id)
        with pytest.raises(PipelineNotFound):
            await segue.pipelines.restart(99)
    assert len(backend.received["plan"]) == 1


async def test_a_review_is_accepted_as_it_is_or_answered(tmp_path: Path, repository: Path) -> None:
    dev = agent(DONE, when={ANSWERED: [{"write": {"path": "a.txt", "text": "x\n"}}, DONE]})
    write_templates(repository, {"dev": dev}, t=[{"agent": "dev", "on_no_change": "wait"}])
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        first = await run(segue, repository)
        assert first.approvals[0].kind is ApprovalKind.REVIEW
        await segue.approvals.decide_next(first.id, yes())
        accepted = await follow_to_end(segue, first.id)
        second = await run(segue, repository)
        await segue.approvals.decide_next(
            second.id, HumanDecision(approve=True, is_answer=True, comment="Add a.txt")
        )
        answered = await follow_to_end(segue, second.id)
    assert accepted.status is answered.status is PipelineStatus.DONE
    assert answered.steps[0].end_commit != answered.steps[0].base_mark


async def test_people_are_reminded_and_no_decision_in_time_is_a_no(database: SqlStore) -> None:
    plan = PipelineTemplate.model_validate({"steps": [{"agent": "a"}, {"type": "approval"}]})
    new = replace(new_pipeline(), plan=Plan(template=plan, agents={}))

    def wait(rows: SqlRows) -> Approval:
        made = create_pipeline(rows, new, PLACE, worker=None)[0]
        running = rows.save_run(made, replace(made, status=PipelineStatus.RUNNING))
        asked = Approval(
            pipeline_id=made.id,
            step_id=running.steps[0].id,
            session_id=None,
            request_ref="x",
            kind=ApprovalKind.STEP,
            title="Ship?",
            created_at=NOW,
            next_at=NOW + timedelta(hours=1),
            expires_at=NOW + timedelta(hours=3),
        )
        rows.save_run(running, running.wait_at(running.steps[0].id, "Ship?", NOW))
        return rows.insert(asked)

    asked = await database.write(wait)
    for hours, reminders in ((0.5, 0), (1.1, 1), (1.2, 1), (2.3, 2)):
        at = NOW + timedelta(hours=hours)
        await database.write(partial(fire_due_approvals, now=at))
        (now,) = await database.views.approvals()
        assert now.reminders == reminders
    await database.write(partial(fire_due_approvals, now=NOW + timedelta(hours=4)))
    ended = await database.views.pipeline(asked.pipeline_id or 0)
    assert ended.status is PipelineStatus.FAILED
    assert ended.reason is not None
    assert ended.reason.endswith("failed: nobody decided within 3 h")
