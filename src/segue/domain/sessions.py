"""Why a handoff was written."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """What made an agent hand over; no other reason exists."""

    CONTEXT_LIMIT = "context_limit"
    SHIFT_END = "shift_end"
    TASK_BOUNDARY = "task_boundary"
