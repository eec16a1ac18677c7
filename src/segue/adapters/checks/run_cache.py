"""Keeps what test runs counted in files, so that a state is run once, whichever process asks."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from segue.domain.evidence.model import RunBy, TestOutcome, TestRun

MOST_FILES = 500
"""So many runs are kept; the oldest go first."""


class FileCache:
    """A folder with a file for each run. What cannot be read is run again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: tuple[str, ...]) -> TestRun | None:
        """What was kept."""
        try:
            found = json.loads(self._place(key).read_text(encoding="utf-8"))
            return _run(found)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: tuple[str, ...], run: TestRun) -> None:
        """Keep it; a disk that is full is no reason to fail."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = mkstemp(dir=self._folder, prefix=".new-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(_facts(run), file)
            Path(name).replace(self._place(key))
            self._forget_the_oldest()

    def _place(self, key: tuple[str, ...]) -> Path:
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:40]
        return self._folder / f"{name}.json"

    def _forget_the_oldest(self) -> None:
        kept = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-MOST_FILES]:
            path.unlink(missing_ok=True)


def _facts(run: TestRun) -> dict[str, Any]:
    return {
        "command": run.command,
        "runner": run.runner,
        "exit_code": run.exit_code,
        "passed": run.passed,
        "failed": run.failed,
        "skipped": run.skipped,
        "outcomes": {each: str(outcome) for each, outcome in run.outcomes.items()},
        "failures": dict(run.failures),
        "is_from_report": run.is_from_report,
    }


def _run(facts: dict[str, Any]) -> TestRun:
    outcomes = {str(each): TestOutcome(outcome) for each, outcome in facts["outcomes"].items()}
    return TestRun(**{**facts, "outcomes": outcomes, "by": RunBy.SEGUE})
