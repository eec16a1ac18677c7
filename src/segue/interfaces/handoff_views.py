"""What REST and `--json` show of a handoff: one shape for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from segue.domain.handoff import Extraction, Handoff, Problem, Span, check_handoff
from segue.domain.handoff.checking.lint import has_errors, select_rules


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
    """What was guessed or mended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProblemView:
    """A rule that the handoff breaks."""

    code: str
    severity: str
    """`error` or `warning`."""
    field: str
    message: str
    remedy: str
    span: SpanView | None
    """Where it stands in the text, if that is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckView:
    """The result of a check."""

    ok: bool
    """True if there is no error; there may be warnings."""
    problems: tuple[ProblemView, ...]


def view_extraction(extraction: Extraction) -> ExtractionView:
    """An extraction, as it is shown."""
    return ExtractionView(
        handoff=extraction.handoff,
        notation=str(extraction.notation),
        spans={name: _view_span(span) for name, span in extraction.spans.items()},
        notes=tuple(extraction.notes),
    )


def view_problems(problems: Iterable[Problem]) -> CheckView:
    """Problems, as they are shown."""
    found = tuple(problems)
    views = tuple(
        ProblemView(
            code=problem.code,
            severity=str(problem.severity),
            field=problem.field,
            message=problem.message,
            remedy=problem.remedy,
            span=None if problem.span is None else _view_span(problem.span),
        )
        for problem in found
    )
    return CheckView(ok=not has_errors(found), problems=views)


def check_extraction(
    extraction: Extraction, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> list[Problem]:
    """What is wrong with the handoff of a text; a text without one is checked as an empty handoff."""
    rules = select_rules(select, ignore)
    return check_handoff(extraction.handoff or Handoff(), extraction.spans, rules)


def _view_span(span: Span) -> SpanView:
    return SpanView(start=span.start, end=span.end)
