"""Writes a handoff down again: as the short header that the next agent reads."""

from __future__ import annotations

from collections.abc import Iterable

from segue.domain.handoff.model import Decision, Handoff, OpenQuestion


def render_context_header(handoff: Handoff, agent_name: str | None = None) -> str:
    """The compact Markdown header for the next agent; empty fields are left out."""
    heading = "## Handoff from previous step" + (f" ({agent_name})" if agent_name else "")
    parts = [heading]
    if handoff.what_was_done:
        parts.append(_labelled("What was done", handoff.what_was_done, inline=True))
    if handoff.decisions_made:
        parts.append(_labelled("Decisions made", map(_decision, handoff.decisions_made)))
    if handoff.open_questions:
        parts.append(_labelled("Open questions", map(_question, handoff.open_questions)))
    if handoff.next_agent_context:
        parts.append(f"**Your task**: {handoff.next_agent_context.strip()}")
    return "\n\n".join(parts)


def _labelled(label: str, items: Iterable[str], *, inline: bool = False) -> str:
    texts = list(items)
    if len(texts) == 1:
        return f"**{label}**:{' ' if inline else chr(10)}{texts[0]}"
    return f"**{label}**:\n" + "\n".join(f"- {text}" for text in texts)


def _decision(item: Decision) -> str:
    return f"{item.decision} ({item.rationale})" if item.rationale else item.decision


def _question(item: OpenQuestion) -> str:
    return item.question + (" (blocking)" if item.blocking else "")
