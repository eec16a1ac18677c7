"""The X-ray of a handoff document: what `segue handoff verify` has found, and what would be handed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from segue.application.handoffs.review import ReviewedHandoff
from segue.domain.briefing import Predecessor, brief
from segue.domain.claims import Ledger, ledger_as_dict
from segue.domain.evidence.record import evidence_as_dict
from segue.domain.evidence.sources import Observed
from segue.domain.handoff import Extraction, Problem
from segue.interfaces.xray.briefings import SentBriefing, briefing_of, found_in
from segue.interfaces.xray.evidence import EvidenceBlocks, describe_scope
from segue.interfaces.xray.hunks import hunks_observed
from segue.interfaces.xray.model import HandoffXray
from segue.interfaces.xray.text import shown
from segue.interfaces.xray.versions import Reviewed, versions_of

_NO_TASK = "The task is the one that the handoff below speaks of."
_JOB = "Continue the work."
_NOT_SENT = (
    "Nobody was given this yet: it is what the next agent of a pipeline would be given, without a budget."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedDocument:
    """A handoff document, and what became of its claims."""

    name: str
    text: str
    task: str | None
    """What the agent was asked to do, if that was said."""
    extraction: Extraction
    ledger: Ledger
    observed: Observed
    """What it was compared with, without the document itself."""
    problems: Sequence[Problem]


def xray_of_document(document: VerifiedDocument, count_tokens: Callable[[str], int]) -> HandoffXray:
    """The words, the verdicts and the evidence, and what the next agent would be given."""
    facts = evidence_as_dict(document.observed.evidence)
    ledger = ledger_as_dict(document.ledger, document.text)
    blocks = EvidenceBlocks(facts, hunks_observed(document.observed))
    record = document.extraction.handoff
    reviewed = Reviewed(
        label="As written",
        source=document.text,
        ledger=ledger,
        record=None if record is None else record.model_dump(mode="json", exclude_defaults=True),
        spans=document.extraction.spans,
    )
    briefing = briefing_of(_would_be_sent(document, count_tokens))
    version = found_in(versions_of([reviewed], blocks)[0], briefing, _WRITER)
    referred = [ref.evidence for each in version.statements for ref in each.references]
    return HandoffXray(
        number=None,
        writer=shown(document.name),
        reader="next agent",
        facts=(),
        versions=(version,),
        evidence=blocks.kept(referred),
        looked_at=describe_scope(facts),
        problems=tuple(shown(f"{each.code}: {each.message}; {each.hint}") for each in document.problems),
        briefing=briefing,
        no_briefing="",
    )


_WRITER = "previous agent"


def _would_be_sent(document: VerifiedDocument, count_tokens: Callable[[str], int]) -> SentBriefing:
    reviewed = ReviewedHandoff(
        handoff=document.extraction.handoff,
        notation=document.extraction.notation,
        source=document.text,
        problems=(),
        ledger=document.ledger,
        evidence=document.observed.evidence,
    )
    predecessor = Predecessor(
        agent_name=_WRITER, handoff=reviewed.handoff, reply=document.text, false=reviewed.false
    )
    briefing = brief(
        prompt=document.task or _NO_TASK,
        agent_name="next agent",
        job=_JOB,
        predecessors=[predecessor],
        corrections=reviewed.corrections,
        measured=reviewed.measured,
        count_tokens=count_tokens,
    )
    return SentBriefing(
        text=briefing.text,
        reader="next agent",
        is_sent=False,
        sha256=None,
        left_out=briefing.left_out,
        note=_NOT_SENT,
    )
