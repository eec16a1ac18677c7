"""Verification: what a handoff says, held against what git, the agent's log and re-run commands show."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from segue.application.ports import Views
from segue.application.submissions import read_handoff
from segue.application.workspaces import Workspaces
from segue.domain.activity import Activity, ActivityKind
from segue.domain.handoff import Handoff, check_handoff, redact
from segue.domain.handoff.checking.lint import Problem
from segue.domain.ledger import Ledger, corrections_of, ledger_as_dict, verify_claims
from segue.domain.ledger.evidence import CommandRun, Evidence, RunBy
from segue.domain.permissions import Tool
from segue.domain.pipeline import Agent, Attempt, Pipeline, Step
from segue.domain.repairing import errors_of

_NO_OUTCOME = "H001"

RunCheck = Callable[[str, str], Awaitable[CommandRun]]
"""Runs a command in a folder: folder, command. Who stops waiting for it ends it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """A handoff after it was looked at."""

    handoff: Handoff | None
    notation: str
    source: str
    """The text that it was read from, without secrets."""
    problems: tuple[Problem, ...]
    ledger: Ledger | None
    """None if there is nothing to hold it against."""

    @property
    def is_bad(self) -> bool:
        """True if there is no handoff, or one that is unfit.

        That the outcome is missing is told to the next agent, but is not worth a turn of its own.
        """
        return self.handoff is None or any(p.code != _NO_OUTCOME for p in errors_of(self.problems))

    @property
    def refuted(self) -> tuple[str, ...]:
        """A line for each claim that is not so."""
        if self.ledger is None:
            return ()
        return corrections_of(replace(self.ledger, unmentioned=()))

    @property
    def corrections(self) -> tuple[str, ...]:
        """What the next agent is told: claims that are not so, and changes that nobody mentioned."""
        return corrections_of(self.ledger) if self.ledger is not None else ()

    @property
    def ledger_json(self) -> str | None:
        """The ledger with the corrections that the next agent is given."""
        if self.ledger is None:
            return None
        facts: dict[str, Any] = ledger_as_dict(self.ledger, self.source)
        return json.dumps({**facts, "corrections": list(self.corrections)})


class Verification:
    """Looks at what an agent left."""

    def __init__(self, *, workspaces: Workspaces, views: Views, run_check: RunCheck) -> None:
        self.workspaces = workspaces
        self._views = views
        self._run_check = run_check

    async def examine(
        self, pipeline: Pipeline, attempt: Attempt, agent: Agent, reply: str, *, knows_commands: bool
    ) -> Examined:
        """Read the handoff of an attempt, check its form, and verify its claims."""
        step = pipeline.step(attempt.step_id)
        source, _ = redact(reply)
        extraction, notation = await asyncio.to_thread(read_handoff, attempt, source)
        problems = check_handoff(extraction.handoff) if extraction.handoff else []
        evidence = await self.evidence(pipeline, step, agent, knows_commands=knows_commands)
        ledger = None
        if evidence is not None and extraction.handoff is not None:
            checked = await self._with_checks(pipeline, step, evidence)
            ledger = await asyncio.to_thread(verify_claims, extraction, checked, source=source)
        return Examined(
            handoff=extraction.handoff,
            notation=notation,
            source=source,
            problems=tuple(problems),
            ledger=ledger,
        )

    async def evidence(
        self, pipeline: Pipeline, step: Step, agent: Agent, *, knows_commands: bool
    ) -> Evidence | None:
        """What changed since the step began, and what its agent ran; none outside of git."""
        if pipeline.workspace is None:
            return None
        found = await self.workspaces.evidence(pipeline.workspace, step.base_mark)
        if found is None:
            return None
        commands = commands_of(await self._views.activity_of(agent.id)) if knows_commands else ()
        # Sub-agents and scripts run what no log shows, so that a command is missing there refutes nothing.
        return replace(found, commands=tuple(commands))

    async def last_words(self, agent: Agent) -> str:
        """What the agent said last."""
        said = [a for a in await self._views.activity_of(agent.id) if a.kind is ActivityKind.SAID]
        return "".join(str(each.payload["text"]) for each in said)

    async def has_worked(self, agent: Agent) -> bool:
        """True if the agent has said or done anything."""
        return bool(await self._views.activity_of(agent.id))

    async def commands(self, agent: Agent) -> Sequence[CommandRun]:
        """What the agent ran."""
        return commands_of(await self._views.activity_of(agent.id))

    async def _with_checks(self, pipeline: Pipeline, step: Step, evidence: Evidence) -> Evidence:
        assert pipeline.workspace is not None
        folder = pipeline.workspace.path
        commands = pipeline.plan.template.checks_of(step.order_index)
        runs = [await self._run_check(folder, command) for command in commands]
        return replace(evidence, checks=tuple(runs))


def commands_of(activity: Sequence[Activity]) -> list[CommandRun]:
    """The commands of a session's log that ended."""
    return [
        CommandRun(
            command=str(each.payload.get("target", "")),
            exit_code=each.payload.get("exit_code"),
            output=str(each.payload.get("output", "")),
            by=RunBy.AGENT,
            at=each.created_at,
        )
        for each in activity
        if each.kind is ActivityKind.TOOL_USED
        and each.payload.get("tool") == Tool.SHELL
        and each.payload.get("state") != "started"
    ]
