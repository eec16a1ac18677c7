"""The topics that a part of a handoff can be about, and the signs that agents put before items: data."""

from __future__ import annotations

from enum import StrEnum


class Topic(StrEnum):
    """What a part of a handoff is about: a field of the record, or something that leads to fields."""

    NEXT = "suggested_next_steps"
    DONE = "what_was_done"
    DECISIONS = "decisions_made"
    QUESTIONS = "open_questions"
    BLOCKERS = "blockers"
    FAILED = "failed_approaches"
    GOTCHAS = "gotchas"
    PATTERNS = "patterns_discovered"
    CONSTRAINTS = "constraints"
    GOAL = "goal"
    BRIEF = "next_agent_context"
    CREATED = "files_created"
    MODIFIED = "files_modified"
    CHANGED = "files_changed"
    """Files that were touched, new or not: each is told apart by its own words."""
    READING = "dependencies_for_next"
    CHECKS = "commands_run"
    """Tests, commands and their results: only what names a command has a field."""
    TASKS = "tasks"
    """Done and open work in one list: each item is told apart by its own mark."""
    STATUS = "outcome"
    CONTEXT = "critical_context"
    ASIDE = "other_sections"
    """Known to belong to no field."""
    WHOLE = "handoff"
    """The handoff itself: what is inside speaks for itself."""


DONE_MARKS = "✅✔☑🟢🎉✓"
OPEN_MARKS = "⏳🔄🚧⬜☐🔲⏭⏸🔜📋🟡⌛▶➡👉"
BAD_MARKS = "❌✗✘🔴🚫⛔"
"""Signs that stand before an item: done, open, failed."""

FILES = frozenset({Topic.CREATED, Topic.MODIFIED, Topic.CHANGED})
"""Topics whose items name files."""
MAY_BE_NONE = frozenset({Topic.GOTCHAS, Topic.BLOCKERS, Topic.QUESTIONS, Topic.FAILED})
"""Topics where it is often said that there is nothing to tell."""
TEXTS = frozenset({Topic.GOAL, Topic.BRIEF})
"""Topics whose field is one text, not a list."""
CORE = frozenset(
    {Topic.DONE, Topic.NEXT, Topic.DECISIONS, Topic.QUESTIONS, Topic.BLOCKERS, Topic.GOTCHAS, Topic.BRIEF}
)
"""Topics that make a text a handoff."""
