"""Which files are tests, belong to tests, set up their runner, or run them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_FOLDERS = frozenset(
    {"test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "__mocks__", "__fixtures__", "fixtures"}
    | {"testdata", "test_data", "__snapshots__", "snapshots", "cypress"}
)
"""Folders whose files belong to tests."""
_PYTHON = re.compile(r"(^|/)(test_[^/]*|[^/]*_tests?|tests?)\.py$")
_JAVASCRIPT = re.compile(
    r"\.(test|spec|cy|e2e)\.[cm]?[jt]sx?$|(^|/)(test|tests)\.[cm]?[jt]sx?$|(^|/)test-[^/]*\.[cm]?js$"
)
_OTHER = re.compile(r"_test\.go$|(^|/)[^/]*(Test|Tests|IT)\.(java|kt|cs)$|_(test|spec)\.(rb|exs)$")
_CODE = re.compile(r"\.(py|[cm]?[jt]sx?)$")
_SNAPSHOT = re.compile(
    r"\.(snap|ambr|golden|approved\.\w+|snapshot)$|(^|/)__snapshots__/|(^|/)(snapshots|golden)/"
)
_CONFTEST = re.compile(r"(^|/)conftest\.py$")
_RUNNER_ONLY = re.compile(
    r"(^|/)(pytest\.ini|\.pytest\.ini|\.coveragerc|\.mocharc(\.\w+)?|\.nycrc(\.\w+)?|\.c8rc(\.\w+)?|\.taprc"
    r"|jest[.\w-]*\.config\.\w+|vitest[.\w-]*\.(config|workspace)\.\w+|karma\.conf\.\w+|playwright\.config\.\w+"
    r"|codecov\.ya?ml|\.codecov\.ya?ml|noxfile\.py)$"
)
_MIXED = re.compile(r"(^|/)(pyproject\.toml|setup\.cfg|tox\.ini|package\.json)$")
_CI = re.compile(
    r"^\.github/workflows/.+\.ya?ml$|^\.github/actions/.+\.ya?ml$|^\.gitlab-ci\.ya?ml$|^\.circleci/.+\.ya?ml$"
    r"|^\.travis\.ya?ml$|^azure-pipelines.*\.ya?ml$|^bitbucket-pipelines\.ya?ml$|^\.drone\.ya?ml$|^Jenkinsfile$"
    r"|^\.buildkite/.+\.ya?ml$"
)
_SCRIPT = re.compile(r"(^|/)([Mm]akefile|GNUmakefile|justfile|Justfile|[Tt]askfile\.ya?ml)$|\.(sh|bash|mk)$")
_DOCUMENT = re.compile(r"\.(md|rst|txt|adoc)$", re.IGNORECASE)


def is_test_file(path: str) -> bool:
    """True if runners look for tests in it."""
    if _PYTHON.search(path) or _JAVASCRIPT.search(path) or _OTHER.search(path):
        return True
    return bool(re.search(r"(^|/)__tests__/[^/]+\.[cm]?[jt]sx?$", path))


def is_conftest(path: str) -> bool:
    """True if pytest takes its fixtures and hooks from it."""
    return bool(_CONFTEST.search(path))


def is_snapshot(path: str) -> bool:
    """True if it holds what tests compare with, written by a machine."""
    return bool(_SNAPSHOT.search(path))


def is_runner_file(path: str) -> bool:
    """True if it holds nothing but the settings of a test runner."""
    return bool(_RUNNER_ONLY.search(path))


def is_mixed_file(path: str) -> bool:
    """True if settings of a test runner can be a part of it."""
    return bool(_MIXED.search(path))


def is_ci_file(path: str) -> bool:
    """True if it says what continuous integration runs."""
    return bool(_CI.search(path))


def is_script(path: str) -> bool:
    """True if it is a Makefile or a shell script."""
    return bool(_SCRIPT.search(path))


def belongs_to_tests(path: str) -> bool:
    """True if it is a test, or serves tests alone: fixtures, snapshots, helpers, settings of a runner."""
    if is_test_file(path) or is_conftest(path) or is_snapshot(path) or is_runner_file(path):
        return True
    return any(part in _FOLDERS for part in PurePosixPath(path).parts[:-1])


def is_product(path: str) -> bool:
    """True if it is code that tests are about."""
    if belongs_to_tests(path) or is_mixed_file(path) or is_ci_file(path) or is_script(path):
        return False
    is_settings = bool(re.search(r"\.config\.[cm]?[jt]s$|(^|/)(setup|noxfile|tasks)\.py$", path))
    return bool(_CODE.search(path)) and not is_settings and not _DOCUMENT.search(path)
