"""Checks a handoff against the rules. A handoff with problems is a result, never an exception."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from segue.domain.errors import UnknownName
from segue.domain.handoff.checking.rules import RULES, RULES_BY_CODE, Rule, Severity
from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A handoff breaks a rule, here."""

    code: str
    """The rule's code."""
    field: str
    """`gotchas[1].severity`"""
    message: str
    """What is wrong, in plain words."""
    hint: str
    """What to do about it."""
    span: Span | None = None
    """Where the field stands in the source, if that is known."""
    severity: Severity = Severity.ERROR
    """Whether it makes the handoff unfit."""


def check_handoff(
    handoff: Handoff, spans: Mapping[str, Span] | None = None, rules: Iterable[Rule] = RULES
) -> list[Problem]:
    """Everything that is wrong with a handoff, rule by rule, in the order of the record."""
    return [
        Problem(
            code=rule.code,
            field=finding.field,
            message=finding.message,
            hint=finding.hint,
            span=find_span(finding.field, spans or {}),
            severity=rule.severity,
        )
        for rule in rules
        for finding in rule.check(handoff)
    ]


def find_span(field: str, spans: Mapping[str, Span]) -> Span | None:
    """Where a field stands: its own span, its first item's, or that of the item or list it belongs to."""
    if field not in spans and f"{field}[0]" in spans:
        return spans[f"{field}[0]"]
    while field:
        if field in spans:
            return spans[field]
        cut = max(field.rfind("."), field.rfind("["))
        field = field[:cut] if cut > 0 else ""
    return None


def select_rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules whose code starts with one of `select` (all, if empty) and with none of `ignore`."""
    for prefix in (*select, *ignore):
        if not any(_fits(rule.code, prefix) for rule in RULES):
            raise UnknownName("rule", prefix, RULES_BY_CODE)
    return tuple(
        rule
        for rule in RULES
        if (not select or any(_fits(rule.code, prefix) for prefix in select))
        and not any(_fits(rule.code, prefix) for prefix in ignore)
    )


def _fits(code: str, prefix: str) -> bool:
    return bool(prefix.strip()) and code.startswith(prefix.strip().upper())


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether one of the problems makes the handoff unfit."""
    return any(problem.severity is Severity.ERROR for problem in problems)
