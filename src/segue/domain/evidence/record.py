"""Evidence as values that JSON has, of a bounded size, and back: what is stored with a handoff."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from segue.domain.briefing.fencing import clean
from segue.domain.evidence.model import (
    Change,
    CommandRun,
    DefinitionChange,
    DependencyChange,
    Evidence,
    TestComparison,
    TestRun,
    WeakenedTest,
)

MOST = {
    "files": 500,
    "definitions": 500,
    "unparsed": 200,
    "dependencies": 200,
    "commands": 100,
    "checks": 50,
    "tests": 50,
    "weakened": 100,
    "commits": 100,
}
"""So many of each part are kept; `left_out` tells how many more there were."""
_MOST_RANGES = 50
_MOST_GONE = 50
_LONGEST = 1_000
"""Characters of a name or a command."""
_LONGEST_OUTPUT = 1_000
_KINDS = {
    "definitions": DefinitionChange,
    "dependencies": DependencyChange,
    "commands": CommandRun,
    "checks": CommandRun,
    "weakened": WeakenedTest,
}


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """What happened, without the text of files: the newest commands, the first of everything else."""
    parts: dict[str, Sequence[Any]] = {
        "files": sorted(evidence.changes.items()),
        "definitions": evidence.definitions,
        "unparsed": sorted(evidence.unparsed),
        "dependencies": evidence.dependencies,
        "commands": evidence.commands,
        "checks": evidence.checks,
        "tests": evidence.tests,
        "weakened": evidence.weakened,
        "commits": evidence.commits,
    }
    facts: dict[str, Any] = {}
    for name, values in parts.items():
        kept = values[-MOST[name] :] if name == "commands" else values[: MOST[name]]
        facts[name] = [_writer(name)(each) for each in kept]
    return {
        **facts,
        "is_diff_whole": evidence.is_diff_whole,
        "is_log_whole": evidence.is_log_whole,
        "left_out": {name: left for name, values in parts.items() if (left := len(values) - MOST[name]) > 0},
    }


def evidence_from_dict(facts: Mapping[str, Any]) -> Evidence:
    """The evidence as far as it was stored. What was left out makes it less whole."""
    left_out = facts.get("left_out") or {}
    changes = {each["path"]: _read(Change, _without(each, "path")) for each in facts.get("files", ())}
    return Evidence(
        changes=changes,
        unparsed=frozenset(facts.get("unparsed", ())),
        commits=tuple(facts.get("commits", ())),
        tests=tuple(_read(TestComparison, _without(each, "gone")) for each in facts.get("tests", ())),
        definitions=_read(tuple[DefinitionChange, ...], facts.get("definitions", ())),
        dependencies=_read(tuple[DependencyChange, ...], facts.get("dependencies", ())),
        commands=_read(tuple[CommandRun, ...], facts.get("commands", ())),
        checks=_read(tuple[CommandRun, ...], facts.get("checks", ())),
        weakened=_read(tuple[WeakenedTest, ...], facts.get("weakened", ())),
        is_diff_whole=bool(facts.get("is_diff_whole", True)) and "files" not in left_out,
        is_log_whole=bool(facts.get("is_log_whole")) and "commands" not in left_out,
        is_tree_whole=False,
    )


def _writer(part: str) -> Callable[[Any], Any]:
    match part:
        case "files":
            return _file
        case "tests":
            return _tests
        case "unparsed" | "commits":
            return _text
        case _:
            return lambda value: _write(_KINDS[part], _shortened(_with_cut(value)))


def _file(item: tuple[str, Change]) -> dict[str, Any]:
    path, change = item
    cut = replace(
        change,
        hunks=None,
        new_lines=None if change.new_lines is None else change.new_lines[:_MOST_RANGES],
        old_lines=None if change.old_lines is None else change.old_lines[:_MOST_RANGES],
    )
    return {"path": _text(path), **_without(_write(Change, _shortened(cut)), "hunks")}


def _tests(comparison: TestComparison) -> dict[str, Any]:
    """With the tests that are gone, and without the outcome of each: there may be thousands."""
    runs: dict[str, Any] = {
        name: _brief(run)
        for name in ("after", "before", "old_tests")
        if isinstance(run := getattr(comparison, name), TestRun)
    }
    gone = [_text(each) for each in comparison.gone[:_MOST_GONE]]
    return {**_write(TestComparison, replace(comparison, **runs)), "gone": gone}


def _brief(run: TestRun) -> TestRun:
    mappings = [each.name for each in fields(run) if isinstance(getattr(run, each.name), Mapping)]
    emptied: dict[str, Any] = {name: {} for name in mappings}
    shortened: TestRun = _shortened(run)
    return replace(shortened, **emptied)


def _with_cut(value: Any) -> Any:
    is_longer = isinstance(value, CommandRun) and len(value.output) > _LONGEST_OUTPUT
    return replace(value, is_cut=True) if is_longer else value


def _shortened(value: Any) -> Any:
    """With every text of a bounded length, and fit for JSON."""
    texts = {
        each.name: _text(text, _LONGEST_OUTPUT if each.name == "output" else _LONGEST)
        for each in fields(value)
        if isinstance(text := getattr(value, each.name), str) and type(text) is str
    }
    return replace(value, **texts)


def _text(text: str, most: int = _LONGEST) -> str:
    """The end of what a command printed tells most, and so does the end of a path."""
    return clean(text[-most:])


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _write(kind: Any, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = _adapter(kind).dump_python(value, mode="json")
    return found


def _read(kind: Any, value: Any) -> Any:
    return _adapter(kind).validate_python(value)


def _without(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key != name}
