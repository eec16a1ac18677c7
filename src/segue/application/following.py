"""Following a run: the audit trail and what its agents do, merged into one stream that can be resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from segue.domain.activity import Activity
from segue.domain.audit import FINAL_KINDS, AuditEntry

if TYPE_CHECKING:
    from segue.application.app import Segue


@dataclass(frozen=True, slots=True)
class Position:
    """How far a follower has come, in both tables."""

    entry: int | None = None
    """Id of the last audit entry; none to begin with what comes next."""
    activity: int | None = None
    """Id of the last activity; none to begin with what comes next."""

    def after(self, event: AuditEntry | Activity) -> Position:
        """The position once this event was taken in."""
        if isinstance(event, AuditEntry):
            return replace(self, entry=event.id)
        return replace(self, activity=event.id)

    def __str__(self) -> str:
        """The form that `Last-Event-ID` carries: `12-340`."""
        return f"{self.entry or 0}-{self.activity or 0}"


BEGINNING = Position(0, 0)
T = TypeVar("T")


async def follow(
    segue: Segue, after: Position = BEGINNING, *, pipeline_id: int | None = None
) -> AsyncGenerator[tuple[Position, AuditEntry | Activity]]:
    """Everything after a position, each with the position after it; the older first where both are there.

    Before the last entry of the one run that is followed comes all that its agents did.
    """
    if after.activity is None:
        after = replace(after, activity=await segue.views.last_activity_id())
    if after.entry is None:
        after = replace(after, entry=await segue.views.last_entry_id())
    async with AsyncExitStack() as stack:
        entries = await stack.enter_async_context(
            segue.feed.subscribe(after=after.entry, pipeline_id=pipeline_id)
        )
        activity = await stack.enter_async_context(
            segue.activity.subscribe(after=after.activity, pipeline_id=pipeline_id)
        )
        merged = await stack.enter_async_context(aclosing(_merged(entries, activity)))
        async for event in merged:
            if isinstance(event, Activity):
                if event.id <= (after.activity or 0):
                    continue  # told already, before the end of a run
            elif event.event_type in FINAL_KINDS and pipeline_id is not None:
                async for late in _rest(segue, after.activity or 0, pipeline_id):
                    after = after.after(late)
                    yield after, late
            after = after.after(event)
            yield after, event


async def _rest(segue: Segue, last: int, pipeline_id: int) -> AsyncIterator[Activity]:
    while page := await segue.views.activity_after(last, pipeline_id=pipeline_id):
        for late in page:
            yield late
        last = page[-1].id


async def _merged(
    entries: AsyncIterator[AuditEntry], activity: AsyncIterator[Activity]
) -> AsyncGenerator[AuditEntry | Activity]:
    """Both streams, the older event first where both have one."""
    next_entry = asyncio.ensure_future(_next(entries))
    next_activity = asyncio.ensure_future(_next(activity))
    try:
        while True:
            await asyncio.wait({next_entry, next_activity}, return_when=asyncio.FIRST_COMPLETED)
            if next_activity.done() and not (
                next_entry.done() and next_entry.result().created_at <= next_activity.result().created_at
            ):
                yield next_activity.result()
                next_activity = asyncio.ensure_future(_next(activity))
            else:
                yield next_entry.result()
                next_entry = asyncio.ensure_future(_next(entries))
    finally:
        for waiting in (next_entry, next_activity):
            waiting.cancel()
        await asyncio.gather(next_entry, next_activity, return_exceptions=True)


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)
