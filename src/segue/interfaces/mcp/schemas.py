"""What each tool takes, as plain JSON Schema: flat, without references, which not every agent can follow."""

from __future__ import annotations

from typing import Any

from segue.domain.handoff.model import (
    Blocker,
    ChangeType,
    Decision,
    Dependency,
    FailedApproach,
    FileCreated,
    FileModified,
    Gotcha,
    Level,
    NextStep,
    OpenQuestion,
    Outcome,
    Part,
    Pattern,
    ReportedCommand,
)

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_PARTS: dict[str, Schema] = {
    "exit_code": {"type": "integer"},
    "blocking": {"type": "boolean", "description": "true if work cannot continue without an answer"},
    "severity": {"type": "string", "enum": [*Level]},
    "priority": {"type": "string", "enum": [*Level]},
    "change_type": {"type": "string", "enum": [*ChangeType]},
    "lines": {"type": "string", "description": "`10-42` or `all`"},
    "path": {"type": "string", "description": "relative to the project root"},
    "file": {"type": "string", "description": "relative to the project root"},
    "applies_to": {**_TEXTS, "description": "lower-case tags, such as `error-handling`"},
    "depends_on": _TEXTS,
    "blocking_tasks": {**_TEXTS, "description": "the tasks that it holds up; needed if outcome is `blocked`"},
    "suggested_resolution": {"type": "string", "description": "needed if outcome is `failed`"},
}
"""Parts of items that are not just any text."""


def _text(description: str) -> Schema:
    return {**_TEXT, "description": description}


def _texts(description: str) -> Schema:
    return {**_TEXTS, "description": description}


def _items(kind: type[Part], description: str) -> Schema:
    parts = [name for name in kind.model_fields if name != "id"]
    item = {
        "type": "object",
        "properties": {name: _PARTS.get(name, _TEXT) for name in parts},
        "required": [kind.headline],
    }
    return {"type": "array", "items": item, "description": description}


def _object(properties: dict[str, Schema], *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


HANDOFF_FIELDS: dict[str, Schema] = {
    "outcome": {
        "type": "string",
        "enum": [*Outcome],
        "description": "How your work ended. `partial` needs blockers and suggested_next_steps.",
    },
    "goal": _text("What the work is for."),
    "constraints": _texts("The user's own directives, word for word."),
    "what_was_done": _texts("One statement each, such as `Added a retry to the login request`."),
    "decisions_made": _items(Decision, "Choices, so that nobody makes them again."),
    "files_created": _items(FileCreated, "Files that were not there before."),
    "files_modified": _items(FileModified, "Files that you changed or deleted."),
    "commands_run": _items(
        ReportedCommand, "Commands that prove something, such as the tests, with exit codes."
    ),
    "patterns_discovered": _items(Pattern, "Ways of this code base that others should follow."),
    "gotchas": _items(Gotcha, "Traps that the next agent would step into."),
    "failed_approaches": _items(FailedApproach, "What you tried that did not work, and why."),
    "dependencies_for_next": _items(Dependency, "Files that the next agent should read first."),
    "open_questions": _items(OpenQuestion, "What nobody has decided yet."),
    "suggested_next_steps": _items(NextStep, "What should happen next."),
    "blockers": _items(Blocker, "What stops the work."),
    "critical_context": _texts("Facts, names and numbers that must not be forgotten."),
    "next_agent_context": _text("What the next agent must know and do."),
    "other_sections": {
        "type": "array",
        "items": _object({"heading": _TEXT, "text": _TEXT}, "heading", "text"),
        "description": "What fits no other field.",
    },
}

GET_TASK = _object({})
SUBMIT_HANDOFF = _object(
    {**HANDOFF_FIELDS, "text": _text("Instead of the fields: the handoff as Markdown, YAML or prose.")}
)
RECALL = _object(
    {
        "query": _text("A few words to look for, such as `retry timeout`. Empty for everything."),
        "step": {"type": "integer", "description": "Only this earlier step; 1 is the first."},
        "field": _text("Only this field, such as `what_was_done` or `gotchas[1]`."),
    }
)
SEARCH_KNOWLEDGE = _object({"query": _text("A few words, such as `login test`.")}, "query")
REPORT_BLOCKER = _object(
    {
        "blocker": _text("What stops the work, in one sentence."),
        "impact": _text("What cannot be done because of it."),
        "suggested_resolution": _text("What would help."),
        "blocking_tasks": _texts("The tasks that it holds up."),
    },
    "blocker",
)
