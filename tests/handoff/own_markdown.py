"""The smallest reader of Segue's own Markdown: proof that what is written can be told apart again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.markdown import ATTRIBUTE_LABELS
from segue.domain.handoff.writing.text import mark_code, unguard

_FIELDS = {
    "What Was Done": "what_was_done",
    "Decisions Made": "decisions_made",
    "Open Questions": "open_questions",
    "Next Agent Context": "next_agent_context",
    "Goal": "goal",
    "Constraints & Preferences": "constraints",
    "Done": "what_was_done",
    "Blocked": "blockers",
    "Key Decisions": "decisions_made",
    "Critical Context": "critical_context",
    "Next Steps": "suggested_next_steps",
}
_HEADLINES = {
    "decisions_made": "decision",
    "open_questions": "question",
    "suggested_next_steps": "step",
    "blockers": "blocker",
}
_LABELS = {label: name for labels in ATTRIBUTE_LABELS.values() for name, label in labels.items()}
_LABELLED = re.compile(r"- (" + "|".join(_LABELS) + r"): ")
_CODE_SPAN = re.compile(r"(`+)( ?)(.+?)\2\1(?!`)")


def read_sections(text: str) -> Handoff:
    """The record that was written as four or six sections."""
    values: dict[str, Any] = {}
    for heading, lines in _sections(text):
        name = _FIELDS.get(heading)
        if name is None:
            continue
        body = "\n".join(lines).strip("\n")
        if name in {"goal", "next_agent_context"}:
            values[name] = unguard(body)
        else:
            values[name] = [_item(item, name) for item in _bullets(body)]
    return Handoff.model_validate(values)


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    heading, body = "", list[str]()
    for each, in_code in mark_code(text.split("\n")):
        if not in_code and re.match(r"#{2,3} ", each):
            yield heading, body
            heading, body = each.lstrip("# "), []
        else:
            body.append(each)
    yield heading, body


def _bullets(body: str) -> Iterator[list[str]]:
    """The lines of each item, moved back to the left."""
    item: list[str] = []
    for each in body.split("\n"):
        if each.startswith("- ") and item:
            yield item
            item = []
        if each.startswith("- "):
            item.append(each.removeprefix("- ").removeprefix("[x] "))
        else:
            item.append(each.removeprefix("  "))
    yield item


def _item(lines: list[str], field: str) -> Any:
    """A bare text, or the parts of an item with labelled bullets at its end."""
    head, labelled = list[str](), dict[str, list[str]]()
    current: list[str] | None = None
    for each, in_code in mark_code(lines):
        match = None if in_code else _LABELLED.match(each)
        if match:
            current = labelled.setdefault(_LABELS[match[1]], [])
            current.append(each[match.end() :])
        elif current is not None:
            current.append(each.removeprefix("  "))
        else:
            head.append(each)
    text = unguard("\n".join(head))
    if not labelled:
        return text
    return {_HEADLINES[field]: text} | {
        name: _value(name, "\n".join(value)) for name, value in labelled.items()
    }


def _value(name: str, text: str) -> Any:
    if name == "blocking":
        return text == "yes"
    if name in {"depends_on", "blocking_tasks"}:
        return [match[3] for match in _CODE_SPAN.finditer(text)]
    return unguard(text)
