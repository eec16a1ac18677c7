"""Reads git's diffs: what happened to each path, and in which lines. Memory does not grow with the diff."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from segue.adapters.git.processes import MOST_BYTES, Output
from segue.adapters.git.repository import Repository
from segue.domain.evidence.model import Change, ChangeKind, Hunk, LineRange

MOST_PATCH_BYTES = 64_000_000
"""Of a longer diff, only the hunks in its first part are known."""
MOST_HUNKS = 200_000
"""So many hunks are kept at most."""
MOST_HUNK_BYTES = 4_000_000
"""Bytes of changed lines that are kept, of all files together."""
LONGEST_HUNK_LINE = 2_000
"""A file with a longer changed line is known by its counts alone."""
_LONGEST_LINE = 8192
_DIFF = (
    "--raw",
    "--numstat",
    "--patch",
    "-z",
    "--no-abbrev",
    "-U0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--diff-algorithm=myers",
    "--find-renames",
    "-l400",
)
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_KINDS = {
    "A": ChangeKind.ADDED,
    "C": ChangeKind.ADDED,
    "D": ChangeKind.DELETED,
    "R": ChangeKind.RENAMED,
    "T": ChangeKind.TYPE_CHANGED,
}


@dataclass(slots=True)
class _FileHunks:
    """The hunks of one file, while they are read."""

    old: list[LineRange] = field(default_factory=list)
    new: list[LineRange] = field(default_factory=list)
    texts: list[tuple[list[str], list[str]]] | None = field(default_factory=list)
    """Removed and added lines of each hunk; none if they are too much to keep."""
    ranges: list[tuple[LineRange | None, LineRange | None]] = field(default_factory=list)

    def as_hunks(self) -> tuple[Hunk, ...] | None:
        if self.texts is None:
            return None
        return tuple(
            Hunk(old=old, new=new, removed=tuple(removed), added=tuple(added))
            for (old, new), (removed, added) in zip(self.ranges, self.texts, strict=True)
        )


@dataclass(slots=True)
class Changes:
    """What a diff told."""

    changes: dict[str, Change] = field(default_factory=dict)
    """Path -> what happened to it."""
    old_ids: dict[str, str] = field(default_factory=dict)
    """Path -> the id of its content before."""
    new_ids: dict[str, str] = field(default_factory=dict)
    """Path -> the id of its content after; zeros for what is only in the work tree."""
    is_whole: bool = True
    """Whether all changed paths are in it."""


def read_changes(repository: Repository, diff: tuple[str, ...], index: Mapping[str, str]) -> Changes:
    """The changes that a command such as `diff-index REV` shows, with hunks and counts, by one process."""
    command, *between = diff
    found, reader = Changes(), _PatchReader()
    with repository.stream(command, *_DIFF, *between, "--", environment=index) as chunks:
        records, patch = _split(chunks)
        found.is_whole = not records.is_cut
        _read_records(records.fields(), found)
        are_hunks_whole = found.is_whole and reader.read_all(patch)
    for path, change in found.changes.items():
        found.changes[path] = _with_hunks(change, reader.found.get(path), are_hunks_whole)
    return found


def with_line_counts(changes: Mapping[str, Change], old_counts: Mapping[str, int]) -> dict[str, Change]:
    """The changes with the lines of each file now, from those that it had before."""
    counted = {}
    for path, change in changes.items():
        start = 0 if change.kind is ChangeKind.ADDED else old_counts.get(path)
        known = change.kind is not ChangeKind.DELETED and not change.is_binary and start is not None
        if known and change.additions is not None and change.deletions is not None:
            counted[path] = replace(
                change, line_count=max(0, (start or 0) + change.additions - change.deletions)
            )
        else:
            counted[path] = change
    return counted


def _split(chunks: Iterator[bytes]) -> tuple[Output, Iterator[bytes]]:
    """The records, and the patch that follows after an empty one; of too many, the first, and no patch."""
    read = b""
    for chunk in chunks:
        looked = max(0, len(read) - 1)
        read += chunk
        if (end := read.find(b"\0\0", looked)) >= 0:
            return Output(text=read[: end + 1]), chain([read[end + 2 :]], chunks)
        if len(read) > MOST_BYTES:
            return Output(text=read[:MOST_BYTES], is_cut=True), iter(())
    return Output(text=read), iter(())


def _with_hunks(change: Change, hunks: _FileHunks | None, is_whole: bool) -> Change:
    known = hunks if hunks is not None else (_FileHunks() if is_whole else None)
    return replace(
        change,
        old_lines=None if known is None else tuple(known.old),
        new_lines=None if known is None else tuple(known.new),
        hunks=None if known is None or change.is_binary else known.as_hunks(),
    )


def _read_records(fields: list[str], found: Changes) -> None:
    """Takes in `--raw --numstat -z`: the raw records first, each path in a field of its own."""
    parts = iter(fields)
    for record in parts:
        if record.startswith(":"):
            _, _, old_id, new_id, letter = record.split(" ")
            path = next(parts, None)
            old_path = path if letter[0] in "RC" else None
            path = next(parts, None) if letter[0] in "RC" else path
            if path is None:
                return
            kind = _KINDS.get(letter[0], ChangeKind.MODIFIED)
            found.changes[path] = Change(kind=kind, old_path=old_path if letter[0] == "R" else None)
            found.old_ids[path], found.new_ids[path] = old_id, new_id
        elif "\t" in record:
            added, deleted, path = record.split("\t", 2)
            if not path:
                next(parts, None)
                path = next(parts, "")
            if path in found.changes:
                found.changes[path] = _counted(found.changes[path], added, deleted)


def _counted(change: Change, added: str, deleted: str) -> Change:
    if added == "-":
        return replace(change, is_binary=True)
    return replace(
        change,
        additions=(change.additions or 0) + int(added),
        deletions=(change.deletions or 0) + int(deleted),
    )


@dataclass(slots=True)
class _PatchReader:
    found: dict[str, _FileHunks] = field(default_factory=dict)
    count: int = 0
    _old: bytes = b""
    _path: str | None = None
    _left: int = 0
    _kept: int = 0

    def read_all(self, chunks: Iterator[bytes]) -> bool:
        """Takes in a patch up to a size; true if that was all of it.

        Git quotes the names in it, so that no name can look like a header.
        """
        size = 0
        for line, length in _lines(chunks):
            size += length
            if size > MOST_PATCH_BYTES or self.count > MOST_HUNKS:
                self._forget_last()
                return False
            self._read(line, length)
        return True

    def _read(self, line: bytes, length: int) -> None:
        """Takes in one line, of which only the beginning may be given."""
        if self._left and line[:1] in b"+-":
            self._left -= 1
            self._keep(line, length)
        elif line.startswith(b"\\"):
            return
        elif line.startswith(b"--- "):
            self._old = line[4:]
        elif line.startswith(b"+++ "):
            name = self._old if line[4:].startswith(b"/dev/null") else line[4:]
            self._path = _name(name)
        elif self._path is not None and (hunk := _HUNK.match(line)):
            self._add(hunk, self._path)
        elif line.startswith(b"diff --git "):
            self._path = None

    def _add(self, hunk: re.Match[bytes], path: str) -> None:
        old, old_count, new, new_count = (1 if part is None else int(part) for part in hunk.groups())
        self._left = old_count + new_count
        file = self.found.setdefault(path, _FileHunks())
        before = LineRange(old, old + old_count - 1) if old_count else None
        after = LineRange(new, new + new_count - 1) if new_count else None
        if before is not None:
            file.old.append(before)
        # What was only taken out leaves a seam between two lines.
        file.new.append(after or LineRange(max(1, new), new + 1))
        if file.texts is not None:
            file.texts.append(([], []))
            file.ranges.append((before, after))
        self.count += 1

    def _keep(self, line: bytes, length: int) -> None:
        file = self.found.get(self._path or "")
        if file is None or not file.texts:
            return
        self._kept += length
        text = line[1:].decode("utf-8", "replace").removesuffix("\r")
        if self._kept > MOST_HUNK_BYTES or length > len(line) + 1 or len(text) > LONGEST_HUNK_LINE:
            file.texts, file.ranges = None, []
            return
        file.texts[-1][line[:1] == b"+"].append(text)

    def _forget_last(self) -> None:
        """The file that was being read when the diff was cut is not known whole."""
        if self._path is not None:
            self.found.pop(self._path, None)


def _lines(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, int]]:
    """Each line, no longer than what a header can have, and its length."""
    head, size = b"", 0
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            yield (
                (head + chunk[start : min(end, start + _LONGEST_LINE)])[:_LONGEST_LINE],
                size + end - start + 1,
            )
            head, size, start = b"", 0, end + 1
        head = (head + chunk[start : start + _LONGEST_LINE])[:_LONGEST_LINE]
        size += len(chunk) - start
    if size:
        yield head, size


def _name(text: bytes) -> str | None:
    """The path in a header: without its prefix, quotes, and the tab behind a name with spaces."""
    text = text.removesuffix(b"\t")
    if text.startswith(b'"'):
        text = _ESCAPE.sub(
            lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else _ESCAPED.get(m[1], m[1]), text[1:-1]
        )
    return os.fsdecode(text[2:]) if text[:2] in (b"a/", b"b/") else None
