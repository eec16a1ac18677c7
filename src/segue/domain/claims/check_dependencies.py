"""Checks dependencies: which came, went or got another version."""

from __future__ import annotations

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_diff, unknown
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import Kind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import DependencyChange
from segue.domain.handoff.reading.words import word_set


def dependencies_of(case: Case, at: int) -> list[DependencyChange]:
    """The dependencies with the name at a token."""
    name = case.tokens[at].text.casefold().replace("_", "-")
    return [d for d in case.world.evidence.dependencies if d.name.casefold().replace("_", "-") == name]


def is_dependency(case: Case, at: int) -> bool:
    """True if a dependency of this name came, went or changed."""
    return bool(dependencies_of(case, at))


def dependency_atom(case: Case, item: Item, clause: Clause) -> Atom | None:
    """Whether a dependency came, went or got another version; none if no manifest names it."""
    found = dependencies_of(case, item.at)
    if not found:
        return None
    each = found[0]
    came, went = each.before is None and each.after is not None, each.after is None
    place = [
        at.at
        for at in clause.of(Role.PLACE, Role.TARGET, Role.SOURCE)
        if case.tokens[at.at].text.endswith(each.manifest)
    ]
    near = [n for n in range(clause.first, clause.last + 1) if case.tokens[n].low in _DEPENDENCY_WORDS]
    version = next((n for n in range(item.at + 1, item.at + 3) if _is_version(case, n)), None)
    if version is not None and came:
        if _same_version(case.tokens[version].text, each.after or ""):
            near.append(version)
        elif any(sign.isdigit() for sign in each.after or ""):
            told = f"{each.manifest} lists `{each.name}` {each.after}"
            return contradicts(told, (), in_diff(each.manifest))
    covers = (item.at, *clause.verb, *place, *near)
    told = (
        f"{each.manifest} lists `{each.name}` {each.after or ''}".rstrip()
        if not went
        else f"{each.manifest} does not list `{each.name}` any more"
    )
    relation = Relation.ADDED if clause.relation is Relation.HAS and clause.is_new else clause.relation
    match relation:
        case Relation.CREATED | Relation.ADDED:
            return (
                holds(told, covers, in_diff(each.manifest))
                if came
                else contradicts(f"{each.manifest} listed `{each.name}` before", (), in_diff(each.manifest))
            )
        case Relation.REMOVED:
            return (
                holds(told, covers, in_diff(each.manifest))
                if went
                else contradicts(f"{each.manifest} still lists `{each.name}`", (), in_diff(each.manifest))
            )
        case _:
            return holds(told, covers if clause.strong else (item.at,), in_diff(each.manifest))


_DEPENDENCY_WORDS = word_set("dependency package library requirement")


def _is_version(case: Case, at: int) -> bool:
    return at < len(case.tokens) and case.tokens[at].kind is Kind.VERSION


def check_version(case: Case, key: Item, target: Item, source: Item | None, covers: list[int]) -> Atom:
    """Whether a dependency has the version that is said."""
    value = case.tokens[target.at].text
    found = dependencies_of(case, key.at)
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
        has_value(line, value)
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
    return bool(bare) and has_value(listed, bare)


def has_value(line: str, value: str) -> bool:
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


def check_dependency_words(case: Case, clause: Clause) -> list[Atom]:
    """Dependencies that are named without code marks: `added requests to pyproject.toml`."""
    found = []
    listed = [i.at for i in clause.of(Role.PLACE, Role.TOPIC) if case.tokens[i.at].kind is Kind.NAME]
    says = any(case.tokens[n].low in ("dependency", "dependencies") for n in clause.words)
    for at in (*clause.words, *(listed if says else ())):
        atom = dependency_atom(case, Item(at, Role.OBJECT), clause) if is_dependency(case, at) else None
        if atom is not None:
            found.append(atom)
    return found
