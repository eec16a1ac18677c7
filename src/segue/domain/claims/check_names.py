"""Checks that a name took the place of another."""

from __future__ import annotations

from segue.domain.claims.atoms import Atom, Case, by_words, contradicts, holds, in_diff, in_tree, unknown
from segue.domain.claims.check_definitions import DefinitionPlace, is_sure_name, kind_words, shown_fate
from segue.domain.claims.linking import World, core_of
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.evidence.model import DefinitionFate

_F = DefinitionFate


def renamed_name(case: Case, clause: Clause, item: ClauseItem, target: ClauseItem) -> Atom:  # noqa: C901, PLR0911 (one way out for each finding)
    """Whether a definition, or another name in code, is called otherwise now."""
    world = case.world
    old, new = case.tokens[item.at], case.tokens[target.at]
    place = DefinitionPlace(case, clause.of(Role.PLACE))
    covers = (item.at, target.at, *clause.verb, *place.at)
    for found in world.definitions(new.text):
        is_renamed = found.fate is _F.RENAMED and (found.old_name, found.name) == (
            core_of(old.text),
            core_of(new.text),
        )
        if is_renamed and not found.by_words and (not place or place.holds(found)):
            words = kind_words(case, item.at, found.kind)
            return holds(shown_fate(found), (*covers, *words), in_diff(found.path))
    came = [d for d in world.definitions(new.text) if d.fate is _F.ADDED and not d.by_words]
    went = [d for d in world.definitions(old.text) if d.fate is _F.REMOVED and not d.by_words]
    if came and went and came[0].path == went[0].path:
        told = f"`{old.text}` is gone from {went[0].path}, `{new.text}` is new"
        return by_words(told, place.at, in_diff(came[0].path))
    if clause.lemma == "called" and world.is_in_lines(old.text, added=True):
        return unknown("the changed lines do not show which of the names is the new one")
    are_sure = is_sure_name(old) and is_sure_name(new)
    if world.are_lines_whole and are_sure and case.low(item.at - 1) != "in":
        if not world.is_in_lines(new.text, added=True):
            return contradicts(f"no added line has `{new.text}`", in_tree())
        if not world.is_in_lines(old.text, added=False):
            return contradicts(f"no removed line has `{old.text}`", in_tree())
    files = world.files_with(new.text, added=True) & world.files_with(old.text, added=False)
    for path in sorted(files):
        hunk = line_with(world, path, old.text, new.text)
        if hunk is not None and not world.places(old.text) and world.knows_absence():
            return holds(f"{path} has `{new.text}` where it had `{old.text}`", covers, in_diff(path, hunk))
    if files:
        return by_words(f"changed lines of {min(files)} have both names", place.at, in_diff(min(files)))
    return unknown("the changed lines do not show it")


def line_with(world: World, path: str, old: str, new: str) -> int | None:
    """The hunk with a line that is the same but for a name."""
    change = world.change(path)
    for number, hunk in enumerate((change.hunks if change else None) or ()):
        added = {line.strip() for line in hunk.added}
        before = (line for line in hunk.removed if core_of(old) in line)
        if any(line.replace(core_of(old), core_of(new)).strip() in added for line in before):
            return number
    return None
