"""What the agent of a step is given, rendered from saved records alone: the same again on a resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from segue.application.pipelines.run import LeasedRun
from segue.domain.asking import reading_from_json
from segue.domain.briefing import Briefing, Predecessor, brief
from segue.domain.briefing.corrections import false_claims
from segue.domain.briefing.instructions import AskedNotation
from segue.domain.briefing.measured import measured_lines
from segue.domain.evidence.record import evidence_from_json
from segue.domain.handoff import Handoff, OutputNotation
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
        pipeline, saved = run.pipeline, run.handoffs
        earlier = [s for s in pipeline.steps if s.order_index < step.order_index]
        predecessors = [_predecessor(s, found) for s in earlier if (found := saved.get(s.id))]
        orders = pipeline.plan.agents[step.agent_name].system_prompt_additions.strip()
        briefing = brief(
            prompt=pipeline.prompt,
            agent_name=step.agent_name,
            job=step.description,
            predecessors=predecessors,
            budget=self.budget,
            count_tokens=self.counter_for(step.model),
            notation=self.notation,
            tools=tools,
            measured=_measured(earlier, saved),
            corrections=list(dict.fromkeys(line for s in earlier for line in _corrections(saved.get(s.id)))),
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


def _measured(earlier: Sequence[Step], saved: Mapping[int, HandoffRecord]) -> list[str]:
    """All lines about the step just before, and the first, about files, of those before it."""
    lines: list[str] = []
    for step in earlier:
        found = saved.get(step.id)
        evidence = evidence_from_json(found.evidence_json) if found is not None else None
        if evidence is not None:
            about = measured_lines(evidence)
            lines += [f"{step.agent_name}: {line}" for line in (about if step is earlier[-1] else about[:1])]
    return lines


def _ledger(saved: HandoffRecord) -> Mapping[str, Any]:
    return json.loads(saved.ledger_json) if saved.ledger_json else {}


def _corrections(saved: HandoffRecord | None) -> list[str]:
    """What verification found to be otherwise."""
    return [] if saved is None else [str(line) for line in _ledger(saved).get("corrections", [])]


def _predecessor(step: Step, saved: HandoffRecord) -> Predecessor:
    record = Handoff.model_validate_json(saved.metadata_json) if saved.metadata_json else None
    reading = reading_from_json(saved.reading_json)
    return Predecessor(
        agent_name=step.agent_name,
        handoff=record,
        reply=saved.content_md,
        coverage=reading.coverage,
        places=reading.places,
        false=false_claims(_ledger(saved)),
    )
