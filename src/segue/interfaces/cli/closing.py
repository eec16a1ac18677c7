"""What `segue run` prints when a run has ended: one sentence, what is false, facts, what to type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from segue.application.run_results import RunResult, describe_end
from segue.domain.amounts import count, describe_cost, describe_time, describe_tokens
from segue.domain.errors import SegueError
from segue.domain.final_state import CheckResult, FilesChanged, Finding, FindingKind
from segue.interfaces.cli.lines import one_line, put, put_beside, put_commands, put_wrapped
from segue.interfaces.cli.marks import FALSE, Signs
from segue.interfaces.cli.sentences import sentence_of
from segue.interfaces.cli.steps_block import tally

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.segue import Segue
    from segue.application.views import PipelineDetail

_MOST_FINDINGS = 5
_VERDICTS = ("refuted", "partly", "confirmed", "unverifiable")
_WORDS = 14
"""How wide a sign with its word is: `! unmentioned`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Closing:
    """A run that has ended, with what can be done with it now."""

    detail: PipelineDetail
    result: RunResult
    files: FilesChanged | None
    """What it changed; none if that cannot be known."""
    can_merge: bool
    """True if `merge`, with `--allow-refuted` if need be, would do its work now."""
    into: str = "what you have checked out"
    """The branch that it would be merged into."""


async def closing_of(segue: Segue, detail: PipelineDetail) -> Closing | None:
    """What is to be said of a run; none if it has not ended."""
    result = detail.result
    if result is None:
        return None
    closing = Closing(detail=detail, result=result, files=result.files, can_merge=False)
    try:
        files = result.files or await segue.results.files(detail.id)
        closing = replace(closing, files=files)
        has_branch = detail.workspace is not None and detail.workspace.branch is not None
        if detail.status == "done" and has_branch and files is not None and files.count:
            preview = await segue.results.preview_merge(detail.id)
            into = preview.into or closing.into
            return replace(closing, can_merge=preview.refusal is None, into=into)
    except SegueError:
        return closing  # its folder is gone, or git is: nothing is offered that would not work
    return closing


def print_closing(closing: Closing, screen: Console) -> None:
    """The result: for a person at a terminal, else one finding a line for programs."""
    if not screen.is_terminal:
        for line in plain_lines(closing):
            put(screen, line)
        return
    signs, result = Signs(screen), closing.result
    _print_sentence(result, screen)
    if result.findings:
        put(screen)
        _print_findings(closing, screen, signs)
    if result.findings or result.exit_code:
        put(screen)
    elif claims := tally(result.claims, signs):
        put(screen, Text("  ") + claims + _only_unverifiable(closing, signs))
    _print_facts(closing, screen, signs)
    put_commands(screen, "Next", _next(closing))


def plain_lines(closing: Closing) -> Iterator[str]:
    """The result with one finding a line, never wrapped: made for `grep '^refuted'`."""
    result = closing.result
    yield one_line(result.sentence)
    for finding in result.findings:
        yield _plain(finding)
    if result.claims["claims"]:
        yield f"claims: {result.claims['claims']}: {_verdicts(result.claims)}"
    for finding in result.resolved:
        now = f"true at the end: {one_line(finding.reason)}"
        yield f'later: step {finding.step}: "{one_line(finding.words)}": {now}'
    for check in result.checks:
        yield f"check: {one_line(check.command)}: {one_line(describe_end(check))}"
    if closing.files is not None:
        branch = closing.detail.workspace.branch if closing.detail.workspace else None
        where = f"branch: {one_line(branch)}: " if branch else "files: "
        yield where + _describe_files(closing.files, "-", "files")


def _print_sentence(result: RunResult, screen: Console) -> None:
    sentence = one_line(result.sentence)
    if result.exit_code == 1:
        head = sentence.partition(":")[0] if sentence.startswith("Done") else "Failed"
        put_wrapped(screen, sentence, styled=len(head) + 1, style=FALSE)
    else:
        put_wrapped(screen, sentence)


def _print_findings(closing: Closing, screen: Console, signs: Signs) -> None:
    findings = closing.result.findings
    for finding in findings[:_MOST_FINDINGS]:
        head = signs.verdict(finding.kind, width=_WORDS + 1)
        put_beside(screen, head, describe_finding(finding, signs))
    if (more := len(findings) - _MOST_FINDINGS) > 0:
        put(screen, f"  and {more} more: segue pipelines show {closing.detail.id}")


def describe_finding(finding: Finding, signs: Signs) -> list[str]:
    """What is wrong, and what was measured."""
    text, reason = one_line(finding.words), sentence_of(finding.reason)
    if finding.kind is FindingKind.REFUTED:
        return [signs.quoted(text), reason]
    if finding.kind is FindingKind.UNMENTIONED:
        return [f"{text} changed; no statement mentions it."]
    return [f"{text}{_place(finding)}", reason]


