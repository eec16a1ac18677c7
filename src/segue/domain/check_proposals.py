"""Which command would check a project: proposed from its files, and never run unasked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_PYTEST = {
    "pytest.ini": r"",
    "pyproject.toml": r"\[tool\.pytest|(?<![\w-])pytest(?![\w-])",
    "setup.cfg": r"\[tool:pytest\]|(?<![\w-])pytest(?![\w-])",
    "tox.ini": r"\[pytest\]|(?<![\w-])pytest(?![\w-])",
    "requirements.txt": r"(?m)^pytest\b",
    "requirements-dev.txt": r"(?m)^pytest\b",
    "conftest.py": r"",
    "tests/conftest.py": r"",
}
"""The file that tells that a project uses pytest -> what it must hold."""
_PACKAGE_MANAGERS = {"pnpm-lock.yaml": "pnpm test", "yarn.lock": "yarn test", "bun.lock": "bun run test"}
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_TEST_TARGET = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_NO_TEST = "no test specified"
"""What npm writes where there is none."""

LOOKED_AT = (*_PYTEST, "package.json", *_PACKAGE_MANAGERS, "Cargo.toml", "go.mod", *_MAKEFILES)
"""The files that are looked at, from the top of the project."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckProposal:
    """A command that would run the tests of a project."""

    command: str
    """For a shell: `pytest -q`."""
    runner: str
    """What it runs: `pytest`."""
    found_in: str
    """The file that tells."""


def propose_checks(files: Mapping[str, str]) -> tuple[CheckProposal, ...]:
    """What would check a project with these files (name -> text); `make test` only where nothing else is."""
    found = (*_pytest(files), *_node(files), *_compiled(files))
    return found or tuple(_make(files))


def _pytest(files: Mapping[str, str]) -> Iterator[CheckProposal]:
    for name, pattern in _PYTEST.items():
        if name in files and re.search(pattern, files[name]):
            yield CheckProposal(command="pytest -q", runner="pytest", found_in=name)
            return


def _node(files: Mapping[str, str]) -> Iterator[CheckProposal]:
    try:
        package = json.loads(files.get("package.json", "{}"))
    except ValueError:
        return
    scripts = package.get("scripts") if isinstance(package, dict) else None
    test = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(test, str) and test.strip() and _NO_TEST not in test:
        command = next((each for lock, each in _PACKAGE_MANAGERS.items() if lock in files), "npm test")
        yield CheckProposal(command=command, runner=command, found_in="package.json")


def _compiled(files: Mapping[str, str]) -> Iterator[CheckProposal]:
    if "Cargo.toml" in files:
        yield CheckProposal(command="cargo test", runner="cargo test", found_in="Cargo.toml")
    if "go.mod" in files:
        yield CheckProposal(command="go test ./...", runner="go test", found_in="go.mod")


def _make(files: Mapping[str, str]) -> Iterator[CheckProposal]:
    for name in _MAKEFILES:
        if name in files and _TEST_TARGET.search(files[name]):
            yield CheckProposal(command="make test", runner="make test", found_in=name)
            return
