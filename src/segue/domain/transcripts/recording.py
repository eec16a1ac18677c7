"""Takes a session down entry by entry, in bounded memory however long it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from segue.domain.transcripts.loose import clip, tail
from segue.domain.transcripts.model import (
    AssistantText,
    Entry,
    Failure,
    FileChangeKind,
    Summary,
    ToolCall,
    ToolKind,
    UserMessage,
)
from segue.domain.transcripts.tools import read_call

MOST_ENTRIES = 20_000
MOST_CHARS = 8_000_000
_FIRST_KEPT = 50
_OUTPUT = 1500
_OPEN_CALLS = 5_000
_EXIT_CODE = re.compile(
    r"(?:Process exited with code|Exit code:?|Command exited with code|exit code:?) (-?\d{1,6})\b"
)


class Recorder:
    """The entries of a session; of a very long one, the least telling of its middle are let go."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._chars = 0
        self._open: dict[str, int] = {}
        self._dropped = 0
        """Entries that were let go."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was taken down."""
        return tuple(self._entries)

    @property
    def left_out(self) -> int:
        """How many entries were let go."""
        return self._dropped

    def user(self, text: str, at: datetime | None = None) -> None:
        """The user wrote."""
        if text.strip():
            self._add(UserMessage(text=clip(text.strip()), at=at))

    def said(self, text: str, at: datetime | None = None) -> None:
        """The agent said."""
        if text.strip():
            self._add(AssistantText(text=clip(text.strip()), at=at))

    def summed_up(self, text: str, at: datetime | None = None, *, of_branch: bool = False) -> None:
        """The tool summed up what the model no longer sees."""
        if text.strip():
            self._add(Summary(text=clip(text.strip()), of_branch=of_branch, at=at))

    def failed(self, text: str, at: datetime | None = None) -> None:
        """A turn ended badly."""
        if text.strip():
            self._add(Failure(text=clip(text.strip(), 2000), at=at))

    def called(
        self, call_id: str, name: str, arguments: Mapping[str, Any] | str, at: datetime | None = None
    ) -> None:
        """The agent used a tool; the result comes later, under the same id."""
        if call_id and call_id in self._open:
            return
        self._add(replace(read_call(name, arguments), at=at))
        if call_id:
            self._open[call_id] = len(self._entries) - 1
            if len(self._open) > _OPEN_CALLS:
                self._open.pop(next(iter(self._open)))

    def returned(
        self,
        call_id: str,
        output: str,
        *,
        ok: bool | None,
        exit_code: int | None = None,
        change: FileChangeKind | None = None,
    ) -> None:
        """The result of a tool call; nothing if no such call is known. A later, richer one adds to it."""
        at = self._open.get(call_id)
        call = self._entries[at] if at is not None else None
        if at is None or not isinstance(call, ToolCall):
            return
        if call.kind is ToolKind.SHELL and exit_code is None:
            exit_code = stated_exit_code(output, at_start=ok is not True)
        if ok is not False and exit_code:
            ok = False
        changes = call.changes
        if change and len(changes) == 1:
            changes = (replace(changes[0], change=change),)
        kept = tail(output[-4 * _OUTPUT :], _OUTPUT) or call.output
        self._chars += len(kept) - len(call.output)
        self._entries[at] = replace(
            call,
            output=kept,
            changes=changes,
            ok=call.ok if ok is None else ok,
            exit_code=call.exit_code if exit_code is None else exit_code,
        )

    def roll_back(self, turns: int) -> int:
        """The user took the newest turns back; gives how many entries went with them."""
        at = len(self._entries)
        while turns > 0 and at > 0:
            at -= 1
            turns -= isinstance(self._entries[at], UserMessage)
        gone = len(self._entries) - at
        del self._entries[at:]
        self._open = {call: place for call, place in self._open.items() if place < at}
        self._chars = sum(_weight(entry) for entry in self._entries)
        return gone

    def knows(self, call_id: str) -> bool:
        """True if a call of this id was taken down."""
        return call_id in self._open

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._chars += _weight(entry)
        if len(self._entries) > MOST_ENTRIES or self._chars > MOST_CHARS:
            self._release()

    def _release(self) -> None:
        """Halve what is kept: first what tells least, in the older half; then whatever is oldest."""
        before = len(self._entries)
        border = before - before // 4
        keep = [at < _FIRST_KEPT or at >= border or _tells(entry) for at, entry in enumerate(self._entries)]
        if self._weight_of(keep) > MOST_CHARS // 2 or sum(keep) > MOST_ENTRIES // 2:
            keep = [at < _FIRST_KEPT or at >= before // 2 for at in range(before)]
        if self._weight_of(keep) > MOST_CHARS // 2:
            keep = [at < _FIRST_KEPT // 10 or at >= border for at in range(before)]
        moved: dict[int, int] = {}
        for at, kept in enumerate(keep):
            if kept:
                moved[at] = len(moved)
        self._entries = [entry for entry, kept in zip(self._entries, keep, strict=True) if kept]
        self._open = {call: moved[at] for call, at in self._open.items() if at in moved}
        self._chars = sum(_weight(entry) for entry in self._entries)
        self._dropped += before - len(self._entries)

    def _weight_of(self, keep: list[bool]) -> int:
        return sum(_weight(entry) for entry, kept in zip(self._entries, keep, strict=True) if kept)


def stated_exit_code(output: str, *, at_start: bool = True) -> int | None:
    """The exit code that a tool states in its own words, at the start or the end of its output."""
    found = _EXIT_CODE.search(output[:300]) if at_start or "\nOutput:" in output[:400] else None
    if found is None and at_start:
        found = next(iter(list(_EXIT_CODE.finditer(output[-300:]))[-1:]), None)
    return int(found[1]) if found else None


def _tells(entry: Entry) -> bool:
    if isinstance(entry, ToolCall):
        return bool(entry.changes or entry.plan) or entry.kind is ToolKind.SHELL
    return not isinstance(entry, AssistantText)


def _weight(entry: Entry) -> int:
    if isinstance(entry, ToolCall):
        return len(entry.output) + len(entry.command or "") + sum(map(len, entry.paths))
    return len(entry.text)
