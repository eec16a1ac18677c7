"""A rig: a real agent, set up to talk to the scripted model on loopback and to nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from segue.application.ports.backend import SessionRequest
from segue.domain.catalog import AgentProfile


@dataclass(frozen=True, kw_only=True, slots=True)
class Rig:
    """What an agent profile must say so that this agent runs in tests."""

    name: str
    """`opencode`, `acp-opencode`, `claude_code`: for test ids and the error table."""
    backend: str
    model: str | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def profile(self, **changes: Any) -> AgentProfile:
        """An agent profile on this back end."""
        values: dict[str, Any] = {"backend": self.backend, "model": self.model, "options": dict(self.options)}
        return AgentProfile(**(values | changes))

    def request(self, working_dir: str, *, key: str = "k1", **changes: Any) -> SessionRequest:
        """A request for a session in a folder."""
        values: dict[str, Any] = {
            "key": key,
            "agent_name": "developer",
            "profile": self.profile(),
            "model": self.model,
            "working_dir": working_dir,
            "title": "a test",
        }
        return SessionRequest(**(values | changes))
