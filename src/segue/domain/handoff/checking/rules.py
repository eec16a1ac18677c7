"""The rules of a handoff: one rule, one function, one code. A rule finds; it never fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from segue.domain.handoff.checking import rules_items as items
from segue.domain.handoff.checking import rules_outcome as outcome
from segue.domain.handoff.checking import rules_text as text
from segue.domain.handoff.checking.rules_values import RuleFinding
from segue.domain.handoff.model import Handoff


class Severity(StrEnum):
    """Whether a problem makes the handoff unfit, or only worse than it could be."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One thing that a handoff must or should keep."""

    code: str
    """H and three digits, never used for anything else."""
    name: str
    """The rule in two or three words, hyphenated."""
    severity: Severity
    """What breaking it means."""
    doc: str
    """The rule in one sentence."""
    check: Callable[[Handoff], Iterator[RuleFinding]]
    """Finds every place where a handoff breaks the rule."""


def _error(code: str, name: str, check: Callable[[Handoff], Iterator[RuleFinding]], doc: str) -> Rule:
    return Rule(code=code, name=name, severity=Severity.ERROR, doc=doc, check=check)


def _warning(code: str, name: str, check: Callable[[Handoff], Iterator[RuleFinding]], doc: str) -> Rule:
    return Rule(code=code, name=name, severity=Severity.WARNING, doc=doc, check=check)


RULES: tuple[Rule, ...] = (
    _error("H001", "outcome-missing", outcome.outcome_missing, "A handoff says how the work ended."),
    _error(
        "H002",
        "unknown-value",
        items.unknown_value,
        "`outcome`, `severity`, `priority` and `change_type` hold one of their known values.",
    ),
    _error("H003", "part-missing", items.part_missing, "Every item has the part that it is about."),
    _error(
        "H010",
        "partial-without-rest",
        outcome.partial_without_rest,
        "`partial` names its `blockers` and its `suggested_next_steps`.",
    ),
    _error(
        "H011",
        "failed-without-resolution",
        outcome.failed_without_resolution,
        "`failed` names a blocker with its `suggested_resolution`.",
    ),
    _error(
        "H012",
        "blocked-without-tasks",
        outcome.blocked_without_tasks,
        "`blocked` names a blocker with its `blocking_tasks`.",
    ),
    _error(
        "H013",
        "no-files-listed",
        outcome.nothing_in_record,
        "Where files changed, at least one of them is listed in `files_created` or `files_modified`.",
    ),
    _error("H020", "path-outside", items.path_outside, "A path is relative and stays inside the project."),
    _error("H021", "bad-lines", items.bad_lines, "`lines` is `N-M`, with 1 <= N <= M, or `all`."),
    _error("H022", "bad-tag", items.bad_tag, "A tag in `applies_to` is in lower case, with hyphens."),
    _warning("H030", "placeholder", text.placeholder, "No text is left from the template or without words."),
    _warning("H031", "said-twice", text.said_twice, "Every statement stands once."),
    _warning(
        "H032",
        "not-understood",
        outcome.nothing_in_record,
        "At least half of the text belongs to a field.",
    ),
    _warning(
        "H040",
        "completed-but-blocked",
        outcome.completed_but_blocked,
        "`completed` work has no blockers and no blocking questions.",
    ),
    _warning(
        "H041",
        "outcome-contradicted",
        outcome.nothing_in_record,
        "The stated outcome is the one that the text tells of.",
    ),
    _error("H050", "secret", text.secret, "No text holds a key, a token, a password or a private key."),
)
"""Every rule, by code."""

RULES_BY_CODE: dict[str, Rule] = {rule.code: rule for rule in RULES}
