"""What a session has used, as its agent reports it: the context as it goes, tokens at a turn's end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from segue.domain.usage import Usage


class SessionUsage:
    """The sum so far; none before the agent has said anything of it."""

    def __init__(self, before: Usage | None = None) -> None:
        self._sum = before or Usage()
        self.reported = before is not None

    @property
    def total(self) -> Usage:
        """All turns together."""
        return self._sum

    def take_update(self, update: Mapping[str, Any]) -> None:
        """How full the context is, and what the session has cost in all."""
        used, size, cost = update.get("used"), update.get("size"), update.get("cost")
        self.reported = True
        if isinstance(used, int) and used > 0:
            self._sum = replace(self._sum, context_tokens=used)
        if isinstance(size, int) and size > 0:
            self._sum = replace(self._sum, context_window=size)
        if isinstance(cost, Mapping) and cost.get("currency") == "USD" and cost.get("amount") is not None:
            self._sum = replace(self._sum, cost=float(cost["amount"]))

    def take_response(self, usage: Any) -> None:
        """What one turn used."""
        if not isinstance(usage, Mapping):
            return
        self.reported = True
        self._sum += Usage(
            input_tokens=_number(usage.get("inputTokens")),
            output_tokens=_number(usage.get("outputTokens")),
            cache_read_tokens=_number(usage.get("cachedReadTokens")),
            cache_write_tokens=_number(usage.get("cachedWriteTokens")),
        )


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
