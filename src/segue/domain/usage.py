"""Usage: what a session has cost, in tokens and money, and how full its context is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Numbers that the back end itself reported; never asked of a model, never guessed."""

    input_tokens: int = 0
    """Tokens read anew, all turns of the session together."""
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    """US dollars; none if the back end does not say."""
    context_tokens: int | None = None
    """What the newest turn took of the model's window: input, cache read and cache write."""
    context_window: int | None = None
    """How many tokens the model can see at once."""

    @property
    def total_tokens(self) -> int:
        """All tokens that went in or out."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def context_share(self) -> float | None:
        """How full the context is, from 0 to 1; none if that is not known."""
        if self.context_tokens is None or not self.context_window:
            return None
        return self.context_tokens / self.context_window

    def since(self, before: Usage | None) -> Usage:
        """What was used between two reports of one session."""
        if before is None:
            return self
        return Usage(
            input_tokens=self.input_tokens - before.input_tokens,
            output_tokens=self.output_tokens - before.output_tokens,
            cache_read_tokens=self.cache_read_tokens - before.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens - before.cache_write_tokens,
            cost=None if self.cost is None else self.cost - (before.cost or 0.0),
        )

    def __add__(self, other: Usage) -> Usage:
        """Two sessions, or two parts of one, together; the context is that of the later one."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost=sum(costs) if costs else None,
            context_tokens=other.context_tokens if other.context_tokens is not None else self.context_tokens,
            context_window=other.context_window or self.context_window,
        )
