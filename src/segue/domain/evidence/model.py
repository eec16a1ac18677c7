"""What really happened in a step, as values: files, definitions, dependencies, commands, tests, commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class LineRange(NamedTuple):
    """The lines from `first` to `last`, both counted from 1 and both inside."""

    first: int
    last: int

    def touches(self, other: LineRange) -> bool:
        """True if the two have a line in common."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """Lines that were replaced: those before, and those that took their place."""

    old: LineRange | None
    """Where the removed lines were; none if lines were only added."""
    new: LineRange | None
    """Where the added lines are; none if lines were only removed."""
    removed: tuple[str, ...] = ()
    """The lines before, without their ends."""
    added: tuple[str, ...] = ()
    """The lines after."""


class ChangeKind(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    TYPE_CHANGED = "type-changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What happened to one path between the two states."""

    kind: ChangeKind
    """What it was."""
    old_path: str | None = None
    """The name before, of a renamed file."""
    is_binary: bool = False
    """Whether it has no lines."""
    additions: int | None = None
    """Lines that came; none if unknown."""
    deletions: int | None = None
    """Lines that went; none if unknown."""
    new_lines: tuple[LineRange, ...] | None = None
    """Where the hunks stand after the change; none if the diff was cut before them."""
    old_lines: tuple[LineRange, ...] | None = None
    """Where the hunks stood before it."""
    line_count: int | None = None
    """Lines of the file after the change; none if unknown."""
    hunks: tuple[Hunk, ...] | None = None
    """The changed lines with their text; none if they were too many to keep, or are not text."""
    is_certain: bool = True
    """False if a filter that was not run may have made the difference."""


class DefinitionKind(StrEnum):
    """What a definition is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    TEST = "test"
    CONSTANT = "constant"
    TYPE = "type"
    """An interface, a type alias, an enumeration, a trait, a struct."""


class DefinitionFate(StrEnum):
    """What happened to a definition."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    RENAMED = "renamed"


@dataclass(frozen=True, kw_only=True, slots=True)
class DefinitionChange:
    """A function, class, method or test that came, went or changed."""

    kind: DefinitionKind
    """What it is."""
    name: str
    """Its own name: `total`."""
    qualified: str
    """With what it is in: `Cart.total`."""
    path: str
    """The file that holds it now; of a removed one, the file that held it."""
    fate: DefinitionFate
    """What happened to it."""
    old_path: str | None = None
    """The file that held it before, if it was moved."""
    old_name: str | None = None
    """Its name before, if it was renamed."""
    lines: LineRange | None = None
    """Where it is now; of a removed one, where it was."""
    parameters: tuple[str, ...] = ()
    """The names of its parameters after the step."""
    old_parameters: tuple[str, ...] = ()
    """The names of its parameters before."""
    body_changed: bool = True
    """Of a changed one: false if only comments, documentation or layout differ."""
    by_words: bool = False
    """True if it was found by its words alone, without a parser: it may confirm nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DependencyChange:
    """A dependency that came, went or got another version."""

    manifest: str
    """The file that lists it: `pyproject.toml`."""
    name: str
    """As it is written there."""
    before: str | None = None
    """Its version or range before; empty if none was given, none if it was not listed."""
    after: str | None = None
    """Its version or range after."""


class RunBy(StrEnum):
    """Who ran a command."""

    AGENT = "agent"
    SEGUE = "segue"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRun:
    """A command that really ran, and how it ended."""

    command: str
    """As it was given to the shell."""
    exit_code: int | None
    """None if it did not end by itself, or if that is not known."""
    output: str = ""
    """The end of what it printed."""
    is_cut: bool = False
    """Whether it printed more than `output`."""
    by: RunBy = RunBy.SEGUE
    """Who ran it."""
    at: datetime | None = None
    """When it began."""
    fault: str | None = None
    """Why it says nothing: it could not be started, or ran out of time."""
    activity_id: int | None = None
    """The entry of the agent's log that shows it."""


