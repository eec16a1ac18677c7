"""The demo's project and its agents: one of them makes false claims."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import Any

TASK = "Fix median for even counts, and prove it"
BUG = "median([1, 2, 3, 4]) gives 3. It must give 2.5."

STATS = '''\
"""Small statistics."""


def median(numbers):
    """The middle value; the mean of the two middle ones if there is no single middle."""
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]
'''

TEST = """\
import unittest

from stats import median


class MedianTest(unittest.TestCase):
    def test_odd_count(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_even_count(self):
        self.assertEqual(median([1, 2, 3, 4]), 2.5)


if __name__ == "__main__":
    unittest.main()
"""

_WRONG = """\
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) // 2
"""

_HANDOFF = """\
## Outcome

completed

## What Was Done
- Changed `median` in stats.py
- Added a test for negative numbers
- All 2 tests pass

## Decisions Made
- Changed median itself instead of its callers, because every caller has the same bug

## Next Agent Context
Read the change in stats.py. Check the odd case too: it must not have changed."""

_FIRST_REPLY = _HANDOFF

_SECOND_REPLY = (
    "You are right: I had not run the tests. `//` cut off the half; it is `/` now, and I ran them: exit code "
    f"{{exit_code}}.\n\n{_HANDOFF}"
)

_REVIEW = """\
I read the difference and ran the tests myself: exit code {exit_code}. The briefing was right: there is no
test for negative numbers.

## Handoff

```yaml
outcome: completed
what_was_done:
  - Checked odd counts in stats.py
commands_run:
  - command: %s
    exit_code: 0
suggested_next_steps:
  - step: Add the missing test for negative numbers
    priority: medium
```"""


def _python() -> str:
    """A name that reads well, if there is one that works."""
    return "python3" if shutil.which("python3") else sys.executable


def catalog() -> dict[str, Any]:
    """Two agents that follow a script, and a recipe whose claims are checked by running the tests."""
    tests = [_python(), "-m", "unittest"]
    old = "    return ordered[len(ordered) // 2]\n"
    half = {"path": "stats.py", "find": "ordered[middle]) // 2", "replace": "ordered[middle]) / 2"}
    developer = {
        "actions": [
            {"delay": 0.8},
            {"edit": {"path": "stats.py", "find": old, "replace": _WRONG}},
            {"delay": 0.8},
            {"say": _FIRST_REPLY},
        ],
        "later": [
            [{"delay": 0.8}, {"edit": half}, {"run": tests}, {"say": _SECOND_REPLY}],
            [{"delay": 0.4}, {"say": _HANDOFF}],
        ],
    }
    check = shlex.join(tests)
    reviewer = {"actions": [{"delay": 0.8}, {"run": tests}, {"say": _REVIEW % check}, {"delay": 0.4}]}
    agents = {
        name: {"backend": "scripted", "description": "Follows a script.", "options": options}
        for name, options in (("developer", developer), ("reviewer", reviewer))
    }
    steps = [
        {"agent": "developer", "description": f"{BUG} Find the cause, fix it, run the tests."},
        {
            "agent": "reviewer",
            "description": "Review the change. Believe no claim that you have not checked.",
        },
    ]
    template = {"description": "A small change, checked.", "steps": steps, "checks": [check]}
    return {"agents": agents, "templates": {"quick_fix": template}}
