"""The topics by name. Python 3.11 takes longer to find a member of an enumeration than to read a word."""

from __future__ import annotations

from typing import Final

from segue.domain.handoff.reading.notations import Topic

NEXT: Final = Topic.NEXT
DONE: Final = Topic.DONE
DECISIONS: Final = Topic.DECISIONS
QUESTIONS: Final = Topic.QUESTIONS
BLOCKERS: Final = Topic.BLOCKERS
FAILED: Final = Topic.FAILED
GOTCHAS: Final = Topic.GOTCHAS
PATTERNS: Final = Topic.PATTERNS
CONSTRAINTS: Final = Topic.CONSTRAINTS
GOAL: Final = Topic.GOAL
BRIEF: Final = Topic.BRIEF
CREATED: Final = Topic.CREATED
MODIFIED: Final = Topic.MODIFIED
CHANGED: Final = Topic.CHANGED
READING: Final = Topic.READING
CHECKS: Final = Topic.CHECKS
TASKS: Final = Topic.TASKS
STATUS: Final = Topic.STATUS
CONTEXT: Final = Topic.CONTEXT
ASIDE: Final = Topic.ASIDE
WHOLE: Final = Topic.WHOLE
FILES: Final = frozenset({CREATED, MODIFIED, CHANGED})
"""Topics whose items name files."""
MAY_BE_NONE: Final = frozenset({GOTCHAS, BLOCKERS, QUESTIONS, FAILED})
"""Topics where it is often said that there is nothing to tell."""
