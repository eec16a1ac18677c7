"""Checks values: `set X to 30`, `bumped X from 1.2 to 1.3`, `X is now 5`; and dependencies by their names."""

from __future__ import annotations

from dataclasses import replace

from segue.domain.claims.atoms import (
    Atom,
    Case,
    Status,
    by_words,
    contradicts,
    holds,
    in_diff,
    in_tree,
    unknown,
)
from segue.domain.claims.check_definitions import Place, check_name
from segue.domain.claims.check_dependencies import check_version, dependencies_of, has_value, is_dependency
from segue.domain.claims.check_names import renamed_name
from segue.domain.claims.lexicon import NEGATIONS
from segue.domain.claims.linking import core_of
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import Kind
from segue.domain.handoff.reading.words import word_set

_Said = tuple[Item, Item, Item | None]
"""The name, its value, and the value before."""
_VALUES = frozenset({Kind.NUMBER, Kind.VERSION, Kind.SNIPPET, Kind.QUOTE, Kind.NAME})


def check_value(case: Case, clause: Clause) -> list[Atom]:
    """`set X to 30`, `bumped X from 1.2 to 1.3`, `X is now 5`."""
    keys = [
        i for i in clause.of(Role.OBJECT) if case.tokens[i.at].kind in (Kind.NAME, Kind.SNIPPET, Kind.QUOTE)
    ]
    targets = [i for i in clause.of(Role.TARGET) if case.tokens[i.at].kind in _VALUES] or [
        i
        for i in clause.of(Role.WITH)
        if case.tokens[i.at].kind in _VALUES and case.tokens[i.at - 1].low != "by"
    ]
    sources = [i for i in clause.of(Role.SOURCE) if case.tokens[i.at].kind in _VALUES]
    words = [
        at for at in clause.words if case.tokens[at].low.isalpha() and case.tokens[at].low not in NEGATIONS
    ]
    if not keys:
        keys = [Item(at, Role.OBJECT) for at in words if is_dependency(case, at)]
    if not targets:
        return [check_name(case, clause, item) for item in keys]
    if clause.lemma == "is now" and keys and case.tokens[targets[0].at].kind is Kind.NAME:
        return [_renamed_or_set(case, clause, keys[0], targets[0])]
    return [
        _directed(case, clause, (key, targets[0], sources[0] if sources else None)) for key in keys
    ] or _by_key_words(case, clause, words, targets[0])


_UP = word_set("raise increase upgrade double lengthen widen bump_up bring_up dial_up crank_up turn_up")
_DOWN = word_set("lower decrease reduce downgrade halve shrink shorten narrow dial_down turn_down")


def _directed(case: Case, clause: Clause, said: _Said) -> Atom:
    """Whether a name has its value, and it went the way that the verb says."""
    key, target, source = said
    atom = _valued(case, clause, key, target, source)
    if atom.status is not Status.HOLDS or clause.lemma not in _UP | _DOWN:
        return atom
    turns = [(old, new) for _, _, old, new in _known_values(case, key, Place(case, clause.of(Role.PLACE)))]
    turns += [(each.before, each.after) for each in dependencies_of(case, key.at)]
    if source is not None and source.at in atom.covers:
        turns.append((case.tokens[source.at].text, case.tokens[target.at].text))
    steps = [(_digits(old), _digits(new)) for old, new in turns if old and new]
    steps = [(old, new) for old, new in steps if old[: len(new)] != new[: len(old)]]
    is_up, is_exact = clause.lemma in _UP, clause.lemma in ("double", "halve")
    if not is_exact and any((new > old) is is_up and new != old for old, new in steps):
        return atom
    if steps and not is_exact:
        return contradicts(f"{atom.reason}, which is the other way", (), *atom.evidence)
    return replace(atom, covers=atom.covers - set(clause.verb))


def _digits(text: str) -> tuple[int, ...]:
    """The numbers in a value or a version, to be compared; none of `1.0-beta`."""
    if any(c.isalpha() for c in text.lstrip("vV^~<>= ")):
        return ()
    return tuple(int(part) for part in "".join(c if c.isdecimal() else " " for c in text).split())


def _renamed_or_set(case: Case, clause: Clause, key: Item, target: Item) -> Atom:
    """`` `a` is now `b` ``: another name, or another value."""
    renamed = renamed_name(case, clause, key, target)
    if renamed.status is Status.HOLDS:
        return renamed
    valued = _valued(case, clause, key, target, None)
    if valued.status is Status.HOLDS:
        return valued
    new = case.tokens[target.at]
    if new.certain and case.world.are_lines_whole and not case.world.is_in_lines(new.text, added=True):
        return contradicts(f"no added line has `{new.text}`", (), in_tree())
    return unknown(f"the changed lines do not show that `{new.text}` took its place")


_Value = tuple[str, str, str | None, str | None]
"""A path, the name of a value in it, the value before, and after."""


def _known_values(case: Case, key: Item, place: Place) -> list[_Value]:
    """What the files that can be parsed say of a name, in the place that is named, or where it changed."""
    world = case.world
    wanted = case.tokens[key.at].text.partition("(")[0].replace("::", ".").split(".")
    found: list[_Value] = []
    for path in sorted(place.paths or world.evidence.changes):
        change = world.change(path)
        old = world.values(change.old_path if change and change.old_path else path, before=True)
        new = world.values(path)
        names = [n for n in {**old, **new} if n.split(".")[-len(wanted) :] == wanted]
        found += [(path, n, old.get(n), new.get(n)) for n in names if place.paths or old.get(n) != new.get(n)]
    return found


