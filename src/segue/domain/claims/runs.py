"""What is known of commands and tests that really ran: Segue's own runs before those of the agent's log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from segue.domain.claims.ledger import Pointer, PointerKind
from segue.domain.evidence.model import CommandRun, Evidence, RunBy, TestOutcome, TestRun
from segue.domain.evidence.runners import summaries_in
from segue.domain.text.command_lines import is_same, is_within, programs_of, purposes_of, read_line
from segue.domain.text.words import word_set

_CANNOT_RUN = (126, 127)
_PYTEST_SAYS_NOTHING = (3, 4, 5)
"""Exit codes of pytest that mean: internal error, wrong usage, no tests found."""
_WRAPPERS = word_set(
    "make npm yarn pnpm bun tox nox just task docker docker-compose bash sh zsh hatch invoke inv rake "
    "gradle mvn pre-commit bazel nx turbo lerna ninja cmake ctest script"
)
_LONGEST = 80
_PARTS = re.compile(r"[^\w.]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tests:
    """What one run of tests counted."""

    command: str
    exit_code: int | None
    passed: int | None
    """None if the runner did not say."""
    failed: int = 0
    skipped: int = 0
    by: RunBy = RunBy.SEGUE
    pointer: Pointer | None = None
    outcomes: dict[str, TestOutcome] | None = None

    @property
    def is_bad(self) -> bool:
        """True if a test failed, or the run ended so."""
        return self.failed > 0 or (
            self.exit_code not in (None, 0) and self.exit_code not in _PYTEST_SAYS_NOTHING
        )

    @property
    def collected(self) -> int | None:
        """All tests that it found."""
        return None if self.passed is None else self.passed + self.failed + self.skipped

    @property
    def totals(self) -> tuple[int, ...]:
        """The numbers of tests that may be called all: with those that were skipped, and without them."""
        return () if self.collected is None else (self.collected, self.collected - self.skipped)

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """Where it can be looked at."""
        return () if self.pointer is None else (self.pointer,)

    def told(self) -> str:
        """`` `pytest -q` ended with 1: 1 failed, 41 passed, when Segue ran it``."""
        parts = [f"{self.failed} failed"] * (self.failed > 0)
        if self.passed is not None:
            parts.append(f"{self.passed} passed")
        parts += [f"{self.skipped} skipped"] * (self.skipped > 0)
        counts = f": {', '.join(parts)}" if parts else ""
        whose = "when Segue ran it" if self.by is RunBy.SEGUE else "in the log of the agent"
        end = "" if self.exit_code is None else f" ended with {self.exit_code}"
        return f"{shown(self.command)}{end}{counts}, {whose}"


def known_test_runs(evidence: Evidence, command: str | None = None) -> list[Tests]:
    """The runs of tests that count, Segue's own alone if there are any; of one command, if one is named."""
    own = [_of_report(each.after) for each in evidence.tests if each.after.by is RunBy.SEGUE]
    known = {each.command for each in own}
    own += [t for run in evidence.checks if tells(run) and run.command not in known for t in _of_output(run)]
    logged = [t for run in evidence.commands for t in _of_output(run) if not _is_hidden(run)]
    if command is not None:
        same = [t for t in own if is_same(command, t.command)]
        return (
            same
            or [t for t in logged if is_same(command, t.command)][-1:]
            or [t for t in own if programs_of(command) & programs_of(t.command)]
        )
    return own or logged[-1:]


def all_test_runs(evidence: Evidence) -> list[Tests]:
    """Every run of tests that is known, of the agent as well."""
    own = [_of_report(each.after) for each in evidence.tests]
    own += [t for run in (*evidence.checks, *evidence.commands) for t in _of_output(run)]
    return own


def _of_report(run: TestRun) -> Tests:
    known = run.is_from_report or run.collected > 0
    return Tests(
        command=run.command,
        exit_code=run.exit_code,
        passed=run.passed if known else None,
        failed=run.failed,
        skipped=run.skipped,
        by=run.by,
        pointer=Pointer(kind=PointerKind.CHECK, check=run.command),
        outcomes=dict(run.outcomes) if run.outcomes else None,
    )


def _of_output(run: CommandRun) -> list[Tests]:
    summaries = summaries_in(run.output, is_cut=run.is_cut)
    if not summaries and "tests" not in purposes_of(run.command):
        return []
    pytest_said_nothing = run.exit_code in _PYTEST_SAYS_NOTHING and "pytest" in programs_of(run.command)
    if run.exit_code is None and not summaries:
        return []
    if pytest_said_nothing and not any(s.passed for s in summaries):
        return []
    return [
        Tests(
            command=run.command,
            exit_code=run.exit_code if is_plain(run) else None,
            passed=sum(s.passed for s in summaries) if summaries else None,
            failed=sum(s.failed for s in summaries),
            skipped=sum(s.left_out for s in summaries),
            by=run.by,
            pointer=pointer_to(run),
        )
    ]


