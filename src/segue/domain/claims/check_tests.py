"""Checks what is said of tests that were written or removed."""

from __future__ import annotations

from segue.domain.claims.atoms import Atom, Case, by_words, contradicts, holds, in_diff, unknown
from segue.domain.claims.check_definitions import NAMES, DefinitionPlace
from segue.domain.claims.decide import needs_cover
from segue.domain.claims.linking import World, core_of, is_test_path
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import DefinitionChange, DefinitionFate, DefinitionKind
from segue.domain.text.words import word_set

_TESTS = frozenset({"test", "tests", "testcase", "testcases", "spec", "specs"})
_ABOUT_TESTS = frozenset({"case", "cases", "function", "functions", "method", "methods", "coverage"})
_PLAIN = frozenset(
    {"unit", "new", "more", "additional", "extra", "corresponding", "matching", "case", "cases"}
)
_SEEN = (".py", ".js", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".mjs", ".cjs")


def check_tests(case: Case, clause: Clause) -> list[Atom]:
    """`added a test for X`: a test came, and it has the name X in it."""
    heads = _heads(case, clause)
    if not heads or clause.relation not in (Relation.CREATED, Relation.ADDED, Relation.HAS, Relation.REMOVED):
        return []
    if any(case.kind(item.at) in NAMES for item in clause.of(Role.OBJECT) if not item.modifies):
        return []  # the tests are named, and each is looked at
    world = case.world
    fate = DefinitionFate.REMOVED if clause.relation is Relation.REMOVED else DefinitionFate.ADDED
    items = clause.of(Role.PLACE, Role.TARGET, Role.SOURCE)
    place = DefinitionPlace(
        case, [i for i in items if is_test_path(case.text(i.at)) or case.kind(i.at) is WordKind.NAME]
    )
    found = [
        d for d in world.evidence.definitions
        if d.kind is DefinitionKind.TEST and d.fate is fate and (not place.paths or d.path in place.paths)
    ]  # fmt: skip
    sure = [d for d in found if not d.by_words]
    if sure:
        plain = [n for at in heads for n in (at - 1, at + 1) if _is_plain(case, n)]
        atoms = [
            holds(
                _told(sure, fate), (*heads, *plain, *clause.verb, *_paths(case, place)), in_diff(sure[0].path)
            )
        ]
        return atoms + _topics(case, clause, sure)
    if found:
        return [
            by_words(f"an added line of {found[0].path} looks like a test", place.at, in_diff(found[0].path))
        ]
    words = [n for n in clause.words if n not in heads and not _is_plain(case, n)]
    if fate is DefinitionFate.REMOVED and any(needs_cover(case.tokens[n]) for n in words):
        return [unknown("which test is meant is not known")]
    return [_none(world, clause, fate, place)]


def _heads(case: Case, clause: Clause) -> list[int]:
    """The words that say that the object is a test, and not a test helper or a test file."""
    found = []
    for at in clause.words:
        if case.low(at) not in _TESTS:
            continue
        after = case.tokens[at + 1] if at + 1 < len(case.tokens) else None
        is_head = (
            after is None or at + 1 not in clause.words or after.low in _ABOUT_TESTS or after.low in _TESTS
        )
        if is_head:
            found.append(at)
    return found


def _is_plain(case: Case, n: int) -> bool:
    return 0 <= n < len(case.tokens) and case.kind(n) is WordKind.WORD and case.low(n) in _PLAIN


def _paths(case: Case, place: DefinitionPlace) -> list[int]:
    return [at for at in place.at if case.kind(at) is WordKind.PATH]


def _told(found: list[DefinitionChange], fate: DefinitionFate) -> str:
    if len(found) == 1:
        return f"the test `{found[0].name}` was {fate} in {found[0].path}"
    return f"{len(found)} tests were {fate}, among them `{found[0].name}`"


def _topics(case: Case, clause: Clause, tests: list[DefinitionChange]) -> list[Atom]:
    """The names that the tests are said to be about."""
    atoms = []
    for item in clause.of(Role.TOPIC, Role.OBJECT):
        token = case.tokens[item.at]
        if token.kind is WordKind.NAME:
            atoms.append(_topic(case, item, clause.relation, tests))
    return atoms


def _topic(case: Case, item: ClauseItem, relation: Relation, tests: list[DefinitionChange]) -> Atom:
    world, token = case.world, case.tokens[item.at]
    name = core_of(token.text)
    is_added = relation is not Relation.REMOVED
    for path in sorted({d.path for d in tests}):
        if any(name in line for line in world.lines(path, added=is_added)):
            near = [
                n for n in (item.at - 1, item.at + 1) if 0 <= n < len(case.tokens) and case.low(n) in _NEAR
            ]
            return holds(f"the new lines of {path} name `{name}`", (item.at, *near), in_diff(path))
    is_known = (
        is_added
        and token.certain
        and len(name) > 2
        and all(world.is_in_file(name, d.path) is False for d in tests)
    )
    if is_known and world.are_lines_whole and not world.is_in_lines(name, added=True):
        return contradicts(f"no test that was added names `{name}`", in_diff(tests[0].path))
    return unknown(f"no test that was added names `{name}`")


_NEAR = word_set("function method class helper fixture endpoint command flag option")


def _none(world: World, clause: Clause, fate: DefinitionFate, place: DefinitionPlace) -> Atom:
    """No such test is known: did none come, or can nobody tell?"""
    evidence = world.evidence
    looked = [
        p for p in evidence.changes if (is_test_path(p) or p in place.paths) and p.lower().endswith(_SEEN)
    ]
    others = [p for p in evidence.changes if is_test_path(p) and not p.lower().endswith(_SEEN)]
    changed = [
        d
        for d in evidence.definitions
        if d.kind is DefinitionKind.TEST and d.path in (place.paths or evidence.changes)
    ]
    counts = [(run.before.collected, run.after.collected) for run in evidence.tests if run.before is not None]
    if counts and not place.paths and clause.strong and fate is DefinitionFate.ADDED:
        before, after = (sum(column) for column in zip(*counts, strict=True))
        if before == after and not any(run.gone for run in evidence.tests):
            return contradicts(f"no test was added: {before} before, {after} after", in_diff())
    if not world.is_whole or not clause.strong or others or any(p in evidence.unparsed for p in looked):
        return unknown("the evidence does not tell whether a test came")
    if any(
        d.kind is DefinitionKind.TEST and d.fate in (DefinitionFate.CHANGED, DefinitionFate.RENAMED)
        for d in changed
    ):
        return unknown("tests were changed, and none was added")
    if any(evidence.changes[p].additions for p in looked if is_test_path(p)):
        return unknown("a file of tests got lines, but no test function")  # it may be a case in a table
    if any(p in evidence.unparsed for p in evidence.changes):
        return unknown("the evidence does not tell whether a test came")
    verb = "removed" if fate is DefinitionFate.REMOVED else "added"
    where = f" in {place.shown()}" if place.paths else ""
    return contradicts(f"no test was {verb}{where}", *(in_diff(p) for p in looked[:1]))