def _place(finding: Finding) -> str:
    if not finding.path:
        return ""
    line = f":{finding.line}" if finding.line else ""
    return f" in {one_line(finding.path)}{line}"


def _print_facts(closing: Closing, screen: Console, signs: Signs) -> None:
    facts = list(_facts(closing, signs))
    wide = max((len(label) for label, _ in facts), default=0) + 2
    for label, text in facts:
        put_beside(screen, Text(f"{label:<{wide}}"), [text])


def _facts(closing: Closing, signs: Signs) -> Iterator[tuple[str, str]]:
    result = closing.result
    is_honest = not result.findings and not result.exit_code
    if result.claims["claims"] and not is_honest:
        yield "claims", f"{result.claims['claims']}: {_verdicts(result.claims)}"
    for finding in result.resolved:
        words = signs.quoted(one_line(finding.words))
        yield "later", f"{words} was false after step {finding.step} and is true now"
    for check in result.checks:
        yield "check", f"`{one_line(check.command)}` {one_line(describe_check(check))}"
    if closing.files is not None:
        branch = closing.detail.workspace.branch if closing.detail.workspace else None
        where = f", on branch {one_line(branch)}" if branch and closing.files.count else ""
        yield "files", _describe_files(closing.files, signs.minus) + where
    if spent := [] if is_honest else list(_spent(result)):
        yield "cost" if result.usage and result.usage.cost else "spent", ", ".join(spent)


def describe_check(check: CheckResult) -> str:
    """`exit 0: 15 passed, 14 before`."""
    counts = (check.after, check.before)
    if all(each is not None and each.passed and not (each.failed or each.skipped) for each in counts):
        after, before = counts
        assert after is not None
        assert before is not None
        told = f", {before.passed} before" if before != after else ""
        return f"exit {check.exit_code}: {after.passed} passed{told}"
    return describe_end(check)


def _spent(result: RunResult) -> Iterator[str]:
    usage = result.usage
    if usage is not None and usage.cost:
        yield describe_cost(usage.cost)
    if usage is not None and usage.total_tokens:
        yield describe_tokens(usage.total_tokens)
    if result.sentence.startswith("Done, "):  # the others tell it in their sentence
        yield describe_time(result.seconds)


def _describe_files(files: FilesChanged, minus: str, noun: str = "") -> str:
    if not files.count:
        return "none changed" if not noun else "no file changed"
    changed = count(files.count, "file") if noun else f"{files.count} changed"
    return f"{changed}, +{files.additions} {minus}{files.deletions}"


def _next(closing: Closing) -> list[tuple[str, str]]:
    """At most three commands, each of which works now."""
    number, result = closing.detail.id, closing.result
    commands: list[tuple[str, str]] = []
    has_changes = closing.files is not None and closing.files.count > 0
    false = result.false_findings
    if result.exit_code == 1:
        shown = false[0].step if false else _last_begun(closing.detail)
        note = "each claim with its evidence" if false else "what it was given, and what it wrote"
        commands.append((f"segue pipelines show {number} --step {shown}", note))
    if has_changes:
        is_done = closing.detail.status == "done"
        commands.append(
            (f"segue pipelines diff {number}", "read the change" if is_done else "read what is there")
        )
    if closing.detail.status in ("failed", "aborted"):
        commands.append((f"segue pipelines restart {number}", "continue at the step that is not done"))
    if closing.can_merge and false and result.stopped is None:
        commands.append((f"segue pipelines merge {number} --allow-refuted", "take it as it is"))
    elif closing.can_merge and not result.exit_code:
        commands.append((f"segue pipelines merge {number}", f"take it into {closing.into}"))
    return commands


def _last_begun(detail: PipelineDetail) -> int:
    begun = [step for step in detail.steps if step.attempt_count]
    return (begun[-1] if begun else detail.steps[0]).order_index + 1


def _plain(finding: Finding) -> str:
    text, reason = one_line(finding.words), one_line(finding.reason)
    if finding.kind is FindingKind.REFUTED:
        return f'refuted: step {finding.step}: "{text}": {reason}'
    if finding.kind is FindingKind.UNMENTIONED:
        return f"unmentioned: step {finding.step}: {text}"
    line = f":{finding.line}" if finding.line else ""
    where = f"{one_line(finding.path)}{line} " if finding.path else ""
    return f"weakened: step {finding.step}: {where}{text}: {reason}"


def _verdicts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in _VERDICTS if counts[name])


def _only_unverifiable(closing: Closing, signs: Signs) -> Text:
    """The one claim that could not be checked, if it is one."""
    if closing.result.claims["unverifiable"] != 1:
        return Text()
    ledgers = [s.latest_handoff.ledger for s in closing.detail.steps if s.latest_handoff is not None]
    entries = [entry for ledger in ledgers if ledger for entry in ledger["entries"]]
    texts = [entry["text"] for entry in entries if entry["verdict"] == "unverifiable"]
    return Text(f": {signs.quoted(one_line(texts[0]))}") if texts else Text()
