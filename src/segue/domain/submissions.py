"""Which handoff counts: the one that the agent submitted through a tool, or the one in its reply.

A submission belongs to the message that the agent worked on. An accepted one wins over the reply. One that
was refused and never repaired is kept all the same: it stands in where the reply holds no handoff but prose,
with its problems, so that no work is lost. Blockers count for the whole session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from segue.domain.handoff import Extraction, Handoff, Notation
from segue.domain.handoff.checking.submitted import add_blockers
from segue.domain.handoff.custom_notation import Extract
from segue.domain.handoff.extract import extract_reply
from segue.domain.handoff.model import Blocker
from segue.domain.session import Submission, SubmissionKind

_WEAK = frozenset({Notation.REPLY, Notation.NONE})
SUBMITTED = "submitted"
"""The notation of a handoff that came through a tool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSubmissions:
    """What an agent gave through tools by now, as it counts for one message."""

    accepted: Handoff | None = None
    """Its newest handoff that passed."""
    refused: Handoff | None = None
    """Its newest handoff that did not."""
    blockers: tuple[Blocker, ...] = ()

    @property
    def handoff(self) -> Handoff | None:
        """What it gave, accepted or not."""
        return self.accepted if self.accepted is not None else self.refused


def submitted_for(submissions: Sequence[Submission], message_id: int | None) -> ToolSubmissions:
    """What counts for a message, of all that was given in its session."""
    own = [each for each in submissions if each.message_id == message_id]
    handoffs = [each for each in own if each.kind is SubmissionKind.HANDOFF]
    return ToolSubmissions(
        accepted=_newest([each for each in handoffs if each.is_accepted]),
        refused=_newest([each for each in handoffs if not each.is_accepted]),
        blockers=reported_blockers(submissions),
    )


def reported_blockers(submissions: Sequence[Submission]) -> tuple[Blocker, ...]:
    """What the agent said stops it; the newest words about each."""
    said = [each.record for each in submissions if each.kind is SubmissionKind.BLOCKER]
    newest = {each["blocker"]: each for each in said}
    return tuple(Handoff.model_validate({"blockers": list(newest.values())}).blockers)


def read_handoff(
    submitted: ToolSubmissions, reply: str, extract: Extract = extract_reply
) -> tuple[Extraction, str]:
    """The handoff that counts, and how it came: `submitted`, or its notation in the reply."""
    extraction, notation = _read_without_blockers(submitted, extract(reply))
    if submitted.blockers:
        handoff = add_blockers(extraction.handoff or Handoff(), submitted.blockers)
        extraction = replace(extraction, handoff=handoff)
    return extraction, notation


def _read_without_blockers(submitted: ToolSubmissions, extraction: Extraction) -> tuple[Extraction, str]:
    is_weak = submitted.refused is not None and extraction.notation in _WEAK
    if submitted.accepted is not None or is_weak:
        return Extraction(handoff=submitted.handoff, notation=extraction.notation), SUBMITTED
    return extraction, extraction.notation


def _newest(submissions: Sequence[Submission]) -> Handoff | None:
    return Handoff.model_validate(submissions[-1].record) if submissions else None