def _is_hidden(run: CommandRun) -> bool:
    """True if neither the exit code nor the output tells how the tests ended."""
    return not is_plain(run) and not summaries_in(run.output, is_cut=run.is_cut)


def tells(run: CommandRun) -> bool:
    """False if a command could not run, so that its end says nothing about the work."""
    return run.exit_code is not None and run.fault is None and run.exit_code not in _CANNOT_RUN


def is_plain(run: CommandRun) -> bool:
    """True if the exit code is that of the command: no pipe, no `|| true` behind it."""
    line = read_line(run.command)
    return line is not None and line.is_chain


def known_ends(runs: Iterable[CommandRun]) -> list[CommandRun]:
    """The runs of which it is known how they ended."""
    return [run for run in runs if is_plain(run) and run.exit_code is not None]


def pointer_to(run: CommandRun) -> Pointer:
    """Where a run can be looked at."""
    if run.by is RunBy.SEGUE:
        return Pointer(kind=PointerKind.CHECK, check=run.command)
    return Pointer(kind=PointerKind.LOG, activity_id=run.activity_id)


def same_runs(
    evidence: Evidence, command: str
) -> tuple[list[CommandRun], list[CommandRun], list[CommandRun]]:
    """Segue's runs of a command, the agent's, and the agent's lines that hold it among others."""
    own = [run for run in evidence.checks if tells(run) and is_same(command, run.command)]
    own += [
        CommandRun(command=each.after.command, exit_code=each.after.exit_code)
        for each in evidence.tests
        if each.after.by is RunBy.SEGUE
        and each.after.exit_code is not None
        and is_same(command, each.after.command)
        and not own
    ]
    logged = [run for run in evidence.commands if is_same(command, run.command)]
    around = [run for run in evidence.commands if run not in logged and is_within(command, run.command)]
    return own, logged, around


def may_have_run(evidence: Evidence, command: str) -> bool:
    """True if a script or a tool that ran may have run a command, or one much like it."""
    programs = programs_of(command)
    is_unseen = _has_unseen_word(evidence, command)
    for run in evidence.commands:
        ran = programs_of(run.command)
        is_silent = not run.output and not programs & _WRAPPERS
        if is_unseen and (ran & programs or (ran & _WRAPPERS and not is_silent)):
            continue  # a script prints what it runs, and seldom runs another of its kind
        if ran & programs or ran & _WRAPPERS or not ran:
            return True
        if any(argv[0].endswith((".sh", ".py")) or _is_script(argv) for argv in _argvs(run.command)):
            return True
    return False


_SHORTEST = 4
"""Shorter words, such as `-q`, tell too little of a command."""


def _has_unseen_word(evidence: Evidence, command: str) -> bool:
    """True if a word of a command is in no line that ran, nor in what any of them printed."""
    shown = [run for run in evidence.commands if not run.is_cut]
    if len(shown) < len(evidence.commands) or not shown:
        return False
    seen = "\n".join(f"{run.command}\n{run.output}" for run in shown)
    words = [part for argv in _argvs(command) for word in argv[1:] for part in _PARTS.split(word)]
    return any(len(word) >= _SHORTEST and word not in seen for word in words)


def _argvs(command: str) -> tuple[tuple[str, ...], ...]:
    line = read_line(command)
    return line.commands if line else ()


def _is_script(argv: tuple[str, ...]) -> bool:
    return (
        argv[0] in ("python", "node", "ruby", "perl", "do") and len(argv) > 1 and not argv[1].startswith("-c")
    )


def is_whole_run(command: str) -> bool:
    """True if a test command names no file, folder or test: it runs them all."""
    for argv in _argvs(command):
        for word in argv[1:]:
            if word in ("-k", "-m", "-t", "--lf", "--last-failed", "-run") or "::" in word:
                return False
            is_place = "/" in word and word != "./..." and not word.startswith("-")
            if (is_place and word.rstrip("/") not in ("tests", "test", "./tests")) or word.endswith(
                (".py", ".js", ".ts", ".go")
            ):
                return False
    return True


def shown(command: str) -> str:
    """A command in code marks, not too long."""
    words = " ".join(command.split())
    return f"`{words[: _LONGEST - 1]}\u2026`" if len(words) > _LONGEST else f"`{words}`"


def whose(run: CommandRun) -> str:
    """Who ran it."""
    return "when Segue ran it" if run.by is RunBy.SEGUE else "in the log of the agent"
