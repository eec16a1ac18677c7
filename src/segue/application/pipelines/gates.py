"""Gates: steps without an agent, where commands decide whether the run continues."""

from __future__ import annotations

from dataclasses import replace

import structlog

from segue.application.handoffs.review import HandoffReviewer
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.transactions_deciding import begin_gate, record_gate
from segue.application.ports.store import Store
from segue.application.ports.workspace import StepCommit
from segue.application.ports.world import Clock
from segue.domain.deciding import MoveKind, decide_gate, position_of
from segue.domain.errors import RepositoryError
from segue.domain.gate_run import GateCheck, GateRun, gate_check_of, gate_reason, has_passed
from segue.domain.pipeline import Step

log = structlog.get_logger()


class GateRunner:
    """Runs the commands of a gate in the workspace, and does what its template says of the result."""

    def __init__(self, *, store: Store, clock: Clock, reviewer: HandoffReviewer) -> None:
        self._store = store
        self._clock = clock
        self._reviewer = reviewer

    async def run(self, run: LeasedRun, step_id: int, mark: str | None) -> None:
        """Run a gate to its end: passed, failed, or the work sent back."""
        pipeline, now = run.pipeline, self._clock.now()
        run.pipeline = await self._store.write(
            lambda rows: begin_gate(rows, run.lease, pipeline, step_id, mark, now)
        )
        step = run.pipeline.step(step_id)
        own = run.pipeline.plan.template.steps[step.order_index]
        checks = await self._checks(run, step)
        found = GateRun(
            step_id=step_id,
            round=step.round,
            passed=has_passed(checks, own.until),
            mark=mark,
            checks=checks,
            created_at=self._clock.now(),
        )
        await self._decide(run, step, found)

    async def _checks(self, run: LeasedRun, step: Step) -> tuple[GateCheck, ...]:
        place, template = run.pipeline.workspace, run.pipeline.plan.template
        folder = place.path if place is not None else run.pipeline.working_dir
        found = []
        for command in template.checks_of(step.order_index):
            ran = await self._reviewer.run_check(folder, None, command)
            found.append(gate_check_of(ran.run))
        return tuple(found)

    async def _decide(self, run: LeasedRun, step: Step, found: GateRun) -> None:
        pipeline, template = run.pipeline, run.pipeline.plan.template
        own, at = template.steps[step.order_index], found.created_at
        reason = gate_reason(found.checks, own.until)
        position = position_of(template, step.order_index, step.sent_back)
        move = decide_gate(
            reason,
            passed=found.passed,
            has_target=own.back_to is not None,
            has_changed=found.passed or await self._has_changed(run, step),
            position=position,
        )
        moved = pipeline
        if move.kind is MoveKind.FAIL:
            tries = f" (try {step.sent_back + 1} of {own.tries})" if own.back_to and own.tries else ""
            moved = pipeline.fail_step(step.id, move.reason + tries, at)
        elif move.kind is MoveKind.CONTINUE:
            moved = pipeline.pass_step(step.id, at, await self._commit(run, step))
        else:
            moved = replace(pipeline, updated_at=at)
        sent_back = reason if move.kind is MoveKind.SEND_BACK else None
        run.pipeline = await self._store.write(
            lambda rows: record_gate(rows, run.lease, (pipeline, moved), found, sent_back)
        )
        log.info("gate_run", pipeline=pipeline.id, step=step.id, passed=found.passed, move=move.kind)

    async def _has_changed(self, run: LeasedRun, step: Step) -> bool:
        """True if a file was changed since the gate failed the last time, or if nobody can say."""
        earlier = await self._store.read(lambda rows: rows.find(GateRun, step_id=step.id))
        place = run.pipeline.workspace
        if not earlier or place is None or earlier[-1].mark is None:
            return True
        try:
            evidence = await self._reviewer.workspaces.evidence(place, earlier[-1].mark)
        except RepositoryError:
            return True
        return evidence is None or bool(evidence.changes)

    async def _commit(self, run: LeasedRun, step: Step) -> str | None:
        """What its commands left is part of the work."""
        if run.pipeline.workspace is None:
            return None
        about = StepCommit(
            pipeline_id=run.pipeline.id,
            step=step.order_index + 1,
            round=step.round,
            agent_name=step.name,
            title=run.pipeline.title,
            handoff_hash="",
        )
        return await self._reviewer.workspaces.commit(run.pipeline.workspace, about)
