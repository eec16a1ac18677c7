"""`segue handoff lint`: check handoff documents, and fix what can be fixed."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import InvalidRequest, SegueError
from segue.domain.handoff.checking.output import CheckedFile, ProblemFormat, format_problems
from segue.interfaces.cli.handoff_extract import Paths, Reply, origin_of
from segue.interfaces.cli.handoff_files import InputDocument, complain, read_inputs, shorten, write_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.domain.handoff import Extraction, Fix, Origin, Problem, Span
    from segue.domain.handoff.checking.rules import Rule

_CODES = "codes or beginnings of codes, with commas: H0,H050"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Checked:
    document: InputDocument
    problems: list[Problem]
    has_handoff: bool
    coverage: float


def lint(
    paths: Paths = None,
    form: Annotated[ProblemFormat, typer.Option("--format", help="How problems are written.")] = (
        ProblemFormat.TEXT
    ),
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help=f"Only these rules: {_CODES}.", show_default=False),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help=f"Not these rules: {_CODES}.", show_default=False),
    ] = None,
    reply: Reply = False,
    fix: Annotated[bool, typer.Option("--fix", help="Fix in place what needs no guessing.")] = False,
) -> None:
    """Check handoff documents against the rules.

    `segue handoff rules` explains them. Exit code 1 if there are errors, 0 if there are only
    warnings, 2 if something cannot be read.
    """
    from segue.domain.handoff.checking.lint import select_rules

    rules = select_rules(_split(select), _split(ignore))
    origin = origin_of(is_reply=reply)
    if fix and (not paths or "-" in paths):
        raise InvalidRequest("--fix changes files in place; name the files, not standard input")
    inputs = read_inputs(paths)
    code = inputs.report_faults()
    documents = list(inputs.documents)
    if fix:
        documents, fix_code = _fix_all(documents, rules, origin)
        code = max(code, fix_code)
    checked = [_check(document, rules, origin) for document in documents]
    _report_missing(checked)
    relevant = [each for each in checked if each.has_handoff or each.document.is_named]
    _print_problems(relevant, form)
    if form is ProblemFormat.TEXT and relevant:
        _summarise(relevant)
    has_errors = any(problem.severity == "error" for each in relevant for problem in each.problems)
    raise typer.Exit(max(code, 1 if has_errors else 0))


def _split(codes: Sequence[str] | None) -> list[str]:
    return [code.strip() for each in codes or () for code in each.split(",")]


def _check(document: InputDocument, rules: Sequence[Rule], origin: Origin) -> _Checked:
    from segue.domain.handoff import extract_handoff
    from segue.domain.handoff.checking.against_source import check_extraction

    found = extract_handoff(document.text, origin=origin)
    return _Checked(
        document=document,
        problems=check_extraction(found, rules),
        has_handoff=found.handoff is not None,
        coverage=found.coverage,
    )


def _report_missing(checked: Sequence[_Checked]) -> None:
    """A named document without a handoff is worth a word; a folder may well hold other things."""
    missing = [each.document for each in checked if not each.has_handoff]
    for document in missing:
        if document.is_named:
            complain(f"no handoff in {document.path}")
    others = sum(not document.is_named for document in missing)
    if others:
        complain(f"passed over {others} {'file' if others == 1 else 'files'} without a handoff")


def _print_problems(checked: Sequence[_Checked], form: ProblemFormat) -> None:
    from segue.interfaces.cli.output import printable, quiet_json

    files = [
        CheckedFile(path=each.document.path, source=each.document.text, problems=_in_order(each.problems))
        for each in checked
    ]
    text = format_problems(files, form)
    is_json = form in {ProblemFormat.JSON, ProblemFormat.SARIF}
    sys.stdout.write(quiet_json(text) if is_json else printable(text))


def _in_order(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda each: (each.span.start if each.span else 0, each.code))


def _summarise(checked: Sequence[_Checked]) -> None:
    problems = [problem for each in checked for problem in each.problems]
    errors = sum(problem.severity == "error" for problem in problems)
    counts = f"{_count(errors, 'error')}, {_count(len(problems) - errors, 'warning')}"
    least = min(each.coverage for each in checked)
    at_least = "" if len(checked) == 1 else "at least "
    covered = f"; {at_least}{least:.0%} of the text understood" if least < 1 else ""
    found = counts if problems else "no problems"
    typer.echo(f"{_count(len(checked), 'document')}: {found}{covered}", err=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _fix_all(
    documents: Sequence[InputDocument], rules: Sequence[Rule], origin: Origin
) -> tuple[list[InputDocument], int]:
    """The documents as they are after fixing, and an exit code: 2 if one could not be written."""
    fixed: list[InputDocument] = []
    code = 0
    for document in documents:
        try:
            fixed.append(_fix(document, rules, origin))
        except SegueError as error:
            complain(str(error))
            fixed.append(document)
            code = 2
    return fixed, code


def _fix(document: InputDocument, rules: Sequence[Rule], origin: Origin) -> InputDocument:
    from segue.domain.handoff import extract_handoff, fix_handoff
    from segue.domain.handoff.checking.patching import patch_source

    found = extract_handoff(document.text, origin=origin)
    if found.handoff is None:
        return document
    codes = {rule.code for rule in rules}
    fixes = [each for each in fix_handoff(found.handoff)[1] if each.code in codes]
    patched = patch_source(document.text, _spans_to_fix(document.text, found), fixes)
    if not patched.applied:
        return document
    write_back(document, patched.text)
    for each in patched.applied:
        _report_fix(document, each)
    return replace(document, text=patched.text)


def _spans_to_fix(text: str, found: Extraction) -> dict[str, Span]:
    """Where words may be changed: in a task file, inside its handoff part alone."""
    from segue.domain.handoff.writing.taskfile import find_handoff_part

    part = find_handoff_part(text)
    if part is None or not part.text(text).strip():
        return dict(found.spans)
    return {
        name: span for name, span in found.spans.items() if part.start <= span.start and span.end <= part.end
    }


def _report_fix(document: InputDocument, fix: Fix) -> None:
    change = f'"{shorten(fix.before)}" is now "{shorten(fix.after)}"'
    typer.echo(f"{document.path}: fixed {fix.code} {fix.field}: {change}", err=True)
