"""Checks what is said to have another name, place or value now, or to have been replaced."""

from __future__ import annotations

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
from segue.domain.claims.check_definitions import NAMES, DefinitionPlace, is_sure_name, kind_words, shown_fate
from segue.domain.claims.check_files import check_path, check_rename, cover
from segue.domain.claims.check_names import line_with, renamed_name
from segue.domain.claims.check_values import check_value
from segue.domain.claims.lexicon import GRAMMAR
from segue.domain.claims.linking import World, core_of
from segue.domain.claims.relations import APPOSITIONS, Clause, ClauseItem, Role
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import DefinitionFate

_F = DefinitionFate


def check_renamed(case: Case, clause: Clause) -> list[Atom]:
    """`renamed A to B`, `moved A from X to Y`."""
    objects = [
        item for item in clause.of(Role.OBJECT, Role.SOURCE) if case.kind(item.at) in {*NAMES, WordKind.PATH}
    ]
    targets = [item for item in clause.of(Role.TARGET) if case.kind(item.at) in {*NAMES, WordKind.PATH}]
    paths = [item for item in objects if case.kind(item.at) is WordKind.PATH]
    names = [item for item in objects if case.kind(item.at) in NAMES and item.role is Role.OBJECT]
    if names:
        return [_moved_name(case, clause, item, targets) for item in names]
    if not targets:
        return [unknown("where it is now is not said")] if paths else []
    if _has_object_in_words(case, clause):
        return []
    found: list[Atom] = []
    for item in paths:
        old, new = case.tokens[item.at], case.tokens[targets[0].at]
        if new.kind is not WordKind.PATH:
            new = new._replace(kind=WordKind.PATH, certain=False)
        atom = check_rename(case.world, old.text, new.text)
        if atom.status is AtomStatus.CONTRADICTS and not (old.certain and new.certain):
            atom = unknown(atom.reason)
        found.append(cover(atom, (item.at, targets[0].at, *clause.verb)))
    return found


def _has_object_in_words(case: Case, clause: Clause) -> bool:
    """True for "moved a few things from a.py to b.py": files only say from where, and to where."""
    is_said = any(case.low(n) not in GRAMMAR and case.low(n) not in APPOSITIONS for n in clause.words)
    return is_said and not clause.of(Role.OBJECT)


def _moved_name(case: Case, clause: Clause, item: ClauseItem, targets: list[ClauseItem]) -> Atom:
    world, token = case.world, case.tokens[item.at]
    if not targets:
        known = [
            d for d in world.definitions(token.text) if d.fate in (_F.RENAMED, _F.MOVED) and not d.by_words
        ]
        told = [holds(shown_fate(d), (item.at, *clause.verb), in_diff(d.path)) for d in known]
        return told[0] if told else unknown("where it is now is not said")
    new_names = [t for t in targets if case.kind(t.at) in NAMES]
    if new_names:
        renamed = renamed_name(case, clause, item, new_names[0])
        if renamed.status is AtomStatus.HOLDS or clause.lemma in ("rename", "retitle", "noun", "called"):
            return renamed
    target = DefinitionPlace(case, targets)
    source = DefinitionPlace(case, clause.of(Role.SOURCE))
    covers = (item.at, *clause.verb, *target.at, *source.at)
    known = world.definitions(token.text)
    for found in known:
        is_moved = found.fate is _F.MOVED and (not source.paths or found.old_path in source.paths)
        if is_moved and (not target or target.holds(found)) and not found.by_words:
            words = kind_words(case, item.at, found.kind)
            return holds(shown_fate(found), (*covers, *words), in_diff(found.path))
    came = [d for d in known if d.fate is _F.ADDED and (not target or target.holds(d))]
    went = [d for d in known if d.fate is _F.REMOVED and (not source or source.holds(d, old=True))]
    if came and went and not any(d.by_words for d in (*came, *went)):
        extra = kind_words(case, item.at, came[0].kind)
        return holds(f"`{token.text}` is in {came[0].path} now", (*covers, *extra), in_diff(came[0].path))
    return _not_moved(world, token, target)


