"""Checks values: `set X to 30`, `bumped X from 1.2 to 1.3`, `X is now 5`; and dependencies by their names."""

from __future__ import annotations

from dataclasses import replace

from segue.domain.claims.atoms import (
    Atom,
    AtomStatus,
    Case,
    by_words,
    contradicts,
    holds,
    in_diff,
    in_tree,
    unknown,
)
from segue.domain.claims.check_definitions import DefinitionPlace, check_name, is_sure_name
from segue.domain.claims.check_dependencies import (
    check_version,
    dependencies_of,
    has_value,
    is_dependency,
    same_version,
    version_as_before,
    without_separators,
)
from segue.domain.claims.check_names import renamed_name
from segue.domain.claims.lexicon import ABOUT, NEGATIONS
from segue.domain.claims.linking import core_of
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import WordKind
from segue.domain.text.words import word_set

_Said = tuple[ClauseItem, ClauseItem, ClauseItem | None]
"""The name, its value, and the value before."""
_VALUES = frozenset({WordKind.NUMBER, WordKind.VERSION, WordKind.SNIPPET, WordKind.QUOTE, WordKind.NAME})


def check_value(case: Case, clause: Clause) -> list[Atom]:
    """`set X to 30`, `bumped X from 1.2 to 1.3`, `X is now 5`."""
    keys = [
        i
        for i in clause.of(Role.OBJECT)
        if case.kind(i.at) in (WordKind.NAME, WordKind.SNIPPET, WordKind.QUOTE)
        or case.world.listed_versions(case.text(i.at))
    ]
    targets = [i for i in clause.of(Role.TARGET) if case.kind(i.at) in _VALUES] or [
        i for i in clause.of(Role.WITH) if case.kind(i.at) in _VALUES and case.low(i.at - 1) != "by"
    ]
    sources = [i for i in clause.of(Role.SOURCE) if case.kind(i.at) in _VALUES]
    words = [at for at in clause.words if case.low(at).isalpha() and case.low(at) not in NEGATIONS]
    if not keys:
        keys = [ClauseItem(at, Role.OBJECT) for at in words if is_dependency(case, at)]
    if not targets:
        return [_as_turned(case, clause, item, check_name(case, clause, item), None) for item in keys]
    if clause.lemma == "is" and keys and not is_dependency(case, keys[0].at):
        return [value_state(case, clause, keys[0], targets[0])]
    if clause.lemma == "is now" and keys and case.tokens[targets[0].at].kind is WordKind.NAME:
        return [_renamed_or_set(case, clause, keys[0], targets[0])]
    return [
        _directed(case, clause, (key, targets[0], sources[0] if sources else None)) for key in keys
    ] or _by_key_words(case, clause, words, targets[0])


_UP = word_set("raise increase upgrade double lengthen widen bump_up bring_up dial_up crank_up turn_up")
_DOWN = word_set("lower decrease reduce downgrade halve shrink shorten narrow dial_down turn_down")


def _directed(case: Case, clause: Clause, said: _Said) -> Atom:
    """Whether a name has its value, and it went the way that the verb says."""
    key, target, source = said
    if source is not None and case.text(source.at) == case.text(target.at):
        atom = value_state(case, clause, key, target)
        return replace(atom, covers=atom.covers | {source.at}) if atom.covers else atom
    atom = _valued(case, clause, key, target, source)
    is_told = source is not None and source.at in atom.covers
    told = (case.text(source.at), case.text(target.at)) if source is not None and is_told else None
    return _as_turned(case, clause, key, atom, told)


def _as_turned(case: Case, clause: Clause, key: ClauseItem, atom: Atom, told: tuple[str, str] | None) -> Atom:
    """The same, with regard to the way that the verb says a value went: up, down, to twice or to half."""
    if atom.status is not AtomStatus.HOLDS or clause.lemma not in _UP | _DOWN:
        return atom
    turns = [
        (old, new)
        for _, _, old, new in _known_values(case, key, DefinitionPlace(case, clause.of(Role.PLACE)))
    ]
    turns += [(each.before, each.after) for each in dependencies_of(case, key.at)]
    turns += [told] if told else []
    steps = [(_digits(old), _digits(new)) for old, new in turns if old and new]
    ways = [way for old, new in steps if (way := _goes(clause.lemma, old, new)) is not None]
    if any(ways):
        return atom
    about = case.at(ABOUT | {"than"}, range(clause.first, clause.last + 1))
    if ways and not about:
        return contradicts(f"{atom.reason}, from {turns[0][0]} to {turns[0][1]}", *atom.evidence)
    return replace(atom, covers=atom.covers - set(clause.verb))