def _by_value(case: Case, known: list[_Value], said: _Said, place: Place, covers: list[int]) -> Atom:
    """Compares what is said with values that were parsed."""
    key, target, source = said
    value = case.tokens[target.at]
    fits = [each for each in known if _is_value(value.text, each[3])]
    path, name, before, after = (fits or known)[0]
    told = f"{path}: `{name}` is {after if after is not None else 'gone'}, it was {before or 'not there'}"
    if not fits or len({each[0] for each in fits}) < len(place.paths):
        sure = case.tokens[key.at].certain and value.kind in (Kind.NUMBER, Kind.VERSION) and len(known) == 1
        return contradicts(told, (), in_diff(path)) if sure else unknown(told)
    if source is not None:
        if before is not None and not _is_value(case.tokens[source.at].text, before):
            return contradicts(told, (), in_diff(path))
        covers = [*covers, source.at] if before is not None else covers
    if before == after:
        return by_words(f"{path}: `{name}` is {after}, as before", (), in_diff(path))
    return holds(told, (*covers, *place.with_(each[0] for each in fits)), in_diff(path))


def _is_value(said: str, found: str | None) -> bool:
    bare = said.strip("\"'`").casefold()
    return found is not None and (bare == found.casefold() or bare == found.casefold().lstrip("v^~=<> "))


def _ends_with(name: str, line: str, value: str) -> bool:
    """True if a line sets a name to a value, and says nothing else: `LIMIT: int = 20;  # was 10`."""
    code = line[line.find(name) + len(name) :].partition("#")[0].partition("//")[0].rstrip(" \t;,\"')}")
    return has_value(code, value) and code.endswith(value.strip("\"'"))


def _valued(case: Case, clause: Clause, key: Item, target: Item, source: Item | None) -> Atom:
    place = Place(case, clause.of(Role.PLACE))
    covers = [key.at, target.at, *clause.verb]
    near = [
        n
        for n in (key.at - 2, key.at - 1, key.at + 1)
        if 0 <= n < len(case.tokens) and case.tokens[n].low in _KEY_NOUNS
    ]
    covers += near
    if is_dependency(case, key.at):
        covers += place.with_(d.manifest for d in dependencies_of(case, key.at))
        return check_version(case, key, target, source, covers)
    if known := _known_values(case, key, place):
        return _by_value(case, known, (key, target, source), place, covers)
    return _by_lines(case, (key, target, source), place, covers)


def _by_lines(case: Case, said: _Said, place: Place, covers: list[int]) -> Atom:
    """Compares what is said with the added lines of files that cannot be parsed."""
    world, (key, target, source) = case.world, said
    name, value = case.tokens[key.at], case.tokens[target.at]
    core = core_of(name.text)
    files = world.files_with(name.text, added=True)
    if place.paths:
        files = files & place.paths
    lines = [(path, line) for path in sorted(files) for line in world.lines(path, added=True) if core in line]
    fits = [(path, line) for path, line in lines if _ends_with(core, line, value.text)]
    if fits:
        if source is not None:
            old = [line for line in world.lines(fits[0][0], added=False) if core in line]
            if old and not any(has_value(line, case.tokens[source.at].text) for line in old):
                return contradicts(f"before, it was `{old[0].strip()[:60]}`", (), in_diff(fits[0][0]))
            covers += [source.at] if old else []
        covers += place.with_(path for path, _ in fits)
        return holds(f"{fits[0][0]} has `{fits[0][1].strip()[:60]}`", covers, in_diff(fits[0][0]))
    if name.certain and lines and value.kind in (Kind.NUMBER, Kind.VERSION):
        assigned = [(path, line) for path, line in lines if _assigns(core, line)]
        if assigned:
            return contradicts(
                f"{assigned[0][0]} has `{assigned[0][1].strip()[:60]}`", (), in_diff(assigned[0][0])
            )
    if (
        not lines
        and name.certain
        and name.kind is Kind.NAME
        and world.are_lines_whole
        and not world.is_in_lines(name.text, added=True)
        and len(core) > 2
    ):
        return contradicts(f"no added line has `{name.text}`", (), in_tree())
    return unknown(f"the added lines do not show the value of `{name.text}`")


_KEY_NOUNS = word_set(
    "constant variable setting default key option parameter argument field config value env dependency "
    "package version limit timeout"
)


def _assigns(name: str, line: str) -> bool:
    at = line.find(name)
    rest = line[at + len(name) :].lstrip("\"' ")
    return rest[:1] in ("=", ":", "<", ">", "~", "^") or rest[:2] == "=="


def _by_key_words(case: Case, clause: Clause, words: list[int], target: Item) -> list[Atom]:
    """`set the timeout to 30`: a line with the word and the value is there, or not."""
    world, value = case.world, case.tokens[target.at]
    wanted = [case.tokens[at].low for at in words if len(case.tokens[at].low) > 2]
    for path in world.evidence.changes:
        for line in world.lines(path, added=True):
            low = line.casefold().replace("_", " ").replace("-", " ")
            hits = [at for at in words if case.tokens[at].low in low]
            if hits and has_value(line, value.text):
                place = [i.at for i in clause.of(Role.PLACE) if case.tokens[i.at].text.endswith(path)]
                return [
                    holds(
                        f"{path} has `{line.strip()[:60]}`",
                        (*hits, target.at, *clause.verb, *place),
                        in_diff(path),
                    )
                ]
    return [unknown("no added line has the value")] if wanted else []
