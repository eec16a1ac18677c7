"""Definitions of any language by their words alone: good enough to point at, never to prove."""

from __future__ import annotations

import re

from segue.domain.evidence.languages import LARGEST_SOURCE, Definition, Language
from segue.domain.evidence.model import DefinitionKind, LineRange

_BEFORE = (
    r"^(?P<indent>[ \t]{0,40})(?:(?:export|default|public|private|protected|internal|static|final|abstract|"
    r"async|pub(?:\([a-z]{1,9}\))?|unsafe|override|open|sealed|declare|inline|extern|virtual|suspend|data|local)"
    r"[ \t]+){0,5}"
)
_NAME = r"(?P<name>[A-Za-z_$][\w$]{0,200})"
_RULES = (
    (
        DefinitionKind.FUNCTION,
        rf"(?:function\*?|func(?:[ ]\([^)\n]{{0,200}}\))?|fn|def|fun|sub|proc)[ \t]+{_NAME}",
    ),
    (DefinitionKind.CLASS, rf"(?:class|object|module|record)[ \t]+{_NAME}"),
    (DefinitionKind.TYPE, rf"(?:interface|trait|struct|enum(?:[ ]class)?|type|union|protocol)[ \t]+{_NAME}"),
    (DefinitionKind.CONSTANT, rf"(?:const|let|var|val|static)(?:[ ]mut)?[ \t]+{_NAME}"),
)
_PATTERNS = tuple((kind, re.compile(_BEFORE + rule + r"\b")) for kind, rule in _RULES)
_TEST = re.compile(
    r"""^(?P<indent>[ \t]{0,40})(?:it|test|specify)(?:\.\w{1,20})?[ \t]*\("""
    r"""[ \t]*(["'`])(?P<name>.{1,300}?)\2"""
)
_ARROW = re.compile(
    r"=[ \t]*(?:async[ \t]*)?(?:\([^)\n]{0,300}\)|[\w$]{1,100})[ \t]*(?::[^=\n]{1,100})?=>|=[ \t]*function\b"
)
_COMMENT = re.compile(r"^\s*(?:#|//|/?\*|--|;).*$", re.MULTILINE)
_LONGEST = 1000


def read_words(text: str) -> tuple[Definition, ...] | None:
    """What looks like a definition at the beginning of a line; it lasts until the next one as far left."""
    if len(text) > LARGEST_SOURCE:
        return None
    lines = text.split("\n")
    found = [(at, *each) for at, line in enumerate(lines) if (each := _defined_in(line[:_LONGEST]))]
    ends = _ends(found, len(lines))
    return tuple(
        Definition(
            kind=kind,
            name=name,
            qualified=name,
            lines=LineRange(at + 1, end),
            text="\n".join(lines[at:end]).rstrip(),
        )
        for (at, kind, name, _), end in zip(found, ends, strict=True)
    )


def code_by_words(definition: Definition) -> str:
    """The text without lines of comments and without layout."""
    return " ".join(_COMMENT.sub("", definition.text).split())


BY_WORDS = Language(read=read_words, code=code_by_words, by_words=True)


def _defined_in(line: str) -> tuple[DefinitionKind, str, int] | None:
    """The kind, the name and how far it is indented."""
    if test := _TEST.match(line):
        return DefinitionKind.TEST, test["name"], len(test["indent"])
    for kind, pattern in _PATTERNS:
        if not (match := pattern.match(line)):
            continue
        name, indent = match["name"], len(match["indent"])
        if kind is DefinitionKind.CONSTANT:
            if _ARROW.search(line, match.end()):
                return DefinitionKind.FUNCTION, name, indent
            return (kind, name, indent) if not indent else None  # further in, it is a local name
        if kind is DefinitionKind.FUNCTION and name.startswith(("test_", "Test")):
            return DefinitionKind.TEST, name, indent
        return kind, name, indent
    return None


def _ends(found: list[tuple[int, DefinitionKind, str, int]], count: int) -> list[int]:
    """The last line of each: before the next one that is not further in."""
    ends = [count] * len(found)
    waiting: list[int] = []
    for at, (line, _, _, indent) in enumerate(found):
        while waiting and found[waiting[-1]][3] >= indent:
            ends[waiting.pop()] = line
        waiting.append(at)
    return ends
