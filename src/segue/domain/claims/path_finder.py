"""Finds which file of the repository a path in a handoff means."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from segue.domain.evidence.model import Evidence

_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-,\u2013:]\d+)*|#L\d+(?:-L?\d+)?)$")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_RANGE = re.compile(r"\{\w+(?:-|\.\.)\w+\}")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_EXPANDED = 64
EVERYWHERE = ""
"""The key of `Evidence.unseen` for a reason why any file might be there unseen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """What a path in a handoff may mean."""

    paths: tuple[str, ...] = ()
    """The files; several if the name fits several; none if there is no such file."""
    wanted: str = ""
    """The path from the top of the repository, also if there is no such file."""
    is_many: bool = False
    """True if a folder or a pattern was named: all of `paths` are meant, not one of them."""
    unseen: str | None = None
    """Why git cannot tell: it lies outside, or where git does not look."""


class PathFinder:
    """Looks paths up among all that the evidence knows. Made once for a ledger."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        old = {change.old_path for change in evidence.changes.values() if change.old_path}
        self.known: frozenset[str] = frozenset(
            {*evidence.changes, *old, *(evidence.before or ()), *(evidence.after or ())}
        )
        self._roots = tuple(root.rstrip("/") for root in evidence.roots if root.rstrip("/"))

    def find(self, path: str) -> Match:
        """The files that `path` means."""
        spellings = list(_spellings(path))
        for text in spellings:
            wanted = self._from_top(text)
            if wanted is not None and (match := self._literal(wanted, text)):
                return match
        last = self._from_top(spellings[-1])
        if last is None:
            return Match(wanted=path, unseen="it lies outside of the repository")
        if why := why_unseen(self._evidence, last):
            return Match(wanted=last, unseen=why)
        for text in spellings:
            wanted = self._from_top(text)
            if wanted is not None and (match := self._pattern(wanted) or self._loose(wanted)):
                return match
        return Match(wanted=last, unseen=self._unseen_alike(last))

    def _from_top(self, path: str) -> str | None:
        """The path from the top of the repository; none if it leads out of it."""
        for root in self._roots:
            if path == root or path.startswith(root + "/"):
                return posixpath.normpath(path[len(root) :].lstrip("/") or ".")
        if path.startswith("~") or _DRIVE.match(path):
            return None
        if path.startswith("/"):
            # A project's own root is often written as a slash; the machine's root is none of ours.
            inner = posixpath.normpath(path.lstrip("/") or ".")
            return inner if inner in self.known or inner in self.folders else None
        joined = posixpath.normpath(self._evidence.prefix + path)
        if joined == ".." or joined.startswith("../"):
            return None
        return joined

    def _literal(self, wanted: str, text: str) -> Match | None:
        for candidate in dict.fromkeys((wanted, *self._without_prefix(wanted, text))):
            if candidate in self.known:
                return Match(paths=(candidate,), wanted=candidate)
            if candidate in self.folders:
                below = tuple(sorted(p for p in self.known if p.startswith(candidate + "/")))
                return Match(paths=below, wanted=candidate + "/", is_many=True)
        return None

    def _without_prefix(self, wanted: str, text: str) -> Iterator[str]:
        """Other readings: from the top although the agent worked below it, or with the project's name."""
        if self._evidence.prefix and wanted.startswith(self._evidence.prefix):
            yield posixpath.normpath(text.lstrip("/") or ".")
        first, _, rest = wanted.partition("/")
        if rest and any(posixpath.basename(root) == first for root in self._roots):
            yield rest

    def _pattern(self, wanted: str) -> Match | None:
        """Files that a glob means: `src/**/*.py`, `a.{ts,tsx}`."""
        if not any(sign in wanted for sign in "*?{"):
            return None
        found: set[str] = set()
        for each in _expanded(_RANGE.sub("*", wanted)):
            pattern = re.compile(fnmatch.translate(each.replace("**/", "*").replace("**", "*")))
            is_bare = "/" not in wanted
            found.update(p for p in self.known if pattern.match(posixpath.basename(p) if is_bare else p))
        return Match(paths=tuple(sorted(found)), wanted=wanted, is_many=True)

    def _loose(self, wanted: str) -> Match | None:
        """Files that end in `wanted`, else files that differ in case alone."""
        name = posixpath.basename(wanted)
        ending = tuple(p for p in self._by_name.get(name.casefold(), ()) if p.endswith("/" + wanted))
        if ending:
            return Match(paths=ending, wanted=ending[0] if len(ending) == 1 else wanted)
        folded = wanted.casefold()
        alike = tuple(
            p
            for p in self._by_name.get(name.casefold(), ())
            if p.casefold() == folded or p.casefold().endswith("/" + folded)
        )
        return Match(paths=alike, wanted=alike[0] if len(alike) == 1 else wanted) if alike else None

    def _unseen_alike(self, wanted: str) -> str | None:
        """Why git would not see a file that is called so, wherever it lies."""
        name = posixpath.basename(wanted)
        for place in self._unseen_by_name.get(name.casefold(), ()):
            if place.casefold().endswith("/" + wanted.casefold()):
                return self._evidence.unseen[place]
        return self._evidence.unseen.get(EVERYWHERE)

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.known for folder in parents_of(path))

    @cached_property
    def _unseen_by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for place in self._evidence.unseen:
            found.setdefault(posixpath.basename(place).casefold(), []).append(place)
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.known):
            found.setdefault(posixpath.basename(path).casefold(), []).append(path)
        return found


def why_unseen(evidence: Evidence, path: str) -> str | None:
    """Why git does not look at `path`, or none if it does."""
    if why := evidence.unseen.get(path):
        return why
    for folder in parents_of(path):
        if why := evidence.unseen.get(folder) or evidence.unseen.get(folder + "/"):
            return why
    return None


def parents_of(path: str) -> Iterator[str]:
    """The folders above a path, the nearest first."""
    at = path.rfind("/")
    while at > 0:
        yield path[:at]
        at = path.rfind("/", 0, at)


def _spellings(path: str) -> Iterable[str]:
    """The path as written, then without quotes and line numbers, then with slashes for backslashes."""
    bare = path.strip().strip("`\"'").strip()
    short = _LINE_SUFFIX.sub("", bare)
    return dict.fromkeys(text for text in (path, bare, short, short.replace("\\", "/")) if text) or [path]


def _expanded(pattern: str) -> list[str]:
    """Each pattern that one with braces stands for."""
    waiting, done = [pattern], list[str]()
    while waiting and len(done) + len(waiting) < _MOST_EXPANDED:
        each = waiting.pop()
        braces = _BRACES.search(each)
        if braces is None:
            done.append(each)
        else:
            waiting += [each[: braces.start()] + part + each[braces.end() :] for part in braces[1].split(",")]
    return done
