"""Checks what is said of files: created, changed, removed, renamed, there to be read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
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
    nowhere,
    unknown,
)
from segue.domain.claims.linking import World, core_of
from segue.domain.claims.path_finder import Match
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.claims.verbs import KEEPS, VAGUE, Relation
from segue.domain.evidence.model import ChangeKind, LineRange
from segue.domain.text.words import word_set

_LINES = re.compile(r"(?::|#L)(\d{1,7})(?:[-\u2013]L?(\d{1,7}))?$")


def check_path(world: World, text: str, relation: Relation, lines: Iterable[LineRange] = ()) -> Atom:
    """Whether a file, a folder or a pattern of names was created, changed, removed, or is there."""
    if not world.has_trees:
        return unknown("there is no record of the repository before and after the step")
    match = world.find_path(text)
    if match.unseen:
        return unknown(f"git cannot tell: {match.unseen}")
    if not match.paths:
        return _absent(world, relation, match)
    found = [_JUDGES[relation](world, path) for path in match.paths]
    if len(found) > 1:
        return _joined(relation, match, found)
    if found[0].status is AtomStatus.CONTRADICTS and any(
        p.endswith("/" + text) for p in world.evidence.changes
    ):
        return unknown(f"another {text} changed")
    wanted = (*lines, *lines_in(text))
    return _in_lines(world, match.paths[0], found[0], wanted) if wanted else found[0]


def lines_in(text: str) -> tuple[LineRange, ...]:
    """The lines in `a.py:12-20` or `a.py#L12`."""
    found = _LINES.search(text)
    if found is None:
        return ()
    first, last = int(found[1]), int(found[2] or found[1])
    return (LineRange(first, last),) if 1 <= first <= last else ()


def _absent(world: World, relation: Relation, match: Match) -> Atom:
    name = match.wanted
    if "/" not in name and (module := world.find_path(f"{name.replace('.', '/')}.py").paths):
        return unknown(f"{name} may be the module {module[0]}")
    if relation is Relation.REMOVED and _may_have_come_and_gone(world, name):
        return unknown(f"{name} is neither in the repository before the step nor after it")
    if not world.is_whole:
        return unknown(f"the record of the repository is cut, and {name} is not in what is left")
    return nowhere(f"there is no {name}", in_tree(name))


_REMOVERS = word_set(
    "rm rmdir mv unlink clean reset stash checkout restore rebase find xargs git-rm trash del"
)


def _may_have_come_and_gone(world: World, path: str) -> bool:
    """True if a file may have been made and removed within the step: no command that is known excludes it."""
    if not world.evidence.is_log_whole:
        return True
    name = posixpath.basename(path.rstrip("/"))
    lines = [run.command for run in world.evidence.commands]
    return any(name in line or not _REMOVERS.isdisjoint(line.replace(";", " ").split()) for line in lines)


def _created(world: World, path: str) -> Atom:  # noqa: PLR0911 (one way out for each state of a file)
    change = world.change(path)
    if change is not None and not change.is_certain:
        return unknown(f"a filter that was not run may have changed {path}")
    if change is not None and change.kind is ChangeKind.ADDED:
        return holds(f"{path} was added", (), in_diff(path))
    if change is not None and change.kind is ChangeKind.RENAMED:
        return by_words(f"{path} is new; it was {change.old_path} before", (), in_diff(path))
    if path not in (world.evidence.after or ()):
        if change is None and not world.is_whole:
            return _cut(path)
        return contradicts(f"{path} is not there" + (": it was deleted" if change else ""), in_tree(path))
    if path in (world.evidence.before or ()):
        if change is None and not world.is_whole:
            return _cut(path)
        how = f"and was {change.kind}" if change else "and did not change"
        return contradicts(f"{path} was there before {how}", in_diff(path) if change else in_tree(path))
    return _cut(path)


def _changed(world: World, path: str) -> Atom:  # noqa: PLR0911 (one way out for each finding)
    change = world.change(path)
    if change is None:
        if path in world.renamed:
            return by_words(f"{path} was renamed to {world.renamed[path]}", (), in_diff(world.renamed[path]))
        if why := world.why_unseen(path):
            return unknown(f"git cannot tell: {why}")
        if not world.is_whole:
            return _cut(path)
        return contradicts(f"{path} did not change", in_tree(path))
    if not change.is_certain:
        return unknown(f"a filter that was not run may have changed {path}")
    if change.kind is ChangeKind.DELETED:
        return contradicts(f"{path} was deleted", in_diff(path))
    if change.kind is ChangeKind.RENAMED and change.additions == 0 and change.deletions == 0:
        return by_words(f"{path} was only renamed from {change.old_path}", (), in_diff(path))
    return holds(world.describe(path), (), in_diff(path))


def _removed(world: World, path: str) -> Atom:
    if path in (world.evidence.after or ()):
        return contradicts(f"{path} is still there", in_tree(path))
    change = world.change(path)
    if change is not None and change.kind is ChangeKind.DELETED:
        return holds(f"{path} was removed", (), in_diff(path))
    if path in world.renamed:
        return by_words(f"{path} is gone; it is {world.renamed[path]} now", (), in_diff(world.renamed[path]))
    return _cut(path)


def _present(world: World, path: str) -> Atom:
    if path in (world.evidence.after or ()):
        return holds(f"{path} is there", (), in_tree(path))
    if path in world.renamed:
        return contradicts(f"{path} is not there; it was renamed to {world.renamed[path]}", in_tree(path))
    if not world.evidence.is_tree_whole:
        return _cut(path)
    return contradicts(f"{path} is not there", in_tree(path))


_JUDGES = {
    Relation.CREATED: _created,
    Relation.ADDED: _changed,
    Relation.CHANGED: _changed,
    Relation.REMOVED: _removed,
    Relation.HAS: _present,
}


def _cut(path: str) -> Atom:
    return unknown(f"the record of the repository is cut, and says nothing of {path}")


def _in_lines(world: World, path: str, atom: Atom, wanted: tuple[LineRange, ...]) -> Atom:
    """The same, with regard to the lines that are named."""
    change = world.change(path)
    if atom.status is not AtomStatus.HOLDS or change is None or change.is_binary:
        return atom
    last = max(lines.last for lines in wanted)
    if change.line_count is not None and last > change.line_count:
        return contradicts(f"{path} has {change.line_count} lines, not {last}", in_diff(path))
    if change.kind is ChangeKind.ADDED:
        return atom
    if change.new_lines is None or change.old_lines is None:
        return by_words(f"{atom.reason}, but where is not known: the diff is cut", (), in_diff(path))
    if any(lines.touches(hunk) for lines in wanted for hunk in (*change.new_lines, *change.old_lines)):
        return atom
    named = ", ".join(f"{lines.first}-{lines.last}" for lines in wanted)
    return by_words(f"{atom.reason}, but in other lines than {named}", (), in_diff(path))


def _joined(relation: Relation, match: Match, found: list[Atom]) -> Atom:
    """A name that fits several files, or all files of a folder."""
    right = [each for each in found if each.status is AtomStatus.HOLDS]
    wrong = [each for each in found if each.status is AtomStatus.CONTRADICTS]
    name, many = match.wanted, f"{len(found)} files"
    if relation is Relation.REMOVED and match.is_many and wrong:
        if len(wrong) == len(found):
            return contradicts(f"{name} is still there", in_tree(name))
        return contradicts(f"of {name}, {len(wrong)} of {many} are left: {wrong[0].reason}", in_tree(name))
    if right:
        covered = right[0].reason + f" ({len(right)} of {many} that {name} means)"
        is_clear = match.is_many or len(right) == 1
        return (
            holds(covered, (), *right[0].evidence) if is_clear else by_words(covered, (), *right[0].evidence)
        )
    if len(wrong) == len(found):
        return contradicts(
            f"none of the {many} that {name} means fits: {wrong[0].reason}", *wrong[0].evidence
        )
    return unknown(f"{name} means {many}, and the evidence does not tell which")


def check_rename(world: World, old_text: str, new_text: str) -> Atom:  # noqa: C901, PLR0911 (one way out for each state)
    """Whether a file has another name now."""
    old = world.find_path(old_text)
    if (exact := _renamed_exactly(world, old, new_text)) is not None:
        return exact
    new = world.find_path(_target(world, old_text, new_text))
    if not world.has_trees:
        return unknown("there is no record of the repository before and after the step")
    if old.unseen or new.unseen:
        return unknown(f"git cannot tell: {old.unseen or new.unseen}")
    if not world.is_whole:
        return _cut(new_text)
    after = world.evidence.after or frozenset()
    if not any(path in after for path in new.paths):
        return contradicts(f"there is no {new.wanted}", in_tree(new.wanted))
    if len(old.paths) != 1 or len(new.paths) != 1:
        if old.is_many and new.is_many:
            return _folder_moved(world, old, new)
        return unknown(f"several files, or none, are called {old_text} or {new_text}")
    before, now = old.paths[0], new.paths[0]
    if world.renamed.get(before) == now:
        return holds(f"{before} was renamed to {now}", (), in_diff(now))
    if before in after:
        return contradicts(f"{before} is still there", in_tree(before))
    change = world.change(now)
    if change is not None and change.kind in (ChangeKind.ADDED, ChangeKind.RENAMED):
        return by_words(f"{before} is gone and {now} is new", (), in_diff(now))
    return unknown(f"{before} is gone, but {now} was there before")


def _renamed_exactly(world: World, old: Match, new_text: str) -> Atom | None:
    wanted = new_text.strip("`/").removeprefix("./")
    found = next((path for path in old.paths if world.renamed.get(path) == wanted), None)
    return None if found is None else holds(f"{found} was renamed to {wanted}", (), in_diff(wanted))


def _folder_moved(world: World, old: Match, new: Match) -> Atom:
    moved = [p for p in old.paths if world.renamed.get(p, "").startswith(new.wanted)]
    left = [p for p in old.paths if p in (world.evidence.after or ())]
    if moved and not left:
        return holds(f"{len(moved)} files of {old.wanted} are in {new.wanted} now", (), in_tree(new.wanted))
    if left and not moved:
        return contradicts(f"{left[0]} is still there", in_tree(left[0]))
    return unknown(f"{len(moved)} files of {old.wanted} were moved")


def _target(world: World, old_text: str, new_text: str) -> str:
    """The new path: a folder takes the old name, a bare name stays in the old folder."""
    old, new = old_text.replace("\\", "/"), new_text.replace("\\", "/")
    if new.endswith("/") and not old.endswith("/"):
        return new + posixpath.basename(old)
    if "/" in old and "/" not in new:
        beside = f"{posixpath.dirname(old)}/{new}"
        if world.find_path(beside).paths:
            return beside
    found = world.find_path(new)
    if found.is_many and found.wanted.endswith("/") and not world.find_path(old).is_many:
        return found.wanted + posixpath.basename(old)
    return new


_HAPPENS = (Relation.CHANGED, Relation.ADDED)
"""That a file changed proves these, but not that something was created there, or removed."""
_DEEDS = (Relation.ADDED, Relation.CREATED, Relation.REMOVED)


def cover(atom: Atom, covers: Iterable[int]) -> Atom:
    """The same atom, standing for these tokens."""
    return replace(atom, covers=frozenset(covers))


def says_kept(clause: Clause) -> bool:
    """True if a verb says that its file is still there: `updated`, but not `cleaned away`."""
    return clause.lemma in KEEPS or clause.relation in (Relation.CREATED, Relation.VALUE)


def place_atoms(case: Case, clause: Clause, done: frozenset[int]) -> list[Atom]:
    """Places in which something is said to have been done: they must have changed."""
    found: list[Atom] = []
    things = [case.tokens[item.at] for item in clause.of(Role.OBJECT) if item.at in done]
    names = [token for token in things if token.kind is WordKind.NAME]
    values = [case.tokens[i.at] for i in clause.of(Role.TARGET, Role.WITH)]
    values = [
        t
        for t in values
        if t.kind in (WordKind.VERSION, WordKind.NUMBER) and clause.relation is Relation.VALUE
    ]
    for item in clause.of(Role.PLACE, Role.TARGET, Role.SOURCE):
        token = case.tokens[item.at]
        if token.kind is not WordKind.PATH or item.at in done:
            continue
        is_there = clause.relation is Relation.HAS and not clause.is_new
        text = path_within(case, clause, item.at)
        atom = check_path(case.world, text, Relation.HAS if is_there else Relation.CHANGED)
        if atom.reason.endswith("was deleted") and not says_kept(clause):
            atom = unknown(atom.reason)
        if atom.status is AtomStatus.CONTRADICTS and not _is_sure_place(case, clause, item, atom):
            atom = unknown(atom.reason)
        verb = clause.verb if clause.strong and clause.relation in _HAPPENS else ()
        if atom.status is AtomStatus.HOLDS and (names or values or clause.relation not in _HAPPENS):
            found.append(_names_in(case, clause, item, names or values, atom))
        else:
            found.append(cover(atom, (item.at, *verb)))
    return found


_PUTS = (*_DEEDS, Relation.RENAMED, Relation.EXTRACTED, Relation.VALUE, Relation.HAS)
"""What touches the place that something is brought to, or taken from."""


def path_within(case: Case, clause: Clause, at: int) -> str:
    """The file that a bare name means: of several, the only one in a folder that its clause names."""
    text, world = case.text(at), case.world
    named = (case.text(i.at) for i in clause.items if i.at != at and case.kind(i.at) is WordKind.PATH)
    folders = [match.wanted for name in named if (match := world.find_path(name)).wanted.endswith("/")]
    match = world.find_path(text)
    within = [path for path in match.paths if path.startswith(tuple(folders))]
    return within[0] if len(within) == 1 and not match.is_many else text


def _is_sure_place(case: Case, clause: Clause, item: ClauseItem, atom: Atom) -> bool:
    """True if a place can only be a file of the repository, in which what is said must have left a trace."""
    token = case.tokens[item.at]
    is_part = item.modifies and item.role is Role.TARGET  # "added a key to the a.json template"
    if not token.certain or is_part or (atom.is_absence and case.world.is_spoken_of(token.text)):
        return False
    if item.role is not Role.PLACE and clause.relation not in _PUTS and case.low(item.at - 1) != "into":
        return False  # "fixed the path to a.py"
    return clause.lemma not in VAGUE or atom.is_absence


def _names_in(
    case: Case, clause: Clause, place: ClauseItem, names: list[StatementToken], changed: Atom
) -> Atom:
    """A place that changed proves little where a name is said to have come there, or to have gone."""
    world = case.world
    paths = world.find_path(case.text(place.at)).paths
    is_added = clause.relation is not Relation.REMOVED
    if clause.relation not in (*_DEEDS, Relation.VALUE) or not world.are_lines_whole:
        return by_words(changed.reason, (), *changed.evidence)
    for name in names:
        core = name.text.lstrip("vV") if name.kind is WordKind.VERSION else core_of(name.text)
        lines = (line for path in paths for line in world.lines(path, added=is_added))
        if name.certain and len(core) > 2 and not any(core in line for line in lines):
            side = "added" if is_added else "removed"
            return contradicts(f"no {side} line of {paths[0]} has `{name.text}`", *changed.evidence)
    return by_words(changed.reason, (), *changed.evidence)
