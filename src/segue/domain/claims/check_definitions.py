"""Checks what is said of functions, classes, tests, keys and other names in code."""

from __future__ import annotations

from collections.abc import Iterable

from segue.domain.claims.atoms import (
    Atom,
    AtomStatus,
    Case,
    by_words,
    contradicts,
    holds,
    in_diff,
    in_tree,
    nowhere,
    unknown,
)
from segue.domain.claims.check_dependencies import dependency_atom
from segue.domain.claims.lexicon import KIND_NOUNS
from segue.domain.claims.linking import World, core_of
from segue.domain.claims.relations import APPOSITIONS, Clause, ClauseItem, Role
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.claims.verbs import KEEPS, Relation
from segue.domain.evidence.model import DefinitionChange, DefinitionFate, DefinitionKind
from segue.domain.text.words import word_set

_F = DefinitionFate
NAMES = frozenset({WordKind.NAME, WordKind.SNIPPET, WordKind.QUOTE})


class DefinitionPlace:
    """The files, or the class, in which something is said to be."""

    def __init__(self, case: Case, items: Iterable[ClauseItem]) -> None:
        self.at: list[int] = []
        self._named: list[tuple[int, frozenset[str], str]] = []
        self.paths: set[str] = set()
        self.holders: set[str] = set()
        for item in items:
            token = case.tokens[item.at]
            if token.kind is WordKind.PATH and token.certain:
                match = case.world.find_path(token.text)
                self.paths.update(match.paths)
                self.at.append(item.at)
                self._named.append((item.at, frozenset(match.paths), ""))
            elif token.kind is WordKind.NAME:
                self.holders.add(core_of(token.text))
                self.at.append(item.at)
                self._named.append((item.at, frozenset(), core_of(token.text)))

    def __bool__(self) -> bool:
        return bool(self.paths or self.holders)

    def holds(self, found: DefinitionChange, *, old: bool = False) -> bool:
        """True if a definition is in here."""
        path = found.old_path if old and found.old_path else found.path
        if self.paths and path not in self.paths:
            return False
        stem = path.rpartition("/")[2].partition(".")[0]
        return not self.holders or bool(self.holders & {*found.qualified.split("."), stem, *path.split("/")})

    def with_(self, paths: Iterable[str]) -> list[int]:
        """The tokens of those places alone in which something was found."""
        found = frozenset(paths)
        return [at for at, files, holder in self._named if holder or files & found]

    def shown(self) -> str:
        """`calc.py`."""
        return ", ".join(sorted(self.paths)[:3]) or ", ".join(sorted(self.holders))


def kind_words(case: Case, at: int, kind: DefinitionKind | None) -> list[int]:
    """The nouns next to a name that say what it is, as far as they are right."""
    found: list[int] = []
    before, after = at - 1, at + 1
    while before > 0 and case.text(before) in (":", ",", "named", "called"):
        before -= 1
    while case.low(after) in _COPULA:
        after += 1
    for near in dict.fromkeys((before, at + 1, after)):
        if not 0 <= near < len(case.tokens) or case.kind(near) is not WordKind.WORD:
            continue
        kinds = KIND_NOUNS.get(case.low(near))
        if kinds is not None and kind is not None and str(kind) in kinds:
            found.append(near)
            found += case.at(_KINDS_OF, [near - 1] if near < at else [])
        elif kinds is None and kind is None and case.low(near) in APPOSITIONS:
            found.append(near)
    return found


_KINDS_OF = word_set("helper utility test public private")
_COPULA = word_set("is was are were a an the new now")
"""Between a name and what it is: "`total` is a new function"."""


def check_name(case: Case, clause: Clause, item: ClauseItem) -> Atom:
    """Whether a name came, went or changed, as its clause says."""
    token = case.tokens[item.at]
    if item.modifies:
        return _only_linked(case.world, token)
    match clause.relation:
        case Relation.CREATED | Relation.ADDED:
            place = DefinitionPlace(case, clause.of(Role.PLACE, Role.TARGET))
            return _added(case, clause, item, place)
        case Relation.REMOVED:
            place = DefinitionPlace(case, clause.of(Role.PLACE, Role.SOURCE))
            return _removed(case, clause, item, place)
        case _:
            place = DefinitionPlace(case, clause.of(Role.PLACE))
            return _changed(case, clause, item, place)


