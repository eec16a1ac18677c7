"""The demo's project and its agents: one of them claims more than is so."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import Any

TASK = "median([1, 2, 3, 4]) gives 3, but it must be 2.5. Find out why, mend it, and prove it."

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

_FIRST_HANDOFF = """\
The cause is in stats.py: for an even count, median takes the upper of the two middle values.

## What Was Done
- Changed median in stats.py to take the mean of the two middle values for an even count
- Added a test for negative numbers
- All 2 tests pass

## Files Modified
- stats.py
- test_stats.py

## Decisions Made
- Mended median itself instead of its callers, because every caller has the same bug

## Open Questions
- Should median([]) raise a clearer error than IndexError?

## Next Agent Context
Read the change in stats.py. Check the odd case too: it must not have changed."""

_SECOND_HANDOFF = """\
You are right: I had not run them. `//` cut off the half; it is `/` now, and this time I ran the tests:
exit code {exit_code}.

## What Was Done
- Changed median in stats.py to take the mean of the two middle values for an even count
- Added a test for negative numbers
- All 2 tests pass

## Files Modified
- stats.py
- test_stats.py

## Decisions Made
- Mended median itself instead of its callers, because every caller has the same bug

## Open Questions
- Should median([]) raise a clearer error than IndexError?

## Next Agent Context
Read the change in stats.py. Check the odd case too: it must not have changed."""

_REVIEW = """\
I read the difference and ran the tests myself: exit code {exit_code}. The briefing was right to correct the
report: there is no test for negative numbers.

## Handoff

```yaml
outcome: completed
what_was_done:
  - Read the change in stats.py; it does what the task asks for
decisions_made:
  - decision: The change is safe to merge
    rationale: The odd case is untouched and covered by a test
gotchas:
  - issue: median([]) raises IndexError
    mitigation: Check for an empty list before the call
    severity: low
suggested_next_steps:
  - step: Add the missing test for negative numbers
    priority: low
```"""


def _python() -> str:
    """A name that reads well, if there is one that works."""
    return "python3" if shutil.which("python3") else sys.executable


def catalog() -> dict[str, Any]:
    """Two agents that follow a script, and a recipe whose claims are checked by running the tests."""
    tests = [_python(), "-m", "unittest", "-v"]
    old = "    return ordered[len(ordered) // 2]\n"
    half = {"path": "stats.py", "find": "ordered[middle]) // 2", "replace": "ordered[middle]) / 2"}
    developer = {
        "actions": [
            {"delay": 0.8},
            {"edit": {"path": "stats.py", "find": old, "replace": _WRONG}},
            {"delay": 0.8},
            {"say": _FIRST_HANDOFF},
        ],
        "later": [
            [{"delay": 0.8}, {"edit": half}, {"run": tests}, {"say": _SECOND_HANDOFF}],
            [{"delay": 0.4}, {"say": _SECOND_HANDOFF.partition("\n\n")[2]}],
        ],
    }
    reviewer = {"actions": [{"delay": 0.8}, {"run": tests}, {"say": _REVIEW}, {"delay": 0.4}]}
    agents = {
        name: {"backend": "scripted", "description": "Follows a script.", "options": options}
        for name, options in (("developer", developer), ("senior_reviewer", reviewer))
    }
    steps = [
        {"agent": "developer", "description": "Find the cause, mend it, run the tests."},
        {
            "agent": "senior_reviewer",
            "description": "Review the change. Believe no claim that you have not checked.",
        },
    ]
    check = shlex.join(tests)
    template = {"description": "A small change, checked.", "steps": steps, "checks": [check]}
    return {"agents": agents, "templates": {"quick_fix": template}}
