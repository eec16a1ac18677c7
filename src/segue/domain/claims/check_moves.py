"""Checks what is said to have another name, place or value now, or to have been replaced."""

from __future__ import annotations

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
from segue.domain.claims.check_definitions import (
    NAMES,
    Place,
    kind_words,
    shown_fate,
)
from segue.domain.claims.check_files import check_path, check_rename, cover
from segue.domain.claims.check_names import line_with, renamed_name
from segue.domain.claims.check_values import check_value
from segue.domain.claims.linking import World, core_of
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import Kind, Token
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import DefinitionFate

_F = DefinitionFate


def check_renamed(case: Case, clause: Clause) -> list[Atom]:
    """`renamed A to B`, `moved A from X to Y`."""
    objects = [
        item
        for item in clause.of(Role.OBJECT, Role.SOURCE)
        if case.tokens[item.at].kind in {*NAMES, Kind.PATH}
    ]
    targets = [item for item in clause.of(Role.TARGET) if case.tokens[item.at].kind in {*NAMES, Kind.PATH}]
    paths = [item for item in objects if case.tokens[item.at].kind is Kind.PATH]
    names = [item for item in objects if case.tokens[item.at].kind in NAMES and item.role is Role.OBJECT]
    if names:
        return (
            [_moved_name(case, clause, item, targets) for item in names]
            if targets
            else _renamed_away(case, clause, names)
        )
    if not targets:
        return [unknown("where it is now is not said")] if paths else []
    found: list[Atom] = []
    for item in paths:
        old, new = case.tokens[item.at], case.tokens[targets[0].at]
        if new.kind is not Kind.PATH:
            new = new._replace(kind=Kind.PATH, certain=False)
        atom = check_rename(case.world, old.text, new.text)
        if atom.status is Status.CONTRADICTS and not (old.certain and new.certain):
            atom = unknown(atom.reason)
        found.append(cover(atom, (item.at, targets[0].at, *clause.verb)))
    return found


def _renamed_away(case: Case, clause: Clause, names: list[Item]) -> list[Atom]:
    """`X was renamed`, without its new name."""
    found: list[Atom] = []
    for item in names:
        known = case.world.definitions(case.tokens[item.at].text)
        moved = [d for d in known if d.fate in (_F.RENAMED, _F.MOVED) and not d.by_words]
        if moved:
            found.append(holds(shown_fate(moved[0]), (item.at, *clause.verb), in_diff(moved[0].path)))
        else:
            found.append(unknown("where it is now is not said"))
    return found


def _moved_name(case: Case, clause: Clause, item: Item, targets: list[Item]) -> Atom:
    world, token = case.world, case.tokens[item.at]
    new_names = [t for t in targets if case.tokens[t.at].kind in NAMES]
    if new_names:
        renamed = renamed_name(case, clause, item, new_names[0])
        if renamed.status is Status.HOLDS or clause.lemma in ("rename", "retitle", "noun", "called"):
            return renamed
    target = Place(case, targets)
    source = Place(case, clause.of(Role.SOURCE))
    covers = (item.at, *clause.verb, *target.at, *source.at)
    known = world.definitions(token.text)
    for found in known:
        is_moved = found.fate is _F.MOVED and (
            not source or found.old_path in source.paths or not source.paths
        )
        if is_moved and (not target or target.holds(found)) and not found.by_words:
            return holds(
                shown_fate(found), (*covers, *kind_words(case, item.at, found.kind)), in_diff(found.path)
            )
    came = [d for d in known if d.fate is _F.ADDED and (not target or target.holds(d))]
    went = [d for d in known if d.fate is _F.REMOVED and (not source or source.holds(d, old=True))]
    if came and went and not any(d.by_words for d in (*came, *went)):
        extra = kind_words(case, item.at, came[0].kind)
        return holds(f"`{token.text}` is in {came[0].path} now", (*covers, *extra), in_diff(came[0].path))
    return _not_moved(world, token, target)


def _not_moved(world: World, token: Token, target: Place) -> Atom:
    name = token.text
    if token.certain and token.kind is Kind.NAME:
        if target.paths and all(world.is_in_file(name, path) is False for path in target.paths):
            return contradicts(f"`{name}` is not in {target.shown()}", (), in_tree(min(target.paths)))
        # Without a file as its goal it may have moved within its own: git shows other lines then.
        came_along = target.paths & set(world.renamed.values())  # with its file, in which no line changed
        is_elsewhere = bool(target.paths) and world.are_lines_whole and not came_along
        if is_elsewhere and not world.is_in_lines(name, added=True) and len(core_of(name)) > 2:
            return contradicts(f"no added line has `{name}`", (), in_tree())
    files = world.files_with(name, added=True) & target.paths if target.paths else frozenset()
    if files:
        return by_words(f"an added line of {min(files)} has `{name}`", target.at, in_diff(min(files)))
    return unknown(f"nothing shows that `{name}` was moved")


