"""Accepting a handoff: it is reviewed, repaired by its agent if necessary, committed and saved.

Every part looks at the records first, so that it is safe to repeat after a crash.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import uninterrupted
from segue.application.conversations.transactions import read_submitted, storable
from segue.application.handoffs.review import HandoffReviewer, ReviewedHandoff
from segue.application.handoffs.step_work import StepWork
from segue.application.handoffs.writer_questions import WriterQuestions
from segue.application.pipelines.final_states import FinalStates
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.transactions import Accepted, accept_step, ask_for_repair, end_attempt
from segue.application.ports.store import Store
from segue.application.ports.workspace import StepCommit
from segue.application.ports.world import Clock
from segue.domain.attempt import AttemptStatus
from segue.domain.briefing.instructions import AskedNotation
from segue.domain.briefing.repair_prompt import errors_of, repair_prompt
from segue.domain.catalog import Gate
from segue.domain.errors import AgentFailed, BackendError
from segue.domain.final_state import write_final_state
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline
from segue.domain.session import HandoffReason, MessageKind, SessionMessage
from segue.domain.submissions import SUBMITTED

log = structlog.get_logger()

MOST_TURNS = 2
"""How often an agent is asked about one handoff: to structure it, or to repair it."""


Reply = tuple[SessionMessage, ReviewedHandoff]
"""A message, and what was handed off in answer to it."""


class Acceptance:
    """Brings an attempt from its reply to a step that is done."""

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        store: Store,
        clock: Clock,
        conversations: Conversations,
        reviewer: HandoffReviewer,
        final_states: FinalStates,
        questions: WriterQuestions,
        notation: AskedNotation,
    ) -> None:
        self._store = store
        self._clock = clock
        self._conversations = conversations
        self._reviewer = reviewer
        self._final_states = final_states
        self._questions = questions
        self._notation = notation

    async def accept(self, run: LeasedRun, work: StepWork) -> None:
        """Review, let the agent repair, commit, save; the step is done. `AgentFailed` if it must not pass."""
        repairs = work.talk.said(MessageKind.REPAIR)
        best = None if repairs else await self._read(work)
        while True:
            if repairs:
                repaired = await self._repaired(work, repairs[-1])
                best = repaired or best or await self._rejected(work)
                if repaired is None:
                    break
            assert best is not None  # reviewed before the loop, or in it
            gate = self._gate(work, best[1])
            if gate is Gate.FAIL:
                raise AgentFailed(_why_it_fails(best[1]))
            if gate is not Gate.REPAIR or not await self._may_repair(work):
                break
            repairs.append(await self._begin_repair(work, best[1]))
        await self._save(run, work, *best)

    async def _read(self, work: StepWork) -> Reply:
        """What the reply says, and what its writer adds when it is asked about it."""
        (briefing,) = work.talk.said(MessageKind.BRIEFING)
        reviewed = await self._review(work, briefing)
        return briefing, await self._questions.complete(work, reviewed)

    async def _may_repair(self, work: StepWork) -> bool:
        """Whether the session can be asked once more; a question about the reply counts as well."""
        asked = work.talk.said(MessageKind.REPAIR, MessageKind.QUESTION)
        return len(asked) < MOST_TURNS and await work.talk.backend.converses(work.talk.request)

    async def _repaired(self, work: StepWork, repair: SessionMessage) -> Reply | None:
        """What the last repair turn gave; none if nothing came of it, and what was there before counts."""
        try:
            repair = await work.talk.exchange(repair, since=work.attempt.started_at)
            reviewed = await self._review(work, repair)
        except BackendError as error:
            log.warning("repair_failed", **work.where, error=str(error))
            return None
        return (repair, reviewed) if reviewed.handoff is not None else None

    async def _rejected(self, work: StepWork) -> Reply:
        """What the agent had handed off before it was asked to repair it."""
        briefing, *repairs = work.talk.said(MessageKind.BRIEFING, MessageKind.REPAIR)
        for earlier in reversed(repairs[:-1]):
            if earlier.reply is not None:
                reviewed = await self._review(work, earlier)
                if reviewed.handoff is not None:
                    return earlier, reviewed
        return briefing, await self._review(work, briefing)

    async def _review(self, work: StepWork, message: SessionMessage) -> ReviewedHandoff:
        """What counts as the handoff in answer to a message."""
        reply = message.reply or ""
        submitted = await self._store.read(lambda rows: read_submitted(rows, work.session.id, message.id))
        if not reply.strip() and submitted.handoff is None:
            raise AgentFailed("its reply was empty, so there is nothing to hand off")
        able = work.talk.backend.capabilities
        return await self._reviewer.review(work.pipeline, work.step, work.session, reply, submitted, able)

    def _gate(self, work: StepWork, reviewed: ReviewedHandoff) -> Gate:
        """What is to happen now; the strictest counts."""
        template, index = work.pipeline.plan.template, work.step.order_index
        gates = {Gate.NOTE}
        if reviewed.is_bad:
            gates.add(template.bad_handoff_gate_of(index))
        if reviewed.refuted:
            gates.add(template.refuted_gate_of(index))
        return next(gate for gate in (Gate.FAIL, Gate.REPAIR, Gate.NOTE) if gate in gates)

    async def _begin_repair(self, work: StepWork, reviewed: ReviewedHandoff) -> SessionMessage:
        """Write down what the agent will be asked, before it is."""
        was_submitted = reviewed.notation == SUBMITTED
        text = repair_prompt(reviewed.problems, reviewed.refuted, None if was_submitted else self._notation)
        number = len(work.talk.said(MessageKind.REPAIR, MessageKind.QUESTION)) + 1
        asked = work.session.message(
            MessageKind.REPAIR,
            f"repair-{number}",
            storable(text),
            self._clock.now(),
            ledger_json=reviewed.ledger_json,
        )
        facts = {
            "number": number,
            "problems": sorted({problem.code for problem in errors_of(reviewed.problems)}),
            "refuted": len(reviewed.refuted),
        }
        saved = await self._store.write(
            lambda rows: ask_for_repair(rows, work.lease, asked, work.where, facts)
        )
        log.info("repair_asked", **work.where, number=number)
        return work.talk.keep(saved)

    async def _save(
        self, run: LeasedRun, work: StepWork, message: SessionMessage, reviewed: ReviewedHandoff
    ) -> None:
        handoff = reviewed.handoff
        commit = await self._commit(work, reviewed.source if handoff is None else handoff.to_json())
        now = self._clock.now()
        moved = work.pipeline.finish_step(work.step.id, now, commit)
        if work.step.id == work.pipeline.steps[-1].id:
            final = await self._final_states.at_end(run, work, message, reviewed, commit)
            moved = replace(moved, final_json=write_final_state(final))
        # A stop between the transaction and the release would leave the session open.
        await uninterrupted(self._accept(run, work, self._accepted(work, message, reviewed, moved)))

    def _accepted(
        self, work: StepWork, message: SessionMessage, reviewed: ReviewedHandoff, moved: Pipeline
    ) -> Accepted:
        handoff, now = reviewed.handoff, moved.updated_at
        return Accepted(
            pipeline=(work.pipeline, moved),
            ended=end_attempt(work.attempt, work.session, AttemptStatus.DONE, now),
            record=HandoffRecord(
                session_id=work.session.id,
                step_id=work.step.id,
                message_id=message.id,
                reason=HandoffReason.TASK_BOUNDARY,
                content_md=reviewed.source,
                metadata_json=handoff.to_json() if handoff else None,
                ledger_json=reviewed.ledger_json,
                evidence_json=reviewed.evidence_json,
                reading_json=reviewed.reading.to_json(),
                created_at=now,
            ),
            facts={
                "has_structured_data": handoff is not None,
                "notation": reviewed.notation,
                "problems": sorted({problem.code for problem in reviewed.problems}),
                "coverage": round(reviewed.reading.coverage, 3),
                "asked": len(reviewed.reading.asked),
                "dropped": len(reviewed.reading.dropped),
            },
            verdicts=reviewed.ledger.counts if reviewed.ledger is not None else None,
        )

    async def _accept(self, run: LeasedRun, work: StepWork, done: Accepted) -> None:
        """The handoff, the end of the step and of its session, in one transaction; then close the session."""
        step_id, moved = work.step.id, done.pipeline[1]
        saved = await self._store.write(lambda rows: accept_step(rows, work.lease, done, moved.updated_at))
        run.pipeline, run.handoffs[step_id] = moved, saved
        run.attempts[step_id], run.sessions[step_id] = done.ended.attempt[1], done.ended.session[1]
        if saved.metadata_json is not None:
            log.info("handoff_extracted", **work.where)
        else:
            log.warning("handoff_extraction_failed", **work.where)
        await self._conversations.release(work.talk)

    async def _commit(self, work: StepWork, record: str) -> str | None:
        if work.pipeline.workspace is None:
            return None
        about = StepCommit(
            pipeline_id=work.pipeline.id,
            step=work.step.order_index + 1,
            agent_name=work.session.name,
            title=work.pipeline.title,
            handoff_hash=hashlib.sha256(record.encode("utf-8", "surrogatepass")).hexdigest(),
        )
        return await self._reviewer.workspaces.commit(work.pipeline.workspace, about)


def _why_it_fails(reviewed: ReviewedHandoff) -> str:
    if reviewed.refuted:
        more = len(reviewed.refuted) - 1
        rest = f" (and {more} more)" if more else ""
        is_claim = reviewed.ledger is not None and bool(reviewed.ledger.refuted)
        what = "its handoff makes a false claim" if is_claim else "it weakened a test"
        return f"{what}: {reviewed.refuted[0]}{rest}"
    if reviewed.handoff is None:
        return "no handoff could be found in its reply"
    first = errors_of(reviewed.problems)[-1]
    return f"its handoff is bad: {first.code} {first.field}: {first.message}"
