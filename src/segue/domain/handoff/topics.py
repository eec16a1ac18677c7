"""The topics by name. Python 3.11 takes longer to find a member of an enumeration than to read a word."""

from __future__ import annotations

from segue.domain.handoff.notations import Topic

NEXT = Topic.NEXT
DONE = Topic.DONE
DECISIONS = Topic.DECISIONS
QUESTIONS = Topic.QUESTIONS
BLOCKERS = Topic.BLOCKERS
FAILED = Topic.FAILED
GOTCHAS = Topic.GOTCHAS
PATTERNS = Topic.PATTERNS
CONSTRAINTS = Topic.CONSTRAINTS
GOAL = Topic.GOAL
BRIEF = Topic.BRIEF
CREATED = Topic.CREATED
MODIFIED = Topic.MODIFIED
CHANGED = Topic.CHANGED
READING = Topic.READING
CHECKS = Topic.CHECKS
TASKS = Topic.TASKS
STATUS = Topic.STATUS
CONTEXT = Topic.CONTEXT
ASIDE = Topic.ASIDE
WHOLE = Topic.WHOLE
