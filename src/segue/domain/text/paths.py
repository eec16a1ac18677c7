"""Finds file paths in text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from segue.domain.text.span import TextPiece
from segue.domain.text.words import EXTENSIONS, WEAK_EXTENSIONS

_RIM_SIGNS: Final = "`\"'<>|()\u3001\u3002\uff0c\uff1b\uff1a\uff08\uff09\u300c\u300d\u201c\u201d\u2192\u2190"
_RIM: Final = re.escape(_RIM_SIGNS) + "".join(c for c in map(chr, range(0x3001)) if c.isspace())
# White space one by one, not as a class: a plain set of characters is tested fastest.
_RIM_SIGN: Final = re.compile(rf"[{_RIM}]")
_JOINT: Final = re.compile(rf"[./][^{_RIM}]++")
_WITHOUT_DOT: Final = re.compile("(?:Make|Docker|Jenkins|Proc|Gem|Rake|Vagrant|Caddy|Brew|Just)file|LICENSE")
_TOKEN: Final = re.compile(
    rf"(?<![^{_RIM}])(?:[^{_RIM}./]*+[./][^{_RIM}]++|(?:{_WITHOUT_DOT.pattern})(?![^{_RIM}]))"
)
"""A word with a dot or a slash in it. It begins at a rim and gives nothing back: each is read once."""
_LINE_SUFFIX: Final = re.compile(r"(?::\d+(?:[-,\u2013]\d+)*|#L\d+(?:-L?\d+)?)+$")
_NAME_SIGNS: Final = "_.-/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
"""What most names are made of; the rest is for the regex."""
_NAME: Final = re.compile(r"[\w.@%+{}*,\[\]~$/\\-]+")

_BARE_NAMES: Final = frozenset(
    {"Makefile", "Dockerfile", "LICENSE", ".gitignore", ".env", ".dockerignore", "Jenkinsfile", "Procfile"}
    | {"Gemfile", "Rakefile", "Vagrantfile", "Caddyfile", "Brewfile", "Justfile"}
)
_NOT_FILES: Final = frozenset(
    {"next.js", "node.js", "vue.js", "react.js", "three.js", "d3.js", "nuxt.js", "express.js", "console.log"}
)


def paths_in(text: str, start: int = 0, end: int | None = None) -> list[TextPiece]:
    """Each path in `text[start:end]`, without `:line` suffixes and the punctuation around it.

    Of a link whose words are a path, only the words count.
    """
    found: list[TextPiece] = []
    last = -9
    for at, stop in _tokens(text, start, len(text) if end is None else end):
        if stop - at > 400 or (last > at - 5 and "](" in text[last:at]):
            continue
        _add_paths(found, text[at:stop], at, at > 0 and text[at - 1] == "`")
        if found:
            last = found[-1].end
    return found


def _tokens(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    """Start and end of each word with a dot or a slash in it that is not its last character."""
    if _may_be_without_dot(text, start, end) and _WITHOUT_DOT.search(text, start, end):
        return ((start + m.start(), start + m.end()) for m in _TOKEN.finditer(text[start:end]))
    found: list[tuple[int, int]] = []
    floor = start
    for joint in _JOINT.finditer(text, start, end):
        at, stop = joint.span()
        # Most words begin after a space or a back-tick; the regex finds the other rims.
        begin = text.rfind(" ", floor, at) + 1
        tick = text.rfind("`", begin or floor, at) + 1
        begin = tick or begin or floor
        if not text[begin:at].isalnum():
            for rim in _RIM_SIGN.finditer(text, begin, at):
                begin = rim.end()
        floor = stop
        found.append((begin, stop))
    return found


def _may_be_without_dot(text: str, start: int, end: int) -> bool:
    return text.find("file", start, end) >= 0 or text.find("LICENSE", start, end) >= 0


def _add_paths(found: list[TextPiece], token: str, at: int, quoted: bool) -> None:
    bare = token.lstrip("*[,;:!?")
    at += len(token) - len(bare)
    bare = bare.rstrip(".,;:!?*]" if "[" not in bare else ".,;:!?*")
    if ":" in bare or "#" in bare:
        bare = _LINE_SUFFIX.sub("", bare)
    first = bare.partition("/")[0]
    if len(first) < len(bare) and _has_ending(first) and _is_list_of_names(bare):
        for part in bare.split("/"):
            if is_path(part, quoted=quoted):
                found.append(TextPiece(part, at, at + len(part)))
            at += len(part) + 1
    elif is_path(bare, quoted=quoted):
        found.append(TextPiece(bare, at, at + len(bare)))


def _is_list_of_names(bare: str) -> bool:
    """`setup.cfg/tox.ini` are two files."""
    return all(_has_ending(part) for part in bare.split("/")[:-1] if part)


def _has_ending(name: str) -> bool:
    stem, _, ending = name.rpartition(".")
    return bool(stem) and len(ending) > 1 and ending.lower() in EXTENSIONS


_ENDINGS = re.compile(r"\.\w{1,4}(?:/\.\w{1,4})+")
"""`.ts/.js`: kinds of files."""


def is_path(token: str, *, quoted: bool = False) -> bool:
    """True if a token looks like a file or a folder of a project."""
    if len(token) < 3 or token[0] == "@":
        return False
    last = token[max(token.rfind("/"), token.rfind("\\")) + 1 :]
    if _ENDINGS.fullmatch(token):
        return False
    if last in ("", "*", "**"):
        if not _is_folder(token):
            return False
    elif last not in _BARE_NAMES and not _is_file(last, inside=len(last) < len(token), quoted=quoted):
        return False
    is_name = not token.strip(_NAME_SIGNS) or _NAME.fullmatch(token) is not None
    return is_name and token.casefold() not in _NOT_FILES


def _is_file(name: str, *, inside: bool, quoted: bool) -> bool:
    """True if the ending is one of a file; `inside` a folder, any will do."""
    stem, dot, ending = name.rpartition(".")
    ending = ending.lower()
    if not dot or ending not in EXTENSIONS:
        return False
    return inside or bool(stem and (ending not in WEAK_EXTENSIONS or (quoted and "." not in stem)))


def _is_folder(token: str) -> bool:
    if token[0] in "/\\" or token.count("/") + token.count("\\") < 2:
        return False
    return any(c.isalpha() for c in token)
