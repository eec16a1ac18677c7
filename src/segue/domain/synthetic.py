"""A synthetic handoff: what an agent that could not hand off left behind, as git and its log show it."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.evidence.model import Change, ChangeKind, CommandRun, Evidence
from segue.domain.handoff.model import FileCreated, FileModified, Handoff, ReportedCommand

_MOST_FILES = 200
_MOST_COMMANDS = 30
_LAST_WORDS = 4000


def synthesize(
    *, reason: str, evidence: Evidence | None, commands: Sequence[CommandRun], last_words: str
) -> Handoff:
    """The record that stands in for the agent's own. It says nothing that was not seen."""
    changes = dict(sorted((evidence.changes if evidence else {}).items())[:_MOST_FILES])
    context = [f"Written by Segue, not by the agent, which ended before it could hand off: {reason}"]
    if evidence is None:
        context.append("What changed in its folder could not be measured.")
    elif not evidence.is_diff_whole or len(evidence.changes) > len(changes):
        context.append("More files changed than are listed here.")
    if last_words.strip():
        context.append(f"The agent's last words: {last_words.strip()[-_LAST_WORDS:]}")
    return Handoff(
        outcome="failed",
        what_was_done=tuple(_describe(path, change) for path, change in changes.items()),
        files_created=tuple(FileCreated(path=p) for p, c in changes.items() if c.kind is ChangeKind.ADDED),
        files_modified=tuple(
            FileModified(path=p)
            for p, c in changes.items()
            if c.kind not in (ChangeKind.ADDED, ChangeKind.DELETED)
        ),
        commands_run=tuple(
            ReportedCommand(command=run.command, exit_code=run.exit_code)
            for run in commands[-_MOST_COMMANDS:]
        ),
        critical_context=tuple(context),
        next_agent_context="Look at the files before you begin: work may be half done. Continue from it.",
    )


def _describe(path: str, change: Change) -> str:
    lines = ""
    if change.additions is not None and change.deletions is not None:
        lines = f" (+{change.additions} -{change.deletions})"
    was = f" from {change.old_path}" if change.old_path else ""
    return f"{change.kind} {path}{was}{lines}"
