"""A run with everything that an X-ray shows: repairs, false claims, a weakened test, a silent change."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from segue.application.pipelines.submit import PipelineRequest
from segue.application.views import PipelineDetail
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.git.repositories import new_repository
from tests.trusting import write_project

UPLOAD = '''\
"""Sends files to the store."""

from settings import TIMEOUT


class UploadFailed(Exception):
    """The store did not take a file."""


def upload(path, send):
    """Send one file; gives what the store answered."""
    return send(path, timeout=TIMEOUT)


def upload_all(paths, send):
    """Send files one by one; gives the answers in their order."""
    return [upload(path, send) for path in paths]


def describe(answer):
    """An answer in one word."""
    return "stored" if answer == 201 else "refused"
'''
SETTINGS = 'STORE = "https://store.example"\nTIMEOUT = 30\nATTEMPTS = 3\n'
TESTS = """\
import unittest

from upload import UploadFailed, upload, upload_all


def stored(path, timeout):
    return 201


class UploadTest(unittest.TestCase):
    def test_one_file_is_stored(self):
        self.assertEqual(upload("a.txt", stored), 201)

    def test_all_files_are_stored(self):
        self.assertEqual(upload_all(["a.txt", "b.txt"], stored), [201, 201])

    def test_no_file_is_no_work(self):
        self.assertEqual(upload_all([], stored), [])

    def test_a_store_that_is_gone_is_an_error(self):
        def gone(path, timeout):
            raise UploadFailed(path)

        with self.assertRaises(UploadFailed):
            upload("a.txt", gone)


if __name__ == "__main__":
    unittest.main()
"""
README = "# Uploads\n\n`upload(path, send)` sends one file. A failed upload is an error.\n"
TASK = "An upload that fails once is lost. Try it again, at most three times, and prove it."
CHECK = "python3 -m unittest -q"

_DESCRIBE = '''


def describe(answer):
    """An answer in one word."""
    return "stored" if answer == 201 else "refused"
'''
_RETRY = '''\
    return retry(lambda: send(path, timeout=TIMEOUT))


def retry(act):
    """Do something until it works, at most `ATTEMPTS` times."""
    for attempt in range(ATTEMPTS):
        try:
            return act()
        except UploadFailed:
            if attempt == ATTEMPTS:
                raise
    return None
'''
_PLAN = """\
## Outcome
completed

## What Was Done
- Read upload.py: `upload` calls `send` once and gives up

## Decisions Made
- Retry inside `upload`, so that `upload_all` needs no change

## Next Agent Context
Keep `upload_all` as it is. `ATTEMPTS` in settings.py is 3 already.
"""
_DONE = """\
## Outcome
completed

## What Was Done
- Added `retry` to upload.py; `upload` uses it
- Added a test for an upload that fails twice
- All 4 tests pass
{readme}
- Uploads are as fast as before
{committed}
## Files Modified
- upload.py
- test_upload.py

## Decisions Made
- Three attempts rather than five: the store blocks clients that ask more often

## Open Questions
- Should `upload_all` stop at the first file that fails?

## Next Agent Context
Read `retry` first. The store already answers 429 to clients in a hurry.
"""
_FIRST = _DONE.format(readme="- Updated README.md and docs/limits.md", committed="- Committed as 3f9c2e1d\n")
_SECOND = "You are right about the docs: there is only README.md. The rest holds.\n\n" + _DONE.format(
    readme="- Updated README.md", committed="- Committed as 3f9c2e1d\n"
)
_THIRD = "There is no commit yet; I took that out.\n\n" + _DONE.format(
    readme="- Updated README.md", committed=""
)
_SKIP = '    @unittest.skip("flaky")\n    def test_a_store_that_is_gone'
_REVIEW = """\
## Outcome
partial

## What Was Done
- Ran the tests: 3 passed, 1 skipped

## Blockers
- `retry` gives None after the third attempt
  - Suggested resolution: raise the last error

## Next Steps
- Raise the last error in `retry`, and take the skip mark away
"""


def _edit(path: str, find: str, replace: str) -> dict[str, Any]:
    return {"edit": {"path": path, "find": find, "replace": replace}}


def catalog() -> Mapping[str, Any]:
    """A planner, a developer who says more than is true, a reviewer."""
    developer = {
        "actions": [
            _edit("upload.py", "    return send(path, timeout=TIMEOUT)\n", _RETRY),
            _edit("upload.py", _DESCRIBE, ""),
            _edit("upload.py", "import TIMEOUT", "import ATTEMPTS, TIMEOUT"),
            _edit("test_upload.py", "    def test_a_store_that_is_gone", _SKIP),
            _edit("settings.py", "TIMEOUT = 30", "TIMEOUT = 300"),
            {"run": ["python3", "-m", "unittest", "-q"]},
            {"say": _FIRST},
        ],
        "later": [
            [
                _edit("README.md", "A failed upload is an error.", "It is tried three times."),
                {"say": _SECOND},
            ],
            [{"say": _THIRD}],
        ],
    }
    scripts = {
        "planner": {"actions": [{"say": _PLAN}]},
        "developer": developer,
        "reviewer": {"actions": [{"run": ["python3", "-m", "unittest", "-q"]}, {"say": _REVIEW}]},
    }
    agents = {name: {"backend": "scripted", "options": options} for name, options in scripts.items()}
    steps = [
        {"agent": "planner", "description": "Find the cause and plan the change.", "checks": []},
        {"agent": "developer", "description": "Make the change and its tests."},
        {
            "agent": "reviewer",
            "description": "Review the change. Run the tests yourself.",
            "on_outcome": {"partial": "continue"},
        },
    ]
    return {"agents": agents, "templates": {"plan_code_review": {"steps": steps, "checks": [CHECK]}}}


def lay_out(project: Path) -> Path:
    """The repository before the run."""
    files = {"upload.py": UPLOAD, "settings.py": SETTINGS, "test_upload.py": TESTS, "README.md": README}
    new_repository(project, {**files, ".gitignore": "__pycache__/\n.segue/\n"})
    write_project(project, json.dumps(catalog()), "shop.yaml")
    return project


async def run_story(folder: Path, project: Path) -> PipelineDetail:
    """The run, with its data in `folder / "data"`."""
    request = PipelineRequest(
        template="plan_code_review", title="Retry failed uploads", prompt=TASK, working_dir=str(project)
    )
    async with build_test_segue(folder, ScriptedBackend()) as segue:
        return await follow_to_end(segue, (await segue.pipelines.submit(request)).id)


if __name__ == "__main__":
    import asyncio

    place = Path(sys.argv[1]).resolve()
    (place / "project").mkdir(parents=True)
    print(asyncio.run(run_story(place, lay_out(place / "project"))).result)  # noqa: T201  # for a person
