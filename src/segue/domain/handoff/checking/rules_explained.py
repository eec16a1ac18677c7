"""The rules explained to people: why each is there, and a handoff that breaks and one that keeps it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """A rule in a few sentences, with its examples. The page on checking says the same; a test holds that."""

    text: str
    """What is asked, why, and what `--fix` changes."""
    fails: str
    """A handoff, as YAML, that breaks this rule and no other."""
    passes: str
    """A handoff, as YAML, that keeps every rule."""


EXPLANATIONS: dict[str, Explanation] = {
    "H001": Explanation(
        text="""\
A handoff says how the work ended. Without it nobody can tell finished work from abandoned work.""",
        fails="""\
what_was_done: [Added the login endpoint]
""",
        passes="""\
outcome: completed
what_was_done: [Added the login endpoint]
""",
    ),
    "H002": Explanation(
        text="""\
`outcome`, `severity`, `priority` and `change_type` hold one of their known values: `completed`,
`partial`, `failed`, `blocked`; `high`, `medium`, `low`; `add`, `modify`, `delete`, `refactor`. `--fix`
changes case and common synonyms (`Done`, `critical`, `updated`).""",
        fails="""\
outcome: completed
gotchas:
  - issue: The API allows 100 calls a minute
    severity: catastrophic
""",
        passes="""\
outcome: completed
gotchas:
  - issue: The API allows 100 calls a minute
    severity: high
""",
    ),
    "H003": Explanation(
        text="""\
Every item has the part that it is about: a file its path, a gotcha its issue, a question its question.""",
        fails="""\
outcome: completed
files_created:
  - path: ""
    purpose: Token validation
""",
        passes="""\
outcome: completed
files_created:
  - path: src/auth/jwt.ts
    purpose: Token validation
""",
    ),
    "H010": Explanation(
        text="""\
`partial` names its `blockers` and its `suggested_next_steps`: what stopped the work, and what is left.""",
        fails="""\
outcome: partial
suggested_next_steps: [Add the refresh token]
""",
        passes="""\
outcome: partial
blockers: [The test database is down]
suggested_next_steps: [Add the refresh token]
""",
    ),
    "H011": Explanation(
        text="""\
`failed` names a blocker with its `suggested_resolution`: what the next agent should try.""",
        fails="""\
outcome: failed
blockers:
  - blocker: The build needs a newer compiler
""",
        passes="""\
outcome: failed
blockers:
  - blocker: The build needs a newer compiler
    suggested_resolution: Raise the compiler version in the container image
""",
    ),
    "H012": Explanation(
        text="""\
`blocked` names a blocker with its `blocking_tasks`: which tasks cannot continue.""",
        fails="""\
outcome: blocked
blockers:
  - blocker: No credentials for the payment service
""",
        passes="""\
outcome: blocked
blockers:
  - blocker: No credentials for the payment service
    blocking_tasks: [task-005, task-006]
""",
    ),
    "H013": Explanation(
        text="""\
Where files changed, at least one of them is listed in `files_created` or `files_modified`. To name one
in the text is enough. This needs to know what changed, so it is checked in runs and by `segue handoff
verify`, where git tells; `segue handoff lint` alone finds nothing.""",
        fails="""\
outcome: completed
what_was_done: [Added the login endpoint]
""",
        passes="""\
outcome: completed
what_was_done: [Added the login endpoint]
files_modified: [src/auth/login.py]
""",
    ),
    "H020": Explanation(
        text="""\
A path is relative and stays inside the project. Absolute paths, `~`, drive letters, addresses and paths
that climb out with `..` mean nothing to the next agent. `--fix` removes `./`, quotes and backticks
around a path.""",
        fails="""\
outcome: completed
files_modified:
  - path: /home/agent/project/src/app.py
dependencies_for_next:
  - file: ../other/project.md
""",
        passes="""\
outcome: completed
files_modified:
  - path: src/app.py
dependencies_for_next:
  - file: docs/project.md
