"""Where a session stopped: in the middle of a call, at an error, or with words of the user unanswered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from segue.domain.handoff.model import Blocker, NextStep
from segue.domain.transcripts.loose import head, tail
from segue.domain.transcripts.model import AssistantText, Entry, Failure, ToolCall, UserMessage
from segue.domain.transcripts.wishes import own_words

_LONGEST = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """What the last entries leave open."""

    context: str | None = None
    steps: tuple[NextStep, ...] = ()
    blockers: tuple[Blocker, ...] = ()


def how_it_ended(entries: Sequence[Entry]) -> Ending:
    """What the last turn leaves open; nothing if the agent had the last word."""
    said: str | None = None
    done: list[ToolCall | Failure] = []
    asked: str | None = None
    for entry in reversed(entries):
        if isinstance(entry, AssistantText):
            said = entry.text
            break
        if isinstance(entry, UserMessage):
            asked = own_words(entry.text)
            break
        if isinstance(entry, ToolCall | Failure):
            done.append(entry)
    if not done:
        return Ending(steps=(_answer(asked),) if asked else ())
    last = done[0]
    waiting = [call for call in done if isinstance(call, ToolCall) and call.ok is None]
    steps = tuple(
        NextStep(step=f"Its result is not known: {_named(call)}", priority="high") for call in waiting[:10]
    )
    if asked:
        steps = (_answer(asked), *steps)
    blockers = (Blocker(blocker=f"The session ended with: {last.text}"),) if isinstance(last, Failure) else ()
    return Ending(context=_context(last, said), steps=steps, blockers=blockers)


def _answer(asked: str) -> NextStep:
    return NextStep(
        step=f"The user's last words have no answer yet: {head(asked, _LONGEST)}", priority="high"
    )


def _context(last: ToolCall | Failure, said: str | None) -> str | None:
    parts = [f"The agent's last words were: {head(said, _LONGEST)}"] if said else []
    if isinstance(last, ToolCall):
        parts.append(f"The session stopped after {_named(last)}{_result(last)}")
    return "\n\n".join(parts) or None


def _named(call: ToolCall) -> str:
    what = head(call.command, 300) if call.command else ", ".join(call.paths[:5])
    return f"{call.name} `{what}`" if what else call.name


def _result(call: ToolCall) -> str:
    if call.ok is None:
        return ", which has no result."
    if call.ok:
        return ", which succeeded."
    code = f" with exit code {call.exit_code}" if call.exit_code is not None else ""
    return f", which failed{code}:\n{tail(call.output, 800)}" if call.output else f", which failed{code}."
