"""What REST and the command line both show of replies and handoffs between sessions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from segue.application.handoffs.outcomes import (
    Compacted,
    HandedOff,
    HandoffCancelled,
    HandoffFailed,
    Outcome,
)
from segue.application.sessions.model import Answer
from segue.domain.session import HandoffReason


class OutcomeView(BaseModel):
    """How a handoff ended."""

    outcome: Literal["handed_off", "compacted", "cancelled", "failed"]
    session_id: int
    successor_id: int | None = None
    handoff_id: int | None = None
    reason: HandoffReason | None = None
    document: str | None = Field(default=None, description="Where the document is.")
    text: str | None = Field(default=None, description="The handoff.")
    refuted: list[str] = Field(default_factory=list, description="Its false claims.")
    reply: str | None = Field(default=None, description="What the successor answered.")
    why: str | None = Field(default=None, description="Why it failed, or why the successor gave no answer.")


class AnswerView(BaseModel):
    """The reply, and where to continue."""

    session_id: int
    message_id: str
    reply: str
    handoffs: list[OutcomeView]


def outcome_view(outcome: Outcome) -> OutcomeView:
    """An outcome in the shape that is shown."""
    match outcome:
        case HandedOff():
            return OutcomeView(
                outcome="handed_off",
                session_id=outcome.session_id,
                successor_id=outcome.successor_id,
                handoff_id=outcome.handoff_id,
                reason=outcome.reason,
                document=outcome.document,
                text=outcome.text,
                refuted=list(outcome.refuted),
                reply=outcome.reply,
                why=outcome.problem,
            )
        case Compacted():
            return OutcomeView(outcome="compacted", session_id=outcome.session_id)
        case HandoffCancelled():
            return OutcomeView(outcome="cancelled", session_id=outcome.session_id)
        case HandoffFailed():
            return OutcomeView(
                outcome="failed",
                session_id=outcome.session_id,
                why=outcome.why,
                document=outcome.document,
            )


def answer_view(answer: Answer) -> AnswerView:
    """A reply in the shape that is shown."""
    return AnswerView(
        session_id=answer.session_id,
        message_id=answer.message_id,
        reply=answer.reply,
        handoffs=[outcome_view(each) for each in answer.handoffs],
    )
