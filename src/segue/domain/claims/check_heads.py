"""Checks what is said of the head of a definition: what it takes, and what it derives from."""

from __future__ import annotations

import re
from typing import NamedTuple

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_tree
from segue.domain.claims.lexicon import BE, EXCEPT, NEGATIONS
from segue.domain.claims.linking import World, core_of, is_code_path
from segue.domain.claims.tokens import WordKind
from segue.domain.evidence.model import DefinitionFate
from segue.domain.text.words import word_set

_WORDS = re.compile(r"\w+")
_DERIVES = word_set("subclasses extends derives inherits subclass subclassing derived extending inheriting")
_TAKES = word_set("takes accepts receives gained gains got gets has")
_COMES = word_set("gained gains got gets new")
_PARAMETERS = word_set("parameter argument param arg keyword")
_BETWEEN = word_set("a an the from of as its own now it optional required mandatory new keyword only")
_PLACES = ("first", "second", "third", "fourth", "fifth")
_EARLIER = NEGATIONS | EXCEPT | word_set("longer anymore previously formerly instead both used would if")
_FAR = 5
_MOST_LINES = 15


def check_heads(case: Case) -> list[Atom]:
    """`X derives from Y`, `` `f` takes a second parameter `p` ``."""
    names = [n for n, token in enumerate(case.tokens) if token.kind is WordKind.NAME]
    if len(names) != 2 or case.at(_EARLIER) or any(case.kind(n) is WordKind.PATH for n in range(names[1])):
        return []
    first, second = names
    between = range(first + 1, second)
    cues = case.at(_DERIVES | _TAKES, between)
    known = _BETWEEN | _PARAMETERS | BE | frozenset(_PLACES)
    others = [n for n in between if n not in cues and case.low(n) not in known and case.low(n).isalpha()]
    if not cues or others or second - first > _FAR + 2:
        return []
    head = _head(case.world, case.text(first))
    if head is None:
        return []
    if case.low(cues[0]) in _DERIVES:
        return _derived(case, first, second, cues, head)
    nouns = case.at(_PARAMETERS, range(cues[0], second + 2))
    return _taken(case, first, second, [*cues, *nouns], head) if nouns else []


def _head(world: World, name: str) -> tuple[str, str] | None:
    """The path and the head of the only definition of a name in program text, behind the name."""
    places = world.definition_places(name)
    if places is None or len(places) != 1 or not is_code_path(places[0].path):
        return None
    lines = (world.text(places[0].path) or "").splitlines()[places[0].line - 1 :][:_MOST_LINES]
    text = ""
    for line in lines:
        text += line + "\n"
        if text.count("(") <= text.count(")"):
            return places[0].path, text[text.find(core_of(name)) + len(core_of(name)) :]
    return None


def _derived(case: Case, first: int, second: int, cues: list[int], head: tuple[str, str]) -> list[Atom]:
    path, text = head
    base = core_of(case.text(second))
    shown = f"{path} has `{core_of(case.text(first))}{' '.join(text.splitlines()[:1])}`"
    if base in _WORDS.findall(text):
        return [holds(shown, (first, *cues, second), in_tree(path))]
    is_class = any(
        "class " in line for line in (case.world.text(path) or "").splitlines() if text.strip() in line
    )
    return [contradicts(shown, in_tree(path))] if is_class else []


def _taken(case: Case, first: int, second: int, words: list[int], head: tuple[str, str]) -> list[Atom]:
    path, text = head
    if not text.startswith("(") or not case.tokens[second].certain:
        return []
    name = core_of(case.text(second))
    parameters = [each for each in _parameters(text) if each.name not in ("self", "cls")]
    shown = f"{path}: `{core_of(case.text(first))}({', '.join(each.text for each in parameters)})`"
    where = in_tree(path)
    if name not in _WORDS.findall(text):
        return [contradicts(shown, where)]
    at = next((n for n, each in enumerate(parameters) if each.name == name), None)
    if at is None:
        return []
    old = [d for d in case.world.definitions(case.text(first)) if d.fate is not DefinitionFate.ADDED]
    if case.at(_COMES, words) and any(name in d.old_parameters for d in old):
        return [contradicts(f"{shown}, and took `{name}` before", where)]
    ordinals = case.at(_PLACES, range(first, second + 2))
    told = _told_default(case, second, parameters[at])
    if told is None or any(_PLACES.index(case.low(n)) != at for n in ordinals):
        return [contradicts(shown, where)]
    return [holds(shown, (first, second, *words, *ordinals, *told), where)]


_NEEDED, _OPTIONAL = word_set("required mandatory"), frozenset({"optional"})
_LITERALS = word_set("true false none null nil undefined")
_SAYS_DEFAULT = word_set("default defaults defaulting")


def _told_default(case: Case, second: int, parameter: _Parameter) -> list[int] | None:
    """The words that rightly say what it is if it is left out; none if they are false."""
    near = range(max(0, second - 4), min(len(case.tokens), second + 7))
    needed, optional = case.at(_NEEDED, near), case.at(_OPTIONAL, near)
    if (needed and parameter.is_optional) or (optional and not parameter.is_optional):
        return None
    said = case.at(_SAYS_DEFAULT, near)
    values = [
        n for n in near if n != second and (case.kind(n) is WordKind.NUMBER or case.low(n) in _LITERALS)
    ]
    if not said or len(values) != 1 or parameter.default is None:
        return [*needed, *optional]
    is_plain = parameter.default.isalnum()
    if case.low(values[0]) == parameter.default.casefold():
        return [*needed, *optional, *said, *values]
    return None if is_plain else []


class _Parameter(NamedTuple):
    """A parameter as it is written."""

    name: str
    default: str | None
    is_optional: bool

    @property
    def text(self) -> str:
        """`b=2`."""
        return self.name if self.default is None else f"{self.name}={self.default}"


def _parameters(text: str) -> list[_Parameter]:
    """What is in `(a, b: int = 2, *, c)`."""
    pieces, piece, depth = list[str](), "", 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if (sign == "," and depth == 1) or depth == 0:
            pieces.append(piece)
            piece = ""
            if depth == 0:
                break
        else:
            piece += sign
    found = []
    for each in pieces:
        head, is_set, default = each.partition("=")
        if words := _WORDS.findall(head.partition(":")[0]):
            is_optional = bool(is_set) or "?" in head or "*" in head or "..." in head
            found.append(_Parameter(words[0], default.strip() if is_set else None, is_optional))
    return found
