"""Handing over: a session is asked for its handoff, which is reviewed and repaired at most once, and kept.

The same for a session of a step and for one that a person holds. What was asked before a crash is not asked
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from segue.application.conversations.transactions import read_submitted
from segue.application.handoffs.review import ReviewedHandoff, review_extraction
from segue.application.ports.store import Store
from segue.domain.briefing.corrections import mark_handoff
from segue.domain.briefing.handover_prompt import injection, problems_that_count, question, repair_question
from segue.domain.errors import BackendError
from segue.domain.evidence.sources import Observed
from segue.domain.handoff import Handoff, Origin, OutputNotation, extract_handoff, redact, render_handoff
from segue.domain.handoff.checking.submitted import add_blockers
from segue.domain.handoff.document import Document
from segue.domain.handoff.model import Blocker
from segue.domain.handoff_record import HandoffRecord
from segue.domain.session import HandoffReason, MessageKind, Session, SessionMessage, stalled_after

Ask = Callable[[MessageKind, str], Awaitable[str]]
"""Asks the session something; gives the reply to this very question."""
Look = Callable[[], Awaitable[Observed | None]]
"""What the session has changed; none where nothing can be seen."""


class NoHandoff(BackendError):
    """The session wrote none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A handoff that a session wrote, and what it was compared with."""

    reviewed: ReviewedHandoff
    observed: Observed | None
    text: str
    """The record, in the notation that is stored."""

    @property
    def handoff(self) -> Handoff:
        """The record: a draft has one."""
        assert self.reviewed.handoff is not None
        return self.reviewed.handoff

    @property
    def has_changes(self) -> bool:
        """True if files were changed since the session began."""
        return self.observed is not None and bool(self.observed.evidence.changes)

    @property
    def findings(self) -> tuple[str, ...]:
        """What is false in it, a line each: to be told while it can still be edited."""
        return self.reviewed.refuted


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftBehind:
    """What a session leaves to its successor."""

    text: str
    handoff: Handoff
    ledger: Mapping[str, Any] | None
    evidence: Mapping[str, Any] | None
    is_synthetic: bool = False
    injection: str = field(repr=False)


async def draft(
    ask: Ask,
    look: Look,
    *,
    focus: str = "",
    on_repair: Callable[[], None] = lambda: None,
) -> Draft:
    """Ask for a handoff; a bad one, or one with false claims, may be repaired once. `NoHandoff` if none."""
    reply = await ask(MessageKind.HANDOFF_REQUEST, question(focus))
    if not reply.strip():
        raise NoHandoff("its reply was empty, so there is nothing to hand off")
    observed = await look()
    reviewed = await _review(reply, observed)
    if _is_bad(reviewed) or reviewed.refuted:
        on_repair()
        repaired = await _repair(ask, reviewed)
        if repaired is not None:
            observed = await look()
            reviewed = await _review(repaired, observed)
    if reviewed.handoff is None:
        raise NoHandoff("no handoff could be found in its reply, also after it was asked to repair it")
    return draft_of(reviewed, observed)


def draft_of(reviewed: ReviewedHandoff, observed: Observed | None) -> Draft:
    """A reviewed handoff as a draft."""
    assert reviewed.handoff is not None
    return Draft(
        reviewed=reviewed, observed=observed, text=render_handoff(reviewed.handoff, OutputNotation.YAML)
    )


async def edited(made: Draft, text: str) -> Draft | None:
    """The draft as a person wants it, reviewed again; none if no handoff is in the text."""
    if text == made.text:
        return made
    reviewed = await _review(text, made.observed)
    return draft_of(reviewed, made.observed) if reviewed.handoff is not None else None


async def answer_of(store: Store, message: SessionMessage) -> str:
    """What a session answered: the handoff that it gave through a tool wins over its words."""
    given = await store.read(lambda rows: read_submitted(rows, message.session_id, message.id))
    if given.accepted is None:
        return message.reply or ""
    return render_handoff(given.accepted, OutputNotation.YAML)


async def blockers_of(store: Store, session: Session) -> Sequence[Blocker]:
    """What the agent of a session reported to stop it."""
    return (await store.read(lambda rows: read_submitted(rows, session.id, None))).blockers


def left_of(made: Draft, blockers: Sequence[Blocker] = (), *, focus: str = "") -> LeftBehind:
    """What a draft leaves to the successor, with what was reported to stop the work."""
    handoff = add_blockers(made.handoff, blockers) if blockers else made.handoff
    return LeftBehind(
        text=render_handoff(handoff, OutputNotation.YAML),
        handoff=handoff,
        ledger=made.reviewed.ledger_record,
        evidence=made.reviewed.evidence_record,
        injection=injection(
            render_handoff(mark_handoff(handoff, made.reviewed.false), OutputNotation.YAML),
            made.reviewed.corrections,
            measured=made.reviewed.measured,
            focus=focus,
        ),
    )


def stalled_by(before: HandoffRecord | None, handoff: Handoff, *, has_changes: bool) -> int:
    """How many handoffs in a row brought nothing new, this one included; `before` came before it."""
    return stalled_after(
        before.stalled if before is not None else 0,
        has_changes=has_changes,
        is_same=before is not None and before.handoff == handoff,
    )


def record_of(session: Session, left: LeftBehind, reason: HandoffReason, at: datetime) -> HandoffRecord:
    """The handoff as it will be saved."""
    return HandoffRecord(
        session_id=session.id,
        step_id=session.step_id,
        reason=reason,
        content_md=left.text,
        handoff=left.handoff,
        ledger=left.ledger,
        evidence=left.evidence,
        is_synthetic=left.is_synthetic,
        injection_prompt=left.injection,
        created_at=at,
    )


def document_of(session: Session, record: HandoffRecord) -> Document:
    """The same for people, as a file."""
    return Document(
        agent=session.name,
        session=session.id,
        parent=session.parent_id,
        reason=record.reason,
        created_at=record.created_at,
        text=record.content_md,
    )


async def _review(text: str, observed: Observed | None) -> ReviewedHandoff:
    """Read a handoff, check its form, and verify its claims."""
    source, _ = redact(text)
    extraction = await asyncio.to_thread(extract_handoff, source, origin=Origin.REPLY)
    return await review_extraction(extraction, observed, source=source, notation=extraction.notation)


async def _repair(ask: Ask, reviewed: ReviewedHandoff) -> str | None:
    """One more try; none if it brought nothing better than what was there."""
    if reviewed.handoff is None:
        return await ask(MessageKind.REPAIR, repair_question((), ()))
    try:
        repaired = await ask(MessageKind.REPAIR, repair_question(reviewed.problems, reviewed.refuted))
    except BackendError:
        return None  # what it had written is still the best there is
    found = (await asyncio.to_thread(extract_handoff, repaired, origin=Origin.REPLY)).handoff
    return repaired if found is not None else None


def _is_bad(reviewed: ReviewedHandoff) -> bool:
    return reviewed.handoff is None or bool(problems_that_count(reviewed.problems))
