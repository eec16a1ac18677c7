"""Review: what a handoff says, compared with what git, the agent's log and re-run commands show."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from segue.application.handoffs.test_comparison import with_tests
from segue.application.ports.backend import Capabilities
from segue.application.ports.checks import RunCheck
from segue.application.ports.views import Views
from segue.application.ports.workspace import Workspaces
from segue.domain.activity import Activity, ActivityKind
from segue.domain.asking import HandoffReading, reading_of
from segue.domain.briefing.measured import measured_lines
from segue.domain.briefing.model import FalseClaim
from segue.domain.briefing.repair_prompt import describe_failure, errors_of
from segue.domain.claims import Ledger, corrections_of, ledger_as_dict, verify_claims
from segue.domain.claims.rendering import one_line
from segue.domain.evidence.agent_log import commands_of, last_test_run, shows_every_command
from segue.domain.evidence.model import CommandRun, Evidence, Standing, WeakenedTest
from segue.domain.evidence.record import evidence_as_dict
from segue.domain.evidence.sources import Observed
from segue.domain.final_state import CheckResult, FilesChanged, check_results
from segue.domain.handoff import Extraction, Handoff, check_handoff, redact
from segue.domain.handoff.checking.against_evidence import check_against_evidence
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.custom_notation import Extract
from segue.domain.handoff.extract import extract_reply
from segue.domain.pipeline import Pipeline, Step
from segue.domain.session import Session
from segue.domain.submissions import SUBMITTED, ToolSubmissions, read_handoff
from segue.domain.text.span import Span
from segue.domain.workspace import Workspace

_NO_OUTCOME = "H001"
_MOST_SPANS = 2_000
_MOST_WEAKENED = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewedHandoff:
    """A handoff with its problems of form and the verdicts on its claims."""

    handoff: Handoff | None
    notation: str
    source: str
    """The text that it was read from, without secrets."""
    problems: tuple[Problem, ...]
    ledger: Ledger | None
    """None if there is nothing to compare it with."""
    evidence: Evidence | None = None
    """What it was compared with; none outside of git."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Field -> where its statement is in the source."""
    reading: HandoffReading = field(default_factory=HandoffReading)
    """How much of the source became the record, and what its writer was asked for."""

    @property
    def is_bad(self) -> bool:
        """True if there is no handoff, or one that is unfit.

        A missing outcome is passed on to the next agent, but is not worth a turn of its own.
        """
        return self.handoff is None or any(p.code != _NO_OUTCOME for p in errors_of(self.problems))

    @property
    def refuted(self) -> tuple[str, ...]:
        """What the agent is asked to correct: a line for each false claim, and for each weakened test."""
        if self.ledger is None:
            return ()
        claims = corrections_of(replace(self.ledger, unmentioned=(), removed=()))
        return (*claims, *(f"{line} Restore it, and fix what it finds." for line in self.weakened))

    @property
    def weakened(self) -> tuple[str, ...]:
        """A line for each test that proves less than before, and that nobody asked for."""
        found = () if self.ledger is None else self.ledger.weakened
        accused = [each for each in found if each.standing is Standing.WEAKENED]
        return tuple(_describe_weakened(each) for each in accused[:_MOST_WEAKENED])

    @property
    def corrections(self) -> tuple[str, ...]:
        """What the next agent is given: false claims, weakened tests, and changes that nobody mentioned."""
        return (*corrections_of(self.ledger), *self.weakened) if self.ledger is not None else ()

    @property
    def failing(self) -> tuple[CheckResult, ...]:
        """Checks that fail, and not because the same tests failed before."""
        if self.evidence is None:
            return ()
        return tuple(check for check in check_results(self.evidence) if check.fails)

    @property
    def failures(self) -> tuple[str, ...]:
        """What an agent is told of them: a text for each, with the end of what it printed."""
        runs = {run.command: run for run in self.evidence.checks} if self.evidence is not None else {}
        return tuple(describe_failure(runs[check.command]) for check in self.failing)

    @property
    def false(self) -> tuple[FalseClaim, ...]:
        """The refuted claims, to be marked where they are said."""
        entries = () if self.ledger is None else self.ledger.refuted
        return tuple(
            FalseClaim(field=each.statement.field, text=each.statement.text, reason=each.reason)
            for each in entries
        )

    @property
    def measured(self) -> tuple[str, ...]:
        """What was measured, in a few lines for the next agent."""
        return () if self.evidence is None else measured_lines(self.evidence)

    @property
    def evidence_record(self) -> Mapping[str, Any] | None:
        """What was measured, as it is kept."""
        return None if self.evidence is None else evidence_as_dict(self.evidence)

    @property
    def ledger_record(self) -> Mapping[str, Any] | None:
        """The ledger as it is kept, with the corrections that the next agent is given."""
        if self.ledger is None:
            return None
        facts: dict[str, Any] = ledger_as_dict(self.ledger, self.source)
        spans = {name: [span.start, span.end] for name, span in list(self.spans.items())[:_MOST_SPANS]}
        return {**facts, "corrections": list(self.corrections), "spans": spans}


def _describe_weakened(test: WeakenedTest) -> str:
    """`test_even in test_stats.py:9 proves less than before: Skipped now; it failed before.`"""
    line = f":{test.line}" if test.line else ""
    where = f" in {one_line(test.path)}{line}" if test.path else ""
    name = one_line(test.test or test.way)
    return f"{name}{where} proves less than before: {one_line(test.reason).rstrip('.')}."


