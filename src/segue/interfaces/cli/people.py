"""What only a person does: a command that an agent runs in its own session is refused."""

from __future__ import annotations

import os

from segue.domain.errors import InvalidRequest
from segue.domain.permissions import SESSION_VARIABLE


def refuse_agents(act: str) -> None:
    """`InvalidRequest` inside the session of an agent: nobody approves their own work.

    Like an agent's rules, this guards against mistakes: a program can change its environment.
    """
    if os.environ.get(SESSION_VARIABLE):
        raise InvalidRequest(
            f"only a person can {act}, and this runs in the session of an agent ({SESSION_VARIABLE} is set). "
            "Say in your handoff what you need; a person decides in a terminal of their own"
        )
