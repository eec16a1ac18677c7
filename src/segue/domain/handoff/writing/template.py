"""The empty forms that an agent fills in: one for each notation that it may answer in."""

from __future__ import annotations

YAML_TEMPLATE = """\
outcome: [completed | partial | failed | blocked]

what_was_done:
  - [one thing you did and checked]

decisions_made:
  - decision: [choice]
    rationale: [why]

files_created:
  - path: [path]
    purpose: [purpose]
    lines: [range]

files_modified:
  - path: [path]
    lines: [range]
    change_type: [add | modify | delete | refactor]
    description: [description]

commands_run:
  - command: [command]
    exit_code: [number]
    observation: [what it showed]

patterns_discovered:
  - pattern: [pattern description]
    location: [where]
    applies_to: [tags]

gotchas:
  - issue: [issue]
    discovered_in: [where it was found]
    mitigation: [how to avoid]
    severity: [high | medium | low]

failed_approaches:
  - approach: [what was tried]
    why: [why it did not work]

dependencies_for_next:
  - file: [path]
    reason: [why needed]

open_questions:
  - question: [question]
    context: [why it matters]
    recommendation: [suggested answer]
    blocking: [true | false]

suggested_next_steps:
  - step: [what to do]
    priority: [high | medium | low]
    depends_on: [dependencies]

blockers:
  - blocker: [what stops the work]
    impact: [what cannot be done]
    suggested_resolution: [how to get on]
    blocking_tasks: [tasks]

next_agent_context: [what the next agent must know and do]
"""

FOUR_SECTIONS_TEMPLATE = """\
## Outcome
completed, partial, failed or blocked. Unless completed, add `## Blockers` (below each, bullets \
`Suggested resolution:` and `Blocking tasks:`) and `## Next Steps`.

## What Was Done
One bullet for each thing you did. State only what you have checked.

## Decisions Made
One bullet for each choice, with its reason.

## Open Questions
One bullet for each thing that nobody has decided yet.

## Next Agent Context
What the next agent must know and do.
"""

SIX_SECTIONS_TEMPLATE = """\
## Outcome
completed, partial, failed or blocked

## Goal
What the work is for.

## Constraints & Preferences
One bullet for each directive of the user, word for word.

## Progress

### Done
- [x] One bullet for each thing you did. State only what you have checked.

### In Progress
- [ ] What is begun and not finished.

### Blocked
- What stops the work; below it a bullet `Suggested resolution:` and a bullet `Blocking tasks:`.

## Key Decisions
One bullet for each choice, with its reason.

## Critical Context
One bullet for each fact that must not be forgotten.

## Next Steps
One bullet for each step, the first one first.
"""

JSON_TEMPLATE = """\
{
  "outcome": "[completed | partial | failed | blocked]",
  "what_was_done": ["[one thing you did and checked]"],
  "decisions_made": [
    {
      "decision": "[choice]",
      "rationale": "[why]"
    }
  ],
  "files_created": [
    {
      "path": "[path]",
      "purpose": "[purpose]",
      "lines": "[range]"
    }
  ],
  "files_modified": [
    {
      "path": "[path]",
      "lines": "[range]",
      "change_type": "[add | modify | delete | refactor]",
      "description": "[description]"
    }
  ],
  "commands_run": [
    {
      "command": "[command]",
      "exit_code": "[number]",
      "observation": "[what it showed]"
    }
  ],
  "patterns_discovered": [
    {
      "pattern": "[pattern description]",
      "location": "[where]",
      "applies_to": ["[tags]"]
    }
  ],
  "gotchas": [
    {
      "issue": "[issue]",
      "discovered_in": "[where it was found]",
      "mitigation": "[how to avoid]",
      "severity": "[high | medium | low]"
    }
  ],
  "failed_approaches": [
    {
      "approach": "[what was tried]",
      "why": "[why it did not work]"
    }
  ],
  "dependencies_for_next": [
    {
      "file": "[path]",
      "reason": "[why needed]"
    }
  ],
  "open_questions": [
    {
      "question": "[question]",
      "context": "[why it matters]",
      "recommendation": "[suggested answer]",
      "blocking": "[true | false]"
    }
  ],
  "suggested_next_steps": [
    {
      "step": "[what to do]",
      "priority": "[high | medium | low]",
      "depends_on": ["[dependencies]"]
    }
  ],
  "blockers": [
    {
      "blocker": "[what stops the work]",
      "impact": "[what cannot be done]",
      "suggested_resolution": "[how to get on]",
      "blocking_tasks": ["[tasks]"]
    }
  ],
  "next_agent_context": "[what the next agent must know and do]"
}
"""

TASK_FILE_TEMPLATE = f"""\
# Task [ID]: [Name]

## Metadata

## Objective

## Acceptance Criteria

## Context Provided

---

## Execution Log

---

## Handoff

```yaml
{YAML_TEMPLATE}```

---

*Task completed: [timestamp]*
"""