def _goes(lemma: str, old: tuple[int, ...], new: tuple[int, ...]) -> bool | None:
    """Whether a value went the way that a verb says; none if that cannot be told."""
    if not old or old[: len(new)] == new[: len(old)]:
        return None
    if lemma not in ("double", "halve"):
        return (new > old) is (lemma in _UP)
    if len(old) != 1 or len(new) != 1:
        return None
    return new[0] == 2 * old[0] if lemma == "double" else old[0] == 2 * new[0]


def _digits(text: str) -> tuple[int, ...]:
    """The numbers in a value or a version, to be compared; none of `1.0-beta`."""
    if any(c.isalpha() for c in text.lstrip("vV^~<>= ")):
        return ()
    return tuple(int(part) for part in "".join(c if c.isdecimal() else " " for c in text).split())


def _renamed_or_set(case: Case, clause: Clause, key: ClauseItem, target: ClauseItem) -> Atom:
    """`` `a` is now `b` ``: another name, or another value."""
    renamed = renamed_name(case, clause, key, target)
    if renamed.status is AtomStatus.HOLDS:
        return renamed
    valued = _valued(case, clause, key, target, None)
    if valued.status is AtomStatus.HOLDS:
        return valued
    new = case.tokens[target.at]
    if new.certain and case.world.are_lines_whole and not case.world.is_in_lines(new.text, added=True):
        return contradicts(f"no added line has `{new.text}`", in_tree())
    return unknown(f"the changed lines do not show that `{new.text}` took its place")


def value_state(case: Case, clause: Clause, key: ClauseItem, target: ClauseItem) -> Atom:
    """`LIMIT is 20`, `LIMIT stays at 20`: what the file that sets it says after the step."""
    world, name, value = case.world, case.tokens[key.at], case.tokens[target.at]
    place, core = DefinitionPlace(case, clause.of(Role.PLACE)), core_of(name.text)
    for manifest, version in world.listed_versions(name.text).items():
        told, where = f"{manifest} lists `{name.text}` {version}", in_tree(manifest)
        if version and not same_version(value.text, version):
            return contradicts(told, where) if value.kind is WordKind.VERSION else unknown(told)
        is_kept = clause.lemma == "is" or not dependencies_of(case, key.at)
        return (
            holds(told, (key.at, target.at, *clause.verb), where) if version and is_kept else by_words(told)
        )
    set_at = [p for p in world.definition_places(name.text) or () if not place.paths or p.path in place.paths]
    parsed = {v for p in set_at for n, v in world.values(p.path).items() if n.rpartition(".")[2] == core}
    lines = [line for p in set_at if _assigns(core, line := world.line(p))]
    fits = any(_is_value(value.text, v) for v in parsed)
    fits = fits or any(_ends_with(core, line, value.text) for line in lines)
    is_kept = clause.lemma == "is" or not world.is_in_lines(name.text, added=True)
    if fits:
        told = f"{set_at[0].path} sets `{name.text}` to {value.text}"
        covers = (key.at, target.at, *clause.verb, *place.with_(p.path for p in set_at))
        return holds(told, covers, in_tree(set_at[0].path)) if is_kept else by_words(told)
    if is_sure_name(name) and len(set_at) == len(lines) == 1 and any(c.isdigit() for c in lines[0]):
        return contradicts(f"{set_at[0].path} has `{lines[0].strip()[:60]}`", in_tree(set_at[0].path))
    return unknown(f"nothing shows the value of `{name.text}`")


_Value = tuple[str, str, str | None, str | None]
"""A path, the name of a value in it, the value before, and after."""


def _known_values(case: Case, key: ClauseItem, place: DefinitionPlace) -> list[_Value]:
    """What the files that can be parsed say of a name, in the place that is named, or where it changed."""
    world = case.world
    wanted = case.text(key.at).partition("(")[0].replace("::", ".").split(".")
    found: list[_Value] = []
    for path in sorted(place.paths or world.evidence.changes):
        change = world.change(path)
        old = world.values(change.old_path if change and change.old_path else path, before=True)
        new = world.values(path)
        names = [n for n in {**old, **new} if n.split(".")[-len(wanted) :] == wanted]
        found += [(path, n, old.get(n), new.get(n)) for n in names if place.paths or old.get(n) != new.get(n)]
    return found


def _by_value(
    case: Case, known: list[_Value], said: _Said, place: DefinitionPlace, covers: list[int]
) -> Atom:
    """Compares what is said with values that were parsed."""
    key, target, source = said
    value = case.tokens[target.at]
    fits = [each for each in known if _is_value(value.text, each[3])]
    path, name, before, after = (fits or known)[0]
    told = f"{path}: `{name}` is {after if after is not None else 'gone'}, it was {before or 'not there'}"
    if not fits or len({each[0] for each in fits}) < len(place.paths):
        sure = (
            case.tokens[key.at].certain
            and value.kind in (WordKind.NUMBER, WordKind.VERSION)
            and len(known) == 1
        )
        return contradicts(told, in_diff(path)) if sure else unknown(told)
    if source is not None:
        if before is not None and not _is_value(case.text(source.at), before):
            return contradicts(told, in_diff(path))
        covers = [*covers, source.at] if before is not None else covers
    if before == after:
        return by_words(f"{path}: `{name}` is {after}, as before", (), in_diff(path))
    return holds(told, (*covers, *place.with_(each[0] for each in fits)), in_diff(path))


