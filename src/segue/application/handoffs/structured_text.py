"""Structuring a text of any origin with the help of an agent: nothing is stored, nothing is added."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from segue.application.handoffs.writer_questions import ask_in_folder
from segue.application.ports.backend import AgentBackend, Message, SessionRequest
from segue.domain.asking import HandoffReading, Missing, complete, reading_of, what_is_missing
from segue.domain.briefing.repair_prompt import question_for
from segue.domain.handoff import Extraction, Origin, OutputNotation, extract_handoff
from segue.domain.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class StructuredText:
    """A text as a record."""

    extraction: Extraction
    """The record, and where the text says each item; no handoff if nothing could be told from it."""
    reading: HandoffReading
    """How much of the text it holds, and what the agent gave."""
    usage: Usage | None
    """What the agent has used; none if it was not asked, or its back end does not say."""
    was_asked: bool


async def structure_text(
    text: str, backend: AgentBackend, request: SessionRequest, *, seconds: float
) -> StructuredText:
    """What rules read in a text, and what an agent adds to it; it is asked only if something is missing."""
    extraction = await asyncio.to_thread(extract_handoff, text, origin=Origin.REPLY)
    reading = reading_of(extraction)
    missing = what_is_missing(extraction.handoff, reading)
    if not missing:
        return StructuredText(extraction=extraction, reading=reading, usage=None, was_asked=False)
    # Rules alone may take too much for a handoff: the agent is asked for all of it.
    wide = Missing(handoff=missing.handoff, outcome=missing.outcome, statements=not missing.handoff)
    message = Message(id=request.key, text=question_for(wide, OutputNotation.YAML, reply=text))
    reply, usage = await ask_in_folder(backend, request, message, seconds=seconds)
    answer = (await asyncio.to_thread(extract_handoff, reply.text, origin=Origin.REPLY)).handoff
    done = complete(extraction, reading, answer, wide, text)
    return StructuredText(
        extraction=replace(extraction, handoff=done.handoff, spans=done.spans),
        reading=done.reading,
        usage=usage,
        was_asked=True,
    )
