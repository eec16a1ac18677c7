"""Synthetic handoffs: what Segue itself records for an agent that ended before it could hand off."""

from __future__ import annotations

from datetime import datetime

import structlog

from segue.application.handoffs.review import HandoffReviewer
from segue.application.ports.backend import Backends
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import Evidence
from segue.domain.evidence.record import evidence_as_dict
from segue.domain.handoff import Handoff, OutputNotation, redact, render_handoff
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline
from segue.domain.session import HandoffReason, Session
from segue.domain.synthetic import synthesize

log = structlog.get_logger()


class SyntheticHandoffs:
    """Writes handoffs of what git and the agent's log show. The session must have stopped."""

    def __init__(self, *, backends: Backends, reviewer: HandoffReviewer) -> None:
        self._backends = backends
        self._reviewer = reviewer

    async def write(
        self, pipeline: Pipeline, session: Session, reason: str
    ) -> tuple[Handoff, Evidence | None]:
        """What the agent of a step left, as git and its log show it."""
        assert session.step_id is not None  # sessions of steps only end here
        _, backend = self._backends.get(session.backend, session.name)
        since = pipeline.step(session.step_id).base_mark
        evidence: Evidence | None = None
        try:
            found = await self._reviewer.observe(pipeline.workspace, since, session, backend.capabilities)
            evidence = found.evidence if found is not None else None
        except RepositoryError as error:
            log.warning("no_evidence", pipeline=pipeline.id, error=str(error))
            reason = f"{reason} (what it changed could not be read: {error})"
        handoff = synthesize(
            reason=reason,
            evidence=evidence,
            commands=await self._reviewer.commands(session),
            last_words=redact(await self._reviewer.last_words(session))[0],
        )
        return handoff, evidence

    async def record(self, pipeline: Pipeline, session: Session, reason: str, at: datetime) -> HandoffRecord:
        """The same as a record that is to be saved, for the end of a step."""
        handoff, evidence = await self.write(pipeline, session, reason)
        return HandoffRecord(
            session_id=session.id,
            step_id=session.step_id,
            reason=HandoffReason.TASK_BOUNDARY,
            content_md=render_handoff(handoff, OutputNotation.YAML),
            handoff=handoff,
            evidence=evidence_as_dict(evidence) if evidence is not None else None,
            is_synthetic=True,
            created_at=at,
        )
