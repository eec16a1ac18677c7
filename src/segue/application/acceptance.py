"""Accepting a handoff: it is examined, mended by its agent if it must be, committed and saved.

Every part looks at the records first, so that it is safe to repeat after a crash.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any
from uuid import uuid4

import structlog

from segue.application.backends import Message
from segue.application.conversations import Conversation, Conversations
from segue.application.endings import Endings
from segue.application.final_states import FinalStates
from segue.application.ports import NewHandoff, UnitOfWork
from segue.application.verification import Examined, Verification
from segue.application.workspaces import StepCommit
from segue.domain.audit import AuditKind
from segue.domain.errors import AgentFailed, BackendError
from segue.domain.final_state import write_final_state
from segue.domain.gates import Gate
from segue.domain.handoff import OutputNotation
from segue.domain.pipeline import Attempt, AttemptStatus, Repair, Step
from segue.domain.repairing import ask_to_mend, errors_of
from segue.domain.sessions import Reason

log = structlog.get_logger()

MOST_REPAIRS = 2
"""How often an agent is asked to mend one handoff."""


class Acceptance:
    """Brings an attempt from its reply to a step that is done."""

    def __init__(
        self,
        *,
        endings: Endings,
        conversations: Conversations,
        verification: Verification,
        final_states: FinalStates,
        notation: OutputNotation,
    ) -> None:
        self._endings = endings
        self._conversations = conversations
        self._verification = verification
        self._final_states = final_states
        self._notation = notation
        self._database = endings.database
        self._clock = endings.clock

    async def accept(self, talk: Conversation) -> None:
        """Examine, let mend, commit, save; the step is done. `AgentFailed` if it must not pass."""
        async with self._database.begin() as work:
            repairs = await work.attempts.repairs(talk.attempt.id)
        best = None if repairs else await self._examine(talk, talk.attempt.reply or "")
        while True:
            if repairs:
                mended = await self._mended(talk, repairs)
                best = mended or best or await self._rejected(talk, repairs[-1])
                if mended is None:
                    break
            assert best is not None  # examined before the loop, or in it
            gate = self._gate(talk, best)
            if gate is Gate.FAIL:
                raise AgentFailed(_why_it_fails(best))
            if gate is not Gate.REPAIR or len(repairs) >= MOST_REPAIRS or not await self._converses(talk):
                break
            repairs.append(await self._begin_repair(talk, best, len(repairs) + 1))
        await self._save(talk, best)

    async def _mended(self, talk: Conversation, repairs: list[Repair]) -> Examined | None:
        """What the last repair turn gave; none if nothing came of it, and what was there before counts."""
        try:
            repairs[-1] = repair = await self._finish_repair(talk, repairs[-1])
            examined = await self._examine(talk, repair.reply or "")
        except BackendError as error:
            log.warning("repair_failed", pipeline=talk.pipeline.id, step=talk.step.id, error=str(error))
            return None
        return examined if examined.handoff is not None else None

    async def _rejected(self, talk: Conversation, repair: Repair) -> Examined:
        """What the agent had handed off before it was asked to mend it."""
        return await self._examine(talk, talk.attempt.reply or "", submitted=repair.rejected_json)

    async def _examine(self, talk: Conversation, reply: str, submitted: str | None = None) -> Examined:
        async with self._database.begin() as work:
            latest = await work.attempts.latest(talk.step.id)
        attempt = latest[0] if latest else talk.attempt
        if submitted is not None:
            attempt = replace(attempt, submitted_json=submitted)
        if not reply.strip() and attempt.submitted_json is None:
            raise AgentFailed("its reply was empty, so there is nothing to hand off")
        able = talk.backend.capabilities
        return await self._verification.examine(
            talk.pipeline,
            attempt,
            talk.agent,
            reply,
            knows_commands=able.tool_log,
            logs_all=able.whole_log,
        )

    def _gate(self, talk: Conversation, examined: Examined) -> Gate:
        """What is to happen now; the strictest counts."""
        template, index = talk.pipeline.plan.template, talk.step.order_index
        gates = {Gate.NOTE}
        if examined.is_bad:
            gates.add(template.bad_handoff_gate_of(index))
        if examined.refuted:
            gates.add(template.refuted_gate_of(index))
        return next(gate for gate in (Gate.FAIL, Gate.REPAIR, Gate.NOTE) if gate in gates)

    async def _converses(self, talk: Conversation) -> bool:
        return await talk.backend.converses(talk.request)

    async def _begin_repair(self, talk: Conversation, examined: Examined, number: int) -> Repair:
        """Write down what the agent will be asked, before it is."""
        was_submitted = examined.notation == "submitted"
        text = ask_to_mend(examined.problems, examined.refuted, None if was_submitted else self._notation)
        now = self._clock.now()
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            repair = await work.attempts.add_repair(
                talk.attempt.id,
                number=number,
                message_id=uuid4().hex,
                text=text,
                rejected_json=examined.handoff.to_json() if examined.handoff else None,
                ledger_json=examined.ledger_json,
                at=now,
            )
            await work.attempts.forget_submission(talk.attempt.id)
            await work.audit.add(
                AuditKind.REPAIR_ASKED,
                now,
                pipeline_id=talk.pipeline.id,
                step_id=talk.step.id,
                number=number,
                problems=sorted({problem.code for problem in errors_of(examined.problems)}),
                refuted=len(examined.refuted),
            )
            await work.commit()
        log.info("repair_asked", pipeline=talk.pipeline.id, step=talk.step.id, number=number)
        return repair

    async def _finish_repair(self, talk: Conversation, repair: Repair) -> Repair:
        """Send the question unless it was sent, and wait for the reply."""
        if repair.reply is not None:
            return repair
        rejoined = repair.status is AttemptStatus.SENT
        if repair.status is AttemptStatus.SENDING:
            await self._conversations.deliver(talk, Message(id=repair.message_id, text=repair.text))
            repair = await self._record(talk, replace(repair, status=AttemptStatus.SENT))
        reply = await self._conversations.reply(talk, repair.message_id, rejoined=rejoined)
        return await self._record(talk, replace(repair, status=AttemptStatus.REPLIED, reply=reply))

    async def _record(self, talk: Conversation, repair: Repair) -> Repair:
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            await work.attempts.save_repair(repair)
            await work.commit()
        return repair

    async def _save(self, talk: Conversation, examined: Examined) -> None:
        handoff, attempt, content = examined.handoff, talk.attempt, examined.source
        commit = await self._commit(talk, content if handoff is None else handoff.to_json())
        is_last = talk.step.id == talk.pipeline.steps[-1].id
        final = await self._final_states.at_end(talk, examined, commit) if is_last else None
        now = self._clock.now()
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(talk.lease)
            handoff_id = await work.handoffs.add(
                NewHandoff(
                    agent_id=talk.agent.id,
                    step_id=attempt.step_id,
                    reason=Reason.TASK_BOUNDARY,
                    content_md=content,
                    metadata_json=handoff.to_json() if handoff else None,
                    ledger_json=examined.ledger_json,
                    evidence_json=examined.evidence_json,
                    is_synthetic=False,
                    created_at=now,
                )
            )
            moved = pipeline.finish_step(attempt.step_id, now, commit)
            if final is not None:
                moved = replace(moved, final_json=write_final_state(final))
            await work.pipelines.save(moved)
            done = attempt.moved(AttemptStatus.DONE, finished_at=now)
            await work.attempts.save(done, replace(talk.agent, ended_at=now))
            await work.approvals.void(attempt.step_id, now)
            await self._audit(work, talk.step, handoff_id, examined)
            await work.audit.add(AuditKind.STEP_DONE, now, pipeline_id=pipeline.id, step_id=attempt.step_id)
            if moved.status.is_final:
                await work.audit.add(AuditKind.PIPELINE_DONE, now, pipeline_id=pipeline.id)
            await work.commit()
        event = "handoff_extracted" if handoff else "handoff_extraction_failed"
        (log.info if handoff else log.warning)(event, pipeline=pipeline.id, step=attempt.step_id)
        await self._endings.release(talk.agent)

    async def _commit(self, talk: Conversation, record: str) -> str | None:
        if talk.pipeline.workspace is None:
            return None
        about = StepCommit(
            pipeline_id=talk.pipeline.id,
            step=talk.step.order_index + 1,
            agent_name=talk.agent.name,
            title=talk.pipeline.title,
            handoff_hash=hashlib.sha256(record.encode("utf-8", "surrogatepass")).hexdigest(),
        )
        return await self._verification.workspaces.commit(talk.pipeline.workspace, about)

    async def _audit(self, work: UnitOfWork, step: Step, handoff_id: int, examined: Examined) -> None:
        where: dict[str, Any] = {"pipeline_id": step.pipeline_id, "step_id": step.id}
        now = self._clock.now()
        await work.audit.add(
            AuditKind.HANDOFF_CREATED,
            now,
            **where,
            handoff_id=handoff_id,
            has_structured_data=examined.handoff is not None,
            notation=examined.notation,
            problems=sorted({problem.code for problem in examined.problems}),
        )
        if examined.handoff is None:
            await work.audit.add(AuditKind.HANDOFF_EXTRACTION_FAILED, now, **where)
        if examined.ledger is not None:
            await work.audit.add(AuditKind.CLAIMS_VERIFIED, now, **where, **examined.ledger.counts)


def _why_it_fails(examined: Examined) -> str:
    if examined.refuted:
        more = len(examined.refuted) - 1
        rest = f" (and {more} more)" if more else ""
        is_claim = examined.ledger is not None and bool(examined.ledger.refuted)
        what = "its handoff makes a false claim" if is_claim else "it weakened a test"
        return f"{what}: {examined.refuted[0]}{rest}"
    if examined.handoff is None:
        return "no handoff could be found in its reply"
    first = errors_of(examined.problems)[-1]
    return f"its handoff is bad: {first.code} {first.field}: {first.message}"


def receipt_of(attempt: Attempt) -> str:
    """The SHA-256 of the exact text that is sent."""
    return hashlib.sha256(attempt.text.encode("utf-8", "surrogatepass")).hexdigest()
