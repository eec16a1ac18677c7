"""The port of attempts: tries at a step, the agent sessions they run in, and their repair turns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from segue.domain.pipeline import Agent, Attempt, Repair
from segue.domain.usage import Usage


class AttemptStore(Protocol):
    """Attempts and the agent sessions they run in."""

    async def start(self, attempt: NewAttempt) -> tuple[Attempt, Agent]: ...
    async def latest(self, step_id: int) -> tuple[Attempt, Agent] | None: ...
    async def handed_over(self, step_id: int) -> int:
        """How many sessions of a step handed over to the next one."""
        ...

    async def save(self, attempt: Attempt, agent: Agent) -> None: ...
    async def by_token(self, token: str) -> tuple[Attempt, Agent] | None:
        """The try that this token opens tools to."""
        ...

    async def submit(self, attempt_id: int, *, submitted: str | None, blockers: str | None) -> None:
        """Keep what the agent gave through a tool; none leaves it as it is."""
        ...

    async def forget_submission(self, attempt_id: int) -> None:
        """What the agent submitted did not pass: the next submission counts."""
        ...

    async def add_repair(  # noqa: PLR0913 (the columns of a row)
        self,
        attempt_id: int,
        *,
        number: int,
        message_id: str,
        text: str,
        rejected_json: str | None,
        ledger_json: str | None,
        at: datetime,
    ) -> Repair: ...
    async def save_repair(self, repair: Repair) -> None: ...
    async def repairs(self, attempt_id: int) -> list[Repair]:
        """The repair turns of a try, in order."""
        ...

    async def save_usage(self, agent_id: int, usage: Usage) -> None: ...
    async def in_use(self, sessions: Collection[str]) -> Collection[str]:
        """Those of the sessions that have not ended, by reference or key."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class NewAttempt:
    """A try that is to begin."""

    step_id: int
    number: int
    agent_name: str
    backend: str
    key: str
    message_id: str
    token: str
    briefing: str
    carry_over: str
    parent_id: int | None
    title: str
    model: str | None
    working_dir: str
    base_mark: str | None
    started_at: datetime
