"""Gate: what happens to a step whose handoff is bad or says what is not so."""

from __future__ import annotations

from enum import StrEnum


class Gate(StrEnum):
    """What happens to a step whose handoff does not pass."""

    NOTE = "note"
    """It is written down, the next agent is told, and the run goes on."""
    REPAIR = "repair"
    """The same session is asked to mend it, a few times; then the run goes on with what there is."""
    FAIL = "fail"
    """The step fails."""