def _is_value(said: str, found: str | None) -> bool:
    bare = without_separators(said.strip("\"'`").casefold())
    return found is not None and (bare == found.casefold() or bare == found.casefold().lstrip("v^~=<> "))


def _ends_with(name: str, line: str, value: str) -> bool:
    """True if a line sets a name to a value, and says nothing else: `LIMIT: int = 20;  # was 10`."""
    code = line[line.find(name) + len(name) :].partition("#")[0].partition("//")[0].rstrip(" \t;,\"')}")
    plain = without_separators(value.strip("\"'"))
    return has_value(code, value) and (code.endswith(plain) or without_separators(code).endswith(plain))


def _valued(
    case: Case, clause: Clause, key: ClauseItem, target: ClauseItem, source: ClauseItem | None
) -> Atom:
    place = DefinitionPlace(case, clause.of(Role.PLACE))
    covers = [key.at, target.at, *clause.verb]
    near = [
        n
        for n in (key.at - 2, key.at - 1, key.at + 1)
        if 0 <= n < len(case.tokens) and case.low(n) in _KEY_NOUNS
    ]
    covers += near
    if is_dependency(case, key.at):
        covers += place.with_(d.manifest for d in dependencies_of(case, key.at))
        return check_version(case, key, target, source, covers)
    if as_before := version_as_before(case, key, target, source):
        return as_before
    if known := _known_values(case, key, place):
        return _by_value(case, known, (key, target, source), place, covers)
    return _by_lines(case, (key, target, source), place, covers)


def _by_lines(case: Case, said: _Said, place: DefinitionPlace, covers: list[int]) -> Atom:
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
            if old and not any(has_value(line, case.text(source.at)) for line in old):
                return contradicts(f"before, it was `{old[0].strip()[:60]}`", in_diff(fits[0][0]))
            covers += [source.at] if old else []
        covers += place.with_(path for path, _ in fits)
        return holds(f"{fits[0][0]} has `{fits[0][1].strip()[:60]}`", covers, in_diff(fits[0][0]))
    if name.certain and lines and value.kind in (WordKind.NUMBER, WordKind.VERSION):
        assigned = [(path, line) for path, line in lines if _assigns(core, line)]
        if assigned:
            return contradicts(
                f"{assigned[0][0]} has `{assigned[0][1].strip()[:60]}`", in_diff(assigned[0][0])
            )
    if (
        not lines
        and name.certain
        and name.kind is WordKind.NAME
        and world.are_lines_whole
        and not world.is_in_lines(name.text, added=True)
        and len(core) > 2
    ):
        return contradicts(f"no added line has `{name.text}`", in_tree())
    return unknown(f"the added lines do not show the value of `{name.text}`")


_KEY_NOUNS = word_set(
    "constant variable setting default key option parameter argument field config value env dependency "
    "package version limit timeout"
)


def _assigns(name: str, line: str) -> bool:
    at = line.find(name)
    rest = line[at + len(name) :].lstrip("\"' ")
    return rest[:1] in ("=", ":", "<", ">", "~", "^") or rest[:2] == "=="


def _by_key_words(case: Case, clause: Clause, words: list[int], target: ClauseItem) -> list[Atom]:
    """`set the timeout to 30`: a line with the word and the value is there, or not."""
    world, value = case.world, case.tokens[target.at]
    wanted = [case.low(at) for at in words if len(case.low(at)) > 2]
    for path in world.evidence.changes:
        for line in world.lines(path, added=True):
            low = line.casefold().replace("_", " ").replace("-", " ")
            hits = case.at(low, words)
            if hits and has_value(line, value.text):
                place = [i.at for i in clause.of(Role.PLACE) if case.text(i.at).endswith(path)]
                return [
                    holds(
                        f"{path} has `{line.strip()[:60]}`",
                        (*hits, target.at, *clause.verb, *place),
                        in_diff(path),
                    )
                ]
    for at in words if value.kind is WordKind.VERSION else ():
        listed = world.listed_versions(case.low(at))
        if listed and clause.strong and not any(same_version(value.text, each) for each in listed.values()):
            manifest, version = next(iter(listed.items()))
            return [contradicts(f"{manifest} lists `{case.text(at)}` {version}", in_tree(manifest))]
    return [unknown("no added line has the value")] if wanted else []
