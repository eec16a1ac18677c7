"""Writes a handoff as Markdown sections: items as bullets, their further fields as labelled bullets below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from segue.domain.handoff.model import Blocker, Decision, Handoff, NextStep, OpenQuestion, Part
from segue.domain.handoff.writing.text import code_spans, guard_item, guard_section, indent_after_first

ATTRIBUTE_LABELS: dict[type[Part], dict[str, str]] = {
    Decision: {"rationale": "Rationale"},
    OpenQuestion: {"context": "Context", "recommendation": "Recommendation", "blocking": "Blocking"},
    NextStep: {"priority": "Priority", "depends_on": "Depends on"},
    Blocker: {
        "impact": "Impact",
        "suggested_resolution": "Suggested resolution",
        "blocking_tasks": "Blocking tasks",
    },
}
"""Kind of item -> its further fields, in the order written, and the label of each."""

_LABELS = "|".join(sorted({label for labels in ATTRIBUTE_LABELS.values() for label in labels.values()}))
_LABELLED_BULLET = re.compile(rf"[-+*][ \t]+(?:{_LABELS}):")
_LABEL_LIKE = re.compile(r"\*\*|__|[^\s:]+(?:[ \t][^\s:]+){0,4}:")


def render_four_sections(handoff: Handoff) -> str:
    """What was done, decisions made, open questions, next agent context."""
    return _join(
        _section("What Was Done", render_items(handoff.what_was_done)),
        _section("Decisions Made", render_items(handoff.decisions_made)),
        _section("Open Questions", render_items(handoff.open_questions)),
        _section("Next Agent Context", _text(handoff.next_agent_context)),
    )


def render_six_sections(handoff: Handoff) -> str:
    """Goal, constraints, progress (done, blocked), key decisions, critical context, next steps."""
    progress = _join(
        _section("Done", render_items(handoff.what_was_done, marker="- [x] "), level=3),
        _section("Blocked", render_items(handoff.blockers), level=3),
    )
    return _join(
        _section("Goal", _text(handoff.goal)),
        _section("Constraints & Preferences", render_items(handoff.constraints)),
        _section("Progress", progress),
        _section("Key Decisions", render_items(handoff.decisions_made)),
        _section("Critical Context", render_items(handoff.critical_context)),
        _section("Next Steps", render_items(handoff.suggested_next_steps)),
    )


def render_items(items: Sequence[str | Part], marker: str = "- ") -> str:
    """One plain item as a paragraph, several (or one that needs it) as bullets."""
    blocks = [render_item(item, marker) for item in items]
    if len(items) == 1 and marker == "- " and _is_paragraph(blocks[0]):
        return blocks[0].removeprefix(marker)
    return "\n".join(blocks)


def render_item(item: str | Part, marker: str = "- ") -> str:
    """One bullet, with a labelled bullet below it for each further field of the item."""
    headline = item if isinstance(item, str) else str(getattr(item, item.headline))
    lines = [marker + indent_after_first(guard_item(headline, apart=_LABELLED_BULLET), 2)]
    if isinstance(item, Part):
        lines += [f"  - {line}" for line in _attributes(item)]
    return "\n".join(lines)


def _attributes(item: Part) -> Iterable[str]:
    for name, label in ATTRIBUTE_LABELS.get(type(item), {}).items():
        value = _attribute(getattr(item, name))
        if value:
            yield f"{label}: {value}"


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, tuple):
        return code_spans(value)
    return indent_after_first(guard_item(value), 4) if value else ""


def _is_paragraph(bullet: str) -> bool:
    text = bullet.removeprefix("- ")
    return "\n" not in text and not _LABEL_LIKE.match(text) and not text.startswith("\\")


def _text(text: str | None) -> str:
    return guard_section(text) if text and text.strip() else ""


def _section(heading: str, body: str, level: int = 2) -> str:
    return f"{'#' * level} {heading}\n\n{body.rstrip()}\n" if body else ""


def _join(*sections: str) -> str:
    return "\n".join(section for section in sections if section)
