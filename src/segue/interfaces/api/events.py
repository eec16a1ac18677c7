"""/events: what happens, as it happens, resumable from any event."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from segue.domain.audit import AuditEntry
from segue.interfaces.api.dependencies import PipelineId, SegueDep
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.values import LARGEST_ID

router = APIRouter(tags=["events"])


def _resume_point(
    last_event_id: Annotated[
        int | None, Header(ge=0, le=LARGEST_ID, description="Set by browsers when they reconnect.")
    ] = None,
    after: Annotated[int | None, Query(ge=0, le=LARGEST_ID, description="Begin after this event.")] = None,
) -> int | None:
    return last_event_id if last_event_id is not None else after


After = Annotated[int | None, Depends(_resume_point)]


async def _existing(segue: SegueDep, pipeline_id: PipelineId) -> int:
    # Checked before the stream begins, while an error can still be an error.
    return (await segue.views.pipeline(pipeline_id)).id


@router.get("/events", response_class=EventSourceResponse)
async def follow_everything(segue: SegueDep, after: After) -> AsyncIterable[ServerSentEvent]:
    """Everything that happens, from now on or after an event."""
    async with segue.feed.subscribe(after=after) as entries:
        async for entry in entries:
            yield _as_event(entry)


@router.get("/pipelines/{pipeline_id}/events", response_class=EventSourceResponse, responses=PROBLEMS(404))
async def follow_pipeline(
    segue: SegueDep, pipeline_id: Annotated[int, Depends(_existing)], after: After
) -> AsyncIterable[ServerSentEvent]:
    """All that happens in one run: from its beginning, or after an event."""
    async with segue.feed.subscribe(after=after or 0, pipeline_id=pipeline_id) as entries:
        async for entry in entries:
            yield _as_event(entry)


def _as_event(entry: AuditEntry) -> ServerSentEvent:
    return ServerSentEvent(id=str(entry.id), event=entry.event_type, data=entry)
