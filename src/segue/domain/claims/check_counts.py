"""Checks numbers of things that came, went or changed, against every honest way to count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from segue.domain.claims.atoms import Atom, AtomStatus, Case, by_words, contradicts, holds, in_diff, unknown
from segue.domain.claims.check_definitions import DefinitionPlace
from segue.domain.claims.counted import COUNT_TITLES, UNIT_WORDS, Counted, counted_in
from segue.domain.claims.decide import needs_cover
from segue.domain.claims.lexicon import GRAMMAR, NEW, PREPOSITIONS
from segue.domain.claims.linking import World, is_code_path, is_test_path
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.definitions import read_python
from segue.domain.evidence.model import Change, ChangeKind, DefinitionChange, DefinitionFate, DefinitionKind
from segue.domain.text.words import word_set

_RUN_NOUNS = frozenset({"passed", "failed", "skipped", "collected", "errors", "warnings"})
_Readings = tuple[int, set[int], list[int], str]
"""The honest count, the generous ones, the tokens of the place, and what was counted."""
_ADDS = (Relation.CREATED, Relation.ADDED, Relation.HAS, Relation.EXTRACTED)


def check_counts(case: Case, clause: Clause) -> list[Atom]:
    """The numbers of a clause that tells of a change."""
    found = []
    paths = [i for i in clause.of(Role.OBJECT) if case.kind(i.at) is WordKind.PATH]
    for each in counted_in(case.tokens, clause.first, clause.last):
        is_whole = each.is_total and case.low(each.at - 1) == "the"  # "of the three files, one changed"
        if each.what in _RUN_NOUNS or is_whole or _counts_nothing(case, clause, each, len(paths)):
            continue
        if each.start is not None:
            found += _turned(case, clause, each, each.start)
            continue
        told = _of_file(case, _as_addition(case, clause, each), each)
        readings = _readings(case, told, each)
        if readings is not None:
            atom = _judge(clause, each, readings)
            apart = _without_places_of_others(case, told, each)
            if atom.status is AtomStatus.CONTRADICTS and apart is not told:
                other = _readings(case, apart, each)
                whole = _judge(clause, each, other) if other is not None else unknown(atom.reason)
                is_so = whole.status is AtomStatus.HOLDS
                atom = by_words(whole.reason, (), *whole.evidence) if is_so else whole
            if atom.status is AtomStatus.CONTRADICTS and not _is_sure(case, clause, each, readings[0]):
                atom = unknown(atom.reason)
            found.append(
                replace(atom, covers=atom.covers | set(case.at(COUNT_TITLES))) if atom.covers else atom
            )
    return found


def _without_places_of_others(case: Case, clause: Clause, each: Counted) -> Clause:
    """The clause without the `docs/` of "five files were edited, two of them in docs/"."""
    numbers = [
        n for n in range(max(each.at, each.noun) + 1, clause.last + 1) if case.tokens[n].value is not None
    ]
    items = tuple(
        item for item in clause.items if not (item.role is Role.PLACE and numbers and item.at > numbers[0])
    )
    return clause if len(items) == len(clause.items) else replace(clause, items=items)


_ASIDE = (Role.PLACE, Role.TOPIC)


def _is_sure(case: Case, clause: Clause, each: Counted, count: int) -> bool:
    """True if a number can only be that of all that its clause tells of."""
    role = next((item.role for item in clause.items if item.at == each.at), Role.OBJECT)
    if role is Role.SUB or (role in _ASIDE and case.low(each.at - 1) in PREPOSITIONS):
        return False  # "removed 12 lines across 3 files", "causing 3 tests to fail"
    between = case.tokens[max(clause.verb, default=each.at) + 1 : each.at]
    if any(t.low in _RELATIVES or (t.low.endswith(("ing", "ed")) and needs_cover(t)) for t in between):
        return False  # "the cache crashed, causing 3 tests to fail", "removed from a.py, which keeps 3 tests"
    tail = range(each.noun + 1, clause.last)
    end = next((n for n in tail if case.kind(n) is WordKind.SIGN), clause.last)  # "9 files, more than ..."
    behind = [case.low(n) for n in range(each.noun + 1, end)]
    is_compared = "than" in behind and not _COMPARES.isdisjoint(behind)
    if is_compared or (each.what == "methods" and behind[:1] in (["to"], ["of"], ["for"])):
        return False  # "no file changed in more lines than a.py", "two methods to turn it off"
    if each.what == "tests" and count == 0 and _may_be_cases(case, clause, each.value):
        return False
    is_part = not clause.strong or clause.lemma == "refactor"
    if clause.relation is Relation.CHANGED and is_part and clause.lemma not in _SPANS:
        return each.what == "files" and each.value > count
    narrower = each.noun + 1 < len(case.tokens) and case.low(each.noun + 1) == "for"
    return each.value > count or not narrower


_COMPARES = frozenset({"more", "fewer", "less", "larger", "smaller", "bigger"})
_RELATIVES = frozenset({"which", "that", "where", "whose", "who"})
_SPANS = frozenset({"affect", "span", "involve", "touch"})


def _may_be_cases(case: Case, clause: Clause, count: int) -> bool:
    """True if a file of tests grew by enough lines: they may be cases in a table, or found by no parser."""
    place = DefinitionPlace(case, clause.items)
    grown = (
        (change.additions or 0) - (change.deletions or 0)
        for path, change in case.world.evidence.changes.items()
        if path in place.paths or (is_test_path(path) and not place.paths)
    )
    return any(lines >= count for lines in grown)


def _turned(case: Case, clause: Clause, each: Counted, start: int) -> list[Atom]:
    """`from 3 to 5 tests`: what came and went must make the difference; nobody counted those before."""
    placed = replace(clause, items=_as_places(case, clause))
    came, went = (
        _readings(case, replace(placed, relation=relation), each)
        for relation in (Relation.ADDED, Relation.REMOVED)
    )
    if came is None or went is None or each.what in ("files", "commits"):
        return []
    told = f"{came[0]} {came[3]}, {went[0]} removed"
    fits = each.value - start == came[0] - went[0]
    return [by_words(told, came[2], in_diff()) if fits else contradicts(told, in_diff())]


def _counts_nothing(case: Case, clause: Clause, each: Counted, paths: int) -> bool:
    """True for the `no` of "added a.py, no tests yet", and the `one` of "one file, a.py"."""
    low = case.low(each.at)
    if low == "no" and (each.at > max(clause.verb, default=0) + 1 or clause.lemma == "gone"):
        return True
    is_listed = low == "one" and each.what == "files" and paths == 1
    return is_listed or (each.value == 0 and each.noun > each.at + 1 and not each.between)


def _as_addition(case: Case, clause: Clause, each: Counted) -> Clause:
    """ "Extended a.py by 2 tests", "a.py: +2 tests": what is counted was added."""
    before = case.low(each.at - 1) if each.at else ""
    is_added = before in ("by", "with") or case.text(each.at)[:1] == "+"
    is_thing = each.what not in ("files", "lines", "commits")
    if is_added and is_thing and clause.relation is Relation.CHANGED:
        return replace(clause, relation=Relation.ADDED, items=_as_places(case, clause))
    return clause


def _as_places(case: Case, clause: Clause) -> tuple[ClauseItem, ...]:
    """The files of a clause, as the places of what it tells."""
    return tuple(
        item._replace(role=Role.PLACE) if case.kind(item.at) is WordKind.PATH else item
        for item in clause.items
    )


def _judge(clause: Clause, each: Counted, readings: _Readings) -> Atom:
    narrow, wide, places, what = readings
    covers = (each.at, each.noun, *each.between, *each.exact, *places, *clause.verb)
    told = f"{narrow} {what}"
    if narrow == 1:
        told = (
            told.replace("s were ", " was ")
            .replace("dependencie ", "dependency ")
            .replace("classe ", "class ")
        )
    if each.value == narrow:
        return holds(told, covers, in_diff())
    is_near = each.is_rough and any(abs(each.value - n) <= max(2, n * 0.15) for n in (narrow, *wide))
    if is_near or each.value in wide:
        return by_words(told, (each.noun, *clause.verb, *places), in_diff())
    return contradicts(f"{told}, not {each.value}", in_diff())


def _of_file(case: Case, clause: Clause, each: Counted) -> Clause:
    """The clause with the file of "a.py (40 lines)" alone, which is what the number is about."""
    before = range(each.at - 1, max(each.at - 3, -1), -1)
    at = next((n for n in before if case.kind(n) is not WordKind.SIGN), None)
    is_aside = any("(" in case.text(n) for n in before if case.kind(n) is WordKind.SIGN)
    if at is None or not is_aside or case.kind(at) is not WordKind.PATH:
        return clause
    return replace(clause, items=(ClauseItem(at, Role.PLACE),))


def _readings(case: Case, clause: Clause, each: Counted) -> _Readings | None:  # noqa: PLR0911 (one way out for each finding)
    world = case.world
    if not world.is_whole:
        return None
    roles = (Role.SOURCE, Role.PLACE) if clause.relation is Relation.REMOVED else (Role.TARGET, Role.PLACE)
    place = DefinitionPlace(case, clause.of(*roles))
    objects = [i for i in clause.of(Role.OBJECT) if case.kind(i.at) is WordKind.PATH and not place]
    if objects and each.what not in ("files", "commits", "dependencies"):
        place = DefinitionPlace(case, objects)
    is_narrower = each.what == "lines" and any(t.kind is WordKind.NAME and t.certain for t in case.tokens)
    is_elsewhere = each.what not in ("files", "commits") and not place.paths and _names_a_file(case, clause)
    if is_narrower or is_elsewhere:
        return None
    changes = {p: c for p, c in world.evidence.changes.items() if not place.paths or p in place.paths}
    came = bool(changes) and all(change.kind is ChangeKind.ADDED for change in changes.values())
    if clause.relation is Relation.HAS and not came and not _are_new(case, clause, each):
        return _there(case, each, place)
    match each.what:
        case "files":
            return _files(case, clause, each, changes, place)
        case "lines":
            return _lines(case, clause, each, changes, place)
        case "commits":
            made = len(world.evidence.commits)
            return (made, set(), [], "commits were made") if world.evidence.are_commits_whole else None
        case "dependencies":
            return _dependencies(world, clause)
        case "tests" | "functions" | "methods" | "classes" | "constants" | "types":
            return _definitions(case, clause, each, place)
        case _:
            return None


_COMING = word_set("gain get receive")
_MORE = NEW | word_set(
    "more additional extra further insertion insertions deletion deletions added inserted changed different "
    "modified removed deleted fewer less"
)


def _are_new(case: Case, clause: Clause, each: Counted) -> bool:
    """True for the 3 of "a.py gained 3 tests" and "a.py has 3 new tests", but not of "a.py has 3 tests"."""
    is_signed = case.text(each.at)[:1] in "+-\u2212"
    near = range(each.at - 1, each.noun + 3)
    return is_signed or clause.lemma in _COMING or any(case.low(n) in _MORE for n in near)


def _there(case: Case, each: Counted, place: DefinitionPlace) -> _Readings | None:
    """What files have of something after the step, whatever of it came."""
    texts = {path: case.world.text(path) for path in place.paths}
    if not texts or place.holders or None in texts.values():
        return None
    if each.what == "lines":
        return (
            sum(len((text or "").splitlines()) for text in texts.values()),
            set(),
            place.at,
            "lines are there",
        )
    read = [read_python(text or "") if path.endswith(".py") else None for path, text in texts.items()]
    kind = _KINDS.get(each.what)
    if kind is None or None in read or any("parametrize" in (text or "") for text in texts.values()):
        return None
    kinds = Counter(each.kind for found in read for each in found or ())
    is_test = "test" in {case.low(n) for n in range(each.at, each.noun)}
    wide = {kinds[kind] + kinds[DefinitionKind.METHOD]} if each.what == "functions" else set()
    return kinds[DefinitionKind.TEST if is_test else kind], wide, place.at, f"{each.what} are there"


def _names_a_file(case: Case, clause: Clause) -> bool:
    """True if a file is named, but not as the place of the clause: it may be the one that is meant."""
    known = {item.at for item in clause.items}
    return any(t.kind is WordKind.PATH and t.certain and n not in known for n, t in enumerate(case.tokens))


_CAME = {
    Relation.CREATED: ChangeKind.ADDED,
    Relation.ADDED: ChangeKind.ADDED,
    Relation.REMOVED: ChangeKind.DELETED,
    Relation.RENAMED: ChangeKind.RENAMED,
}


def _files(
    case: Case, clause: Clause, each: Counted, changes: dict[str, Change], place: DefinitionPlace
) -> _Readings | None:
    near = {case.low(n) for n in range(each.at, each.noun + 1)}
    if {"test", "tests"} & near:
        changes = {p: c for p, c in changes.items() if is_test_path(p)}
    elif "python" in near:
        changes = {p: c for p, c in changes.items() if p.endswith(".py")}
    elif {"source", "production"} & near:
        changes = {p: c for p, c in changes.items() if is_code_path(p) and not is_test_path(p)}
    if any(case.low(n) not in UNIT_WORDS | GRAMMAR for n in range(each.at + 1, each.noun)):
        return None
    kinds = Counter(c.kind for c in changes.values())
    if kind := _CAME.get(clause.relation):
        how = "removed" if clause.relation is Relation.REMOVED else clause.relation
        wide = {sum(kinds[each] for each in {kind, ChangeKind.RENAMED})}
        return kinds[kind], wide, place.at, f"files were {how}"
    is_edit = clause.relation in (Relation.CHANGED, Relation.UNTOUCHED) or not clause.strong
    if clause.relation is Relation.HAS or not is_edit:
        return None
    wide = {kinds[ChangeKind.MODIFIED], len(changes) - kinds[ChangeKind.RENAMED]}
    return len(changes), wide, place.at, "files changed"


def _lines(
    case: Case, clause: Clause, each: Counted, changes: dict[str, Change], place: DefinitionPlace
) -> _Readings | None:
    if any(c.additions is None or c.deletions is None for c in changes.values() if not c.is_binary):
        return None
    plus, minus = (
        sum(c.additions or 0 for c in changes.values()),
        sum(c.deletions or 0 for c in changes.values()),
    )
    word = case.low(each.noun)
    text = case.text(each.at)
    blank = sum(1 for p in changes for line in case.world.lines(p, added=True) if not line.strip())
    if word.startswith("delet") or text[:1] in "-\u2212" or clause.relation is Relation.REMOVED:
        return minus, {max(0, minus - plus)}, place.at, "lines were removed"
    if word.startswith("insert") or text[:1] == "+" or clause.relation in _ADDS:
        tall = {c.line_count for c in changes.values() if c.line_count} if place.paths else set()
        return plus, {plus - blank, max(0, plus - minus), *tall}, place.at, "lines were added"
    if clause.relation is Relation.CHANGED:
        return plus + minus, {plus, minus, max(plus, minus)}, place.at, "lines changed"
    return None


def _dependencies(world: World, clause: Clause) -> _Readings | None:
    listed = world.evidence.dependencies
    if clause.relation in (Relation.CREATED, Relation.ADDED):
        return len({d.name for d in listed if d.before is None}), set(), [], "dependencies were added"
    if clause.relation is Relation.REMOVED:
        return len({d.name for d in listed if d.after is None}), set(), [], "dependencies were removed"
    turned = sum(1 for d in listed if d.before is not None and d.after is not None)
    return len({d.name for d in listed}), {turned}, [], "dependencies changed"


_KINDS = {f"{kind}s": kind for kind in DefinitionKind} | {"classes": DefinitionKind.CLASS}


def _definitions(case: Case, clause: Clause, each: Counted, place: DefinitionPlace) -> _Readings | None:
    world = case.world
    fates = {
        Relation.REMOVED: {DefinitionFate.REMOVED}, Relation.CHANGED: {DefinitionFate.CHANGED},
        Relation.RENAMED: {DefinitionFate.RENAMED, DefinitionFate.MOVED},
    }.get(clause.relation, {DefinitionFate.ADDED} if clause.relation in _ADDS else set())  # fmt: skip
    paths = place.paths or set(world.evidence.changes)
    if not fates or paths & world.evidence.unparsed or not _is_parsed(world, paths):
        return None
    all_of = [d for d in world.evidence.definitions if d.fate in fates and (not place or place.holds(d))]
    if any(d.by_words for d in all_of):
        return None
    kinds = Counter(d.kind for d in all_of)
    count = kinds[_KINDS[each.what]]
    wide: set[int] = set()
    if each.what == "functions":
        methods, tests = kinds[DefinitionKind.METHOD], kinds[DefinitionKind.TEST]
        wide = {count + methods, count + tests, count + methods + tests}
    if each.what == "tests":
        more = _cases(world)
        wide = set(range(count, more + 1)) if place.paths else {more} - {0}
        wide |= set(range(max(1, count - _retitled(all_of, world)), count))
    if each.what == "classes":
        wide = {count + kinds[DefinitionKind.TYPE]}
    name = case.low(each.noun)
    return count, wide, place.at, f"{name if name.endswith('s') else name + 's'} were {min(fates)}"


def _retitled(came: Sequence[DefinitionChange], world: World) -> int:
    """How many of the tests that came may be old ones with another title, as others went from their files."""
    if not came or came[0].fate is not DefinitionFate.ADDED:
        return 0
    tests = [d for d in world.evidence.definitions if d.kind is DefinitionKind.TEST]
    files = {d.path for d in came}
    return sum(d.fate is DefinitionFate.REMOVED and d.path in files for d in tests)


def _is_parsed(world: World, paths: Iterable[str]) -> bool:
    """True if the definitions of every changed program file are known."""
    return all(path.endswith(".py") or path not in world.evidence.unparsed for path in paths)


def _cases(world: World) -> int:
    """How many more tests a run collects than before."""
    return sum(max(0, c.after.collected - c.before.collected) for c in world.evidence.tests if c.before)
