"""Splits one statement into its parts: a decision and why, a trap and how to get round it."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.extract.nothing import says_nothing
from segue.domain.handoff.extract.topics import Topic
from segue.domain.text.span import TextPiece, cut

PART_LABELS: Final[dict[Topic, dict[str, str]]] = {
    Topic.DECISIONS: {
        "rationale": "rationale",
        "why": "rationale",
        "reason": "rationale",
        "reasoning": "rationale",
        "because": "rationale",
        "begründung": "rationale",
        "begrundung": "rationale",  # a column: they are compared without accents
        "grund": "rationale",
        "raison": "rationale",
        "razón": "rationale",
        "razon": "rationale",
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
        "blocking tasks": "blocking_tasks",
        "blocks": "blocking_tasks",
        "needed": "suggested_resolution",
    },
    Topic.NEXT: {"priority": "priority", "depends on": "depends_on", "dependencies": "depends_on"},
    Topic.FAILED: {"why": "why", "reason": "why", "because": "why", "result": "why", "outcome": "why"},
    Topic.PATTERNS: {"location": "location", "where": "location"},
}
"""Words before a colon, or over a column, inside a statement -> the part that follows."""

Parts = tuple[tuple[str, TextPiece], ...]
"""The fields of a statement that has more than one, each with its words."""

HEADLINES: Final[dict[Topic, str]] = {
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

_LABEL: Final = re.compile(
    r"\n[ \t]*(?:[-*+\u2022][ \t]+)?[*_]{0,2}(\w[\w ]{1,22}+)[*_]{0,2}[ \t]*[:\uff1a][*_]{0,2}[ \t]*"
)


_TICKS: Final = re.compile(r"`+")
_NAMES: Final = frozenset({"depends_on", "blocking_tasks"})
"""Parts that are lists of names."""
_WORD_PARTS: Final = frozenset({"priority", "severity", "blocking"})
"""Parts that are one word: if more lines follow, the statement is left whole, so that no word is lost."""
_MOST_NAMES: Final = 100


def parts_of(topic: Topic, text: str, words: str, start: int, end: int) -> Parts:
    """The parts that a statement names on lines of their own; none if it is of one piece."""
    labels = PART_LABELS.get(topic)
    if labels is None or "\n" not in words:
        return ()
    marks = [
        (m, part)
        for m in _LABEL.finditer(text, start, end)
        if (part := labels.get(m[1].strip("_ ").casefold()))
    ]
    if not marks:
        return ()
    found = [(HEADLINES[topic], cut(text, start, marks[0][0].start()))]
    for at, (mark, part) in enumerate(marks):
        stop = marks[at + 1][0].start() if at + 1 < len(marks) else end
        value = cut(text, mark.end(), stop)
        if part in _WORD_PARTS and "\n" in value.text:
            return ()
        if value.text and part not in dict(found):
            found += [(part, each) for each in (names_in(value) if part in _NAMES else [value])]
    return tuple(found) if found[0][1].text else ()


def names_in(piece: TextPiece) -> list[TextPiece]:
    """The names in a list of names: code spans if there are some, else what stands between commas."""
    if spans := code_spans_in(piece):
        return spans
    found: list[TextPiece] = []
    at = piece.start
    for name in piece.text.split(",", _MOST_NAMES):
        bare = name.strip()
        begin = at + name.find(bare)
        if not says_nothing(bare):
            found.append(TextPiece(bare, begin, begin + len(bare)))
        at += len(name) + 1
    return found


def code_spans_in(piece: TextPiece) -> list[TextPiece]:
    """What stands inside the code spans of `piece`."""
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(piece.text)]
    found: list[TextPiece] = []
    at = 0
    while at < len(runs):
        begin, size = runs[at][1], runs[at][1] - runs[at][0]
        near = range(at + 1, min(len(runs), at + _MOST_NAMES))
        close = next((k for k in near if runs[k][1] - runs[k][0] == size), None)
        if close is not None:
            found.append(cut(piece.text, begin, runs[close][0]))
        at = at + 1 if close is None else close + 1
    return [TextPiece(text, piece.start + begin, piece.start + end) for text, begin, end in found if text]
