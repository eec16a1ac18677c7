"""Finds file paths in text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from segue.domain.handoff.draft import Piece
from segue.domain.handoff.words import EXTENSIONS, WEAK_EXTENSIONS

_RIM_SIGNS = "`\"'<>|()\u3001\u3002\uff0c\uff1b\uff1a\uff08\uff09\u300c\u300d\u201c\u201d\u2192\u2190"
_RIM = r"\s" + re.escape(_RIM_SIGNS)
_JOINT = re.compile(rf"[./][^{_RIM}]++")
_WITHOUT_DOT = re.compile("Makefile|Dockerfile|LICENSE|Jenkinsfile")
_TOKEN = re.compile(rf"(?<![^{_RIM}])(?:[^{_RIM}./]*+[./][^{_RIM}]++|(?:{_WITHOUT_DOT.pattern})(?![^{_RIM}]))")
"""A word with a dot or a slash in it. It begins at a rim and gives nothing back: each is read once."""
_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-,\u2013]\d+)*|#L\d+(?:-L?\d+)?)+$")
_NAME = re.compile(r"[\w.@%+{}*,\[\]~$/\\-]+")

_BARE_NAMES = frozenset(
    {"Makefile", "Dockerfile", "LICENSE", ".gitignore", ".env", ".dockerignore", "Jenkinsfile"}
)
_NOT_FILES = frozenset(
    {"next.js", "node.js", "vue.js", "react.js", "three.js", "d3.js", "nuxt.js", "express.js", "console.log"}
)


def paths_in(text: str, start: int = 0, end: int | None = None) -> Iterator[Piece]:
    """Each path in `text[start:end]`, without `:line` suffixes and the punctuation around it.

    Of a link whose words are a path, only the words count.
    """
    last = -9
    for at, stop in _tokens(text, start, len(text) if end is None else end):
        if stop - at > 400 or (last > at - 5 and "](" in text[last:at]):
            continue
        for piece in _paths(text[at:stop], at, at > 0 and text[at - 1] == "`"):
            last = piece.end
            yield piece


def _tokens(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of each word with a dot or a slash in it that is not its last character."""
    if _WITHOUT_DOT.search(text, start, end):
        yield from ((start + m.start(), start + m.end()) for m in _TOKEN.finditer(text[start:end]))
        return
    floor = start
    for found in _JOINT.finditer(text, start, end):
        begin = found.start()
        while begin > floor and not ((before := text[begin - 1]) in _RIM_SIGNS or before.isspace()):
            begin -= 1
        floor = found.end()
        yield begin, floor


def _paths(token: str, at: int, quoted: bool) -> Iterator[Piece]:
    lead = len(token) - len(token.lstrip("*[,;:!?"))
    bare = token[lead:].rstrip(".,;:!?*]" if "[" not in token[lead:] else ".,;:!?*")
    bare = _LINE_SUFFIX.sub("", bare)
    at += lead
    parts = bare.split("/")
    if len(parts) > 1 and all(_has_ending(part) for part in parts[:-1] if part) and parts[0]:
        for part in parts:
            if is_path(part, quoted=quoted):
                yield Piece(part, at, at + len(part))
            at += len(part) + 1
    elif is_path(bare, quoted=quoted):
        yield Piece(bare, at, at + len(bare))


def _has_ending(name: str) -> bool:
    stem, _, ending = name.rpartition(".")
    return bool(stem) and len(ending) > 1 and ending.lower() in EXTENSIONS


def is_path(token: str, *, quoted: bool = False) -> bool:
    """True if a token looks like a file or a folder of a project."""
    if len(token) < 3 or token[0] == "@" or not _NAME.fullmatch(token) or token.casefold() in _NOT_FILES:
        return False
    last = token[max(token.rfind("/"), token.rfind("\\")) + 1 :]
    if last in _BARE_NAMES:
        return True
    stem, dot, ending = last.rpartition(".")
    ending = ending.lower()
    inside = len(last) < len(token)
    if dot and ending in EXTENSIONS:
        return inside or bool(stem and (ending not in WEAK_EXTENSIONS or (quoted and "." not in stem)))
    if last not in ("", "*", "**") or token[0] in "/\\" or not any(c.isalpha() for c in token):
        return False
    return token.count("/") + token.count("\\") > 1
