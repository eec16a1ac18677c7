"""Checks numbers of things that came, went or changed, against every honest way to count them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from segue.domain.claims.atoms import Atom, Case, Status, by_words, contradicts, holds, unknown
from segue.domain.claims.check_definitions import Place
from segue.domain.claims.lexicon import ABOUT, COUNT_NOUNS, GRAMMAR, PREPOSITIONS
from segue.domain.claims.linking import World, is_code_path, is_test_path
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import ENTITIES, Kind, Token
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import Change, ChangeKind, DefinitionChange, DefinitionFate, DefinitionKind
from segue.domain.handoff.reading.words import word_set

_RUN_NOUNS = frozenset({"passed", "failed", "skipped", "collected", "errors", "warnings"})
_Readings = tuple[list[int], set[int], list[int], str]
"""The honest counts, the generous ones, the tokens of the place, and what was counted."""
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
    is_rough: bool
    is_total: bool
    """True for the 14 of "of 14 tests 12 passed"."""
    between: tuple[int, ...]
    exact: tuple[int, ...] = ()
    """The `exactly` before it: no generous way to count proves that."""


def counted_in(tokens: list[Token], first: int = 0, last: int | None = None) -> list[Counted]:
    """Every number of a statement that has a noun."""
    stop = len(tokens) - 1 if last is None else last
    found: list[Counted] = []
    for at in range(first, stop + 1):
        token = tokens[at]
        if token.value is None or token.kind is Kind.RANGE or token.text.endswith("%"):
            continue
        before = tokens[at - 1].low if at > first else ""
        if before in _OTHER_NUMBERS or (token.low in ("one", "single") and before in _NOT_COUNTED):
            continue
        if at < stop and tokens[at + 1].low in ("fewer", "less"):
            continue
        if "than" in (before, tokens[at + 2].low if at + 2 <= stop else ""):
            continue
        noun = _noun_of(tokens, at, stop)
        if noun is None and found and at < stop and tokens[at + 1].low in _DEEDS:
            noun = found[-1].noun
        if noun is None:
            continue
        rough = token.text.startswith("~") or (at > 0 and tokens[at - 1].low in ABOUT)
        between = tuple(n for n in range(at + 1, noun) if tokens[n].low in _UNIT_WORDS)
        found.append(
            Counted(
                at=at,
                noun=noun,
                what=COUNT_NOUNS.get(tokens[noun].low, "lines"),
                value=abs(token.value),
                is_rough=rough,
                is_total=_is_total(tokens, at),
                between=between,
                exact=(at - 1,) if before in ("exactly", "precisely") else (),
            )
        )
    return found


def _is_total(tokens: list[Token], at: int) -> bool:
    """True for the 14 of "of the 14 tests 12 passed"."""
    before = at - 2 if at > 1 and tokens[at - 1].low == "the" else at - 1
    return before >= 0 and tokens[before].low == "of"


def _noun_of(tokens: list[Token], at: int, stop: int) -> int | None:  # noqa: PLR0911 (one way out for each finding)
    for n in range(at + 1, min(at + 5, stop + 1)):
        token = tokens[n]
        if token.kind in ENTITIES and token.kind is not Kind.NAME:
            break
        if token.low in COUNT_NOUNS and token.kind is Kind.WORD:
            after = tokens[n + 1] if n + 1 <= stop else None
            if after is not None and after.low in ("files", "file") and token.low == "test":
                return n + 1
            is_first_part = (
                token.low in ("test", "function", "file", "class", "total")
                and after is not None
                and after.low in COUNT_NOUNS
            )
            return n + 1 if is_first_part else n
        if (token.low in PREPOSITIONS and token.low != "of") or token.kind in (Kind.SIGN, Kind.NUMBER):
            break
    has_unit = at < stop and tokens[at + 1].kind is Kind.WORD and tokens[at + 1].low not in PREPOSITIONS
    if has_unit:
        return None
    if tokens[at].text[:1] in "+\u2212" or (tokens[at].text[:1] == "-" and tokens[at].kind is Kind.NUMBER):
        return at
    if (noun := _label_of(tokens, at)) is not None:
        return noun
    if at >= 2 and tokens[at - 1].kind is Kind.SIGN and tokens[at - 1].text in (":", "=", "\u2192", "->"):
        near = [
            n
            for n in (at - 2, at - 3)
            if n >= 0 and tokens[n].kind is Kind.WORD and tokens[n].low in COUNT_NOUNS
        ]
        return near[0] if near else None
    return None


_LABELS = word_set("number count total amount insertions deletions")
_TITLES = _LABELS | word_set("summary diffstat scope result size extent")


def _label_of(tokens: list[Token], at: int) -> int | None:
    """The `files` of "Number of changed files: 2" and of "the number of tests in a.py went up by 2"."""
    if not any(token.low in _LABELS for token in tokens[:at]):
        return None
    if tokens[at - 1].text not in (":", "=", "\u2192", "->") and tokens[at - 1].low not in (
        "is",
        "by",
        "to",
        "at",
    ):
        return None
    nouns = [n for n in range(at) if tokens[n].kind is Kind.WORD and tokens[n].low in COUNT_NOUNS]
    return next((n for n in nouns if tokens[n].low not in _LABELS), nouns[0] if nouns else None)


def check_counts(case: Case, clause: Clause) -> list[Atom]:
    """The numbers of a clause that tells of a change."""
    found = []
    for each in counted_in(case.tokens, clause.first, clause.last):
        is_later = case.tokens[each.at].low == "no" and each.at > max(clause.verb, default=0) + 1
        is_later = is_later or (case.tokens[each.at].low == "no" and clause.lemma == "gone")
        paths = [i for i in clause.of(Role.OBJECT) if case.tokens[i.at].kind is Kind.PATH]
        is_later = is_later or (
            case.tokens[each.at].low == "one" and each.what == "files" and len(paths) == 1
        )
        is_later = is_later or (each.value == 0 and each.noun > each.at + 1 and not each.between)
        if each.what in _RUN_NOUNS or is_later:
            continue
        readings = _readings(case, _as_addition(case, clause, each), each)
        if readings is not None:
            atom = _judge(clause, each, readings)
            is_soft = clause.relation is Relation.CHANGED and not clause.strong and each.what != "files"
            if atom.status is Status.CONTRADICTS and is_soft:
                atom = unknown(atom.reason)
            titles = [n for n, token in enumerate(case.tokens) if token.low in _TITLES]
            found.append(replace(atom, covers=atom.covers | set(titles)) if atom.covers else atom)
    return found


def _as_addition(case: Case, clause: Clause, each: Counted) -> Clause:
    """ "Extended a.py by 2 tests", "a.py: +2 tests": what is counted was added."""
    before = case.tokens[each.at - 1].low if each.at else ""
    is_added = before in ("by", "with") or case.tokens[each.at].text[:1] == "+"
    is_thing = each.what not in ("files", "lines", "commits")
    if is_added and is_thing and clause.relation is Relation.CHANGED:
        return replace(clause, relation=Relation.ADDED, items=_as_places(case, clause))
    return clause


def _as_places(case: Case, clause: Clause) -> tuple[Item, ...]:
    """The files of a clause, as the places of what it tells."""
    return tuple(
        item._replace(role=Role.PLACE) if case.tokens[item.at].kind is Kind.PATH else item
        for item in clause.items
    )


def _judge(clause: Clause, each: Counted, readings: _Readings) -> Atom:
    narrow, wide, places, what = readings
    covers = (each.at, each.noun, *each.between, *each.exact, *places, *clause.verb)
    told = f"{narrow[0]} {what}"
    if narrow[0] == 1:
        told = (
            told.replace("s were ", " was ")
            .replace("dependencie ", "dependency ")
            .replace("classe ", "class ")
        )
    if each.value in narrow:
        return holds(told, covers)
    if each.is_rough and any(abs(each.value - n) <= max(2, n * 0.15) for n in (*narrow, *wide)):
        return by_words(told, (each.noun, *clause.verb, *places))
    if each.value in wide:
        return by_words(told, (each.noun, *clause.verb, *places))
    return contradicts(f"{told}, not {each.value}")


def _readings(case: Case, clause: Clause, each: Counted) -> _Readings | None:  # noqa: PLR0911 (one way out for each finding)
    world = case.world
    if not world.is_whole:
        return None
    roles = (Role.SOURCE, Role.PLACE) if clause.relation is Relation.REMOVED else (Role.TARGET, Role.PLACE)
    place = Place(case, clause.of(*roles))
    objects = [i for i in clause.of(Role.OBJECT) if case.tokens[i.at].kind is Kind.PATH and not place]
    if objects and each.what == "lines":
        place = Place(case, objects)
    is_narrower = each.what == "lines" and any(t.kind is Kind.NAME and t.certain for t in case.tokens)
    is_elsewhere = each.what not in ("files", "commits") and not place.paths and _names_a_file(case, clause)
    if is_narrower or is_elsewhere:
        return None
    changes = {p: c for p, c in world.evidence.changes.items() if not place.paths or p in place.paths}
    match each.what:
        case "files":
            return _files(case, clause, each, changes, place)
        case "lines":
            return _lines(case, clause, each, changes, place)
        case "commits":
            made = len(world.evidence.commits)
            return ([made], set(), [], "commits were made") if world.evidence.are_commits_whole else None
        case "dependencies":
            return _dependencies(world, clause)
        case "tests" | "functions" | "methods" | "classes" | "constants" | "types":
            return _definitions(case, clause, each, place)
        case _:
            return None


def _names_a_file(case: Case, clause: Clause) -> bool:
    """True if a file is named, but not as the place of the clause: it may be the one that is meant."""
    known = {item.at for item in clause.items}
    return any(t.kind is Kind.PATH and t.certain and n not in known for n, t in enumerate(case.tokens))


def _files(
    case: Case, clause: Clause, each: Counted, changes: dict[str, Change], place: Place
) -> _Readings | None:
    kinds = {
        Relation.CREATED: {ChangeKind.ADDED},
        Relation.ADDED: {ChangeKind.ADDED},
        Relation.REMOVED: {ChangeKind.DELETED},
        Relation.RENAMED: {ChangeKind.RENAMED},
    }.get(clause.relation)
    near = [case.tokens[n].low for n in range(each.at, each.noun + 1)]
    if "test" in near or "tests" in near:
        changes = {p: c for p, c in changes.items() if is_test_path(p)}
    elif "python" in near:
        changes = {p: c for p, c in changes.items() if p.endswith(".py")}
    elif {"source", "production"} & set(near):
        changes = {p: c for p, c in changes.items() if is_code_path(p) and not is_test_path(p)}
    if any(case.tokens[n].low not in _UNIT_WORDS | GRAMMAR for n in range(each.at + 1, each.noun)):
        return None
    if kinds is None:
        if clause.relation is Relation.HAS:
            return None
        if clause.relation not in (Relation.CHANGED, Relation.UNTOUCHED) and clause.strong:
            return None
        alike = [len(changes)]
        only = sum(c.kind is ChangeKind.MODIFIED for c in changes.values())
        no_renames = sum(c.kind is not ChangeKind.RENAMED for c in changes.values())
        return alike, {only, no_renames}, place.at, "files changed"
    narrow = sum(c.kind in kinds for c in changes.values())
    wide = {sum(c.kind in {*kinds, ChangeKind.RENAMED} for c in changes.values())}
    return (
        [narrow],
        wide,
        place.at,
        f"files were {'removed' if clause.relation is Relation.REMOVED else clause.relation}",
    )


def _lines(
    case: Case, clause: Clause, each: Counted, changes: dict[str, Change], place: Place
) -> _Readings | None:
    if any(c.additions is None or c.deletions is None for c in changes.values() if not c.is_binary):
        return None
    plus, minus = (
        sum(c.additions or 0 for c in changes.values()),
        sum(c.deletions or 0 for c in changes.values()),
    )
    word = case.tokens[each.noun].low
    text = case.tokens[each.at].text
    blank = sum(1 for p in changes for line in case.world.lines(p, added=True) if not line.strip())
    if word.startswith("delet") or text[:1] in "-\u2212" or clause.relation is Relation.REMOVED:
        return [minus], {max(0, minus - plus)}, place.at, "lines were removed"
    if word.startswith("insert") or text[:1] == "+" or clause.relation in _ADDS:
        tall = {c.line_count for c in changes.values() if c.line_count} if place.paths else set()
        return [plus], {plus - blank, max(0, plus - minus), *tall}, place.at, "lines were added"
    if clause.relation is Relation.CHANGED:
        return [plus + minus], {plus, minus, max(plus, minus)}, place.at, "lines changed"
    return None


def _dependencies(world: World, clause: Clause) -> _Readings | None:
    listed = world.evidence.dependencies
    if clause.relation in (Relation.CREATED, Relation.ADDED):
        return [len({d.name for d in listed if d.before is None})], set(), [], "dependencies were added"
    if clause.relation is Relation.REMOVED:
        return [len({d.name for d in listed if d.after is None})], set(), [], "dependencies were removed"
    return (
        [len({d.name for d in listed})],
        {sum(1 for d in listed if d.before is not None and d.after is not None)},
        [],
        "dependencies changed",
    )


_KINDS = {
    "tests": {DefinitionKind.TEST},
    "functions": {DefinitionKind.FUNCTION},
    "methods": {DefinitionKind.METHOD},
    "classes": {DefinitionKind.CLASS},
    "constants": {DefinitionKind.CONSTANT},
    "types": {DefinitionKind.TYPE},
}


def _definitions(case: Case, clause: Clause, each: Counted, place: Place) -> _Readings | None:
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
    count = sum(d.kind in _KINDS[each.what] for d in all_of)
    wide: set[int] = set()
    if each.what == "functions":
        function, method, test = DefinitionKind.FUNCTION, DefinitionKind.METHOD, DefinitionKind.TEST
        wide = {
            _sum(all_of, function, method),
            _sum(all_of, function, test),
            _sum(all_of, function, method, test),
        }
    if each.what == "tests":
        more = _cases(world)
        wide = set(range(count, more + 1)) if place.paths else {more} - {0}
    if each.what == "classes":
        wide = {_sum(all_of, DefinitionKind.CLASS, DefinitionKind.TYPE)}
    name = case.tokens[each.noun].low
    return [count], wide, place.at, f"{name if name.endswith('s') else name + 's'} were {min(fates)}"


def _is_parsed(world: World, paths: Iterable[str]) -> bool:
    """True if the definitions of every changed program file are known."""
    return all(path.endswith(".py") or path not in world.evidence.unparsed for path in paths)


def _sum(found: list[DefinitionChange], *kinds: DefinitionKind) -> int:
    return sum(d.kind in kinds for d in found)


def _cases(world: World) -> int:
    """How many more tests a run collects than before."""
    return sum(max(0, c.after.collected - c.before.collected) for c in world.evidence.tests if c.before)
