"""Checks numbers of things that came, went or changed, against every honest way to count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from segue.domain.claims.atoms import Atom, AtomStatus, Case, by_words, contradicts, holds, unknown
from segue.domain.claims.check_definitions import DefinitionPlace
from segue.domain.claims.lexicon import ABOUT, COUNT_NOUNS, GRAMMAR, NEW, PREPOSITIONS
from segue.domain.claims.linking import World, is_code_path, is_test_path
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.definitions import read_python
from segue.domain.evidence.model import Change, ChangeKind, DefinitionFate, DefinitionKind
from segue.domain.text.words import word_set

_RUN_NOUNS = frozenset({"passed", "failed", "skipped", "collected", "errors", "warnings"})
_Readings = tuple[int, set[int], list[int], str]
"""The honest count, the generous ones, the tokens of the place, and what was counted."""
_ADDS = (Relation.CREATED, Relation.ADDED, Relation.HAS, Relation.EXTRACTED)
_OTHER_NUMBERS = word_set("not from than instead")
"""Before a number: it is not the one that is claimed."""
_NOT_COUNTED = word_set("every each any not no this that the which last another a")
"""Before `one`: it counts nothing."""
_DEEDS = word_set("added removed deleted changed modified")
_UNIT_WORDS = frozenset(
    {"unit", "integration", "regression", "new", "test", "helper", "public", "source", "production", "python"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """A number with what it counts."""

    at: int
    noun: int
    what: str
    value: int
    is_rough: bool = False
    is_total: bool = False
    """True for the 14 of "of 14 tests 12 passed"."""
    between: tuple[int, ...] = ()
    exact: tuple[int, ...] = ()
    """The `exactly` before it: no generous way to count proves that."""
    start: int | None = None
    """The 3 of "from 3 to 5 tests"."""


def counted_in(tokens: list[StatementToken], first: int = 0, last: int | None = None) -> list[Counted]:
    """Every number of a statement that has a noun."""
    stop = len(tokens) - 1 if last is None else last
    found: list[Counted] = []
    for at in range(first, stop + 1):
        token = tokens[at]
        if token.value is None or token.kind is WordKind.RANGE or token.text.endswith("%"):
            continue
        before = tokens[at - 1].low if at > first else ""
        after = [each.low for each in tokens[at + 1 : min(at + 3, stop + 1)]]
        is_turn = before == "to" and at - first > 2 and tokens[at - 3].low == "from"
        is_other = before in _OTHER_NUMBERS or (token.low in ("one", "single") and before in _NOT_COUNTED)
        if is_other or after[:1] in (["fewer"], ["less"]) or after[1:] == ["than"]:
            continue
        noun = _noun_of(tokens, at, stop)
        if noun is None and found and after and after[0] in _DEEDS:
            noun = found[-1].noun
        if noun is not None:
            counted = Counted(
                at=at,
                noun=noun,
                what=COUNT_NOUNS.get(tokens[noun].low, "lines"),
                value=abs(token.value),
                is_rough=token.text.startswith("~") or (at > 0 and tokens[at - 1].low in ABOUT),
                is_total=_is_total(tokens, at),
                between=tuple(n for n in range(at + 1, noun) if tokens[n].low in _UNIT_WORDS),
                exact=(at - 1,) if before in ("exactly", "precisely") else (),
                start=tokens[at - 2].value if is_turn else None,
            )
            found.append(counted)
    return found


def _is_total(tokens: list[StatementToken], at: int) -> bool:
    """True for the 14 of "of the 14 tests 12 passed"."""
    before = at - 2 if at > 1 and tokens[at - 1].low == "the" else at - 1
    return before >= 0 and tokens[before].low == "of"


def _noun_of(tokens: list[StatementToken], at: int, stop: int) -> int | None:
    for n in range(at + 1, min(at + 5, stop + 1)):
        token = tokens[n]
        if token.kind in ENTITIES and token.kind is not WordKind.NAME:
            break
        if token.low in COUNT_NOUNS and token.kind is WordKind.WORD:
            after = tokens[n + 1] if n + 1 <= stop else None
            is_first = token.low in ("test", "function", "file", "class", "total")
            return n + 1 if is_first and after is not None and after.low in COUNT_NOUNS else n
        if (token.low in PREPOSITIONS and token.low != "of") or token.kind in (
            WordKind.SIGN,
            WordKind.NUMBER,
        ):
            break
    has_unit = at < stop and tokens[at + 1].kind is WordKind.WORD and tokens[at + 1].low not in PREPOSITIONS
    if has_unit:
        return None
    if tokens[at].text[:1] in "+\u2212" or (
        tokens[at].text[:1] == "-" and tokens[at].kind is WordKind.NUMBER
    ):
        return at
    noun = _label_of(tokens, at)
    if noun is None and at >= 2 and tokens[at - 1].text in _POINTS:
        near = (n for n in (at - 2, at - 3) if n >= 0 and _is_count_noun(tokens[n]))
        return next(near, None)
    return noun


_POINTS = (":", "=", "\u2192", "->")


def _is_count_noun(token: StatementToken) -> bool:
    return token.kind is WordKind.WORD and token.low in COUNT_NOUNS


_LABELS = word_set("number count total amount insertions deletions")
_TITLES = _LABELS | word_set("summary diffstat scope result size extent")


def _label_of(tokens: list[StatementToken], at: int) -> int | None:
    """The `files` of "Number of changed files: 2" and of "the number of tests in a.py went up by 2"."""
    if not any(token.low in _LABELS for token in tokens[:at]):
        return None
    if tokens[at - 1].low not in (*_POINTS, "is", "by", "to", "at"):
        return None
    nouns = [n for n in range(at) if _is_count_noun(tokens[n])]
    return next((n for n in nouns if tokens[n].low not in _LABELS), nouns[0] if nouns else None)


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
        readings = _readings(case, _as_addition(case, clause, each), each)
        if readings is not None:
            atom = _judge(clause, each, readings)
            is_soft = clause.relation is Relation.CHANGED and not clause.strong and each.what != "files"
            if atom.status is AtomStatus.CONTRADICTS and is_soft:
                atom = unknown(atom.reason)
            found.append(replace(atom, covers=atom.covers | set(case.at(_TITLES))) if atom.covers else atom)
    return found


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
    return [by_words(told, came[2]) if each.value - start == came[0] - went[0] else contradicts(told)]


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
        return holds(told, covers)
    is_near = each.is_rough and any(abs(each.value - n) <= max(2, n * 0.15) for n in (narrow, *wide))
    if is_near or each.value in wide:
        return by_words(told, (each.noun, *clause.verb, *places))
    return contradicts(f"{told}, not {each.value}")


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
    if any(case.low(n) not in _UNIT_WORDS | GRAMMAR for n in range(each.at + 1, each.noun)):
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
    if each.what == "classes":
        wide = {count + kinds[DefinitionKind.TYPE]}
    name = case.low(each.noun)
    return count, wide, place.at, f"{name if name.endswith('s') else name + 's'} were {min(fates)}"


def _is_parsed(world: World, paths: Iterable[str]) -> bool:
    """True if the definitions of every changed program file are known."""
    return all(path.endswith(".py") or path not in world.evidence.unparsed for path in paths)


def _cases(world: World) -> int:
    """How many more tests a run collects than before."""
    return sum(max(0, c.after.collected - c.before.collected) for c in world.evidence.tests if c.before)
