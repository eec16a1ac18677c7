"""Problems as text, JSON, GitHub annotations and SARIF: for people, programs and code hosts."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.checking.rules import RULES, Severity

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class ProblemFormat(StrEnum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedFile:
    """A document and what is wrong with its handoff."""

    path: str
    """As the user named it."""
    source: str
    """Its text, which the problems' spans point into."""
    problems: Sequence[Problem]
    """In the order found."""


@dataclass(frozen=True, slots=True)
class CharacterPosition:
    """Where a character stands, counted from one."""

    line: int
    column: int


def format_problems(files: Sequence[CheckedFile], form: ProblemFormat | str = ProblemFormat.TEXT) -> str:
    """The problems of all files in one format; a text that ends in a newline, or is empty."""
    match ProblemFormat(form):
        case ProblemFormat.JSON:
            return json.dumps(_as_json(files), ensure_ascii=False, indent=2) + "\n"
        case ProblemFormat.SARIF:
            return json.dumps(_as_sarif(files), ensure_ascii=False, indent=2) + "\n"
        case ProblemFormat.GITHUB:
            return _lines(files, _github_line)
        case ProblemFormat.TEXT:
            return _lines(files, _text_line)


def locate(source: str, offset: int) -> CharacterPosition:
    """Line and column of an offset into a text."""
    return _Locator(source).locate(offset)


class _Locator:
    """Knows where each line of a text begins, so that many problems cost one look at the text."""

    def __init__(self, source: str) -> None:
        self._starts = [0]
        at = source.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = source.find("\n", at + 1)

    def locate(self, offset: int) -> CharacterPosition:
        line = bisect_right(self._starts, offset)
        return CharacterPosition(line, offset - self._starts[line - 1] + 1)

    def range_of(self, problem: Problem) -> tuple[CharacterPosition, CharacterPosition]:
        """Where a problem begins and ends; the top of the file if nobody knows."""
        if problem.span is None:
            return CharacterPosition(1, 1), CharacterPosition(1, 1)
        return self.locate(problem.span.start), self.locate(problem.span.end)


def _lines(files: Sequence[CheckedFile], write: Any) -> str:
    return "".join(
        write(file.path, locator.range_of(problem)[0], problem) + "\n"
        for file in files
        for locator in [_Locator(file.source)]
        for problem in file.problems
    )


def _text_line(path: str, at: CharacterPosition, problem: Problem) -> str:
    where = f" [{problem.field}]" if problem.field not in problem.message else ""
    return f"{path}:{at.line}:{at.column}: {problem.code} {problem.message}{where}"


def _github_line(path: str, at: CharacterPosition, problem: Problem) -> str:
    place = f"file={_property(path)},line={at.line},col={at.column},title={_property(problem.code)}"
    return f"::{problem.severity} {place}::{_data(f'{problem.message}; {problem.hint} ({problem.field})')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _as_json(files: Sequence[CheckedFile]) -> list[dict[str, Any]]:
    rows = []
    for file in files:
        locator = _Locator(file.source)
        for problem in file.problems:
            start, end = locator.range_of(problem)
            rows.append(
                {
                    "path": file.path,
                    "line": start.line,
                    "column": start.column,
                    "end_line": end.line,
                    "end_column": end.column,
                    "code": problem.code,
                    "severity": str(problem.severity),
                    "field": problem.field,
                    "message": problem.message,
                    "hint": problem.hint,
                }
            )
    return rows


def _as_sarif(files: Sequence[CheckedFile]) -> dict[str, Any]:
    rules = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.doc},
            "defaultConfiguration": {"level": _level(rule.severity)},
        }
        for rule in RULES
    ]
    results = [
        _sarif_result(file.path, locator.range_of(problem), problem)
        for file in files
        for locator in [_Locator(file.source)]
        for problem in file.problems
    ]
    driver = {"name": "segue", "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(
    path: str, place: tuple[CharacterPosition, CharacterPosition], problem: Problem
) -> dict[str, Any]:
    start, end = place
    region = {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }
    return {
        "ruleId": problem.code,
        "ruleIndex": next(i for i, rule in enumerate(RULES) if rule.code == problem.code),
        "level": _level(problem.severity),
        "message": {"text": f"{problem.message}; {problem.hint} ({problem.field})"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": region}}],
    }


def _uri(path: str) -> str:
    escapes = {"%": "%25", " ": "%20", "#": "%23", "?": "%3F", "\\": "/"}
    return "".join(escapes.get(c, c) for c in path)


def _level(severity: Severity) -> str:
    return "error" if severity is Severity.ERROR else "warning"
