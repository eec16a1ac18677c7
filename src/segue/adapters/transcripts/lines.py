"""Reads files of JSON lines as a stream: in bounded memory, past every damaged line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

MAX_LINE = 16_000_000
"""Bytes; a longer line holds pictures, and is skipped."""
_CHUNK = 1_000_000
_HEAD = 128_000
_TAIL = 32_000
_DECODER = json.JSONDecoder(strict=False)


class Lines:
    """The records of a file, one a line; counts the lines that are none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.skipped = 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        self.skipped = 0
        with self._path.open("rb") as stream:
            while line := stream.readline(MAX_LINE):
                if len(line) >= MAX_LINE and not line.endswith(b"\n"):
                    _pass_over(stream)
                    self.skipped += 1
                elif line.strip():
                    record = decode(line)
                    if record is None:
                        self.skipped += 1
                    else:
                        yield record


def decode(line: bytes) -> Mapping[str, Any] | None:
    """The record of a line; none if it is damaged."""
    try:
        found = _DECODER.decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def head_of(path: Path, most: int = _HEAD) -> Iterator[Mapping[str, Any]]:
    """The records of the first bytes of a file, each decoded when it is asked for."""
    with path.open("rb") as stream:
        start = stream.read(most)
    lines = start.split(b"\n")
    if len(start) == most:
        lines.pop()  # cut in the middle
    return _decoded(lines)


def tail_of(path: Path, most: int = _TAIL) -> Iterator[Mapping[str, Any]]:
    """The records of the last bytes of a file, the last one first, each decoded when it is asked for."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - most))
        lines = stream.read(most).split(b"\n")
    return _decoded(reversed(lines[1:] if size > most else lines))


def _decoded(lines: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        if line.strip() and (record := decode(line)) is not None:
            yield record


def _pass_over(stream: BinaryIO) -> None:
    while (rest := stream.readline(_CHUNK)) and not rest.endswith(b"\n"):
        pass
