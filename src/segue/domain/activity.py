"""Activity: what an agent said and did while it worked, in the order it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class ActivityKind(StrEnum):
    """What an activity tells."""

    SAID = "agent_said"
    TOOL_USED = "agent_used_tool"
    PERMISSION_SETTLED = "permission_settled"
    USAGE = "usage_reported"
    RETRYING = "model_retried"


@dataclass(frozen=True, kw_only=True, slots=True)
class Activity:
    """One piece of what an agent did; many a minute, so they are kept apart from the audit trail."""

    id: int = 0
    kind: ActivityKind
    pipeline_id: int | None
    """None outside of pipelines."""
    step_id: int | None
    session_id: int
    """The session it happened in."""
    payload: Mapping[str, Any]
    created_at: datetime