def _only_linked(world: World, token: StatementToken) -> Atom:
    is_sure = (
        token.certain and token.kind is WordKind.NAME and (token.is_code or not token.text.startswith("-"))
    )
    if is_sure and world.is_nowhere(token.text) and not world.is_in_lines(token.text, added=False):
        return nowhere(f"`{token.text}` is in no file", in_tree())
    return unknown(f"`{token.text}` describes something else")


def shown_fate(found: DefinitionChange) -> str:
    """`` `total` in cart.py was changed``."""
    if found.fate is _F.RENAMED:
        return f"`{found.old_name}` in {found.path} was renamed to `{found.name}`"
    if found.fate is _F.MOVED:
        return f"`{found.name}` was moved from {found.old_path} to {found.path}"
    return f"`{found.qualified}` in {found.path} was {found.fate}"


def _added(case: Case, clause: Clause, item: ClauseItem, place: DefinitionPlace) -> Atom:
    world, token = case.world, case.tokens[item.at]
    name = token.text
    known = world.definitions(name)
    if clause.strong:
        known = [d for d in known if d.name == core_of(name)]
    new = [d for d in known if d.fate is _F.ADDED]
    here = [d for d in new if place.holds(d)] if place else new
    if here:
        sure = [d for d in here if not d.by_words]
        where = place.with_(d.path for d in sure)
        covers = (item.at, *clause.verb, *where, *kind_words(case, item.at, here[0].kind))
        if here[0].kind is DefinitionKind.TEST:
            covers = (*covers, *_test_words(case, clause))
        if sure:
            return holds(shown_fate(sure[0]), covers, in_diff(sure[0].path))
        return by_words(f"an added line of {here[0].path} has `{name}`", place.at, in_diff(here[0].path))
    if new and place and not any(d.by_words for d in new) and _is_sure_holder(case, new, place):
        told = f"`{name}` was added in {new[0].path}, not in {place.shown()}"
        return contradicts(told, in_diff(new[0].path))
    old = [d for d in known if d.fate is _F.CHANGED and not d.by_words and (not place or place.holds(d))]
    if old and token.kind is WordKind.NAME and not _goes_elsewhere(case, clause, item):
        return contradicts(f"`{name}` was there before; {shown_fate(old[0])}", in_diff(old[0].path))
    if dependency := dependency_atom(case, item, clause):
        return dependency
    return _added_by_words(case, item, place)


def _is_sure_holder(case: Case, new: list[DefinitionChange], place: DefinitionPlace) -> bool:
    """True where another file is named, or another class than that of a method: a setting may be anywhere."""
    if place.paths:
        return True
    classes = {d.name for d in case.world.evidence.definitions if d.kind is DefinitionKind.CLASS}
    are_methods = all(d.kind is DefinitionKind.METHOD for d in new)
    return are_methods and all(
        name in classes
        or any("class " in case.world.line(p) for p in case.world.definition_places(name) or ())
        for name in place.holders
    )


def _test_words(case: Case, clause: Clause) -> list[int]:
    """The `test case` of "wrote `test_total` as a new test case"."""
    span = range(clause.first, clause.last + 1)
    return [n for n in span if case.low(n) in ("test", "case") and case.tokens[n - 1].value is None]


def _goes_elsewhere(case: Case, clause: Clause, item: ClauseItem) -> bool:
    """True for "added `X` to the changelog": the thing itself may be old."""
    for n in range(item.at + 1, min(clause.last, item.at + 4) + 1):
        if case.low(n) in ("to", "into", "in", "for", "as"):
            ahead = case.tokens[n + 1 : min(clause.last + 1, n + 4)]
            return bool(ahead) and not any(t.kind in (WordKind.PATH, WordKind.NAME) for t in ahead)
    return False


