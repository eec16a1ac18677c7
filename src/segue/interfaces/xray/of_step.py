"""The X-ray of a step's handoff, from what is saved of the step and of the one after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.application.views import AttemptView, HandoffView, PipelineDetail, StepDetail
from segue.domain.amounts import describe_time
from segue.domain.handoff import Span, redact
from segue.domain.session import MessageKind
from segue.interfaces.xray.briefings import SentBriefing, briefing_of, found_in
from segue.interfaces.xray.evidence import EvidenceBlocks, describe_scope
from segue.interfaces.xray.hunks import Hunks
from segue.interfaces.xray.model import HandoffXray, NextBriefing
from segue.interfaces.xray.text import shown
from segue.interfaces.xray.versions import Reviewed, versions_of

_SYNTHETIC = "Segue wrote this: the agent ended before it could hand off."
_SUBMITTED = "The agent submitted this record through a tool; its words are those of its reply."


def xray_of_step(
    step: StepDetail, after: StepDetail | None, hunks: Hunks | None, *, no_hunks: str = ""
) -> HandoffXray:
    """What a step handed off, and what the step after it was given; the step must have left a handoff.

    `hunks` are the lines that it changed; without them, `no_hunks` says why.
    """
    handoff = step.latest_handoff
    assert handoff is not None
    blocks = EvidenceBlocks(handoff.evidence or {}, hunks, no_hunks)
    versions = versions_of(_reviews(step, handoff), blocks)
    briefing = _briefing(after)
    if briefing is not None:
        versions = (*versions[:-1], found_in(versions[-1], briefing, step.agent_name))
    referred = [ref.evidence for each in versions[-1].statements for ref in each.references]
    return HandoffXray(
        number=step.order_index + 1,
        writer=shown(step.agent_name),
        reader="" if after is None else shown(after.agent_name),
        facts=tuple(_facts(step)),
        versions=versions,
        evidence=blocks.kept(referred),
        looked_at=describe_scope(handoff.evidence),
        problems=(),
        briefing=briefing,
        no_briefing="" if briefing is not None else _why_no_briefing(after),
    )


def title_of(pipeline: PipelineDetail) -> str:
    """The title of a run; without one, the first line of its prompt."""
    first = pipeline.title.strip() or pipeline.prompt.strip().partition("\n")[0]
    return " ".join(shown(first).split())


def _reviews(step: StepDetail, handoff: HandoffView) -> list[Reviewed]:
    """What was reviewed, one after the other: each reply with the ledger that refused it, then the last."""
    earlier = _refused(step.attempts[-1], handoff.content_md) if step.attempts else []
    ledger = handoff.ledger
    spans = {name: Span(*span) for name, span in (ledger or {}).get("spans", {}).items()}
    note = _SYNTHETIC if handoff.is_synthetic else ""
    if not note and handoff.metadata and ledger and not spans and any(map(_is_typed, ledger["entries"])):
        note = _SUBMITTED
    last = Reviewed(
        label=_label(len(earlier)),
        source=handoff.content_md,
        ledger=ledger,
        record=handoff.metadata,
        spans=spans,
        note=note,
    )
    return [*earlier, last]


def _is_typed(entry: Mapping[str, Any]) -> bool:
    return bool(entry["field"]) and entry["span"] is None


def _refused(attempt: AttemptView, content: str) -> list[Reviewed]:
    """The replies that were sent back for repair, before the one that counts."""
    repairs = [each for each in attempt.repairs if each.kind is MessageKind.REPAIR]
    replies = [redact(each or "")[0] for each in (attempt.reply, *(repair.reply for repair in repairs))]
    # A repair of which nothing came leaves the version before it standing.
    counts = next((at for at in range(len(repairs), -1, -1) if replies[at] == content), len(repairs))
    return [
        Reviewed(
            label=_label(at),
            source=replies[at],
            ledger=repair.ledger,
            record=None,
            spans={},
            note="Sent back: the next agent never saw this version.",
        )
        for at, repair in enumerate(repairs[:counts])
    ]


def _label(at: int) -> str:
    return f"Repair {at}" if at else "As written"


def _facts(step: StepDetail) -> list[str]:
    facts = [] if step.backend is None else [step.backend]
    if step.model:
        facts.append(step.model)
    if step.attempts:
        facts.append(f"session {step.attempts[-1].session}")
    if len(step.attempts) > 1:
        facts.append(f"attempt {step.attempts[-1].number}")
    if step.started_at is not None and step.finished_at is not None:
        facts.append(describe_time((step.finished_at - step.started_at).total_seconds()))
    return [shown(each) for each in facts]


def _briefing(after: StepDetail | None) -> NextBriefing | None:
    """What the first attempt at the next step was given: a later one is told of the attempts before, too."""
    if after is None or not after.attempts:
        return None
    attempt = after.attempts[0]
    return briefing_of(
        SentBriefing(
            text=attempt.text,
            reader=after.agent_name,
            is_sent=attempt.briefing_sha256 is not None,
            sha256=attempt.briefing_sha256,
            left_out=attempt.left_out,
        )
    )


def _why_no_briefing(after: StepDetail | None) -> str:
    if after is None:
        return "This was the last step of the run: no agent reads on."
    return f"The {shown(after.agent_name)} has not been given anything yet."
