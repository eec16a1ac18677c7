"""A pytest plugin that writes down how each test ended, as it ends: a run that is cut off loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Outcomes:
    """What a run of pytest was to test, and what became of it."""

    planned: set[str] = field(default_factory=set)
    ended: dict[str, str] = field(default_factory=dict)
    """By test: `passed`, `failed`, `skipped` or `xfailed`. A file that cannot be imported is `failed`."""

    def add(self, name: str, word: str) -> None:
        """One more report of a test; one phase that failed makes it fail."""
        if word == "planned":
            self.planned.add(name)
        elif self.ended.get(name) != "failed":
            self.ended[name] = word

    def having(self, word: str) -> list[str]:
        """The tests that ended so, in the order in which they did."""
        return [name for name, found in self.ended.items() if found == word]


def read_outcomes(path: Path) -> Outcomes:
    """What the plugin wrote; empty if pytest did not come so far."""
    found = Outcomes()
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            found.add(*json.loads(line))
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to write."""
    parser.addoption("--outcomes", type=Path, metavar="FILE", help="write how each test ended to this file")


def pytest_configure(config: pytest.Config) -> None:
    """Of several processes, the one that hears of all tests writes."""
    path = config.getoption("--outcomes")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(path))


class _Writer:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._planned: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._plan(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self._plan(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write([(report.nodeid, "failed")])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._write([(report.nodeid, "failed")])
        elif report.skipped:
            self._write([(report.nodeid, "xfailed" if hasattr(report, "wasxfail") else "skipped")])
        elif report.when == "call":
            self._write([(report.nodeid, "passed")])

    def _plan(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self._planned]
        self._planned.update(new)
        self._write((name, "planned") for name in new)

    def _write(self, lines: Iterable[tuple[str, str]]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
