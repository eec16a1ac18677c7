"""The bar at the bottom: how full the model's window is, and what the session has cost."""

from __future__ import annotations

from textual.content import Content

from segue.domain.usage import Usage

_NOT_REPORTED = "not reported"
_WIDEST = 40


def usage_line(
    usage: Usage | None, limit: float | None, width: int, *, automatic: bool, is_fresh: bool = False
) -> Content:
    """The usage of a session in one line, as wide as there is room."""
    if usage is None:
        return Content("context nothing used yet" if is_fresh else f"context {_NOT_REPORTED}")
    used = f"{_short(usage.total_tokens)} tokens · " if usage.total_tokens else ""
    facts = f" {_context(usage)} · {used}{_cost(usage)}"
    room = width - len("context ") - len(facts)
    share = usage.context_share
    if share is None or room < 8:
        return Content.assemble("context", facts)
    cells = min(room, _WIDEST)
    note = f" · {'hands over at' if automatic else 'limit'} {limit:.0%}" if limit is not None else ""
    if room - cells >= len(note):
        facts += note
    elif room - len(note) >= 16:
        facts, cells = facts + note, room - len(note)
    return Content.assemble("context ", *_bar(share, limit, cells), facts)


def _bar(share: float, limit: float | None, cells: int) -> list[tuple[str, str]]:
    """Filled and empty cells, told apart without colour; the limit stands in its place."""
    filled = min(cells, round(share * cells)) or (1 if share > 0 else 0)
    mark = min(cells - 1, round(limit * cells)) if limit is not None else None
    is_over = limit is not None and share >= limit
    colour = "$error" if is_over else "$accent"
    parts = []
    for cell in range(cells):
        if cell == mark:
            parts.append(("┃", "$warning bold"))
        elif cell < filled:
            parts.append(("█", colour))
        else:
            parts.append(("░", "$secondary"))
    return parts


def _context(usage: Usage) -> str:
    if usage.context_tokens is None:
        return _NOT_REPORTED
    if not usage.context_window:
        return f"{_short(usage.context_tokens)} of a window that is not known"
    return f"{usage.context_tokens / usage.context_window:.0%} of {_short(usage.context_window)}"


def _cost(usage: Usage) -> str:
    if usage.cost is None:
        return f"cost {_NOT_REPORTED}"
    return f"${usage.cost:.2f}" if usage.cost >= 0.01 or usage.cost == 0 else f"${usage.cost:.4f}"


def _short(number: int) -> str:
    """`950`, `12.3k`, `200k`, `1.5M`."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= unit:
            value = number / unit
            return f"{value:.0f}{letter}" if value >= 100 or value == int(value) else f"{value:.1f}{letter}"
    return str(number)
