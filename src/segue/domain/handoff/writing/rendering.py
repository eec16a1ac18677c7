"""Writes a handoff down again: in a notation that can be read back, or as a header for the next agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from segue.domain.handoff.model import Decision, Handoff, OpenQuestion
from segue.domain.handoff.writing.markdown import render_four_sections, render_six_sections
from segue.domain.handoff.writing.taskfile import render_task_file
from segue.domain.handoff.writing.template import (
    FOUR_SECTIONS_TEMPLATE,
    JSON_TEMPLATE,
    SIX_SECTIONS_TEMPLATE,
    TASK_FILE_TEMPLATE,
    YAML_TEMPLATE,
)
from segue.domain.handoff.writing.yaml import render_json, render_yaml

_ALL_FIELDS = frozenset(Handoff.model_fields)


class OutputNotation(StrEnum):
    """The notations that Segue writes."""

    YAML = "yaml"
    """Every field; the one to store and to answer in."""
    JSON = "json"
    """Every field, for programs."""
    FOUR_SECTIONS = "four"
    """What was done, decisions made, open questions, next agent context."""
    SIX_SECTIONS = "six"
    """Goal, constraints, progress, key decisions, critical context, next steps."""
    TASK_FILE = "task"
    """A task file whose handoff part holds the YAML."""


_RENDERERS: dict[OutputNotation, Callable[[Handoff], str]] = {
    OutputNotation.YAML: render_yaml,
    OutputNotation.JSON: render_json,
    OutputNotation.FOUR_SECTIONS: render_four_sections,
    OutputNotation.SIX_SECTIONS: render_six_sections,
    OutputNotation.TASK_FILE: render_task_file,
}

NOTATION_FIELDS: dict[OutputNotation, frozenset[str]] = {
    OutputNotation.YAML: _ALL_FIELDS,
    OutputNotation.JSON: _ALL_FIELDS,
    OutputNotation.FOUR_SECTIONS: frozenset(
        {"what_was_done", "decisions_made", "open_questions", "next_agent_context"}
    ),
    OutputNotation.SIX_SECTIONS: frozenset(
        {
            "goal",
            "constraints",
            "what_was_done",
            "blockers",
            "decisions_made",
            "critical_context",
            "suggested_next_steps",
        }
    ),
    OutputNotation.TASK_FILE: _ALL_FIELDS,
}
"""Notation -> the fields of a handoff that it has a place for."""


def render_handoff(handoff: Handoff, notation: OutputNotation | str = OutputNotation.YAML) -> str:
    """The handoff in a notation; reading it back gives the same record on the fields that it has."""
    return _RENDERERS[OutputNotation(notation)](handoff)


def render_template(notation: OutputNotation | str = OutputNotation.YAML) -> str:
    """The empty form of a notation, to be filled in; the linter finds every part that was not."""
    match OutputNotation(notation):
        case OutputNotation.FOUR_SECTIONS:
            return FOUR_SECTIONS_TEMPLATE
        case OutputNotation.SIX_SECTIONS:
            return SIX_SECTIONS_TEMPLATE
        case OutputNotation.JSON:
            return JSON_TEMPLATE
        case OutputNotation.TASK_FILE:
            return TASK_FILE_TEMPLATE
        case OutputNotation.YAML:
            return YAML_TEMPLATE


def lost_fields(handoff: Handoff, notation: OutputNotation | str) -> tuple[str, ...]:
    """The fields that hold something and have no place in a notation, in the record's order."""
    kept = NOTATION_FIELDS[OutputNotation(notation)]
    return tuple(name for name in Handoff.model_fields if name not in kept and getattr(handoff, name))


def render_context_header(handoff: Handoff, agent_name: str | None = None) -> str:
    """The compact Markdown header for the next agent; empty fields are left out."""
    heading = "## Handoff from previous step" + (f" ({agent_name})" if agent_name else "")
    parts = [heading]
    if handoff.what_was_done:
        parts.append(_labelled("What was done", handoff.what_was_done, inline=True))
    if handoff.decisions_made:
        parts.append(_labelled("Decisions made", map(describe_decision, handoff.decisions_made)))
    if handoff.open_questions:
        parts.append(_labelled("Open questions", map(describe_question, handoff.open_questions)))
    if handoff.next_agent_context:
        parts.append(f"**Your task**: {handoff.next_agent_context.strip()}")
    return "\n\n".join(parts)


def _labelled(label: str, items: Iterable[str], *, inline: bool = False) -> str:
    texts = list(items)
    if len(texts) == 1:
        return f"**{label}**:{' ' if inline else chr(10)}{texts[0]}"
    return f"**{label}**:\n" + "\n".join(f"- {text}" for text in texts)


def describe_decision(item: Decision) -> str:
    """A decision and its reason on one line."""
    return f"{item.decision} ({item.rationale})" if item.rationale else item.decision


def describe_question(item: OpenQuestion) -> str:
    """A question, and whether it stops the work."""
    return item.question + (" (blocking)" if item.blocking else "")