def _added_by_words(case: Case, item: ClauseItem, place: DefinitionPlace) -> Atom:  # noqa: PLR0911 (one way out for each finding)
    world, token = case.world, case.tokens[item.at]
    name = token.text
    files = world.files_with(name, added=True)
    if files:
        if place.paths and not files & place.paths:
            is_apart = _is_listed_apart(case, item, place)
            is_absent = all(world.is_in_file(name, path) is False for path in place.paths)
            if token.certain and is_absent and not is_apart:
                return contradicts(f"`{name}` is not in {place.shown()}", in_tree(min(place.paths)))
            return unknown(f"`{name}` is in added lines, but not in those of {place.shown()}")
        shown = min(files & place.paths if place.paths else files)
        return by_words(f"an added line of {shown} has `{name}`", place.at, in_diff(shown))
    if not world.are_lines_whole or world.is_in_lines(name, added=True):
        return unknown(f"no added line has `{name}` as a word of its own")
    if not is_sure_name(token):
        return unknown(f"no added line has `{name}`")
    if world.is_nowhere(name):
        return nowhere(f"`{name}` is in no file after the step", in_tree())
    return contradicts(f"no added line has `{name}`", in_tree(min(place.paths) if place.paths else None))


def is_sure_name(token: StatementToken) -> bool:
    """True if a name can hardly be anything else: then it may refute."""
    return token.kind is WordKind.NAME and token.certain and len(core_of(token.text)) > 2


def _is_listed_apart(case: Case, item: ClauseItem, place: DefinitionPlace) -> bool:
    """True for the `a` of "add `a`, key `b` in x.json": the place may be that of the last one alone."""
    between = case.tokens[item.at + 1 : max(place.at, default=0)]
    return any("," in token.text for token in between) and not any(t.low in ("and", "&") for t in between)


def _removed(case: Case, clause: Clause, item: ClauseItem, place: DefinitionPlace) -> Atom:
    world, token = case.world, case.tokens[item.at]
    name = token.text
    known = world.definitions(name)
    gone = [d for d in known if d.fate is _F.REMOVED and (not place or place.holds(d, old=True))]
    sure = [d for d in gone if not d.by_words]
    if sure:
        where = place.with_(d.old_path or d.path for d in sure)
        covers = (item.at, *clause.verb, *where, *kind_words(case, item.at, sure[0].kind))
        return holds(shown_fate(sure[0]), covers, in_diff(sure[0].path))
    if moved := [d for d in known if d.fate in (_F.MOVED, _F.RENAMED)]:
        return by_words(shown_fate(moved[0]), place.at, in_diff(moved[0].path))
    here = [d for d in known if not d.by_words and (not place or place.holds(d))]
    still = [d for d in here if d.fate in (_F.CHANGED, _F.ADDED)] if not _is_part(case, item.at) else []
    if still and token.kind is WordKind.NAME and not gone:
        return contradicts(f"`{name}` is still in {still[0].path}", in_diff(still[0].path))
    if dependency := dependency_atom(case, item, clause):
        return dependency
    return _removed_by_words(case, clause, item, place)


def _is_part(case: Case, at: int) -> bool:
    """True for "the `total` import": what goes is not the definition of that name."""
    return case.low(at + 1) in APPOSITIONS and case.low(at + 1) not in KIND_NOUNS


def _removed_by_words(case: Case, clause: Clause, item: ClauseItem, place: DefinitionPlace) -> Atom:
    world, token = case.world, case.tokens[item.at]
    name = token.text
    files = world.files_with(name, added=False)
    defined = [p for p in world.definition_places(name) or () if not place.paths or p.path in place.paths]
    if (
        defined
        and token.kind is WordKind.NAME
        and not world.went(name, place.paths)
        and not _is_part(case, item.at)
    ):
        return contradicts(f"`{name}` is still in {defined[0].path}", in_tree(defined[0].path))
    if not files or (place.paths and not files & place.paths):
        if not world.are_lines_whole or world.is_in_lines(name, added=False):
            return unknown(f"no removed line has `{name}` as a word of its own")
        if case.low(item.at - 1) == "in" or not is_sure_name(token):
            return unknown(f"no removed line has `{name}`")
        return contradicts(f"no removed line has `{name}`", in_tree())
    looked = files & place.paths if place.paths else files
    left = [path for path in sorted(looked) if world.is_in_file(name, path)]
    if not left and all(
        world.is_in_file(name, path) is False or path not in (world.evidence.after or ()) for path in looked
    ):
        covers = (item.at, *clause.verb, *place.with_(looked), *kind_words(case, item.at, None))
        shown = min(looked)
        if place.paths or not world.places(name):
            return holds(f"`{name}` is gone from {shown}", covers, in_diff(shown))
    return by_words(f"a removed line of {min(looked)} has `{name}`", place.at, in_diff(min(looked)))


