"""Accepting a handoff: it is reviewed, repaired by its agent if necessary, committed and saved.

Every part looks at the records first, so that it is safe to repeat after a crash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import uninterrupted
from segue.application.conversations.transactions import read_submitted, storable
from segue.application.handoffs.review import HandoffReviewer, ReviewedHandoff
from segue.application.handoffs.step_work import StepWork
from segue.application.handoffs.writer_questions import WriterQuestions
from segue.application.pipelines.ending import end_attempt
from segue.application.pipelines.final_states import FinalStates
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.shared_work import SharedWork
from segue.application.pipelines.transactions import ask_for_repair
from segue.application.pipelines.transactions_deciding import Accepted, accept_step
from segue.application.pipelines.waiting import Waiting, question_about
from segue.application.ports.store import Store
from segue.application.ports.workspace import StepCommit
from segue.application.ports.world import Clock
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.attempt import AttemptStatus
from segue.domain.briefing.instructions import AskedNotation
from segue.domain.briefing.repair_prompt import errors_of, repair_prompt
from segue.domain.briefing.sent_back import answer_message
from segue.domain.deciding import AgentEnding, Move, MoveKind, decide_agent_step, position_of
from segue.domain.errors import AgentFailed, BackendError, SessionLost
from segue.domain.final_state import why_stopped
from segue.domain.handoff.checking.rules_values import outcome_of
from segue.domain.handoff_record import HandoffRecord
from segue.domain.repository_source import Bundle
from segue.domain.session import HandoffReason, MessageKind, SessionMessage
from segue.domain.submissions import SUBMITTED
from segue.domain.template import Reaction, StepEnding

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
        waiting: Waiting,
        shared: SharedWork | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._conversations = conversations
        self._reviewer = reviewer
        self._final_states = final_states
        self._questions = questions
        self._notation = notation
        self._shared = shared
        self._waiting = waiting

    async def accept(self, run: LeasedRun, work: StepWork) -> None:
        """Review, let the agent repair, and decide what follows: the next step, a wait, an earlier step.

        `AgentFailed` if nothing of it may be kept.
        """
        turns = work.talk.said(MessageKind.REPAIR, MessageKind.USER)
        best = None if turns else await self._read(work)
        while True:
            if turns:
                repaired = await self._repaired(work, turns[-1])
                best = repaired or best or await self._rejected(work)
            assert best is not None  # reviewed before the loop, or in it
            if not turns or repaired is not None:
                if self._is_refused(work, best[1]):
                    raise AgentFailed(_why_it_fails(best[1]))
                if self._needs_repair(work, best[1]) and await self._may_repair(work):
                    turns.append(await self._begin_repair(work, best[1]))
                    continue
            answer = await self._close(run, work, *best)
            if answer is None:
                return
            turns.append(await self._tell(work, answer))

    async def _close(
        self, run: LeasedRun, work: StepWork, message: SessionMessage, reviewed: ReviewedHandoff
    ) -> Approval | None:
        """End the step as its ending says, or ask a person; gives an answer that its agent is to be told."""
        template, index = work.pipeline.plan.template, work.step.order_index
        ending = ending_of(reviewed, has_changes=await self._has_changes(work, reviewed))
        move = decide_agent_step(ending, template, index, position_of(template, index, work.step.sent_back))
        if move.kind is MoveKind.WAIT and move.waits_for is not None:
            question = question_about(message, move.waits_for, move.reason, recommendation_of(reviewed))
            decided = run.decision_on(question.reference)
            if decided is None:
                record = None if self._is_kept(run, work, message) else self._record(work, message, reviewed)
                await self._commit(work, reviewed)
                await self._waiting.ask(run, work, question, record)
                return None
            if decided.status is ApprovalStatus.ANSWERED:
                return decided
            move = Move(kind=MoveKind.CONTINUE)  # a person has accepted it as it is
        await self._save(run, work, message, reviewed, move)
        return None

    async def _tell(self, work: StepWork, answer: Approval) -> SessionMessage:
        """Give the agent what a person answered; `SessionLost` if it cannot be spoken to any more."""
        if not await work.talk.backend.converses(work.talk.request):
            raise SessionLost("its program had ended with its question, which a person has answered since")
        return await work.talk.add(MessageKind.USER, f"answer-{answer.id}", answer_message(answer))

    async def _has_changes(self, work: StepWork, reviewed: ReviewedHandoff) -> bool:
        """True if this attempt changed files, or if nobody can say."""
        evidence, mark = reviewed.evidence, work.session.base_mark
        if evidence is None or mark is None or work.pipeline.workspace is None:
            return True
        if mark == work.step.base_mark or not evidence.changes:
            return bool(evidence.changes)
        since = await self._reviewer.workspaces.evidence(work.pipeline.workspace, mark)
        return since is None or bool(since.changes)

    def _is_kept(self, run: LeasedRun, work: StepWork, message: SessionMessage) -> bool:
        """True if the handoff in answer to a message was saved when the run began to wait."""
        saved = run.handoffs.get(work.step.id)
        return saved is not None and saved.message_id == message.id

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
        """What the last turn gave; none if a repair came to nothing, and what was there before counts.

        What was there before an answer asks for that answer: a turn with one that fails is an error.
        """
        if repair.kind is MessageKind.USER:
            # Its time counts from when the agent was told, and not from before a person thought about it.
            told = await work.talk.exchange(repair)
            return told, await self._review(work, told)
        answers = [each.sent_at for each in work.talk.said(MessageKind.USER) if each.sent_at is not None]
        since = answers[-1] if answers else work.attempt.started_at
        try:
            repair = await work.talk.exchange(repair, since=since)
            reviewed = await self._review(work, repair)
        except BackendError as error:
            log.warning("repair_failed", **work.where, error=str(error))
            return None
        return (repair, reviewed) if reviewed.handoff is not None else None

    async def _rejected(self, work: StepWork) -> Reply:
        """What the agent had handed off before it was asked to repair it."""
        briefing, *turns = work.talk.said(MessageKind.BRIEFING, MessageKind.REPAIR, MessageKind.USER)
        for earlier in reversed(turns[:-1]):
            if earlier.reply is not None:
                reviewed = await self._review(work, earlier)
                if reviewed.handoff is not None or earlier.kind is MessageKind.USER:
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

    def _reactions(self, work: StepWork, reviewed: ReviewedHandoff) -> set[Reaction]:
        """What the template says of what is wrong with a handoff."""
        template, index = work.pipeline.plan.template, work.step.order_index
        found = (
            ("on_bad_handoff", reviewed.is_bad),
            ("on_refuted", bool(reviewed.refuted)),
            ("on_failed_checks", bool(reviewed.failing)),
        )
        return {template.reaction_to(index, key) for key, is_there in found if is_there}

    def _is_refused(self, work: StepWork, reviewed: ReviewedHandoff) -> bool:
        """True if the step fails at once."""
        return Reaction.FAIL in self._reactions(work, reviewed)

    def _needs_repair(self, work: StepWork, reviewed: ReviewedHandoff) -> bool:
        """True if the session is to be asked to repair it, before anything else is done about it."""
        return bool(self._reactions(work, reviewed) - {Reaction.NOTE})

    async def _begin_repair(self, work: StepWork, reviewed: ReviewedHandoff) -> SessionMessage:
        """Write down what the agent will be asked, before it is."""
        was_submitted = reviewed.notation == SUBMITTED
        text = repair_prompt(
            reviewed.problems,
            reviewed.refuted,
            None if was_submitted else self._notation,
            failures=reviewed.failures,
        )
        number = len(work.talk.said(MessageKind.REPAIR, MessageKind.QUESTION)) + 1
        asked = work.session.message(
            MessageKind.REPAIR,
            f"repair-{number}",
            storable(text),
            self._clock.now(),
            ledger=reviewed.ledger_record,
        )
        facts = {
            "number": number,
            "problems": sorted({problem.code for problem in errors_of(reviewed.problems)}),
            "refuted": len(reviewed.refuted),
            "failing_checks": len(reviewed.failing),
        }
        saved = await self._store.write(
            lambda rows: ask_for_repair(rows, work.lease, asked, work.where, facts)
        )
        log.info("repair_asked", **work.where, number=number)
        return work.talk.keep(saved)

    async def _save(
        self,
        run: LeasedRun,
        work: StepWork,
        message: SessionMessage,
        reviewed: ReviewedHandoff,
        move: Move,
    ) -> None:
        commit = await self._commit(work, reviewed)
        now, step, pipeline = self._clock.now(), work.step, run.pipeline
        outcome = AttemptStatus.DONE
        if move.kind is MoveKind.FAIL:
            moved, outcome = pipeline.fail_step(step.id, move.reason, now), AttemptStatus.FAILED
        elif move.kind is MoveKind.SEND_BACK:
            moved = pipeline.pass_step(step.id, now, commit)
        else:
            moved = pipeline.finish_step(step.id, now, commit)
            if moved.status.is_final:
                final = await self._final_states.at_end(run, work, message, reviewed, commit)
                moved = replace(moved, final=final)
        bundles: Sequence[Bundle] = ()
        if self._shared is not None:
            kept = await self._shared.keep(pipeline, step, commit)
            moved, bundles = replace(moved, source=kept.source).noted(*kept.notes), kept.bundles
        error = move.reason if outcome is AttemptStatus.FAILED else None
        done = Accepted(
            pipeline=(pipeline, moved),
            ended=end_attempt(work.attempt, work.session, outcome, now, error=error),
            record=run.handoffs[step.id]
            if self._is_kept(run, work, message)
            else self._record(work, message, reviewed),
            facts=_facts(reviewed),
            verdicts=reviewed.ledger.counts if reviewed.ledger is not None else None,
            bundles=bundles,
            sent_back=move.reason if move.kind is MoveKind.SEND_BACK else None,
        )
        # A stop between the transaction and the release would leave the session open.
        await uninterrupted(self._accept(run, work, done))

    def _record(self, work: StepWork, message: SessionMessage, reviewed: ReviewedHandoff) -> HandoffRecord:
        return HandoffRecord(
            session_id=work.session.id,
            step_id=work.step.id,
            message_id=message.id,
            reason=HandoffReason.TASK_BOUNDARY,
            content_md=reviewed.source,
            handoff=reviewed.handoff,
            ledger=reviewed.ledger_record,
            evidence=reviewed.evidence_record,
            reading=reviewed.reading,
            created_at=self._clock.now(),
        )

    async def _accept(self, run: LeasedRun, work: StepWork, done: Accepted) -> None:
        """The handoff, the end of the step and of its session, in one transaction; then close the session."""
        step_id = work.step.id
        moved, saved = await self._store.write(lambda rows: accept_step(rows, work.lease, done))
        run.pipeline, run.handoffs[step_id] = moved, saved
        run.attempts[step_id], run.sessions[step_id] = done.ended.attempt[1], done.ended.session[1]
        if saved.handoff is not None:
            log.info("handoff_extracted", **work.where)
        else:
            log.warning("handoff_extraction_failed", **work.where)
        await self._conversations.release(work.talk)

    async def _commit(self, work: StepWork, reviewed: ReviewedHandoff) -> str | None:
        if work.pipeline.workspace is None:
            return None
        await work.talk.confirm()
        record = reviewed.source if reviewed.handoff is None else reviewed.handoff.to_json()
        about = StepCommit(
            pipeline_id=work.pipeline.id,
            step=work.step.order_index + 1,
            round=work.step.round,
            agent_name=work.session.name,
            title=work.pipeline.title,
            handoff_hash=hashlib.sha256(record.encode("utf-8", "surrogatepass")).hexdigest(),
        )
        return await self._reviewer.workspaces.commit(work.pipeline.workspace, about)


def _facts(reviewed: ReviewedHandoff) -> dict[str, Any]:
    """What the audit trail says of a handoff."""
    return {
        "has_structured_data": reviewed.handoff is not None,
        "notation": reviewed.notation,
        "problems": sorted({problem.code for problem in reviewed.problems}),
        "coverage": round(reviewed.reading.coverage, 3),
        "asked": len(reviewed.reading.asked),
        "dropped": len(reviewed.reading.dropped),
    }


def ending_of(reviewed: ReviewedHandoff, *, has_changes: bool) -> AgentEnding:
    """How an agent ended its step, as far as it decides what follows."""
    handoff = reviewed.handoff
    stated = outcome_of(handoff) if handoff is not None else None
    bad = ""
    if handoff is None:
        bad = "no handoff could be found in its reply"
    elif reviewed.is_bad:
        first = errors_of(reviewed.problems)[-1]
        bad = f"its handoff is bad: {first.code} {first.field}: {first.message}"
    return AgentEnding(
        outcome=StepEnding(stated) if stated else StepEnding.NONE,
        stopped=why_stopped(handoff, reviewed.source, has_changes=has_changes),
        next_step=next((each.step for each in handoff.suggested_next_steps), "") if handoff else "",
        bad=bad,
        has_record=handoff is not None,
        false=reviewed.refuted,
        failing=reviewed.failing,
        has_changes=has_changes,
    )


def recommendation_of(reviewed: ReviewedHandoff) -> str:
    """What the agent recommends as an answer to its question; empty if it recommends nothing."""
    questions = reviewed.handoff.open_questions if reviewed.handoff is not None else ()
    return next((each.recommendation or "" for each in questions if each.recommendation), "")


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
