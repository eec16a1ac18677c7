"""Checks dependencies: which came, went or got another version."""

from __future__ import annotations

import re

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_diff, in_tree, unknown
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import DependencyChange
from segue.domain.text.words import word_set


def dependencies_of(case: Case, at: int) -> list[DependencyChange]:
    """The dependencies with the name at a token."""
    name = case.text(at).casefold().replace("_", "-")
    return [d for d in case.world.evidence.dependencies if d.name.casefold().replace("_", "-") == name]


def is_dependency(case: Case, at: int) -> bool:
    """True if a dependency of this name came, went or changed."""
    return bool(dependencies_of(case, at))


def dependency_atom(case: Case, item: ClauseItem, clause: Clause) -> Atom | None:
    """Whether a dependency came, went or got another version; none if no manifest names it."""
    found = dependencies_of(case, item.at)
    if not found:
        return None
    each = found[0]
    came, went = each.before is None and each.after is not None, each.after is None
    place = [
        at.at
        for at in clause.of(Role.PLACE, Role.TARGET, Role.SOURCE)
        if case.text(at.at).endswith(each.manifest)
    ]
    near = case.at(_DEPENDENCY_WORDS, range(clause.first, clause.last + 1))
    version = next((n for n in range(item.at + 1, item.at + 3) if _is_version(case, n)), None)
    if version is not None and came:
        if same_version(case.text(version), each.after or ""):
            near.append(version)
        elif any(sign.isdigit() for sign in each.after or ""):
            told = f"{each.manifest} lists `{each.name}` {each.after}"
            return contradicts(told, in_diff(each.manifest))
    covers = (item.at, *clause.verb, *place, *near)
    told = (
        f"{each.manifest} lists `{each.name}` {each.after or ''}".rstrip()
        if not went
        else f"{each.manifest} does not list `{each.name}` any more"
    )
    relation = Relation.ADDED if clause.relation is Relation.HAS and clause.is_new else clause.relation
    where = in_diff(each.manifest)
    if relation in (Relation.CREATED, Relation.ADDED) and not came:
        return contradicts(f"{each.manifest} listed `{each.name}` before", where)
    if relation is Relation.REMOVED and not went:
        return contradicts(f"{each.manifest} still lists `{each.name}`", where)
    is_sure = clause.strong or relation in (Relation.CREATED, Relation.ADDED, Relation.REMOVED)
    return holds(told, covers if is_sure else (item.at,), where)


_DEPENDENCY_WORDS = word_set("dependency package library requirement")


def _is_version(case: Case, at: int) -> bool:
    return at < len(case.tokens) and case.kind(at) is WordKind.VERSION


def check_version(
    case: Case, key: ClauseItem, target: ClauseItem, source: ClauseItem | None, covers: list[int]
) -> Atom:
    """Whether a dependency has the version that is said."""
    value = case.text(target.at)
    found = dependencies_of(case, key.at)
    for each in found:
        if each.after is not None and same_version(value, each.after):
            where, old = in_diff(each.manifest), each.before
            if source is None:
                return holds(f"{each.manifest} lists `{each.name}` {each.after}", covers, where)
            if old and same_version(case.text(source.at), old):
                told = f"{each.manifest}: `{each.name}` {old}, now {each.after}"
                return holds(told, (*covers, source.at), where)
            return contradicts(f"{each.manifest} listed `{each.name}` {old or 'not at all'} before", where)
    each = found[0]
    lines = (line for path in case.world.evidence.changes for line in case.world.lines(path, added=True))
    is_open = any(sign in (each.after or "") for sign in (",", "||", "*"))
    if is_open or any(has_value(line, value) for line in lines):
        return unknown(f"{each.manifest} lists `{each.name}` {each.after}")
    return contradicts(
        f"{each.manifest} lists `{each.name}` {each.after or 'no more'}", in_diff(each.manifest)
    )


def version_as_before(
    case: Case, key: ClauseItem, target: ClauseItem, source: ClauseItem | None
) -> Atom | None:
    """A dependency that is said to have got a version, where no manifest and no lock file shows that."""
    world, said = case.world, case.text(target.at)
    listed = world.listed_versions(case.text(key.at))
    changes = world.evidence.changes
    is_known = world.are_lines_whole and not any(change.is_binary for change in changes.values())
    if not listed or not is_known or case.kind(target.at) is not WordKind.VERSION:
        return None
    bare = said.strip("\"'` ").lstrip("<>=~^!vV ")
    if any(has_value(line, bare) for path in changes for line in world.lines(path, added=True)):
        return None
    manifest, version = next(iter(listed.items()))
    told = f"{manifest} lists `{case.text(key.at)}` {version}, as before"
    # Without an operator it may be the version that is installed, which a range in a manifest leaves open.
    is_spec = not said.strip("\"'` ")[:1].isalnum() or all(each[:1].isdigit() for each in listed.values())
    is_same = any(same_version(said, each) for each in listed.values())
    is_false = is_spec and all(listed.values()) and (source is not None or not is_same)
    return contradicts(told, in_tree(manifest)) if is_false and case.tokens[key.at].certain else unknown(told)


def same_version(said: str, listed: str) -> bool:
    """True if a manifest lists the version that is said, whatever its operator."""
    bare = said.strip("\"'` ").lstrip("<>=~^!vV ")
    return bool(bare) and (
        has_value(listed, bare) or any(has_value(listed, bare + zeros) for zeros in (".0", ".0.0"))
    )


def without_separators(number: str) -> str:
    """`65_535` and `65,535` as `65535`."""
    return _SEPARATOR.sub("", number)


_SEPARATOR = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")


def has_value(line: str, value: str) -> bool:
    """True if a line has a value as a whole: 3 is not in 30."""
    bare = without_separators(value.strip("\"'"))
    line = without_separators(line) if "_" in line and bare.isdecimal() else line
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


def check_dependency_words(case: Case, clause: Clause) -> list[Atom]:
    """Dependencies that are named without code marks: `added requests to pyproject.toml`."""
    found = []
    listed = [i.at for i in clause.of(Role.PLACE, Role.TOPIC) if case.kind(i.at) is WordKind.NAME]
    says = any(case.low(n) in ("dependency", "dependencies") for n in clause.words)
    for at in (*clause.words, *(listed if says else ())):
        atom = dependency_atom(case, ClauseItem(at, Role.OBJECT), clause) if is_dependency(case, at) else None
        if atom is not None:
            found.append(atom)
    return found