def _changed(case: Case, clause: Clause, item: ClauseItem, place: DefinitionPlace) -> Atom:  # noqa: PLR0911 (one way out for each finding)
    world, token = case.world, case.tokens[item.at]
    name = token.text
    known = [d for d in world.definitions(name) if not place or place.holds(d)]
    members = world.members(name) if token.kind is WordKind.NAME else []
    inside = [d for d in members if not place or place.holds(d)]
    for found in (*known, *inside):
        is_gone = found.fate is _F.REMOVED and clause.relation is Relation.CHANGED and found in known
        if is_gone or found.by_words:
            continue
        if found.fate is _F.CHANGED and not found.body_changed:
            told = f"only comments or layout of `{found.qualified}` changed"
            return by_words(told, place.at, in_diff(found.path))
        words = kind_words(case, item.at, found.kind if found in known else DefinitionKind.CLASS)
        verb = clause.verb if clause.strong else ()
        return holds(
            shown_fate(found), (item.at, *verb, *place.with_([found.path]), *words), in_diff(found.path)
        )
    if known and known[0].fate is _F.REMOVED and clause.lemma in KEEPS and not known[0].by_words:
        return contradicts(f"`{name}` was removed", in_diff(known[0].path))
    if dependency := dependency_atom(case, item, clause):
        return dependency
    if same := _same_definition(case, clause, token, place):
        return same
    if files := world.files_with(name, added=True) | world.files_with(name, added=False):
        shown = min(files & place.paths or files)
        return by_words(f"a changed line of {shown} has `{name}`", place.at, in_diff(shown))
    return _unchanged(case, clause, item, place)


def _same_definition(
    case: Case, clause: Clause, token: StatementToken, place: DefinitionPlace
) -> Atom | None:
    """A function that is only called in new lines did not change itself."""
    world = case.world
    if not clause.strong or not token.is_code or token.kind is not WordKind.NAME or not world.are_lines_whole:
        return None
    words = (f"def {core_of(token.text)}(", f"class {core_of(token.text)}")
    found = [p for p in world.definition_places(token.text) or () if not place.paths or p.path in place.paths]
    lines = [(p.path, world.line(p)) for p in found]
    is_sure = bool(lines) and all(
        path.endswith(".py") and path not in world.evidence.unparsed and line.strip().startswith(words)
        for path, line in lines
    )
    if not is_sure:
        return None
    return contradicts(f"`{token.text}` in {found[0].path} did not change", in_tree(found[0].path))


def _unchanged(case: Case, clause: Clause, item: ClauseItem, place: DefinitionPlace) -> Atom:  # noqa: PLR0911 (one way out for each finding)
    world, token = case.world, case.tokens[item.at]
    name = token.text
    if not is_sure_name(token) or not world.are_lines_whole:
        return unknown(f"no changed line has `{name}`")
    is_gone = world.is_in_lines(name, added=False) or world.places(name, before=True)
    if (clause.strong or token.is_code) and world.is_nowhere(name) and not is_gone:
        return nowhere(f"`{name}` is in no file", in_tree())
    if not clause.strong or not world.knows_absence():
        return unknown(f"no changed line has `{name}`")
    places = world.places(name)
    files = {p.path for p in places}
    if place.paths and files and not files & place.paths:
        return contradicts(f"`{name}` is not in {place.shown()}", in_tree(min(place.paths)))
    if files and len(places) < 20 and not any(world.change(path) for path in files):
        return contradicts(
            f"`{name}` is only in {', '.join(sorted(files)[:3])}, which did not change", in_tree(min(files))
        )
    defined = world.definition_places(name)
    unparsed = world.evidence.unparsed
    if defined and all(p.path.endswith(".py") and p.path not in unparsed for p in defined):
        return contradicts(f"`{name}` in {defined[0].path} did not change", in_tree(defined[0].path))
    return unknown(f"no changed line has `{name}`")


def covered(atoms: Iterable[Atom]) -> frozenset[int]:
    """The tokens that atoms which hold stand for."""
    return frozenset(at for atom in atoms if atom.status is AtomStatus.HOLDS for at in atom.covers)
