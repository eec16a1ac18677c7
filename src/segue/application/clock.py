"""The clock that all who work on one database share."""

from __future__ import annotations

from datetime import datetime, timedelta

from segue.application.ports.world import Clock

_JITTER = timedelta(seconds=1)
"""A smaller difference is the time that the answer took, and not worth a step back."""


class SharedClock:
    """This machine's clock, put right by the database's: times of several hosts can be compared."""

    def __init__(self, own: Clock) -> None:
        self._own = own
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return self._own.now() + self._ahead

    def follow(self, shared: datetime) -> None:
        """The database says that it is this moment."""
        ahead = shared - self._own.now()
        if abs(ahead - self._ahead) > _JITTER:
            self._ahead = ahead
