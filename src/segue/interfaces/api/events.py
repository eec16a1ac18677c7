"""/events: what happens, as it happens, resumable from any event."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request

from segue.application.event_stream import BEGINNING, StreamPosition, present
from segue.domain.errors import InvalidRequest
from segue.domain.tokens import TokenRole
from segue.interfaces.api.dependencies import PipelineId, SegueDep, needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.event_frames import EventStream, stream
from segue.interfaces.api.field_types import LARGEST_ID

router = APIRouter(tags=["events"])

_POSITION = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?")


async def _resume_point(
    last_event_id: Annotated[
        str | None, Header(description="Set by browsers when they reconnect: the id of an event.")
    ] = None,
    after: Annotated[str | None, Query(description="Begin after the event with this id.")] = None,
) -> StreamPosition | None:
    name, given = ("after", after) if last_event_id is None else ("Last-Event-ID", last_event_id)
    if given is None:
        return None
    found = _POSITION.fullmatch(given)
    if found is None or any(int(number) > LARGEST_ID for number in found.groups() if number):
        raise InvalidRequest(f'"{name}" must be the id of an event, such as 12-340')
    return StreamPosition(int(found[1]), int(found[2]) if found[2] else 0)


After = Annotated[StreamPosition | None, Depends(_resume_point)]


async def _from_now(segue: SegueDep, after: After) -> StreamPosition:
    # Found before the stream begins: whoever has its first bytes misses nothing that happens then.
    return after or await present(segue)


async def _existing(segue: SegueDep, pipeline_id: PipelineId) -> int:
    # Checked before the stream begins, while an error can still be an error.
    await segue.views.check_pipeline(pipeline_id)
    return pipeline_id


@router.get("/events", response_class=EventStream, responses=PROBLEMS(422))
@needs(TokenRole.READ)
async def follow_everything(
    segue: SegueDep, request: Request, after: Annotated[StreamPosition, Depends(_from_now)]
) -> EventStream:
    """Everything that happens and all that agents do, from now on or after an event."""
    return stream(segue, request.app.state.event_frames, after, None)


@router.get("/pipelines/{pipeline_id}/events", response_class=EventStream, responses=PROBLEMS(404))
@needs(TokenRole.READ)
async def follow_pipeline(
    segue: SegueDep, request: Request, pipeline_id: Annotated[int, Depends(_existing)], after: After
) -> EventStream:
    """All that happens in one run, its agents' words and tool calls too: all of it, or after an event."""
    return stream(segue, request.app.state.event_frames, after or BEGINNING, pipeline_id)
