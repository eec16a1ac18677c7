"""Segue: the one object that every interface holds."""

from __future__ import annotations

from dataclasses import dataclass

from segue.application.handoffs.agent_tools import AgentTools
from segue.application.pipelines.approvals import Approvals
from segue.application.pipelines.results import Results
from segue.application.pipelines.retention import Retention
from segue.application.pipelines.runner import PipelineRunner
from segue.application.pipelines.submit import Pipelines
from segue.application.pipelines.workers import Workers
from segue.application.ports.backend import Backends
from segue.application.ports.views import Views
from segue.application.ports.world import CatalogSource, EventFeed
from segue.application.sessions.sessions import Sessions
from segue.application.tokens import Tokens
from segue.domain.activity import Activity
from segue.domain.audit import AuditEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class Segue:
    """All that can be asked of Segue, joined."""

    pipelines: Pipelines
    runner: PipelineRunner
    approvals: Approvals
    results: Results
    retention: Retention
    keep_days: float | None = None
    """Clean up daily what ended longer ago; none keeps all."""
    sessions: Sessions
    tools: AgentTools
    tokens: Tokens
    views: Views
    feed: EventFeed[AuditEntry]
    activity: EventFeed[Activity]
    catalog: CatalogSource
    workers: Workers
    backends: Backends

    async def start(self) -> None:
        """Begin to move pipelines on in this process, and take up what a crash left."""
        await self.pipelines.clean_up()
        await self.workers.start(self.runner.advance)
        if self.keep_days is not None and self.workers.is_hosting():
            self.retention.start(self.keep_days)

    async def start_front(self) -> None:
        """Only answer: other processes move pipelines on."""
        await self.workers.take_clock()

    async def stop(self) -> None:
        """Stop moving pipelines on. Agents that can live on do, and are joined again at the next start."""
        await self.retention.stop()
        await self.workers.stop()
        await self.pipelines.settle()
        await self.backends.shutdown()
