"""Tells which changed paths and removed definitions a handoff says nothing about."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from segue.domain.claims.path_finder import parents_of
from segue.domain.evidence.model import ChangeKind, DefinitionFate, DefinitionKind, Evidence

_SEPARATORS = re.compile(r"[\s`\"'<>|()\[\],;*\u3001\u3002\uff0c\uff08\uff09\u201c\u201d]+")
_ODD = re.compile(r"[\s`\"'<>|()\[\],;*:#]|[^\x20-\x7e]")
_TAIL = re.compile(r"(?::\d+(?:[-,\u2013]\d+)*|#L\d+(?:-L?\d+)?)$|[.:!?]+$")
_WORD = re.compile(r"[^\s`\"'|()]+")
_MOST_GLOBS = 200
_MOST_NAMES = 20
_MOST_LINES = 1000
_IDENTIFIER = re.compile(r"\w+")
_PUBLIC = (DefinitionKind.FUNCTION, DefinitionKind.CLASS, DefinitionKind.METHOD, DefinitionKind.TEST)


def unmentioned_paths(
    mentions: Mentions, evidence: Evidence, folders: Collection[str] = (), passed_over: Collection[str] = ()
) -> tuple[str, ...]:
    """The changed paths that are named nowhere in a handoff, in their order.

    A folder is a mention of what is in it if an entry is about it, or if it is more than a top folder.
    """
    above = {folder.casefold().removeprefix("./").strip("/") for folder in folders}
    return tuple(
        path
        for path, change in sorted(evidence.changes.items())
        if change.is_certain
        and path not in passed_over
        and not mentions.names_change(path, evidence)
        and above.isdisjoint(parents_of(path.casefold()))
    )


def removed_names(mentions: Mentions, evidence: Evidence) -> tuple[str, ...]:
    """The public functions and classes that went and are named nowhere, though their file is still there."""
    found = [
        f"`{each.qualified}` in {each.path}"
        for each in evidence.definitions
        if each.fate is DefinitionFate.REMOVED
        and not each.by_words
        and each.kind in _PUBLIC
        and not each.name.startswith("_")
        and each.path in (evidence.after or ())
        and not mentions.has_word(each.name)
    ]
    return tuple(sorted(found)[:_MOST_NAMES])


class Mentions:
    """The words of a text, ready to be asked for paths and names."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        self._tokens: set[str] = set()
        self._folders: set[str] = set()
        self._globs: list[re.Pattern[str]] = []
        for token in _tokens(self._text):
            self._tokens.add(token)
            self._tokens.add(posixpath.basename(token.rstrip("/")))
            if token.rstrip("/").count("/") and "." not in posixpath.basename(token):
                self._folders.add(token.strip("/"))
        globs = [
            token
            for token in _WORD.findall(self._text)
            if ("*" in token or "{" in token) and len(token) < 400
        ]
        for token in globs[:_MOST_GLOBS]:
            if any(c.isalnum() for c in token) and ("/" in token or "." in token):
                bare = token if token[0] == "*" else f"*{token.strip('*_')}"
                self._globs.append(re.compile(fnmatch.translate(bare)))

    def names_change(self, path: str, evidence: Evidence) -> bool:
        """True if the text names a changed path, or the name that it had before."""
        change = evidence.changes[path]
        return self.name(path) or (change.kind is ChangeKind.RENAMED and self.name(change.old_path or path))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_IDENTIFIER.findall(self._text))

    def has_word(self, name: str) -> bool:
        """True if the text has a name as a word of its own."""
        return name.casefold() in self._words

    def speaks_of(self, name: str, words: Collection[str]) -> bool:
        """True if a line of the text has a name, and one of these words with it."""
        wanted = name.casefold()
        at = self._text.find(wanted) if wanted else -1
        for _ in range(_MOST_LINES):
            if at < 0:
                return False
            first = self._text.rfind("\n", 0, at) + 1
            last = self._text.find("\n", at)
            line = self._text[first : len(self._text) if last < 0 else last]
            if not set(_IDENTIFIER.findall(line.replace(wanted, " "))).isdisjoint(words):
                return True
            at = self._text.find(wanted, first + len(line))
        return False

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
