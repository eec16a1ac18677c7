"""How many agents of a back end work at once in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext

from segue.application.ports.backend import Backends
from segue.domain.errors import BackendUnavailable
from segue.domain.pipeline import Pipeline, Step
from segue.domain.template import StepType


class BackendPlaces:
    """A place for each agent that a back end may run at once; no limit where none is named."""

    def __init__(self, backends: Backends, limits: Mapping[str, int]) -> None:
        self._backends = backends
        self._places = {name: asyncio.Semaphore(most) for name, most in limits.items()}

    def of(self, pipeline: Pipeline, step: Step) -> AbstractAsyncContextManager[None]:
        """A place for the agent of a step; entering it waits until there is one."""
        if not self._places or step.kind is not StepType.AGENT:
            return nullcontext()
        try:
            name, _ = self._backends.get(pipeline.plan.agents[step.agent_name].backend, step.agent_name)
        except BackendUnavailable:  # the step itself fails, and says why
            return nullcontext()
        return self._places.get(name) or nullcontext()
