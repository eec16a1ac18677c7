"""Each kind of item in the words that the next agent reads: one line where the record has many parts."""

from __future__ import annotations

from segue.domain.handoff.model import (
    Blocker,
    FailedApproach,
    FileCreated,
    FileModified,
    Gotcha,
    NextStep,
    OpenQuestion,
    Pattern,
    ReportedCommand,
)
from segue.domain.handoff.writing.rendering import describe_decision as decision

__all__ = [
    "blocker",
    "command",
    "decision",
    "failed_approach",
    "file_created",
    "file_modified",
    "gotcha",
    "next_step",
    "pattern",
    "question",
]


def question(item: OpenQuestion) -> str:
    """A question, why it matters, and what its asker would do."""
    return item.question + _in_brackets(item.context, _named("recommendation", item.recommendation))


def pattern(item: Pattern) -> str:
    """A way of doing things, and where it can be seen."""
    return f"**{item.pattern}**" + _in_brackets(_named("see", item.location))


def gotcha(item: Gotcha) -> str:
    """A trap, and how to get around it."""
    return f"⚠️ {item.issue}" + (f": {item.mitigation}" if item.mitigation else "")


def blocker(item: Blocker) -> str:
    """What stops the work, and what could help."""
    return item.blocker + _in_brackets(
        _named("impact", item.impact),
        _named("suggested resolution", item.suggested_resolution),
        _named("blocks", ", ".join(item.blocking_tasks)),
    )


def next_step(item: NextStep) -> str:
    """What to do, how urgent it is, and what it needs."""
    return item.step + _in_brackets(
        _named("priority", item.priority), _named("depends on", ", ".join(item.depends_on))
    )


def failed_approach(item: FailedApproach) -> str:
    """What did not work, and why."""
    return item.approach + (f": {item.why}" if item.why else "")


def file_created(item: FileCreated) -> str:
    """A new file and what it is for."""
    return item.path + (f": {item.purpose}" if item.purpose else "")


def file_modified(item: FileModified) -> str:
    """A changed file: where, how, what."""
    change = item.change_type if item.change_type != "modify" else None
    return (
        item.path + _in_brackets(change, item.lines) + (f": {item.description}" if item.description else "")
    )


def command(item: ReportedCommand) -> str:
    """A command and how it ended."""
    ended = f"exit code {item.exit_code}" if item.exit_code is not None else None
    said = "; ".join(each for each in (ended, item.observation) if each)
    return item.command + (f": {said}" if said else "")


def _named(name: str, text: str | None) -> str | None:
    return f"{name}: {text}" if text else None


def _in_brackets(*texts: str | None) -> str:
    filled = [text for text in texts if text]
    return f" ({'; '.join(filled)})" if filled else ""
