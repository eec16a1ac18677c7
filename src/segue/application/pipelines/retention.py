"""What is left of pipelines that ended long ago is removed, and nothing that says what happened in them.

Kept for good are the run with its steps, messages, handoffs, verdicts and evidence, its branch, commits and
bundles, and the audit trail, which also says what was removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.pipelines.results import Results
from segue.application.pipelines.shared_work import SharedWork
from segue.application.ports.store import Rows, Store
from segue.application.ports.views import LeftOfPipeline
from segue.application.ports.world import Clock, Documents
from segue.domain.audit import AuditKind
from segue.domain.errors import IllegalMove, SegueError
from segue.domain.handoff_record import HandoffRecord

log = structlog.get_logger()

_EVERY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftover:
    """What can be removed of one pipeline."""

    id: int
    title: str
    activity: int
    """How many records of what its agents said and did."""
    worktree: str | None
    """Its worktree, if it is on this machine."""
    documents: tuple[str, ...]
    """The documents of its handovers that are on this machine."""
    kept: str | None = None
    """Why its worktree stays."""


class Retention:
    """The use cases of cleaning up. Every machine cleans what is on its own disk."""

    def __init__(
        self,
        *,
        store: Store,
        results: Results,
        documents: Documents,
        conversations: Conversations,
        clock: Clock,
        shared: SharedWork | None = None,
    ) -> None:
        self._store = store
        self._results = results
        self._documents = documents
        self._conversations = conversations
        self._clock = clock
        self._shared = shared
        self._daily: asyncio.Task[None] | None = None

    async def find(self, age: timedelta) -> list[Leftover]:
        """What could be removed of pipelines that ended longer ago than this."""
        found = [
            await self._look(each)
            for each in await self._store.views.left_of_pipelines(self._clock.now() - age)
        ]
        return [each for each in found if each.activity or each.worktree or each.documents]

    async def clean(self, age: timedelta, *, actor: str | None = None) -> list[Leftover]:
        """Remove it, and what sessions and runs that ended elsewhere left here; gives what was removed.

        A worktree stays, with the reason, while something in it is in no commit.
        """
        await self._conversations.sweep()
        if self._shared is not None:
            await self._shared.remove_strays()
        return [await self._remove(each, actor) for each in await self.find(age)]

    async def _look(self, left: LeftOfPipeline) -> Leftover:
        worktree = await self._results.worktree(left.id) if left.has_workspace else None
        there = [path for path in left.documents if await self._documents.is_there(path)]
        return Leftover(
            id=left.id, title=left.title, activity=left.activity, worktree=worktree, documents=tuple(there)
        )

    async def _remove(self, left: Leftover, actor: str | None) -> Leftover:
        if left.worktree is not None:
            try:
                await self._results.clean(left.id, actor=actor)
            except IllegalMove:
                raise  # it has not ended
            except SegueError as error:
                left = replace(left, worktree=None, kept=str(error))
        for path in left.documents:
            await self._documents.remove(path)
        if left.activity or left.documents:
            now = self._clock.now()
            await self._store.write(lambda rows: _forget(rows, left, now, actor))
        return left

    def start(self, days: float) -> None:
        """Clean at once, and again every day."""
        self._daily = asyncio.create_task(self._clean_daily(timedelta(days=days)), name="segue-retention")

    async def stop(self) -> None:
        """Clean no more."""
        if self._daily is not None:
            self._daily.cancel()
            with suppress(asyncio.CancelledError):
                await self._daily
            self._daily = None

    async def _clean_daily(self, age: timedelta) -> None:
        while True:
            try:
                removed: Sequence[Leftover] = await self.clean(age)
                if removed:
                    log.info(
                        "cleaned", pipelines=len(removed), activity=sum(each.activity for each in removed)
                    )
            except (SegueError, OSError) as error:
                log.warning("not_cleaned", error=str(error))
            await asyncio.sleep(_EVERY.total_seconds())


def _forget(rows: Rows, left: Leftover, at: datetime, actor: str | None) -> None:
    """One transaction: drop the activity of a pipeline and the paths of documents that are gone."""
    removed = rows.drop_activity(left.id)
    gone = set(left.documents)
    for step in rows.pipeline(left.id).steps:
        for handoff in rows.find(HandoffRecord, step_id=step.id):
            if handoff.file_path in gone:
                rows.save(handoff, replace(handoff, file_path=None))
    rows.audit(
        AuditKind.LEFTOVERS_REMOVED,
        at,
        who=actor,
        pipeline_id=left.id,
        activity=removed,
        documents=len(left.documents),
    )
