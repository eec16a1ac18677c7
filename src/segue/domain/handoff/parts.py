"""Splits one statement into its parts: a decision and why, a trap and how to get round it."""

from __future__ import annotations

import re

from segue.domain.handoff.draft import Piece, cut
from segue.domain.handoff.notations import Topic

PART_LABELS: dict[Topic, dict[str, str]] = {
    Topic.DECISIONS: {
        "rationale": "rationale",
        "why": "rationale",
        "reason": "rationale",
        "reasoning": "rationale",
        "because": "rationale",
        "begründung": "rationale",
        "grund": "rationale",
        "raison": "rationale",
        "razón": "rationale",
        "motivo": "rationale",
        "причина": "rationale",
        "почему": "rationale",
        "理由": "rationale",
        "原因": "rationale",
        "이유": "rationale",
    },
    Topic.GOTCHAS: {
        "mitigation": "mitigation",
        "workaround": "mitigation",
        "fix": "mitigation",
        "solution": "mitigation",
        "avoid": "mitigation",
        "severity": "severity",
        "discovered in": "discovered_in",
        "location": "discovered_in",
        "where": "discovered_in",
    },
    Topic.QUESTIONS: {
        "context": "context",
        "recommendation": "recommendation",
        "recommended": "recommendation",
        "suggestion": "recommendation",
        "blocking": "blocking",
    },
    Topic.BLOCKERS: {
        "impact": "impact",
        "resolution": "suggested_resolution",
        "suggested resolution": "suggested_resolution",
        "workaround": "suggested_resolution",
        "fix": "suggested_resolution",
        "next": "suggested_resolution",
        "unblock": "suggested_resolution",
        "needed": "suggested_resolution",
    },
    Topic.NEXT: {"priority": "priority"},
    Topic.FAILED: {"why": "why", "reason": "why", "because": "why", "result": "why", "outcome": "why"},
    Topic.PATTERNS: {"location": "location", "where": "location"},
}
"""Words before a colon, or over a column, inside a statement -> the part that follows."""

HEADLINES: dict[Topic, str] = {
    Topic.DECISIONS: "decision",
    Topic.GOTCHAS: "issue",
    Topic.QUESTIONS: "question",
    Topic.BLOCKERS: "blocker",
    Topic.NEXT: "step",
    Topic.FAILED: "approach",
    Topic.PATTERNS: "pattern",
    Topic.READING: "file",
    Topic.CHECKS: "command",
    Topic.CREATED: "path",
    Topic.MODIFIED: "path",
}
"""The part that a bare text stands for."""

_LABEL = re.compile(
    r"\n[ \t]*(?:[-*+\u2022][ \t]+)?[*_]{0,2}(\w[\w ]{1,20}?)[*_]{0,2}[ \t]*[:\uff1a][*_]{0,2}[ \t]*"
)


def parts_of(topic: Topic, text: str, piece: Piece) -> list[tuple[str, Piece]]:
    """The parts that a statement names on lines of their own; none if it is of one piece."""
    labels = PART_LABELS.get(topic)
    if labels is None or "\n" not in piece.text or (topic is Topic.NEXT and "riority" not in piece.text):
        return []
    marks = [
        (m, part)
        for m in _LABEL.finditer(text, piece.start, piece.end)
        if (part := labels.get(m[1].casefold()))
    ]
    if not marks:
        return []
    found = [(HEADLINES[topic], cut(text, piece.start, marks[0][0].start()))]
    for at, (mark, part) in enumerate(marks):
        stop = marks[at + 1][0].start() if at + 1 < len(marks) else piece.end
        value = cut(text, mark.end(), stop)
        if value.text and part not in dict(found):
            found.append((part, value))
    return found if found[0][1].text else []
