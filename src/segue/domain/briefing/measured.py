"""What Segue measured of a step, in a few pointed lines for the next agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from segue.domain.briefing.fencing import neutralise_line
from segue.domain.evidence.model import (
    Change,
    ChangeKind,
    CommandRun,
    DefinitionChange,
    DefinitionFate,
    DefinitionKind,
    Evidence,
    RunBy,
    Standing,
    TestRun,
)

MOST_LINES = 6
_MOST_FILES = 6
_MOST_NAMES = 4
_MOST_DEPENDENCIES = 4
_LONGEST_NAME = 120
_WORDS = {
    ChangeKind.ADDED: "new",
    ChangeKind.DELETED: "deleted",
    ChangeKind.RENAMED: "renamed",
    ChangeKind.TYPE_CHANGED: "changed its type",
}


def measured_lines(evidence: Evidence) -> tuple[str, ...]:
    """At most six lines: files with their definitions, tests, dependencies, runs, weakened tests.

    Names that an agent chose have lost their powers; the lines belong inside the fence all the same.
    """
    lines = [
        _files(evidence),
        _tests(evidence),
        _dependencies(evidence),
        *_runs(evidence),
        _weakened(evidence),
    ]
    return tuple(line for line in lines if line)[:MOST_LINES]


def _files(evidence: Evidence) -> str:
    if not evidence.changes:
        return "no file changed" if evidence.is_diff_whole else "which files changed is not known whole"
    symbols: dict[str, list[DefinitionChange]] = defaultdict(list)
    for each in evidence.definitions:
        symbols[each.path].append(each)
    described = [_file(path, change, symbols[path]) for path, change in sorted(evidence.changes.items())]
    count = len(described)
    head = "1 file changed" if count == 1 else f"{count} files changed"
    return f"{head}: {_listed(described, _MOST_FILES, '; ')}"


def _file(path: str, change: Change, symbols: Sequence[DefinitionChange]) -> str:
    parts = [_WORDS[change.kind]] if change.kind in _WORDS else []
    if change.old_path:
        parts[-1] = f"renamed from {_name(change.old_path)}"
    if change.additions is not None and change.deletions is not None:
        parts.append(f"+{change.additions} -{change.deletions}")
    elif change.is_binary:
        parts.append("binary")
    named = _listed([_symbol(each) for each in _innermost(symbols)], _MOST_NAMES)
    about = ", ".join(parts) + (f": {named}" if named else "")
    return f"{_name(path)} ({about})" if about else _name(path)


def _innermost(symbols: Sequence[DefinitionChange]) -> list[DefinitionChange]:
    """Without classes that are only named because something in them is."""
    owners = {each.qualified.rpartition(".")[0] for each in symbols}
    return [
        each for each in symbols if each.fate is not DefinitionFate.CHANGED or each.qualified not in owners
    ]


def _symbol(change: DefinitionChange) -> str:
    name = f"`{_name(change.qualified)}`"
    if change.fate is DefinitionFate.CHANGED:
        return name if change.body_changed else f"{name} (comments only)"
    if change.fate is DefinitionFate.RENAMED:
        return f"{name} renamed from `{_name(change.old_name or '')}`"
    return f"{name} {change.fate}"


def _tests(evidence: Evidence) -> str:
    if not evidence.changes:
        return ""
    fates: dict[DefinitionFate, list[str]] = defaultdict(list)
    for each in evidence.definitions:
        if each.kind is DefinitionKind.TEST and (
            each.body_changed or each.fate is not DefinitionFate.CHANGED
        ):
            fates[each.fate].append(f"`{_name(each.name)}`")
    if not fates:
        return "no test was added or changed" if not evidence.unparsed else ""
    parts = [f"{fate}: {_listed(names, _MOST_NAMES)}" for fate, names in sorted(fates.items())]
    missing = "" if DefinitionFate.ADDED in fates or evidence.unparsed else "no test was added; "
    return f"{missing}tests {'; tests '.join(parts)}"


def _dependencies(evidence: Evidence) -> str:
    described = []
    for each in evidence.dependencies:
        name = _name(each.name)
        if each.before is None:
            described.append(f"{name} {_name(each.after or '')} added".replace("  ", " "))
        elif each.after is None:
            described.append(f"{name} removed")
        else:
            described.append(f"{name} {_name(each.before) or 'any'} -> {_name(each.after) or 'any'}")
    return f"dependencies: {_listed(described, _MOST_DEPENDENCIES)}" if described else ""


def _runs(evidence: Evidence) -> Iterable[str]:
    """How the checks ended; where there is none, the agent's last run of tests."""
    counted = {each.after.command: each.after for each in evidence.tests}
    for run in evidence.checks[:2]:
        yield _run(run, counted.get(run.command))
    if evidence.checks:
        return
    for test in counted.values():
        if test.by is RunBy.AGENT:
            yield f"the agent ran `{_name(test.command)}`, {_exit(test.exit_code)}: {_counts(test)}"
            return
    yield "no test run is known"


def _run(run: CommandRun, tests: TestRun | None) -> str:
    if run.fault is not None:
        return f"Segue could not run `{_name(run.command)}`: {_name(run.fault)}"
    counts = f": {_counts(tests)}" if tests is not None else ""
    return f"Segue ran `{_name(run.command)}`, {_exit(run.exit_code)}{counts}"


def _exit(code: int | None) -> str:
    return "exit code unknown" if code is None else f"exit {code}"


def _counts(run: TestRun) -> str:
    parts = [(run.failed, "failed"), (run.passed, "passed"), (run.skipped, "skipped")]
    return ", ".join(f"{count} {word}" for count, word in parts if count) or "no tests"


def _weakened(evidence: Evidence) -> str:
    found = [each for each in evidence.weakened if each.standing is Standing.WEAKENED]
    described = [f"{_name(each.test or each.path)} ({_name(each.way)})" for each in found]
    return f"tests that prove less than before: {_listed(described, _MOST_NAMES)}" if described else ""


def _listed(items: Sequence[str], most: int, joint: str = ", ") -> str:
    rest = len(items) - most
    return joint.join(items[:most]) + (f"{joint}and {rest} more" if rest > 0 else "")


def _name(text: str) -> str:
    """A name that an agent chose: on one line, not too long, without marks of code or of a fence."""
    flat = neutralise_line(text[: 4 * _LONGEST_NAME]).replace("`", "'")
    return flat if len(flat) <= _LONGEST_NAME else flat[: _LONGEST_NAME - 1] + "\u2026"
