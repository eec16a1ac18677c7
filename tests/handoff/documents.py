"""Hypothesis strategies for handoffs and for texts that look like some."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from segue.domain.handoff.model import (
    Blocker,
    Decision,
    Dependency,
    FailedApproach,
    FileCreated,
    FileModified,
    Gotcha,
    Handoff,
    NextStep,
    OpenQuestion,
    Pattern,
    ReportedCommand,
    Section,
)

_AWKWARD = [
    "no",
    "Yes",
    "1.0",
    "0x1F",
    "- a",
    "# b",
    "a: b",
    "'",
    '"',
    "null",
    "~",
    "[x]",
    "{",
    "2026-01-01",
    "| c |",
]
_CHARACTERS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp", "Co", "Cn"))
TEXTS = st.one_of(
    st.sampled_from(_AWKWARD),
    st.text(_CHARACTERS, min_size=1, max_size=30),
    st.lists(st.text(_CHARACTERS, min_size=1, max_size=15), min_size=2, max_size=3).map("\n".join),
)
_MAYBE = st.none() | TEXTS
_TAGS = st.lists(TEXTS, max_size=2).map(tuple)


def _many(part: Any, **fields: Any) -> Any:
    return st.lists(st.builds(part, **fields), max_size=2).map(tuple)


HANDOFFS = st.builds(
    Handoff,
    outcome=st.none() | st.sampled_from(["completed", "partial", "failed", "blocked", "odd"]),
    goal=_MAYBE,
    constraints=_TAGS,
    what_was_done=_TAGS,
    decisions_made=_many(Decision, decision=TEXTS, rationale=_MAYBE),
    files_created=_many(FileCreated, path=TEXTS, purpose=_MAYBE, lines=_MAYBE),
    files_modified=_many(FileModified, path=TEXTS, lines=_MAYBE, change_type=_MAYBE, description=_MAYBE),
    commands_run=_many(
        ReportedCommand, command=TEXTS, exit_code=st.none() | st.integers(0, 255), observation=_MAYBE
    ),
    patterns_discovered=_many(Pattern, pattern=TEXTS, location=_MAYBE, applies_to=_TAGS),
    gotchas=_many(Gotcha, issue=TEXTS, discovered_in=_MAYBE, mitigation=_MAYBE, severity=_MAYBE),
    failed_approaches=_many(FailedApproach, approach=TEXTS, why=_MAYBE),
    dependencies_for_next=_many(Dependency, file=TEXTS, reason=_MAYBE),
    open_questions=_many(
        OpenQuestion, question=TEXTS, context=_MAYBE, recommendation=_MAYBE, blocking=st.booleans()
    ),
    suggested_next_steps=_many(NextStep, step=TEXTS, priority=_MAYBE, depends_on=_TAGS),
    blockers=_many(Blocker, blocker=TEXTS, impact=_MAYBE, suggested_resolution=_MAYBE, blocking_tasks=_TAGS),
    critical_context=_TAGS,
    next_agent_context=_MAYBE,
    other_sections=_many(Section, heading=TEXTS, text=TEXTS),
)

_PIECES = [
    "## Done",
    "# Handoff",
    "### Next steps",
    "**Decisions:** a. B.",
    "- [ ] x",
    "- y",
    "  - z",
    "```",
    "```yaml",
    "outcome: done",
    "blockers:",
    "<next_action>",
    "</next_action>",
    "> quoted",
    "Status: ✅",
    "---",
    "===",
    "1. one",
    "",
    "{",
    "}",
    "✅ ok",
    "?? b.py",
    "\t- tab",
    "a: b: c",
]
_TABLE = ["| File | Action |", "|---|---|", "| a.py | new |", '"a": 1,']
_LINES = st.one_of(st.sampled_from([*_PIECES, *_TABLE]), st.text(max_size=20))
DOCUMENTS = st.one_of(st.text(max_size=300), st.lists(_LINES, max_size=25).map("\n".join))
