"""The work that tool calls show: files in their last state, and the last run of each command."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from segue.domain.handoff.model import FileCreated, FileModified, ReportedCommand
from segue.domain.text.command_lines import programs_of, read_line
from segue.domain.text.words import word_set
from segue.domain.transcripts.loose import head
from segue.domain.transcripts.model import Entry, FileChangeKind, ToolCall, ToolKind

_LOOKS = word_set(
    "ls cat pwd cd echo head tail sed rg grep find which wc tree file stat less more printf type env date nl"
    " awk sort uniq du df true sleep"
)
"""Programs that only look; that they ran is no news."""
_GIT_LOOKS = word_set("status diff log show branch blame ls-files rev-parse remote")
_MOST_FILES = 300
_MOST_COMMANDS = 40
_LONGEST_COMMAND = 400
_LONGEST_OBSERVATION = 200


def changed_files(
    entries: Iterable[Entry], working_dir: str | None
) -> tuple[tuple[FileCreated, ...], tuple[FileModified, ...]]:
    """Files that are new, and files that were changed or deleted, each in its last state."""
    state: dict[str, FileChangeKind | None] = {}
    known: set[str] = set()
    for call in entries:
        if not isinstance(call, ToolCall) or not call.ok:
            continue
        if call.kind is ToolKind.READ:
            known.update(relative(path, working_dir) for path in call.paths)
        for change in call.changes:
            path = relative(change.path, working_dir)
            state[path] = _next_state(state.pop(path, None), change.change, was_there=path in known)
    created = [FileCreated(path=path) for path, change in state.items() if change is FileChangeKind.CREATED]
    modified = [
        FileModified(path=path, change_type="delete" if change is FileChangeKind.DELETED else "modify")
        for path, change in state.items()
        if change in (FileChangeKind.MODIFIED, FileChangeKind.DELETED)
    ]
    return tuple(created[-_MOST_FILES:]), tuple(modified[-_MOST_FILES:])


def _next_state(
    before: FileChangeKind | None, change: FileChangeKind, *, was_there: bool
) -> FileChangeKind | None:
    """What a file is after one more change; none if it came and went."""
    if before is None:
        return FileChangeKind.MODIFIED if change is FileChangeKind.CREATED and was_there else change
    if before is FileChangeKind.CREATED:
        return None if change is FileChangeKind.DELETED else FileChangeKind.CREATED
    return FileChangeKind.DELETED if change is FileChangeKind.DELETED else FileChangeKind.MODIFIED


def commands_run(entries: Iterable[Entry]) -> tuple[ReportedCommand, ...]:
    """The last run of each command that did more than look, in the order of those runs."""
    last: dict[object, ToolCall] = {}
    for call in entries:
        if isinstance(call, ToolCall) and call.command and call.ok is not None and _is_news(call):
            line = read_line(call.command)
            key: object = line.commands if line else call.command
            last.pop(key, None)
            last[key] = call
    return tuple(_command(call) for call in list(last.values())[-_MOST_COMMANDS:])


def last_line(output: str) -> str | None:
    """The last words of an output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return head(lines[-1], _LONGEST_OBSERVATION) if lines else None


def relative(path: str, working_dir: str | None) -> str:
    """A path as the project sees it; one that lies outside stays as it is."""
    path = path.removeprefix("file://")
    if not working_dir or not working_dir.startswith("/"):
        return path
    root = posixpath.normpath(working_dir)
    found = posixpath.normpath(posixpath.join(root, path))
    return found[len(root) :].lstrip("/") if found.startswith(root.rstrip("/") + "/") else found


def _is_news(call: ToolCall) -> bool:
    assert call.command is not None
    if call.changes:
        return False
    line = read_line(call.command)
    if line is None:
        return True
    if any(argv[0] == "git" and not set(argv[1:2]) <= _GIT_LOOKS for argv in line.commands):
        return True
    return bool(programs_of(call.command) - _LOOKS - {"git"})


def _command(call: ToolCall) -> ReportedCommand:
    observation = last_line(call.output) if call.ok is False or call.exit_code is None else None
    return ReportedCommand(
        command=head(call.command or "", _LONGEST_COMMAND), exit_code=call.exit_code, observation=observation
    )


def newest_plan(entries: Sequence[Entry]) -> ToolCall | None:
    """The agent's own list of things to do, as it last wrote it."""
    return next((e for e in reversed(entries) if isinstance(e, ToolCall) and e.plan), None)
