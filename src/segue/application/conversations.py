"""Speaking with agents: sessions are opened, messages are delivered once, replies are waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from segue.application.backends import AgentBackend, Message, Reply, SessionRequest, ToolServer
from segue.application.endings import Endings
from segue.application.patience import within
from segue.application.submissions import has_submitted
from segue.application.watching import Seen, Watched, Watching
from segue.domain.errors import AgentFailed
from segue.domain.handoff import redact
from segue.domain.limits import HandoffLimits
from segue.domain.permissions import rules_for
from segue.domain.pipeline import Agent, Attempt, Lease, Pipeline, Step
from segue.domain.sessions import Reason

T = TypeVar("T")

ToolsFor = Callable[[str], ToolServer]
"""Segue's own tools for the attempt with a token."""


_LOOK_SECONDS = 0.25
"""How often the limits of a session are looked at."""
_GRACE_SECONDS = 1.0
"""How long a reply may take that comes with the number by which a limit is reached."""


class LimitReached(Exception):
    """The session has used what it may, and has not answered."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """One attempt's session on its back end."""

    lease: Lease
    pipeline: Pipeline
    step: Step
    attempt: Attempt
    agent: Agent
    backend: AgentBackend
    request: SessionRequest

    @property
    def session(self) -> str:
        """The back end's name of the session."""
        return self.agent.session_ref or ""


class Conversations:
    """Every call has a limit; what takes longer is a failure with a sentence."""

    def __init__(
        self, *, endings: Endings, tools_for: ToolsFor | None = None, credential: str | None = None
    ) -> None:
        self._backends = endings.backends
        self._database = endings.database
        self._clock = endings.clock
        self._limits = endings.limits
        self._tools_for = tools_for
        self._credential = credential
        """The file that agents are kept from."""
        self._watching = Watching(database=endings.database, clock=endings.clock)

    def of(self, lease: Lease, pipeline: Pipeline, attempt: Attempt, agent: Agent) -> Conversation:
        """The conversation of an attempt."""
        _, backend = self._backends.get(agent.backend, agent.name)
        step, profile = pipeline.step(attempt.step_id), pipeline.plan.agents[agent.name]
        tools = None
        if self.offers_tools(backend) and self._tools_for is not None and attempt.token is not None:
            tools = self._tools_for(attempt.token)
        folder = pipeline.workspace.path if pipeline.workspace else pipeline.working_dir
        request = SessionRequest(
            key=agent.key,
            agent_name=agent.name,
            profile=profile,
            permissions=rules_for(profile.permissions, folder, self._credential),
            tools=tools,
            model=step.model,
            working_dir=folder,
            title=f"segue {pipeline.id}.{step.order_index + 1} {agent.name}: {pipeline.title}",
        )
        return Conversation(
            lease=lease,
            pipeline=pipeline,
            step=step,
            attempt=attempt,
            agent=agent,
            backend=backend,
            request=request,
        )

    def offers_tools(self, backend: AgentBackend) -> bool:
        """True if agents of this back end can be given Segue's own tools."""
        return self._tools_for is not None and backend.capabilities.mcp

    async def open(self, talk: Conversation) -> str:
        """Open the session; gives its reference."""
        opening = talk.backend.open(talk.request)
        return await within(
            self._limits.open_timeout, opening, f"{talk.agent.backend} did not open a session"
        )

    async def join(self, talk: Conversation) -> None:
        """Go on with a session that was opened before, perhaps by a process that is gone."""
        joined = talk.backend.resume(talk.request, talk.session)
        await within(self._limits.open_timeout, joined, f"{talk.agent.backend} did not give the session back")

    async def deliver(self, talk: Conversation, message: Message) -> None:
        """Send a message, unless it was sent before."""
        taken = talk.backend.send(talk.request, talk.session, message)
        await within(self._limits.open_timeout, taken, f"{talk.agent.backend} did not take the message")

    async def reply(
        self,
        talk: Conversation,
        message_id: str,
        *,
        rejoined: bool,
        since: datetime | None = None,
        limits: HandoffLimits | None = None,
    ) -> str:
        """The words of the reply; meanwhile, what the agent does is written down.

        With limits, `LimitReached` once the session has used what it may. Time counts from the beginning of
        the attempt, or from `since`.
        """
        watched = Watched(
            lease=talk.lease,
            attempt=talk.attempt,
            agent=talk.agent,
            backend=talk.backend,
            message_id=message_id,
            working_dir=talk.request.working_dir,
        )
        left = self._time_left(talk, since or talk.attempt.started_at, rejoined=rejoined)
        async with self._watching.of(watched) as seen:
            try:
                async with asyncio.timeout(left):
                    reply = await self._within_limits(talk, message_id, seen, limits)
            except TimeoutError:
                raise AgentFailed(
                    f"it timed out after {self._allowed(talk.step):g} s and its session was aborted. If it "
                    'needs longer, set "timeout" in its step or profile, or SEGUE_STEP_TIMEOUT'
                ) from None
        # No key of anybody's is stored, and a NUL is what no database keeps.
        return redact(reply.text.replace("\0", "\ufffd"))[0]

    def _allowed(self, step: Step) -> float:
        return step.timeout or self._limits.step_timeout

    async def _within_limits(
        self, talk: Conversation, message_id: str, seen: Seen, limits: HandoffLimits | None
    ) -> Reply:
        if limits is None:
            return await talk.backend.wait(talk.session, message_id)
        waiting = asyncio.ensure_future(talk.backend.wait(talk.session, message_id))
        watching = asyncio.ensure_future(self._until_full(talk, seen, limits))
        try:
            await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                # The last answer fills the context, too: it may be on its way.
                await asyncio.wait({waiting}, timeout=_GRACE_SECONDS)
            if waiting.done() or await self._has_submitted(talk):
                return await waiting
            raise LimitReached(watching.result())
        finally:
            for task in (waiting, watching):
                task.cancel()
            await asyncio.gather(waiting, watching, return_exceptions=True)

    async def _until_full(self, talk: Conversation, seen: Seen, limits: HandoffLimits) -> Reason:
        """Why the session must hand over, once it must."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            reason = limits.reached(seen.usage, seen.turns, talk.attempt.started_at, self._clock.now())
            if reason is not None:
                return reason

    async def _has_submitted(self, talk: Conversation) -> bool:
        """True if the agent handed off through a tool already: it is about to end."""
        async with self._database.begin() as work:
            latest = await work.attempts.latest(talk.step.id)
        return latest is not None and has_submitted(latest[0])

    def _time_left(self, talk: Conversation, since: datetime, *, rejoined: bool) -> float:
        allowed = self._allowed(talk.step)
        end = since + timedelta(seconds=allowed)
        left = (end - self._clock.now()).total_seconds()
        # After a restart the reply may be there already: time to fetch it is given in any case.
        return max(min(left, allowed), self._limits.late_reply_timeout) if rejoined else max(left, 0)
