"""A session at work on a step: the conversation, and the run that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from segue.application.conversations.conversation import Conversation
from segue.domain.attempt import Attempt
from segue.domain.pipeline import Lease, Pipeline, Step
from segue.domain.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class StepWork:
    """An attempt that is under way."""

    lease: Lease
    pipeline: Pipeline
    step: Step
    attempt: Attempt
    talk: Conversation

    @property
    def session(self) -> Session:
        """The session as it stands."""
        return self.talk.session

    @property
    def where(self) -> dict[str, Any]:
        """Where entries of the audit trail belong."""
        return {"pipeline_id": self.pipeline.id, "step_id": self.step.id}