""",
    ),
    "H021": Explanation(
        text="""\
`lines` is `N-M`, with 1 <= N <= M, or `all`. `--fix` changes `45`, `L45-L67`, `45..67` and `All`.""",
        fails="""\
outcome: completed
files_modified:
  - path: src/app.py
    lines: 67-45
""",
        passes="""\
outcome: completed
files_modified:
  - path: src/app.py
    lines: 45-67
""",
    ),
    "H022": Explanation(
        text="""\
A tag in `applies_to` is in lower case, with hyphens, so that the same tag is found again. `--fix` changes
`User State`, `user_state` and `UserState`.""",
        fails="""\
outcome: completed
patterns_discovered:
  - pattern: Read the user from AuthContext
    applies_to: [User State]
""",
        passes="""\
outcome: completed
patterns_discovered:
  - pattern: Read the user from AuthContext
    applies_to: [user-state]
""",
    ),
    "H030": Explanation(
        text="""\
No text is left from the template or without words: `[path]`, `TODO`, `TBD`, `...`.""",
        fails="""\
outcome: completed
what_was_done: ["[what you did]"]
gotchas:
  - issue: TODO
""",
        passes="""\
outcome: completed
what_was_done: [Removed the TODO in the parser]
""",
    ),
    "H031": Explanation(
        text="""\
Every statement stands once; case, spaces and a full stop make no difference. The same file may come up
again with other lines. In Python, `fix_handoff` drops a repetition that adds nothing.""",
        fails="""\
outcome: completed
what_was_done:
  - Added the login endpoint
  - added the  login endpoint.
""",
        passes="""\
outcome: completed
what_was_done: [Added the login endpoint, Added the logout endpoint]
files_modified:
  - {path: src/app.py, lines: 1-10}
  - {path: src/app.py, lines: 40-52}
""",
    ),
    "H032": Explanation(
        text="""\
At least half of the text belongs to a field. What belongs to none reaches the next agent as it is
written, below the record, and is the first thing that a small budget leaves out. Only a text can break this
rule, not a record.""",
        fails="""\
outcome: completed
what_was_done: [Added the login endpoint]
weather: It rained all day, so we stayed inside and talked about trains
""",
        passes="""\
outcome: completed
what_was_done: [Added the login endpoint]
critical_context: [The login service needs the cache to be warm]
""",
    ),
    "H040": Explanation(
        text="""\
`completed` work has no blockers and no blocking questions.""",
        fails="""\
outcome: completed
open_questions:
  - question: Which region does the data belong to?
    blocking: true
""",
        passes="""\
outcome: completed
open_questions:
  - question: Should the page be cached?
    blocking: false
""",
    ),
    "H041": Explanation(
        text="""\
The stated outcome is the one that the text tells of. A text that says `completed` and tells of a failure,
a refusal or a block in its own sentences is believed by the next agent, and should not be. Only a text can
break this rule, not a record.""",
        fails="""\
Outcome: completed

I rewrote the parser, but the build still fails.
""",
        passes="""\
Outcome: completed

I rewrote the parser, and the build passes.
""",
    ),
    "H050": Explanation(
        text="""\
No text holds a key, a token, a password or a private key. A handoff is stored, shown and sent on: what
stands there has left your hands. Known are the keys and tokens of AWS, GitHub, GitLab, Slack, OpenAI,
Anthropic, Stripe, Google, npm, PyPI, Hugging Face, SendGrid, DigitalOcean and Telegram, JSON web
tokens, private key blocks, bearer tokens, passwords in addresses, and passwords or keys that are
assigned to a name. The briefing redacts them as well.""",
        fails="""\
outcome: completed
critical_context:
  - The staging database is postgres://app:kT7w-pq41z@db.internal/app
""",
        passes="""\
outcome: completed
critical_context:
  - The staging database is postgres://app:$DB_PASSWORD@db.internal/app
""",
    ),
}
"""Code -> its explanation."""
