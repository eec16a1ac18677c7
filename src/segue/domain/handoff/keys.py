"""The keys inside the items of a YAML or JSON handoff: data."""

from __future__ import annotations

from segue.domain.handoff.notations import Topic

HEADLINE_KEYS = (
    "title", "task", "name", "step", "action", "item", "text", "summary", "description", "what", "content", "message", "note",
    "statement", "work", "detail", "details", "label", "subject", "commit_message", "finding", "value", "reason",
)  # fmt: skip
"""The keys that hold an item's own words when its field's own key is missing, best first."""

PART_KEYS: dict[Topic, dict[str, str]] = {
    Topic.DECISIONS: {
        "decision": "decision", "choice": "decision", "decided": "decision",
        "rationale": "rationale", "reason": "rationale", "why": "rationale", "reasoning": "rationale", "because": "rationale",
    },
    Topic.CREATED: {
        "path": "path", "file": "path", "filename": "path", "name": "path", "filepath": "path",
        "purpose": "purpose", "description": "purpose", "summary": "purpose", "reason": "purpose", "lines": "lines",
    },
    Topic.MODIFIED: {
        "path": "path", "file": "path", "filename": "path", "name": "path", "filepath": "path", "lines": "lines",
        "change_type": "change_type", "changetype": "change_type", "type": "change_type", "action": "change_type",
        "description": "description", "summary": "description", "changes": "description", "change": "description",
        "purpose": "description",
    },
    Topic.CHECKS: {
        "command": "command", "cmd": "command", "run": "command", "exit_code": "exit_code", "exitcode": "exit_code",
        "observation": "observation", "output": "observation", "result": "observation", "status": "observation",
    },
    Topic.PATTERNS: {
        "id": "id", "pattern": "pattern", "location": "location", "where": "location", "file": "location",
        "applies_to": "applies_to", "tags": "applies_to",
    },
    Topic.GOTCHAS: {
        "id": "id", "issue": "issue", "gotcha": "issue", "problem": "issue", "risk": "issue", "warning": "issue",
        "discovered_in": "discovered_in", "mitigation": "mitigation", "workaround": "mitigation", "fix": "mitigation",
        "suggestedfix": "mitigation", "severity": "severity",
    },
    Topic.FAILED: {
        "approach": "approach", "attempt": "approach", "tried": "approach", "why": "why", "reason": "why", "result": "why",
    },
    Topic.READING: {
        "file": "file", "path": "file", "document": "file", "reason": "reason", "why": "reason", "purpose": "reason",
        "description": "reason",
    },
    Topic.QUESTIONS: {
        "question": "question", "context": "context", "recommendation": "recommendation", "suggestion": "recommendation",
        "blocking": "blocking",
    },
    Topic.NEXT: {
        "step": "step", "priority": "priority", "depends_on": "depends_on", "dependson": "depends_on",
        "dependencies": "depends_on",
    },
    Topic.BLOCKERS: {
        "blocker": "blocker", "issue": "blocker", "impact": "impact", "suggested_resolution": "suggested_resolution",
        "resolution": "suggested_resolution", "workaround": "suggested_resolution", "blocking_tasks": "blocking_tasks",
        "blocks": "blocking_tasks",
    },
}  # fmt: skip
"""Topic -> key as agents write it, lower case -> part of the item."""

STATUS_KEYS = frozenset({"status", "state", "done", "completed", "resolved"})
"""Keys that tell whether an item is done."""

OUTCOME_KEYS = {"outcome": 12, "status": 9, "result": 8, "verdict": 8, "state": 7, "successstate": 10, "missionstatus": 10}
"""Top-level keys that say how the work ended, and how much each one counts."""
