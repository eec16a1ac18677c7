"""Following a run: the audit trail and what its agents do, merged into one stream that can be resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from heapq import merge
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
            return StreamPosition(event.id, self.activity)
        return StreamPosition(self.entry, event.id)

    def __str__(self) -> str:
        """The form that `Last-Event-ID` carries: `12-340`."""
        return f"{self.entry or 0}-{self.activity or 0}"


BEGINNING = StreamPosition(0, 0)
Event = AuditEntry | Activity
EventPage = list[tuple[StreamPosition, Event]]
"""Events in their order, each with the position after it; never empty."""
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
) -> AsyncGenerator[tuple[StreamPosition, Event]]:
    """Everything after a position, each with the position after it, without a gap.

    What is there already comes in the order in which it happened; then each event as it is seen. Before the
    last entry of the one run that is followed comes all that its agents did.
    """
    async with aclosing(follow_pages(segue, after, pipeline_id=pipeline_id)) as pages:
        async for page in pages:
            for each in page:
                yield each


async def follow_pages(
    segue: Segue, after: StreamPosition = BEGINNING, *, pipeline_id: int | None = None
) -> AsyncGenerator[EventPage]:
    """The same, page by page: what is there at once comes at once."""
    known, views = await present(segue), segue.views
    after = StreamPosition(_known(after.entry, known.entry), _known(after.activity, known.activity))
    past = _past(
        _pages(views.entries_after, after.entry or 0, known.entry, pipeline_id),
        _pages(views.activity_after, after.activity or 0, known.activity, pipeline_id),
    )
    async with AsyncExitStack() as stack:
        async for events in await stack.enter_async_context(aclosing(past)):
            if page := await _in_turn(segue, after, events, pipeline_id):
                after = page[-1][0]
                yield page
        entries = await stack.enter_async_context(
            segue.feed.subscribe_pages(after=after.entry, pipeline_id=pipeline_id)
        )
        activity = await stack.enter_async_context(
            segue.activity.subscribe_pages(after=after.activity, pipeline_id=pipeline_id)
        )
        async for events in await stack.enter_async_context(aclosing(_merged(entries, activity))):
            if page := await _in_turn(segue, after, events, pipeline_id):
                after = page[-1][0]
                yield page


def _known(after: int | None, newest: int | None) -> int:
    """An id that is not there yet is one of another database: begin with what comes next."""
    newest = newest or 0
    return newest if after is None else min(after, newest)


async def _in_turn(
    segue: Segue, after: StreamPosition, events: Iterable[Event], pipeline_id: int | None
) -> EventPage:
    """The events, each with its position; before the end of the run, what its agents did until then."""
    page: EventPage = []
    for event in events:
        if isinstance(event, Activity):
            if event.id <= (after.activity or 0):
                continue  # told already, before the end of a run
        elif pipeline_id is not None and event.event_type in FINAL_KINDS:
            late = _pages(segue.views.activity_after, after.activity or 0, None, pipeline_id)
            async for each in late:
                after = after.after(each)
                page.append((after, each))
        after = after.after(event)
        page.append((after, event))
    return page


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
) -> AsyncGenerator[Iterable[Event]]:
    """Two streams that end, merged into one, the older event first."""
    entry, doing = await anext(entries, None), await anext(activity, None)
    page: list[Event] = []
    while entry is not None or doing is not None:
        if doing is None or (entry is not None and entry.created_at <= doing.created_at):
            assert entry is not None
            page.append(entry)
            entry = await anext(entries, None)
        else:
            page.append(doing)
            doing = await anext(activity, None)
        if len(page) == _PAGE:
            yield page
            page = []
    if page:
        yield page


async def _merged(
    entries: AsyncIterator[Sequence[AuditEntry]], activity: AsyncIterator[Sequence[Activity]]
) -> AsyncGenerator[Iterable[Event]]:
    """Both streams as they come, the older event first where both have some."""
    next_entries = asyncio.ensure_future(_next(entries))
    next_activity = asyncio.ensure_future(_next(activity))
    try:
        while True:
            await asyncio.wait({next_entries, next_activity}, return_when=asyncio.FIRST_COMPLETED)
            came: list[list[Event]] = []
            if next_entries.done():
                came.append(list(next_entries.result()))
                next_entries = asyncio.ensure_future(_next(entries))
            if next_activity.done():
                came.append(list(next_activity.result()))
                next_activity = asyncio.ensure_future(_next(activity))
            yield came[0] if len(came) == 1 else merge(*came, key=lambda event: event.created_at)
    finally:
        for waiting in (next_entries, next_activity):
            waiting.cancel()
        await asyncio.gather(next_entries, next_activity, return_exceptions=True)


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)
