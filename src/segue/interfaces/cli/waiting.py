"""A run that waits for a person: what it asks, and the decision at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.domain.approvals import Approval, ApprovalKind
from segue.domain.errors import IllegalMove, SegueError
from segue.domain.final_state import findings_of
from segue.interfaces.cli.keyboard import Keyboard, KeyboardReader, Left
from segue.interfaces.cli.lines import one_line, put, put_beside, put_commands, put_wrapped
from segue.interfaces.cli.live import on_interrupt
from segue.interfaces.cli.marks import Signs
from segue.interfaces.cli.sentences import sentence_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.segue import Segue
    from segue.application.views import PipelineDetail, StepView

WAITS = 3
"""The exit code of a run that waits for a person."""
_MOST_COMMANDS = 3
_MOST_LINES = 40
_MOST_FINDINGS = 5


def waiting_of(detail: PipelineDetail) -> Approval | None:
    """What a run that rests waits for; none if it does not rest."""
    return next((each for each in detail.approvals if each.waits_without_agent), None)


def print_waiting(detail: PipelineDetail, screen: Console, *, was_asked: bool = False) -> None:
    """What is asked, and the commands that answer it: the result of a run that is left waiting.

    A question that the terminal has just asked is not repeated.
    """
    asked = waiting_of(detail)
    if asked is None:
        return
    if not screen.is_terminal:
        put(
            screen,
            f"waiting: step {_step_of(detail, asked).order_index + 1}: {asked.kind}: {one_line(asked.title)}",
        )
        return
    if not was_asked:
        _print_question(detail, asked, screen)
    number, commands = detail.id, []
    if asked.kind is not ApprovalKind.QUESTION:
        commands.append((f"segue pipelines approve {number}", "let the run continue"))
    if asked.kind is not ApprovalKind.STEP:
        commands.append((f'segue pipelines answer {number} "..."', "its agent continues with your words"))
    back = f"send it back to {one_line(asked.back_to)}" if asked.back_to else "end the run"
    commands.append((f'segue pipelines reject {number} --comment "..."', back))
    if len(commands) < _MOST_COMMANDS:
        commands.append((f"segue pipelines show {number}", "what was done so far"))
    put_commands(screen, "Next", commands)


async def ask_and_decide(segue: Segue, detail: PipelineDetail, screen: Console, keyboard: Keyboard) -> bool:
    """Ask at the terminal, and carry out what is said; false if it is left for later.

    Ctrl-C and the end of the input leave it for later. A decision made elsewhere ends the question.
    """
    asked = waiting_of(detail)
    assert asked is not None  # its caller has looked
    _print_question(detail, asked, screen)

    async def is_open() -> bool:
        return asked.id in {each.id for each in await segue.views.approvals()}

    try:
        async with on_interrupt(keyboard.leave):
            decision = await _ask(segue, detail, asked, screen, KeyboardReader(keyboard, is_open))
    except Left:
        put(screen)
        decision = None
    if decision is None:
        return not await is_open()
    try:
        await segue.approvals.decide(asked.id, decision)
    except IllegalMove as error:  # somebody was faster
        put(screen, str(error))
    return True


def _print_question(detail: PipelineDetail, asked: Approval, screen: Console) -> None:
    signs, step = Signs(screen), _step_of(detail, asked)
    number, name = step.order_index + 1, one_line(step.name)
    if asked.kind is ApprovalKind.QUESTION:
        put(screen, f"Waiting for your answer. {name} asks:")
        put(screen)
        put_wrapped(screen, f"  {one_line(asked.title.removeprefix('it asks: '))}")
        if asked.recommendation:
            put_wrapped(screen, f"  It recommends: {one_line(asked.recommendation)}")
    elif asked.kind is ApprovalKind.STEP:
        put(screen, f"Waiting for your approval at step {number} ({name}):")
        put(screen)
        put_wrapped(screen, f"  {one_line(asked.title)}")
    else:
        put_wrapped(screen, f"Waiting for your review: step {number} ({name}): {sentence_of(asked.title)}")
    _print_findings(step, screen, signs)


async def _ask(
    segue: Segue, detail: PipelineDetail, asked: Approval, screen: Console, reader: KeyboardReader
) -> HumanDecision | None:
    """Ask at the terminal; none to decide later."""
    keys = _keys(asked)
    put(screen)
    for key, words in keys.items():
        put(screen, f"  {key}  {words}")
    while True:
        said = (await reader.line("> ")).lower()[:1]
        if said == "l":
            return None
        if said == "s":
            _print_handoff(_shown_step(detail, asked), screen)
        elif said not in keys:
            put(screen, f"one of: {', '.join(keys)}")
        elif (given := await _words_for(said, asked, reader)) is not None:
            return HumanDecision(
                approve=said != "r",
                comment=given or None,
                is_answer=said in ("y", "t") or (said == "a" and asked.kind is ApprovalKind.QUESTION),
                decided_by=segue.tokens.owner,
            )


async def _words_for(key: str, asked: Approval, reader: KeyboardReader) -> str | None:
    """The words that go with a key; none if they are needed and were not given."""
    if key == "y":
        return asked.recommendation
    if key == "r":
        return await reader.line("Why, or Enter: ")
    if key == "t":
        return await reader.line("What is to change: ") or None
    if asked.kind is ApprovalKind.QUESTION:
        return await reader.line("Your answer: ") or None
    return await reader.line("A comment, or Enter: ")


def can_ask(*, no_input: bool) -> bool:
    """True where a person can be asked."""
    return not no_input and sys.stdin.isatty() and sys.stderr.isatty()


def _keys(asked: Approval) -> Mapping[str, str]:
    rejects = f"reject (back to {one_line(asked.back_to)})" if asked.back_to else "reject"
    later = {"l": "later", "s": "show what was handed off", "r": rejects}
    if asked.kind is ApprovalKind.QUESTION:
        first = {"y": "as recommended"} if asked.recommendation else {}
        return {**first, "a": "answer in your own words", **later}
    if asked.kind is ApprovalKind.REVIEW:
        return {"a": "accept as it is", "t": "tell it what to change", **later}
    return {"a": "approve", **later}


def _step_of(detail: PipelineDetail, asked: Approval) -> StepView:
    found = next((step for step in detail.steps if step.id == asked.step_id), None)
    if found is None:
        raise SegueError(f"approval {asked.id} belongs to no step of pipeline {detail.id}")
    return found


def _shown_step(detail: PipelineDetail, asked: Approval) -> StepView:
    """The step whose handoff a person decides about: of an approval step, the one before that left one."""
    own = _step_of(detail, asked)
    before = [step for step in detail.steps[: own.order_index + 1] if step.latest_handoff is not None]
    return before[-1] if before else own


def _print_findings(step: StepView, screen: Console, signs: Signs) -> None:
    from segue.domain.final_state import StepLedger
    from segue.interfaces.cli.closing import describe_finding

    handoff = step.latest_handoff
    if handoff is None or handoff.ledger is None:
        return
    ledger = StepLedger(
        step=step.order_index + 1, agent_name=step.agent_name, source="", ledger=handoff.ledger
    )
    found = list(findings_of(ledger))
    if found:
        put(screen)
    for finding in found[:_MOST_FINDINGS]:
        put_beside(screen, signs.verdict(finding.kind, width=15), describe_finding(finding, signs))


def _print_handoff(step: StepView, screen: Console) -> None:
    handoff = step.latest_handoff
    if handoff is None:
        put(screen, "nothing was handed off")
        return
    lines = handoff.content_md.strip().splitlines()
    for line in lines[:_MOST_LINES]:
        put(screen, f"  {one_line(line)}")
    if (more := len(lines) - _MOST_LINES) > 0:
        put(screen, f"  and {more} more lines")
