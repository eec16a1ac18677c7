"""What REST and `--json` show of a handoff: one shape for both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from segue.domain.handoff import Extraction, Handoff, Problem, Span
from segue.domain.handoff.checking.lint import has_errors


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanView:
    """The characters `[start, end)` of the text that a statement came from."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionView:
    """What was found in a text."""

    handoff: Handoff | None
    """The record; none if nothing was found."""
    notation: str
    """How it was written."""
    spans: dict[str, SpanView]
    """Field or item (`gotchas[1].issue`) -> where it stands in the text."""
    notes: tuple[str, ...]
    """What was guessed or repaired."""
    coverage: float
    """The share of the text that became typed items, 0 to 1."""
    guessed: tuple[str, ...]
    """The items and fields that no rule was sure of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProblemView:
    """A rule that the handoff breaks."""

    code: str
    severity: str
    """`error` or `warning`."""
    field: str
    message: str
    hint: str
    span: SpanView | None
    """Where it stands in the text, if that is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckView:
    """The result of a check."""

    ok: bool
    """True if there is no error; there may be warnings."""
    problems: tuple[ProblemView, ...]
    coverage: float
    """The share of the text that became typed items, 0 to 1; of a record, 1."""


def view_extraction(extraction: Extraction) -> ExtractionView:
    """An extraction, as it is shown."""
    return ExtractionView(
        handoff=extraction.handoff,
        notation=str(extraction.notation),
        spans={name: _view_span(span) for name, span in extraction.spans.items()},
        notes=tuple(extraction.notes),
        coverage=round(extraction.coverage, 3),
        guessed=tuple(sorted(extraction.guessed)),
    )


def view_problems(problems: Iterable[Problem], coverage: float) -> CheckView:
    """Problems, as they are shown."""
    found = tuple(problems)
    views = tuple(
        ProblemView(
            code=problem.code,
            severity=str(problem.severity),
            field=problem.field,
            message=problem.message,
            hint=problem.hint,
            span=None if problem.span is None else _view_span(problem.span),
        )
        for problem in found
    )
    return CheckView(ok=not has_errors(found), problems=views, coverage=round(coverage, 3))


def _view_span(span: Span) -> SpanView:
    return SpanView(start=span.start, end=span.end)
