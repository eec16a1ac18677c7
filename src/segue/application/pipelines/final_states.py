"""Judging a run at its end: what was false after a step may hold once the last one is done."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from segue.application.conversations.transactions import read_submitted
from segue.application.handoffs.review import HandoffReviewer, ReviewedHandoff, judge
from segue.application.handoffs.step_work import StepWork
from segue.application.pipelines.run import LeasedRun
from segue.application.ports.store import Reads, Store
from segue.domain.claims import ledger_as_dict
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import CommandRun
from segue.domain.evidence.sources import Observed
from segue.domain.final_state import (
    FinalState,
    Ledger,
    StepLedger,
    check_results,
    judge_again,
    why_stopped,
)
from segue.domain.pipeline import Step
from segue.domain.session import Session, SessionMessage
from segue.domain.submissions import ToolSubmissions, read_handoff

log = structlog.get_logger()


class FinalStates:
    """Looks at a whole run when its last step is done."""

    def __init__(self, *, store: Store, reviewer: HandoffReviewer) -> None:
        self._store = store
        self._reviewer = reviewer

    async def at_end(
        self,
        run: LeasedRun,
        work: StepWork,
        message: SessionMessage,
        last: ReviewedHandoff,
        commit: str | None,
    ) -> FinalState:
        """How the work is once the last step is done; `commit` holds it.

        Only what was false after a step is judged again, so that an honest run costs nothing.
        """
        steps = _ledgers(run, work, last)
        judged: Mapping[int, Ledger] = {}
        changed = None
        if len(work.pipeline.steps) > 1 and (false := [step for step in steps if step.is_false]):
            whole = await self._whole_run(work)
            if whole is not None:
                judged = await self._judge(run, work, message, false, whole)
                changes = whole.evidence.changes
                changed = frozenset(changes) if whole.evidence.is_diff_whole else None
        findings, resolved = judge_again(steps, judged, changed)
        seen = last.evidence
        return FinalState(
            findings=findings,
            resolved=resolved,
            checks=check_results(seen) if seen is not None else (),
            files=await self._reviewer.files_changed(work.pipeline, commit),
            stopped=why_stopped(last.handoff, last.source, has_changes=seen is None or bool(seen.changes)),
        )

    async def _whole_run(self, work: StepWork) -> Observed | None:
        """What happened from the first step's beginning to now; none if that cannot be read."""
        since_first = replace(work.step, base_mark=work.pipeline.steps[0].base_mark)
        able = replace(work.talk.backend.capabilities, whole_log=False)
        try:
            return await self._reviewer.measure(work.pipeline, since_first, work.session, able)
        except RepositoryError as error:
            log.warning("not_judged_again", pipeline=work.pipeline.id, error=str(error))
            return None

    async def _judge(
        self,
        run: LeasedRun,
        work: StepWork,
        message: SessionMessage,
        steps: Sequence[StepLedger],
        whole: Observed,
    ) -> Mapping[int, Ledger]:
        """The number of each step -> the ledger of its handoff against the whole run."""
        given, sessions = await self._store.read(lambda rows: _given(rows, run, work, message))
        ran = {number: tuple(await self._reviewer.commands(each)) for number, each in sessions.items()}
        judged = {}
        for step in steps:
            extraction, _ = await asyncio.to_thread(
                read_handoff, given[step.step], step.source, self._reviewer.extract
            )
            # What is not in the log of the last steps may have been run all the same.
            ran_since = _commands_since(step.step, ran)
            evidence = replace(whole.evidence, commands=ran_since, is_log_whole=False)
            observed = replace(whole, evidence=evidence)
            ledger = await asyncio.to_thread(judge, extraction, observed, source=step.source)
            judged[step.step] = ledger_as_dict(ledger, step.source)
        return judged


def _ledgers(run: LeasedRun, work: StepWork, last: ReviewedHandoff) -> list[StepLedger]:
    """What came of the claims of each step."""
    found = [
        _step_ledger(step, each.content_md, each.ledger)
        for step in work.pipeline.steps
        if step.id != work.step.id and (each := run.handoffs.get(step.id)) is not None
    ]
    found.append(_step_ledger(work.step, last.source, last.ledger_record))
    return [each for each in found if each is not None]


def _step_ledger(step: Step, source: str, ledger: Ledger | None) -> StepLedger | None:
    """None if nothing could be checked."""
    if ledger is None:
        return None
    return StepLedger(step=step.order_index + 1, agent_name=step.agent_name, source=source, ledger=ledger)


def _given(
    rows: Reads, run: LeasedRun, work: StepWork, message: SessionMessage
) -> tuple[dict[int, ToolSubmissions], dict[int, Session]]:
    """What each step gave through tools, and the session that ended it, by the number of the step."""
    given, sessions = {}, {}
    for step in work.pipeline.steps:
        number, left = step.order_index + 1, run.handoffs.get(step.id)
        if step.id == work.step.id:
            given[number], sessions[number] = read_submitted(rows, work.session.id, message.id), work.session
        elif left is not None:
            given[number] = read_submitted(rows, left.session_id, left.message_id)
            sessions[number] = rows.get(Session, left.session_id)
    return given, sessions


def _commands_since(step: int, ran: Mapping[int, tuple[CommandRun, ...]]) -> tuple[CommandRun, ...]:
    """What the agent of a step and those after it ran: a statement may have become true later."""
    return tuple(run for number in sorted(ran) if number >= step for run in ran[number])