def check_extracted(case: Case, clause: Clause) -> list[Atom]:
    """`extracted A into B`: what is said to be new must be new."""
    found: list[Atom] = []
    objects = [i for i in clause.of(Role.OBJECT) if case.tokens[i.at].kind in NAMES]
    targets = clause.of(Role.TARGET, Role.WITH)
    new = [i for i in targets if case.tokens[i.at].kind in NAMES]
    for item in new or objects:
        place = Place(case, [t for t in targets if t not in new])
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
            cover(check_path(case.world, case.tokens[t.at].text, Relation.CHANGED), (t.at, *clause.verb))
            for t in targets
            if case.tokens[t.at].kind is Kind.PATH
        ]
    return found


def _replaced_definition(case: Case, clause: Clause, old: Item, new: Item, place: Place) -> Atom | None:
    """A definition went, and another came in the same file."""
    went = [
        d for d in case.world.definitions(case.tokens[old.at].text) if d.fate is _F.REMOVED and not d.by_words
    ]
    came = [
        d for d in case.world.definitions(case.tokens[new.at].text) if d.fate is _F.ADDED and not d.by_words
    ]
    both = [d for d in came if d.path in {w.path for w in went} and (not place or place.holds(d))]
    if not both or not clause.strong:
        return None
    words = [n for item in (old, new) for n in kind_words(case, item.at, both[0].kind)]
    fresh = [n for n in range(old.at, new.at) if case.tokens[n].low == "new"]
    told = f"{both[0].path} has `{both[0].name}`, and no `{went[0].name}` any more"
    return holds(told, (old.at, new.at, *clause.verb, *place.at, *words, *fresh), in_diff(both[0].path))


def check_replaced(case: Case, clause: Clause) -> list[Atom]:  # noqa: C901, PLR0911 (one way out for each finding)
    """`replaced A with B`, `switched from A to B`."""
    things = {*NAMES, Kind.PATH, Kind.VERSION, Kind.NUMBER}
    old = [i for i in clause.of(Role.OBJECT, Role.SOURCE) if case.tokens[i.at].kind in things]
    new = [i for i in clause.of(Role.TARGET) if case.tokens[i.at].kind in things]
    if len(old) > 1 and old[1].role is Role.SOURCE and case.tokens[old[1].at].kind is not Kind.PATH:
        old = old[1:]  # "switched `total` from A to B" tells where
    if not old or not new:
        return check_value(case, clause) if new else []
    first, second = case.tokens[old[0].at], case.tokens[new[0].at]
    if old[0].role is Role.OBJECT and any(case.tokens[i.at].kind in (Kind.NUMBER, Kind.VERSION) for i in new):
        return check_value(case, clause)
    world = case.world
    place = Place(case, clause.of(Role.PLACE))
    if first.kind is Kind.PATH and second.kind is Kind.PATH:
        return [
            cover(check_path(world, first.text, Relation.REMOVED), (old[0].at, *clause.verb)),
            cover(check_path(world, second.text, Relation.ADDED), (new[0].at,)),
        ]
    if replaced := _replaced_definition(case, clause, old[0], new[0], place):
        return [replaced]
    went, came = world.files_with(first.text, added=False), world.files_with(second.text, added=True)
    covers = (old[0].at, new[0].at, *clause.verb, *place.at)
    for path in sorted(went & came & place.paths if place.paths else went & came):
        hunk = line_with(world, path, first.text, second.text)
        if hunk is not None:
            return [
                holds(f"{path} has `{second.text}` where it had `{first.text}`", covers, in_diff(path, hunk))
            ]
    if clause.strong and world.are_lines_whole:
        for item, token, added in ((old[0], first, False), (new[0], second, True)):
            side = "added" if added else "removed"
            if (
                token.certain
                and case.tokens[max(0, item.at - 1)].low != "in"  # where it was replaced, not what
                and token.kind is Kind.NAME
                and len(core_of(token.text)) > 2
                and not world.is_in_lines(token.text, added=added)
            ):
                return [contradicts(f"no {side} line has `{token.text}`", (), in_tree())]
    if went and came:
        return [by_words("both are in changed lines, but in different ones", place.at, in_diff(min(came)))]
    return [unknown("the changed lines do not show it")]
