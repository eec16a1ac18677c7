"""One run: follow it, wait for it, answer its agents, stop it, take what it made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import TypeVar

from segue.application.event_stream import follow
from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.application.segue import Segue
from segue.domain.audit import FINAL_KINDS
from segue.domain.errors import IllegalMove
from segue.domain.pipeline import PipelineStatus
from segue.running.events import RunEnded, RunEvent, StepPlaces, event_of
from segue.running.result import Result, result_of

T = TypeVar("T")


class Run:
    """A pipeline that was submitted. It continues whether or not anybody follows it."""

    def __init__(
        self, app: Segue, pipeline_id: int, *, title: str, places: StepPlaces, closing: asyncio.Event
    ) -> None:
        self.id = pipeline_id
        """The number by which the command line and the REST API know it."""
        self.title = title
        self._app = app
        self._places = places
        self._closing = closing

    def __repr__(self) -> str:
        return f"<Run {self.id}: {self.title}>"

    async def events(self) -> AsyncGenerator[RunEvent]:
        """All that happens in it, from its beginning; ends after `RunEnded`."""
        async with (
            aclosing(follow(self._app, pipeline_id=self.id)) as stream,
            aclosing(self._until_closed(stream)) as found,
        ):
            async for _, each in found:
                event = event_of(each, self._places)
                yield event
                if isinstance(event, RunEnded):
                    return

    async def result(self) -> Result:
        """What came of it; waits until it has ended."""
        async with (
            self._app.feed.subscribe(after=0, pipeline_id=self.id) as stream,
            aclosing(self._until_closed(stream)) as entries,
        ):
            async for entry in entries:
                if entry.event_type in FINAL_KINDS:
                    break
        detail = await self._app.views.pipeline(self.id)
        assert detail.result is not None  # it is made in the transaction that ends the run
        return result_of(detail, detail.result)

    async def status(self) -> PipelineStatus:
        """Where it stands now."""
        return (await self._app.views.pipeline(self.id)).status

    async def abort(self, reason: str = "aborted by its program") -> None:
        """Stop it for good, its agent first; `IllegalMove` if it has ended."""
        await self._app.pipelines.abort(self.id, reason)

    async def answer(self, question: int, *, allow: bool, comment: str | None = None) -> None:
        """Answer what `AgentAsked` asked; `IllegalMove` if that is settled."""
        decision = HumanDecision(approve=allow, comment=comment, decided_by=self._app.tokens.owner)
        decided = await self._app.approvals.decide(question, decision)
        if decided.waits_without_agent:
            with suppress(IllegalMove):  # the answer has ended it, or another Segue has taken it up
                await self._app.pipelines.resume(self.id)

    async def diff(self, step: int | None = None) -> str:
        """What it changed, or what one of its steps changed, as a patch."""
        return await self._app.results.diff(self.id, step)

    async def merge(self, *, allow_refuted: bool = False) -> str:
        """Merge its branch into what is checked out; gives the commit.

        `CannotMerge` while it is not done, while claims are false or tests weakened, or where git refuses.
        """
        return await self._app.results.merge(self.id, allow_refuted=allow_refuted, by=self._app.tokens.owner)

    async def _until_closed(self, stream: AsyncIterator[T]) -> AsyncGenerator[T]:
        """What a stream gives; an error once Segue is closed, because then nothing comes any more."""
        closed = asyncio.ensure_future(self._closing.wait())
        coming: asyncio.Future[T] | None = None
        try:
            while True:
                coming = asyncio.ensure_future(_next(stream))
                await asyncio.wait({coming, closed}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    raise IllegalMove(
                        f"Segue was closed before run {self.id} ended; open it again to follow it: "
                        f"`get_run({self.id})`"
                    )
                yield coming.result()
        finally:
            left = [each for each in (coming, closed) if each is not None]
            for each in left:
                each.cancel()
            await asyncio.gather(*left, return_exceptions=True)


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)
