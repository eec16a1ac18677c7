"""The rules that need the text that a handoff was read from, and those that foreign texts need not keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from segue.domain.handoff.checking.lint import Problem, check_handoff
from segue.domain.handoff.checking.rules import RULES, RULES_BY_CODE, Rule, Severity
from segue.domain.handoff.extract.outcome import CONTRADICTED
from segue.domain.handoff.extract.result import LEAST_COVERAGE, Extraction
from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span

_OUR_SCHEMA = frozenset({"H001", "H010", "H011", "H012"})
"""Rules that only someone who knows our schema can keep."""


def check_extraction(extraction: Extraction, rules: Iterable[Rule] = RULES) -> list[Problem]:
    """What is wrong with the handoff of a text; a text without one is checked as an empty handoff."""
    chosen = tuple(rules)
    problems = check_handoff(extraction.handoff or Handoff(), extraction.spans, chosen)
    if extraction.handoff is None:
        return problems
    codes = {rule.code for rule in chosen}
    problems += [each for each in _about_reading(extraction) if each.code in codes]
    return problems if extraction.is_own_schema else [_for_foreign(each) for each in problems]


def _for_foreign(problem: Problem) -> Problem:
    return replace(problem, severity=Severity.WARNING) if problem.code in _OUR_SCHEMA else problem


def _length(span: Span) -> int:
    return span.end - span.start


def _about_reading(extraction: Extraction) -> Iterator[Problem]:
    if extraction.coverage < LEAST_COVERAGE:
        yield Problem(
            code="H032",
            field="other_sections",
            message=f"only {extraction.coverage:.0%} of the text was understood",
            hint="put each statement below the heading of its field, such as `## What Was Done`",
            span=max(extraction.left_over, key=_length, default=None),
            severity=RULES_BY_CODE["H032"].severity,
        )
    for note in extraction.notes:
        if note.startswith(CONTRADICTED):
            yield Problem(
                code="H041",
                field="outcome",
                message=note,
                hint="say the outcome that the text tells of, or correct the text",
                span=extraction.spans.get("outcome"),
                severity=RULES_BY_CODE["H041"].severity,
            )
