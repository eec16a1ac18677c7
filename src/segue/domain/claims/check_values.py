"""Checks values: `set X to 30`, `bumped X from 1.2 to 1.3`, `X is now 5`; and dependencies by their names."""

from __future__ import annotations

from segue.domain.claims.atoms import Atom, Case, Status, contradicts, holds, in_diff, in_tree, unknown
from segue.domain.claims.check_definitions import Place, check_name, dependency_atom
from segue.domain.claims.check_names import renamed_name
from segue.domain.claims.lexicon import NEGATIONS
from segue.domain.claims.linking import core_of
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import Kind
from segue.domain.evidence.model import DependencyChange
from segue.domain.handoff.reading.words import word_set

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
        keys = [Item(at, Role.OBJECT) for at in words if _is_dependency(case, at)]
    if not targets:
        return [check_name(case, clause, item) for item in keys]
    if clause.lemma == "is now" and keys and case.tokens[targets[0].at].kind is Kind.NAME:
        return [_renamed_or_set(case, clause, keys[0], targets[0])]
    return [
        _valued(case, clause, key, targets[0], sources[0] if sources else None) for key in keys
    ] or _by_key_words(case, clause, words, targets[0])


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


def _dependencies(case: Case, at: int) -> list[DependencyChange]:
    name = case.tokens[at].text.casefold().replace("_", "-")
    return [d for d in case.world.evidence.dependencies if d.name.casefold().replace("_", "-") == name]


def _is_dependency(case: Case, at: int) -> bool:
    return bool(_dependencies(case, at))


def _has_value(line: str, value: str) -> bool:
    """True if a line has a value as a whole: 3 is not in 30."""
    bare = value.strip("\"'")
    at = line.find(bare)
    while at >= 0:
        before, after = line[at - 1 : at], line[at + len(bare) : at + len(bare) + 1]
        is_part = (before.isalnum() or before in ("_", ".")) and bare[:1].isalnum() and before != "v"
        goes_further = (
            after.isalnum()
            or after == "_"
            or (after == "." and line[at + len(bare) + 1 : at + len(bare) + 2].isdigit())
        )
        if not is_part and not (goes_further and bare[-1:].isalnum()):
            return True
        at = line.find(bare, at + 1)
    return False


def _valued(case: Case, clause: Clause, key: Item, target: Item, source: Item | None) -> Atom:
    world = case.world
    name, value = case.tokens[key.at], case.tokens[target.at]
    place = Place(case, clause.of(Role.PLACE))
    covers = [key.at, target.at, *clause.verb]
    near = [
        n for n in (key.at - 1, key.at + 1) if 0 <= n < len(case.tokens) and case.tokens[n].low in _KEY_NOUNS
    ]
    covers += near
    if _is_dependency(case, key.at):
        covers += place.with_(d.manifest for d in _dependencies(case, key.at))
        return _version(case, key, target, source, covers)
    core = core_of(name.text)
    files = world.files_with(name.text, added=True)
    if place.paths:
        files = files & place.paths
    lines = [(path, line) for path in sorted(files) for line in world.lines(path, added=True) if core in line]
    fits = [(path, line) for path, line in lines if _has_value(line, value.text)]
    if fits:
        if source is not None:
            old = [line for line in world.lines(fits[0][0], added=False) if core in line]
            if old and not any(_has_value(line, case.tokens[source.at].text) for line in old):
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


def _version(case: Case, key: Item, target: Item, source: Item | None, covers: list[int]) -> Atom:
    value = case.tokens[target.at].text
    found = _dependencies(case, key.at)
    for each in found:
        if each.after is not None and _same_version(value, each.after):
            if source is None:
                return holds(
                    f"{each.manifest} lists `{each.name}` {each.after}", covers, in_diff(each.manifest)
                )
            if each.before and _same_version(case.tokens[source.at].text, each.before):
                covers.append(source.at)
                return holds(
                    f"{each.manifest}: `{each.name}` {each.before}, now {each.after}",
                    covers,
                    in_diff(each.manifest),
                )
            return contradicts(
                f"{each.manifest} listed `{each.name}` {each.before or 'not at all'} before",
                (),
                in_diff(each.manifest),
            )
    each = found[0]
    elsewhere = any(
        _has_value(line, value)
        for path in case.world.evidence.changes
        for line in case.world.lines(path, added=True)
    )
    if elsewhere or any(sign in (each.after or "") for sign in (",", "||", "*")):
        return unknown(f"{each.manifest} lists `{each.name}` {each.after}")
    return contradicts(
        f"{each.manifest} lists `{each.name}` {each.after or 'no more'}", (), in_diff(each.manifest)
    )


def _same_version(said: str, listed: str) -> bool:
    bare = said.strip("\"'` ").lstrip("<>=~^!vV ")
    return bool(bare) and _has_value(listed, bare)


def _by_key_words(case: Case, clause: Clause, words: list[int], target: Item) -> list[Atom]:
    """`set the timeout to 30`: a line with the word and the value is there, or not."""
    world, value = case.world, case.tokens[target.at]
    wanted = [case.tokens[at].low for at in words if len(case.tokens[at].low) > 2]
    for path in world.evidence.changes:
        for line in world.lines(path, added=True):
            low = line.casefold().replace("_", " ").replace("-", " ")
            hits = [at for at in words if case.tokens[at].low in low]
            if hits and _has_value(line, value.text):
                place = [i.at for i in clause.of(Role.PLACE) if case.tokens[i.at].text.endswith(path)]
                return [
                    holds(
                        f"{path} has `{line.strip()[:60]}`",
                        (*hits, target.at, *clause.verb, *place),
                        in_diff(path),
                    )
                ]
    return [unknown("no added line has the value")] if wanted else []


def check_dependency_words(case: Case, clause: Clause) -> list[Atom]:
    """Dependencies that are named without code marks: `added requests to pyproject.toml`."""
    found = []
    listed = [i.at for i in clause.of(Role.PLACE, Role.TOPIC) if case.tokens[i.at].kind is Kind.NAME]
    says = any(case.tokens[n].low in ("dependency", "dependencies") for n in clause.words)
    for at in (*clause.words, *(listed if says else ())):
        atom = dependency_atom(case, Item(at, Role.OBJECT), clause) if _is_dependency(case, at) else None
        if atom is not None:
            found.append(atom)
    return found