def _not_moved(world: World, token: StatementToken, target: DefinitionPlace) -> Atom:
    name = token.text
    if token.certain and token.kind is WordKind.NAME:
        if target.paths and all(world.is_in_file(name, path) is False for path in target.paths):
            return contradicts(f"`{name}` is not in {target.shown()}", in_tree(min(target.paths)))
        # Without a file as its goal it may have moved within its own: git shows other lines then.
        came_along = target.paths & set(world.renamed.values())  # with its file, in which no line changed
        is_elsewhere = bool(target.paths) and world.are_lines_whole and not came_along
        if is_elsewhere and not world.is_in_lines(name, added=True) and len(core_of(name)) > 2:
            return contradicts(f"no added line has `{name}`", in_tree())
    files = world.files_with(name, added=True) & target.paths if target.paths else frozenset()
    if files:
        return by_words(f"an added line of {min(files)} has `{name}`", target.at, in_diff(min(files)))
    return unknown(f"nothing shows that `{name}` was moved")


def check_extracted(case: Case, clause: Clause) -> list[Atom]:
    """`extracted A into B`: what is said to be new must be new."""
    found: list[Atom] = []
    objects = [i for i in clause.of(Role.OBJECT) if case.kind(i.at) in NAMES]
    targets = clause.of(Role.TARGET, Role.WITH)
    new = [i for i in targets if case.kind(i.at) in NAMES]
    for item in new or objects:
        place = DefinitionPlace(case, [t for t in targets if t not in new])
        token = case.tokens[item.at]
        known = [d for d in case.world.definitions(token.text) if d.fate in (_F.ADDED, _F.MOVED, _F.RENAMED)]
        here = [d for d in known if (not place or place.holds(d)) and not d.by_words]
        if here:
            covers = (item.at, *clause.verb, *place.at, *kind_words(case, item.at, here[0].kind))
            found.append(holds(shown_fate(here[0]), covers, in_diff(here[0].path)))
        else:
            found.append(_not_moved(case.world, token, place))
    if not (new or objects):
        found += [
            cover(check_path(case.world, case.text(t.at), Relation.CHANGED), (t.at, *clause.verb))
            for t in targets
            if case.kind(t.at) is WordKind.PATH
        ]
    return found


def check_replaced(case: Case, clause: Clause) -> list[Atom]:  # noqa: C901, PLR0911 (one way out for each finding)
    """`replaced A with B`, `switched from A to B`."""
    things = {*NAMES, WordKind.PATH, WordKind.VERSION, WordKind.NUMBER}
    old = [i for i in clause.of(Role.OBJECT, Role.SOURCE) if case.kind(i.at) in things]
    new = [i for i in clause.of(Role.TARGET) if case.kind(i.at) in things]
    if len(old) > 1 and old[1].role is Role.SOURCE and case.tokens[old[1].at].kind is not WordKind.PATH:
        old = old[1:]  # "switched `total` from A to B" tells where
    if _has_object_in_words(case, clause):
        return []
    if not old or not new:
        return check_value(case, clause) if new else []
    first, second = case.tokens[old[0].at], case.tokens[new[0].at]
    if old[0].role is Role.OBJECT and any(
        case.kind(i.at) in (WordKind.NUMBER, WordKind.VERSION) for i in new
    ):
        return check_value(case, clause)
    world = case.world
    place = DefinitionPlace(case, clause.of(Role.PLACE))
    if first.kind is WordKind.PATH and second.kind is WordKind.PATH:
        return [
            cover(check_path(world, first.text, Relation.REMOVED), (old[0].at, *clause.verb)),
            cover(check_path(world, second.text, Relation.ADDED), (new[0].at,)),
        ]
    went, came = world.files_with(first.text, added=False), world.files_with(second.text, added=True)
    covers = (old[0].at, new[0].at, *clause.verb, *place.at)
    for path in sorted(went & came & place.paths if place.paths else went & came):
        hunk = line_with(world, path, first.text, second.text)
        if hunk is not None:
            told = f"{path} has `{second.text}` where it had `{first.text}`"
            return [holds(told, covers, in_diff(path, hunk))]
    if clause.strong and world.are_lines_whole:
        for item, token, added in ((old[0], first, False), (new[0], second, True)):
            is_place = case.low(item.at - 1) == "in"  # where it was replaced, not what
            if (
                is_sure_name(token)
                and not item.modifies
                and not is_place
                and not world.is_in_lines(token.text, added=added)
            ):
                side = "added" if added else "removed"
                return [contradicts(f"no {side} line has `{token.text}`", in_tree())]
    if went and came:
        return [by_words("both are in changed lines, but in different ones", place.at, in_diff(min(came)))]
    return [unknown("the changed lines do not show it")]
