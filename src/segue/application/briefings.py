"""What the agent of a step is given, rendered from saved records alone: the same again on a resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segue.application.ports import SavedHandoff, UnitOfWork
from segue.domain.briefing import Predecessor, brief
from segue.domain.briefing.fencing import fenced, neutralise
from segue.domain.briefing.marking import false_claims
from segue.domain.briefing.measured import measured_lines
from segue.domain.evidence.record import evidence_from_json
from segue.domain.handoff import Handoff, OutputNotation
from segue.domain.pipeline import Agent, Attempt, AttemptStatus, Pipeline, Step

_CUT_OFF_HEADING = "\n## An earlier attempt was cut off\n"
_CUT_OFF = (
    _CUT_OFF_HEADING
    + """

Attempt {number} at this step ended before it could hand off: {error}. It may have left unfinished work in
the working directory. Look at what is there before you begin, and go on from it.
"""
)


_HANDED_OVER = """
## This step is under way

You go on with it: session {session} worked on it until its limit, and handed over to you. Do not begin anew.
In your own handoff tell of the whole step: what was done before you counts, too.

"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Briefer:
    """Renders briefings the way the settings want them."""

    counter_for: Callable[[str | None], Callable[[str], int]]
    """Model -> how its tokens are counted."""
    budget: int | None = None
    """Tokens that a briefing may have; none for no limit."""
    notation: OutputNotation = OutputNotation.YAML
    """How agents are asked to hand off; whatever they write is read all the same."""

    async def render(self, work: UnitOfWork, pipeline: Pipeline, step: Step, *, tools: bool = False) -> str:
        """The briefing of a step, after the standing orders of its agent: all that the agent is given.

        With `tools`, the agent has Segue's own tools, and is told to hand off through them.
        """
        earlier = [s for s in pipeline.steps if s.order_index < step.order_index]
        saved = await work.handoffs.latest_of_steps([s.id for s in earlier])
        predecessors = [
            _predecessor(s, found)
            for s in earlier
            # A raw reply is long: it stands in only where the step just before left no record.
            if (found := saved.get(s.id)) and (found.metadata_json or s is earlier[-1])
        ]
        orders = pipeline.plan.agents[step.agent_name].system_prompt_additions.strip()
        text = brief(
            prompt=pipeline.prompt,
            agent_name=step.agent_name,
            job=step.description,
            predecessors=predecessors,
            budget=self.budget,
            count_tokens=self.counter_for(step.model),
            notation=self.notation,
            tools=tools,
            measured=_measured(earlier, saved),
            corrections=[line for s in earlier for line in _corrections(saved.get(s.id))],
        ).text
        return f"{orders}\n\n{text}" if orders else text

    async def carry_over(self, work: UnitOfWork, earlier: tuple[Attempt, Agent]) -> str:
        """What a new attempt is told of the one before it: its handoff, or what git and its log show."""
        attempt, agent = earlier
        saved = (await work.handoffs.latest_of_steps([attempt.step_id])).get(attempt.step_id)
        # What was handed over to a session that is gone without a handoff of its own still counts.
        before = attempt.carry_over.partition(_CUT_OFF_HEADING)[0]
        if attempt.status is AttemptStatus.HANDED_OVER:
            handed = _HANDED_OVER.format(session=agent.id)
            if saved is None or saved.is_synthetic:
                handed = before + handed
            return handed + (saved.injection_prompt or "" if saved is not None else "")
        left = (
            f"\n{fenced(neutralise(saved.content_md))}\n" if saved is not None and saved.is_synthetic else ""
        )
        why = (attempt.error or "no reason is known").rstrip(".")
        return before + _CUT_OFF.format(number=attempt.number, error=why) + left


def _measured(earlier: Sequence[Step], saved: Mapping[int, SavedHandoff]) -> list[str]:
    """All lines about the step just before, and the first, about files, of those before it."""
    lines: list[str] = []
    for step in earlier:
        found = saved.get(step.id)
        evidence = evidence_from_json(found.evidence_json) if found is not None else None
        if evidence is not None:
            about = measured_lines(evidence)
            lines += [f"{step.agent_name}: {line}" for line in (about if step is earlier[-1] else about[:1])]
    return lines


def _ledger(saved: SavedHandoff) -> Mapping[str, Any]:
    return json.loads(saved.ledger_json) if saved.ledger_json else {}


def _corrections(saved: SavedHandoff | None) -> list[str]:
    """What verification found to be otherwise."""
    return [] if saved is None else [str(line) for line in _ledger(saved).get("corrections", [])]


def _predecessor(step: Step, saved: SavedHandoff) -> Predecessor:
    record = Handoff.model_validate_json(saved.metadata_json) if saved.metadata_json else None
    return Predecessor(
        agent_name=step.agent_name,
        handoff=record,
        reply=saved.content_md,
        false=false_claims(_ledger(saved)),
    )