def judge(
    extraction: Extraction,
    observed: Observed,
    *,
    source: str,
    passed_over: Collection[str] = (),
) -> Ledger:
    """The ledger of a handoff: the one place that verifies claims.

    `passed_over` are changed files that need no mention.
    """
    return verify_claims(
        extraction,
        observed.evidence,
        source=source,
        sources=observed.sources,
        passed_over=passed_over,
    )


async def review_extraction(
    extraction: Extraction,
    observed: Observed | None,
    *,
    source: str,
    notation: str,
    reading: HandoffReading | None = None,
) -> ReviewedHandoff:
    """A handoff with its problems of form, and its claims verified.

    `source` is the text that it was read from: what it says is verified, too, if no handoff is in it.
    """
    handoff, ledger = extraction.handoff, None
    problems = check_handoff(handoff) if handoff is not None else []
    if observed is not None:
        if handoff is not None:
            problems += check_against_evidence(handoff, observed.evidence)
        ledger = await asyncio.to_thread(judge, extraction, observed, source=source)
    return ReviewedHandoff(
        handoff=handoff,
        notation=notation,
        source=source,
        problems=tuple(problems),
        ledger=ledger,
        evidence=None if observed is None else observed.evidence,
        spans=extraction.spans,
        reading=reading or reading_of(extraction, is_submitted=notation == SUBMITTED),
    )


class HandoffReviewer:
    """Reviews what an agent left."""

    def __init__(
        self,
        *,
        workspaces: Workspaces,
        views: Views,
        run_check: RunCheck,
        extract: Extract = extract_reply,
    ) -> None:
        self.workspaces = workspaces
        self.extract = extract
        """How the handoff in a reply is read."""
        self._views = views
        self.run_check = run_check

    async def review(  # what is reviewed, and what it is held against
        self,
        pipeline: Pipeline,
        step: Step,
        session: Session,
        reply: str,
        submitted: ToolSubmissions,
        able: Capabilities,
    ) -> ReviewedHandoff:
        """Read the handoff of a step, check its form, and verify its claims."""
        source, _ = redact(reply)
        extraction, notation = await asyncio.to_thread(read_handoff, submitted, source, self.extract)
        observed = await self.measure(pipeline, step, session, able)
        return await review_extraction(extraction, observed, source=source, notation=notation)

    async def measure(
        self, pipeline: Pipeline, step: Step, session: Session, able: Capabilities
    ) -> Observed | None:
        """What changed since the step began, with its checks run; none outside of git."""
        found = await self.observe(pipeline.workspace, step.base_mark, session, able)
        return None if found is None else await self._with_checks(pipeline, step, found)

    async def files_changed(self, pipeline: Pipeline, until: str | None) -> FilesChanged | None:
        """What the steps of a run changed, up to a commit or up to now; none outside of git."""
        first = next((step.base_mark for step in pipeline.steps if step.base_mark), None)
        if pipeline.workspace is None or first is None:
            return None
        return await self.workspaces.count_changes(pipeline.workspace, first, until)

    async def observe(
        self, workspace: Workspace | None, since: str | None, session: Session, able: Capabilities
    ) -> Observed | None:
        """What changed since a mark, and what agents ran: those of the session's step, or it alone.

        None outside of git; no check is run. Even where the back end tells every tool call, a log is whole
        only if one session did all of the step, for of one that was lost the last calls may be missing; and
        only if it was kept from its beginning, which older versions did not do outside of pipelines.
        """
        if workspace is None:
            return None
        found = await self.workspaces.observe(workspace, since)
        if found is None or not able.tool_log:
            return found
        activity = await self._activity(session)
        is_kept = session.token is not None and all(each.session_id == session.id for each in activity)
        commands = tuple(commands_of(activity))
        last_tests = last_test_run(commands)
        evidence = replace(
            found.evidence,
            commands=commands,
            is_log_whole=able.whole_log and is_kept and shows_every_command(activity),
            tests=() if last_tests is None else (last_tests,),
        )
        return replace(found, evidence=evidence)

    async def _activity(self, session: Session) -> Sequence[Activity]:
        if session.step_id is None:
            return await self._views.activity_of(session.id)
        return await self._views.activity_in_step(session.step_id)

    async def last_words(self, session: Session) -> str:
        """What the agent said last."""
        said = [a for a in await self._views.activity_of(session.id) if a.kind is ActivityKind.SAID]
        return "".join(str(each.payload["text"]) for each in said)

    async def has_worked(self, session: Session) -> bool:
        """True if the agent has said or done anything."""
        return bool(await self._views.activity_of(session.id))

    async def commands(self, session: Session) -> Sequence[CommandRun]:
        """What the agent ran."""
        return commands_of(await self._views.activity_of(session.id))

    async def _with_checks(self, pipeline: Pipeline, step: Step, observed: Observed) -> Observed:
        """With the checks of the step run; what they count takes the place of the agent's own runs."""
        assert pipeline.workspace is not None
        folder = pipeline.workspace.path
        commands = pipeline.plan.template.checks_of(step.order_index)
        checked = [await self.run_check(folder, step.base_mark, command) for command in commands]
        return await asyncio.to_thread(with_tests, observed, checked, task_of(pipeline, step))


def task_of(pipeline: Pipeline, step: Step) -> str:
    """What the agent of a step was asked to do."""
    return "\n\n".join(part for part in (pipeline.prompt.strip(), step.description.strip()) if part)
