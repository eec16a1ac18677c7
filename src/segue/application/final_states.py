"""Judging a run at its end: what was false after a step may hold once the last one is done."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from segue.application.conversations import Conversation
from segue.application.ports import Database
from segue.application.submissions import read_handoff
from segue.application.verification import Examined, Verification, judge
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
    read_step_ledger,
    why_stopped,
)
from segue.domain.pipeline import Agent, Attempt

log = structlog.get_logger()


class FinalStates:
    """Looks at a whole run when its last step is done."""

    def __init__(self, *, database: Database, verification: Verification) -> None:
        self._database = database
        self._verification = verification

    async def at_end(self, talk: Conversation, last: Examined, commit: str | None) -> FinalState:
        """How the work is once the last step is done; `commit` holds it.

        Only what was false after a step is judged again, so that an honest run costs nothing.
        """
        steps = await self._ledgers(talk, last)
        judged: Mapping[int, Ledger] = {}
        changed = None
        if len(talk.pipeline.steps) > 1 and (false := [step for step in steps if step.is_false]):
            whole = await self._whole_run(talk)
            if whole is not None:
                judged = await self._judge(talk, false, whole)
                changes = whole.evidence.changes
                changed = frozenset(changes) if whole.evidence.is_diff_whole else None
        findings, resolved = judge_again(steps, judged, changed)
        seen = last.evidence
        return FinalState(
            findings=findings,
            resolved=resolved,
            checks=check_results(seen) if seen is not None else (),
            files=await self._verification.files_changed(talk.pipeline, commit),
            stopped=why_stopped(last.handoff, last.source, has_changes=seen is None or bool(seen.changes)),
        )

    async def _ledgers(self, talk: Conversation, last: Examined) -> list[StepLedger]:
        """What came of the claims of each step."""
        before = [step for step in talk.pipeline.steps if step.id != talk.step.id]
        async with self._database.begin() as work:
            saved = await work.handoffs.latest_of_steps([step.id for step in before])
        found = [
            read_step_ledger(step.order_index + 1, step.agent_name, each.content_md, each.ledger_json)
            for step in before
            if (each := saved.get(step.id)) is not None
        ]
        number, name = talk.step.order_index + 1, talk.step.agent_name
        found.append(read_step_ledger(number, name, last.source, last.ledger_json))
        return [each for each in found if each is not None]

    async def _whole_run(self, talk: Conversation) -> Observed | None:
        """What happened from the first step's beginning to now; none if that cannot be read."""
        first = talk.pipeline.steps[0].base_mark
        since_first = replace(talk.step, base_mark=first)
        run = replace(
            talk.pipeline,
            steps=tuple(since_first if step.id == talk.step.id else step for step in talk.pipeline.steps),
        )
        try:
            return await self._verification.measure(
                run, since_first, talk.agent, knows_commands=talk.backend.capabilities.tool_log
            )
        except RepositoryError as error:
            log.warning("not_judged_again", pipeline=talk.pipeline.id, error=str(error))
            return None

    async def _judge(
        self, talk: Conversation, steps: Sequence[StepLedger], whole: Observed
    ) -> Mapping[int, Ledger]:
        """The number of each step -> the ledger of its handoff against the whole run."""
        tries = await self._tries(talk)
        ran = {
            number: tuple(await self._verification.commands(agent)) for number, (_, agent) in tries.items()
        }
        judged = {}
        for step in steps:
            extraction, _ = await asyncio.to_thread(read_handoff, tries[step.step][0], step.source)
            # What is not in the log of the last steps may have been run all the same.
            ran_since = _commands_since(step.step, ran)
            evidence = replace(whole.evidence, commands=ran_since, is_log_whole=False)
            observed = replace(whole, evidence=evidence)
            ledger = await asyncio.to_thread(judge, extraction, observed, source=step.source)
            judged[step.step] = ledger_as_dict(ledger, step.source)
        return judged

    async def _tries(self, talk: Conversation) -> Mapping[int, tuple[Attempt, Agent]]:
        async with self._database.begin() as work:
            found = {
                step.order_index + 1: await work.attempts.latest(step.id) for step in talk.pipeline.steps
            }
        return {number: each for number, each in found.items() if each is not None}


def _commands_since(step: int, ran: Mapping[int, tuple[CommandRun, ...]]) -> tuple[CommandRun, ...]:
    """What the agent of a step and those after it ran: a statement may have become true later."""
    return tuple(run for number in sorted(ran) if number >= step for run in ran[number])
