"""Reads a file of JSON lines whose entries form a tree, of which the way to the newest one is told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from segue.adapters.transcripts.chain import Chain
from segue.adapters.transcripts.lines import Lines
from segue.domain.transcripts import Branch, Recorder, Transcript
from segue.domain.usage import Usage


class TreeReading(ABC):
    """One way through the file; with `on_path`, only what lies on the way to the newest entry."""

    def __init__(self, on_path: bytearray | None = None, names: dict[int, str] | None = None) -> None:
        self._on_path = on_path
        self._names = names or {}
        self._chain = Chain()
        self._place = -1
        self._recorder = Recorder()
        self._facts: dict[str, str] = {}
        self._started: datetime | None = None
        self._updated: datetime | None = None
        self._usage = Usage()

    @classmethod
    def read(cls, path: Path) -> Transcript:
        """The session in a file."""
        lines = Lines(path)
        first = cls()._through(lines)
        if first._chain.is_straight:
            return first._transcript(path, lines.skipped, ())
        on_path = first._chain.path()
        sides = first._chain.branches(on_path)
        second = cls(on_path, {side.leaf: "" for side in sides})._through(lines)
        branches = [Branch(leaf=second._names[side.leaf], entries=side.entries) for side in sides]
        return second._transcript(path, lines.skipped, branches)

    def _through(self, lines: Lines) -> Self:
        for record in lines:
            self._take(record)
        return self

    @abstractmethod
    def _take(self, record: Mapping[str, Any]) -> None:
        """Read one line."""

    @abstractmethod
    def _transcript(self, path: Path, skipped: int, branches: Sequence[Branch]) -> Transcript:
        """What was read."""

    def _step(self, own: str) -> None:
        """The next entry of the tree, with an id of its own."""
        self._place += 1
        if self._place in self._names:
            self._names[self._place] = own

    def _is_here(self) -> bool:
        """Whether the entry is on the way; the first time, nobody knows yet."""
        if self._on_path is None:
            return True
        return self._place < len(self._on_path) and bool(self._on_path[self._place])

    def _note_moment(self, at: datetime | None) -> None:
        self._started = self._started or at
        self._updated = at or self._updated
