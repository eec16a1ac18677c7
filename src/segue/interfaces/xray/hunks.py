"""The changed lines of a step: read from a patch, or from what was observed in a repository."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from segue.domain.evidence.model import Change, ChangeKind, Hunk
from segue.domain.evidence.sources import Observed, Sources
from segue.interfaces.xray.model import DiffHunk, DiffLine

Hunks = Mapping[str, Sequence[DiffHunk]]
"""The path of a file -> its hunks."""

_AROUND = 3
"""So many lines are shown before and after a change."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def hunks_of_patch(patch: str) -> dict[str, list[DiffHunk]]:
    """The hunks of each file of a unified diff."""
    found: dict[str, list[DiffHunk]] = {}
    lines = iter(patch.split("\n"))
    old = path = None
    for line in lines:
        if line.startswith("diff --git "):
            old = path = None
        elif line.startswith("--- "):
            old = _name(line[4:])
        elif line.startswith("+++ "):
            path = _name(line[4:]) or old
        elif path is not None and (match := _HUNK.match(line)):
            found.setdefault(path, []).append(_hunk(match, line, lines))
    return found


def hunks_observed(observed: Observed) -> dict[str, list[DiffHunk]]:
    """The hunks of each changed file, with the lines around them."""
    return {
        path: list(_with_context(path, change, observed.sources))
        for path, change in observed.evidence.changes.items()
        if change.hunks
    }


def _hunk(match: re.Match[str], heading: str, lines: Iterator[str]) -> DiffHunk:
    old, old_count, new, new_count = (1 if part is None else int(part) for part in match.groups())
    found: list[DiffLine] = []
    while old_count > 0 or new_count > 0:
        line = next(lines, None)
        if line is None:
            break
        if line.startswith("\\"):
            continue
        if line.startswith("+"):
            found.append(DiffLine("+", None, new, line[1:]))
        elif line.startswith("-"):
            found.append(DiffLine("-", old, None, line[1:]))
        else:
            found.append(DiffLine(" ", old, new, line[1:]))
        is_old, is_new = not line.startswith("+"), not line.startswith("-")
        old, old_count = old + is_old, old_count - is_old
        new, new_count = new + is_new, new_count - is_new
    return DiffHunk(heading=heading, lines=tuple(found))


def _name(text: str) -> str | None:
    """The path in a header: without its prefix, quotes, and the tab behind a name with spaces."""
    text = text.removesuffix("\t")
    if text.startswith('"'):
        raw = _ESCAPE.sub(_unescape, text[1:-1])
        text = raw.encode("latin-1", "replace").decode("utf-8", "replace") if _is_bytes(raw) else raw
    return text[2:] if text[:2] in ("a/", "b/") else None


def _unescape(found: re.Match[str]) -> str:
    return chr(int(found[1], 8)) if len(found[1]) == 3 else _ESCAPED.get(found[1], found[1])


def _is_bytes(text: str) -> bool:
    return all(ord(character) < 256 for character in text)


def _with_context(path: str, change: Change, sources: Sources) -> Iterator[DiffHunk]:
    """Its hunks, with the lines around them; those that are near each other as one."""
    is_whole = change.kind in (ChangeKind.ADDED, ChangeKind.DELETED)
    text = None if is_whole else sources.text(path)
    after = [] if text is None else text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    for group in _near(list(_placed(change.hunks or ())), is_alone=not after):
        lines = tuple(_lines(group, after))
        olds = [each.old for each in lines if each.old is not None]
        news = [each.new for each in lines if each.new is not None]
        yield DiffHunk(heading=f"@@ -{_range(olds)} +{_range(news)} @@", lines=lines)


class _Placed(NamedTuple):
    """A hunk, and where it is."""

    hunk: Hunk
    first: int
    """The line after the step at which it begins; of lines that were only removed, the one behind them."""
    shift: int
    """How far lines before it have moved."""

    @property
    def end(self) -> int:
        """The line after the step behind it."""
        return self.first + len(self.hunk.added)


def _placed(hunks: Iterable[Hunk]) -> Iterator[_Placed]:
    shift = 0
    for hunk in hunks:
        if hunk.new is not None:
            yield _Placed(hunk, hunk.new.first, shift)
        elif hunk.old is not None:
            yield _Placed(hunk, hunk.old.first + shift, shift)
        shift += len(hunk.added) - len(hunk.removed)


def _near(placed: Iterable[_Placed], *, is_alone: bool) -> Iterator[list[_Placed]]:
    group: list[_Placed] = []
    for each in placed:
        if group and (is_alone or each.first - group[-1].end > 2 * _AROUND):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _lines(group: Sequence[_Placed], after: Sequence[str]) -> Iterator[DiffLine]:
    at = max(1, group[0].first - _AROUND)
    for hunk, first, shift in group:
        yield from _unchanged(at, first, shift, after)
        if hunk.old is not None:
            yield from (DiffLine("-", hunk.old.first + n, None, line) for n, line in enumerate(hunk.removed))
        yield from (DiffLine("+", None, first + n, line) for n, line in enumerate(hunk.added))
        at = first + len(hunk.added)
    last = group[-1].hunk
    shift = group[-1].shift + len(last.added) - len(last.removed)
    yield from _unchanged(at, at + _AROUND, shift, after)


def _unchanged(first: int, end: int, shift: int, after: Sequence[str]) -> Iterator[DiffLine]:
    for number in range(first, min(end, len(after) + 1)):
        yield DiffLine(" ", number - shift, number, after[number - 1])


def _range(numbers: Sequence[int]) -> str:
    """`4,7`: where lines begin, and how many they are."""
    return f"{numbers[0]},{len(numbers)}" if numbers else "0,0"
