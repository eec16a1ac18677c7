"""Tells which changed paths a handoff says nothing about."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

from segue.domain.handoff.checking.rules_values import places_of
from segue.domain.handoff.model import Handoff
from segue.domain.ledger.evidence import ChangeKind, Evidence
from segue.domain.ledger.paths import parents_of
from segue.domain.ledger.values import Claim, ClaimKind

_SEPARATORS = re.compile(r"[\s`\"'<>|()\[\],;*\u3001\u3002\uff0c\uff08\uff09\u201c\u201d]+")
_ODD = re.compile(r"[\s`\"'<>|()\[\],;*:#]|[^\x20-\x7e]")
_TAIL = re.compile(r"(?::\d+(?:[-,\u2013]\d+)*|#L\d+(?:-L?\d+)?)$|[.:!?]+$")
_WORD = re.compile(r"[^\s`\"'|()]+")
_MOST_GLOBS = 200
_ABOUT_FILES = (ClaimKind.CREATED, ClaimKind.MODIFIED, ClaimKind.DELETED, ClaimKind.RENAMED)


def unmentioned_paths(
    handoff: Handoff | None,
    source: str,
    evidence: Evidence,
    claims: Iterable[Claim] = (),
    passed_over: Collection[str] = (),
) -> tuple[str, ...]:
    """The changed paths that stand nowhere in a handoff, in their order.

    A folder stands for what is in it if a claim is about it, or if it is more than a top folder.
    """
    text = "\n".join((source, *(place.text for place in places_of(handoff or Handoff()))))
    words = _Words(text, {claim.subject for claim in claims if claim.kind in _ABOUT_FILES})
    return tuple(
        path
        for path, change in sorted(evidence.changes.items())
        if change.is_certain
        and path not in passed_over
        and not words.name(path)
        and not (change.kind is ChangeKind.RENAMED and words.name(change.old_path or path))
    )


class _Words:
    """The words of a text, ready to be asked for paths."""

    def __init__(self, text: str, claimed: Collection[str]) -> None:
        self._text = text.casefold()
        self._tokens: set[str] = set()
        self._folders: set[str] = set()
        self._globs: list[re.Pattern[str]] = []
        for token in _tokens(self._text):
            self._tokens.add(token)
            self._tokens.add(posixpath.basename(token.rstrip("/")))
            if token.rstrip("/").count("/") and "." not in posixpath.basename(token):
                self._folders.add(token.strip("/"))
        self._folders.update(path.casefold().removeprefix("./").strip("/") for path in claimed)
        globs = [
            token
            for token in _WORD.findall(self._text)
            if ("*" in token or "{" in token) and len(token) < 400
        ]
        for token in globs[:_MOST_GLOBS]:
            if any(c.isalnum() for c in token) and ("/" in token or "." in token):
                bare = token if token[0] == "*" else f"*{token.strip('*_')}"
                self._globs.append(re.compile(fnmatch.translate(bare)))

    def name(self, path: str) -> bool:
        """True if the text names a path, its file's name, a folder above it, or a pattern that fits it."""
        folded = path.casefold()
        name = posixpath.basename(folded)
        if folded in self._tokens or name in self._tokens:
            return True
        if any(folder in self._folders for folder in parents_of(folded)):
            return True
        if _ODD.search(name) and name in self._text:
            return True
        return any(glob.match(folded) for glob in self._globs)


def _tokens(text: str) -> Iterator[str]:
    for token in _SEPARATORS.split(text):
        bare = token.replace("\\", "/")
        while (short := _TAIL.sub("", bare)) != bare:
            bare = short
        if bare:
            yield bare.removeprefix("./")


def listed(paths: Iterable[str], most: int) -> str:
    """`a, b and 3 more`."""
    names = list(paths)
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