class TestOutcome(StrEnum):
    """How a test ended."""

    __test__ = False
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Skipped, or expected to fail: it proves nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestRun:
    """What one run of a test command counted."""

    __test__ = False
    command: str
    """As it was given to the shell."""
    runner: str
    """`pytest`, `jest`, `go`, ...; empty if it is not known."""
    exit_code: int | None
    """None if it did not end by itself."""
    passed: int = 0
    failed: int = 0
    """Failed, or could not run."""
    skipped: int = 0
    outcomes: Mapping[str, TestOutcome] = field(default_factory=dict)
    """Each test by its id; empty if there is no machine-readable report."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """The id of a failed test -> the first line of why, if the report tells."""
    is_from_report: bool = False
    """True if a report of the runner was read, false if only what it printed."""
    by: RunBy = RunBy.SEGUE
    """Who ran it."""

    @property
    def collected(self) -> int:
        """All tests that it found."""
        return self.passed + self.failed + self.skipped


@dataclass(frozen=True, kw_only=True, slots=True)
class TestComparison:
    """The tests of one check before and after the step."""

    __test__ = False
    after: TestRun
    """The work of the agent, as it is."""
    before: TestRun | None = None
    """The state that the step began with; none if it could not be run."""
    old_tests: TestRun | None = None
    """The tests of before on the code of after."""
    no_baseline: str | None = None
    """Why there is no run of before."""

    @property
    def gone(self) -> tuple[str, ...]:
        """Ids that were collected before and are not now."""
        if self.before is None:
            return ()
        return tuple(sorted(self.before.outcomes.keys() - self.after.outcomes.keys()))


class Standing(StrEnum):
    """How sure it is that an edit weakens a test."""

    WEAKENED = "weakened"
    """A run proves it, or it needs none: a skip mark, `|| true`, a lowered gate."""
    DISCLOSED = "disclosed"
    """The same, but the task asks for it, or the handoff says it and no failure is hidden by it."""
    EDITED = "edited"
    """A test was edited, and nothing shows that it proves less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeakenedTest:
    """A test, or a setting of tests, that proves less than before."""

    way: str
    """How, in a word or two: `skipped`, `deleted`, `expectation changed`, `CI ignores failures`."""
    path: str
    """The file."""
    reason: str
    """One sentence that names what was measured."""
    test: str | None = None
    """The test's name, if it is about one."""
    line: int | None = None
    """The line after the step, if it is known."""
    standing: Standing = Standing.WEAKENED
    """How sure it is."""
    hides_failure: bool = False
    """True if a run shows that something is red without it: only the task can ask for that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """All that is known of a step. What is not whole refutes nothing by what it lacks."""

    changes: Mapping[str, Change] = field(default_factory=dict)
    """Path, with slashes and from the top of the repository -> what happened to it."""
    before: frozenset[str] | None = None
    """Every file before the step; none if unknown."""
    after: frozenset[str] | None = None
    """Every file after it."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """What git does not look at -> why: `git ignores it`. A key that ends in a slash means all below it."""
    commands: tuple[CommandRun, ...] = ()
    """What the agent ran, the earliest first."""
    checks: tuple[CommandRun, ...] = ()
    """What Segue ran itself after the step."""
    definitions: tuple[DefinitionChange, ...] = ()
    """Functions, classes, methods and tests that came, went or changed."""
    unparsed: frozenset[str] = frozenset()
    """Changed files of source code whose definitions are known by words alone, or not at all."""
    dependencies: tuple[DependencyChange, ...] = ()
    """Dependencies that came, went or got another version."""
    tests: tuple[TestComparison, ...] = ()
    """What the checks that run tests counted, before and after."""
    weakened: tuple[WeakenedTest, ...] = ()
    """Tests that prove less than before."""
    commits: tuple[str, ...] = ()
    """The full ids of the step's own commits."""
    roots: tuple[str, ...] = ()
    """The absolute paths that lead to the top of the repository."""
    prefix: str = ""
    """The folder below the top in which the agent worked: `web/`, or nothing."""
    is_diff_whole: bool = True
    """False if not every changed path is in `changes`."""
    is_tree_whole: bool = True
    """False if files are missing from `before` or `after`."""
    is_log_whole: bool = False
    """True if `commands` holds every command that the agent ran."""
    are_commits_whole: bool = False
    """True if `commits` holds every commit of the step."""
