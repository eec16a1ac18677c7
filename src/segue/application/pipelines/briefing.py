"""What the agent of a step is given, rendered from saved records alone: the same again on a resume."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from segue.application.pipelines.run import EarlierStep, LeasedRun
from segue.domain.asking import HandoffReading
from segue.domain.briefing import Briefing, Predecessor, brief
from segue.domain.briefing.corrections import false_claims
from segue.domain.briefing.instructions import AskedNotation
from segue.domain.briefing.measured import measured_lines
from segue.domain.briefing.sent_back import human_decisions
from segue.domain.evidence.record import evidence_from_dict
from segue.domain.handoff import OutputNotation
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Step

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True, slots=True)
class BriefingRenderer:
    """Renders briefings the way the settings want them."""

    counter_for: Callable[[str | None], Callable[[str], int]]
    """Model -> how its tokens are counted."""
    budget: int | None = None
    """Tokens that a briefing may have; none for no limit."""
    notation: AskedNotation = OutputNotation.YAML
    """How agents are asked to hand off; whatever they write is read all the same."""

    def render(self, run: LeasedRun, step: Step, *, tools: bool = False) -> Briefing:
        """The briefing of a step, after the standing orders of its agent: all that the agent is given.

        With `tools`, the agent has Segue's own tools, and is told to hand off through them.
        """
        pipeline = run.pipeline
        # A step that is done once more is also given its own last handoff, and why it was sent back.
        steps = [s for s in pipeline.steps if s.order_index < step.order_index or step.round > 1]
        earlier = [_earlier(run, s, found) for s in steps if (found := run.handoffs.get(s.id))]
        orders = pipeline.plan.agents[step.agent_name].system_prompt_additions.strip()
        briefing = brief(
            prompt=pipeline.prompt,
            agent_name=step.agent_name,
            job=step.description,
            predecessors=[each.predecessor for each in earlier],
            budget=self.budget,
            count_tokens=self.counter_for(step.model),
            notation=self.notation,
            tools=tools,
            # All lines about the step just before, and the first, about files, of those before it.
            measured=[
                line
                for each in earlier
                for line in (each.measured if each.record.step_id == steps[-1].id else each.measured[:1])
            ],
            human_decisions=human_decisions(pipeline, run.decided),
            corrections=list(dict.fromkeys(line for each in earlier for line in each.corrections)),
            older=run.older,
        )
        if briefing.over_budget:
            log.warning(
                "briefing_over_budget",
                pipeline=pipeline.id,
                step=step.id,
                budget=self.budget,
                tokens=briefing.tokens,
            )
        return replace(briefing, text=f"{orders}\n\n{briefing.text}") if orders else briefing


def _earlier(run: LeasedRun, step: Step, saved: HandoffRecord) -> EarlierStep:
    """What briefings say of a step, read from its record unless that was done before."""
    known = run.earlier.get(step.id)
    if known is None or known.record is not saved:
        known = run.earlier[step.id] = EarlierStep(
            record=saved,
            predecessor=_predecessor(step, saved),
            measured=_measured(step, saved),
            corrections=_corrections(saved),
        )
    return known


def _measured(step: Step, saved: HandoffRecord) -> list[str]:
    if saved.evidence is None:
        return []
    return [f"{step.agent_name}: {line}" for line in measured_lines(evidence_from_dict(saved.evidence))]


def _corrections(saved: HandoffRecord) -> list[str]:
    if saved.ledger is None:
        return []
    return [str(line) for line in saved.ledger.get("corrections", [])]


def _predecessor(step: Step, saved: HandoffRecord) -> Predecessor:
    reading = saved.reading or HandoffReading()
    return Predecessor(
        agent_name=step.name or step.agent_name,
        handoff=saved.handoff,
        reply=saved.content_md,
        coverage=reading.coverage,
        places=reading.places,
        false=false_claims(saved.ledger),
    )
