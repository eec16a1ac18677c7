"""Following a run: the audit trail and what its agents do, merged into one stream that can be resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from segue.domain.activity import Activity
from segue.domain.audit import FINAL_KINDS, AuditEntry

if TYPE_CHECKING:
    from segue.application.segue import Segue


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """How far a follower has come, in both tables."""

    entry: int | None = None
    """Id of the last audit entry; none to begin with what comes next."""
    activity: int | None = None
    """Id of the last activity; none to begin with what comes next."""

    def after(self, event: AuditEntry | Activity) -> StreamPosition:
        """The position once this event was taken in."""
        if isinstance(event, AuditEntry):
            return replace(self, entry=event.id)
        return replace(self, activity=event.id)

    def __str__(self) -> str:
        """The form that `Last-Event-ID` carries: `12-340`."""
        return f"{self.entry or 0}-{self.activity or 0}"


BEGINNING = StreamPosition(0, 0)
_PAGE = 500
T = TypeVar("T")
E = TypeVar("E", AuditEntry, Activity)


async def present(segue: Segue) -> StreamPosition:
    """The position after all that has happened."""
    # The activity first: whatever entry stands before one of these is then known as well.
    activity = await segue.views.last_activity_id()
    return StreamPosition(await segue.views.last_entry_id(), activity)


async def follow(
    segue: Segue, after: StreamPosition = BEGINNING, *, pipeline_id: int | None = None
) -> AsyncGenerator[tuple[StreamPosition, AuditEntry | Activity]]:
    """Everything after a position, each with the position after it, without a gap.

    What is there already comes in the order in which it happened; then each event as it is seen. Before the
    last entry of the one run that is followed comes all that its agents did.
    """
    known, views = await present(segue), segue.views
    after = StreamPosition(_known(after.entry, known.entry), _known(after.activity, known.activity))
    past = _past(
        _pages(views.entries_after, after.entry or 0, known.entry, pipeline_id),
        _pages(views.activity_after, after.activity or 0, known.activity, pipeline_id),
    )
    async with AsyncExitStack() as stack:
        async for event in await stack.enter_async_context(aclosing(past)):
            async for each in _in_turn(segue, after, event, pipeline_id):
                after = each[0]
                yield each
        entries = await stack.enter_async_context(
            segue.feed.subscribe(after=after.entry, pipeline_id=pipeline_id)
        )
        activity = await stack.enter_async_context(
            segue.activity.subscribe(after=after.activity, pipeline_id=pipeline_id)
        )
        async for event in await stack.enter_async_context(aclosing(_merged(entries, activity))):
            async for each in _in_turn(segue, after, event, pipeline_id):
                after = each[0]
                yield each


def _known(after: int | None, newest: int | None) -> int:
    """An id that is not there yet is one of another database: begin with what comes next."""
    newest = newest or 0
    return newest if after is None else min(after, newest)


async def _in_turn(
    segue: Segue, after: StreamPosition, event: AuditEntry | Activity, pipeline_id: int | None
) -> AsyncIterator[tuple[StreamPosition, AuditEntry | Activity]]:
    """The event; before the end of the run, what its agents did until then."""
    if isinstance(event, Activity):
        if event.id <= (after.activity or 0):
            return  # told already, before the end of a run
    elif event.event_type in FINAL_KINDS and pipeline_id is not None:
        async for late in _pages(segue.views.activity_after, after.activity or 0, None, pipeline_id):
            after = after.after(late)
            yield after, late
    yield after.after(event), event


class _ReadAfter(Protocol[E]):
    def __call__(
        self, after: int, /, *, pipeline_id: int | None = None, limit: int = 500
    ) -> Awaitable[list[E]]: ...


async def _pages(
    read_after: _ReadAfter[E], last: int, until: int | None, pipeline_id: int | None
) -> AsyncGenerator[E]:
    """The rows after one id and up to another, or up to the newest."""
    while (until is None or last < until) and (
        page := await read_after(last, pipeline_id=pipeline_id, limit=_PAGE)
    ):
        for row in page:
            if until is not None and row.id > until:
                return
            yield row
        if until is not None and len(page) < _PAGE:
            return  # what comes later is beyond the end
        last = page[-1].id


async def _past(
    entries: AsyncIterator[AuditEntry], activity: AsyncIterator[Activity]
) -> AsyncGenerator[AuditEntry | Activity]:
    """Two streams that end, merged into one, the older event first."""
    entry, doing = await anext(entries, None), await anext(activity, None)
    while entry is not None or doing is not None:
        if doing is None or (entry is not None and entry.created_at <= doing.created_at):
            assert entry is not None
            yield entry
            entry = await anext(entries, None)
        else:
            yield doing
            doing = await anext(activity, None)


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
