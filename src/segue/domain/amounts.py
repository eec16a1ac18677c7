"""Counts, time, tokens and money as people read them."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def describe_time(seconds: float, *, exact: bool = False) -> str:
    """`3.6 s`, `48 s`, `3 min`, `1 h 12 min`; exact, with the seconds of minutes: `2 min 51 s`."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if exact and whole < 600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(whole / 60), 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def describe_tokens(tokens: int) -> str:
    """`812 tokens`, `41k tokens`, `1.9M tokens`."""
    if tokens < 1000:
        return f"{tokens} tokens"
    return f"{tokens / 1000:.0f}k tokens" if tokens < 999_500 else f"{tokens / 1e6:.1f}M tokens"


def describe_cost(dollars: float) -> str:
    """`$0.58`, and `$0.0042` of less than a cent."""
    return f"${dollars:.2f}" if dollars >= 0.005 else f"${dollars:.4f}"
