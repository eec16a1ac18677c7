"""Checks what is said of all, only, no other and none: operations on the set of what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_diff, in_tree, unknown
from segue.domain.claims.check_definitions import NAMES, DefinitionPlace, kind_words, shown_fate
from segue.domain.claims.lexicon import (
    EXCEPT,
    GRAMMAR,
    NEGATIONS,
    ONLY,
    OTHERS,
    PREPOSITIONS,
    STATES,
    UNCHANGED,
)
from segue.domain.claims.linking import is_code_path, is_doc_path, is_test_path
from segue.domain.claims.relations import Clause, Role
from segue.domain.claims.tokens import ENTITIES, WordKind, where
from segue.domain.claims.verbs import NOUNS, VERBS, Relation
from segue.domain.evidence.model import DefinitionFate, DefinitionKind
from segue.domain.text.words import word_set

_CHANGE_WORDS = frozenset(
    word
    for word, verbs in VERBS.items()
    if any(v.sense.relation is Relation.CHANGED and v.sense.strong for v in verbs)
) | frozenset(word for word, relation in NOUNS.items() if relation is Relation.CHANGED)
_FILE_WORDS = word_set("file files nothing nothing-else anything everything module modules rest code")
_SET_WORDS = (
    ONLY
    | OTHERS
    | EXCEPT
    | frozenset({"diff", "changeset"})
    | UNCHANGED
    | NEGATIONS
    | _FILE_WORDS
    | word_set(
        "to but than besides except apart from else was were is are all any every in that remain remains "
        "stay stays left kept i"
    )
)


def _is_product(path: str) -> bool:
    return is_code_path(path) and not is_test_path(path)


_GROUPS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(("tests", "test"), is_test_path),
    **dict.fromkeys(("docs", "documentation", "doc"), is_doc_path),
    **dict.fromkeys(("production", "source", "application"), _is_product),
}
_GROUP_NOUNS = word_set("file files code changes documentation")


def check_only(case: Case) -> list[Atom]:
    """`only X changed`, `no other files were touched`, `everything else is unchanged`."""
    lows = [t.low if t.kind not in ENTITIES else "" for t in case.tokens]
    has_others = any(low in OTHERS for low in lows)
    tells_change = any(c.relation is Relation.UNTOUCHED for c in case.reading.clauses) or any(
        low in _CHANGE_WORDS or low in ("diff", "changeset") or STATES.get(low) == "untouched" for low in lows
    )
    if (found := _except(case, lows)) is not None and tells_change:
        return found
    if "nothing" in lows and tells_change and len(case.reading.clauses) == 1 and not _things(case):
        return _no_other(case, lows) if has_others else _nothing(case, lows)
    if any(low in _CLOSING for low in lows) and _things(case) and _is_bare(case, lows):
        return _only(case, lows, len(lows), says_all=True)
    if has_others:
        return _no_other(case, lows) if tells_change else []
    exclusive = [n for n, low in enumerate(lows) if low in ONLY or _is_just(case, n)]
    exclusive = [n for n in exclusive if case.low(n - 1) != "not" and not _says_stayed(case, n)]
    return _only(case, lows, exclusive[0], says_all=True) if exclusive and tells_change else []


_CLOSING = ONLY | word_set(
    "that-is-all nothing-else full-list everything-in one-file single-file alone rest else remaining"
)
_OPINIONS = frozenset({"minimal", "contained"})
_SCOPE = _CLOSING | word_set(
    "scope diff footprint complete full entire happened happens list contained consists consist "
    "comprises covers "
    "covering limited confined myself ourselves spans namely below inside minimal kept it all edits files"
)


_BARE = _SCOPE | _SET_WORDS | _CHANGE_WORDS | GRAMMAR | frozenset(PREPOSITIONS)


def _is_bare(case: Case, lows: list[str]) -> bool:
    """True if a statement says nothing but which files, and that they are all."""
    clauses = case.reading.clauses
    deeds = [c for c in clauses if c.relation not in (Relation.CHANGED, Relation.UNTOUCHED, Relation.HAS)]
    kept = [c for c in clauses if c.relation is Relation.UNTOUCHED or c.negated]
    deeds += [c for c in kept if any(case.kind(i.at) is WordKind.PATH for i in c.items)]
    named = any(t.kind in NAMES for t in case.tokens)
    return not deeds and not named and all(low in _BARE or not low.isalpha() for low in lows)


def _says_stayed(case: Case, at: int) -> bool:
    """True for "a.py is the only file that stayed as it was": all others are said to have changed."""
    kept = (c for c in case.reading.clauses if c.relation is Relation.UNTOUCHED or c.negated)
    other = any(case.low(n) in OTHERS for n in range(len(case.tokens)))
    return not other and any(c.first <= at <= c.last for c in kept)


def _is_just(case: Case, at: int) -> bool:
    """True for the `just` of "just a.py"."""
    after = case.tokens[at + 1] if at + 1 < len(case.tokens) else None
    return case.low(at) == "just" and after is not None and after.kind in ENTITIES


def _things(case: Case) -> bool:
    return any(token.kind in ENTITIES for token in case.tokens)


def _nothing(case: Case, lows: list[str]) -> list[Atom]:
    """`nothing was changed`."""
    changed = sorted(case.world.evidence.changes)
    if changed:
        return [contradicts(case.world.describe(changed[0]), in_diff(changed[0]))]
    covers = [n for n, low in enumerate(lows) if low == "nothing" or low in _CHANGE_WORDS]
    return [holds("no file changed", covers, in_diff())] if case.world.is_whole else []


_ANYTHING = word_set("nothing no none neither anything any other else")
_EVERYTHING = frozenset({"everything", "all", "anything", "rest"})


def _except(case: Case, lows: list[str]) -> list[Atom] | None:
    """`no file other than X`, `nothing outside X`, `apart from X nothing`."""
    kept = any(low in UNCHANGED for low in lows) or any(
        c.relation is Relation.UNTOUCHED for c in case.reading.clauses
    )
    denies = any(low in NEGATIONS for low in lows) and any(low in _ANYTHING for low in lows)
    denied = denies or (kept and any(low in _EVERYTHING for low in lows))
    excepted = [
        at
        for at, low in enumerate(lows)
        if low in EXCEPT and not ONLY & set(lows) and not _is_compared(lows, at)
    ]
    paths = [n for n, t in enumerate(case.tokens) if t.kind is WordKind.PATH]
    if not denied or not excepted or not paths:
        return None
    if lows[excepted[0]] == "but" and not any(n > excepted[0] for n in paths):
        return None
    return _only(case, lows, excepted[0], says_all=False)


def _is_compared(lows: list[str], at: int) -> bool:
    """True for the `than` of "no file changed in more lines than a.py", but not for that of "other than"."""
    return lows[at] == "than" and not {"other", "else", "rather"} & set(lows[max(0, at - 2) : at])


def _no_other(case: Case, lows: list[str]) -> list[Atom]:
    at = next(n for n, low in enumerate(lows) if low in OTHERS)
    around = lows[max(0, at - 4) : at + 5]
    denies = any(low in NEGATIONS or low == "nothing-else" for low in around)
    same = any(STATES.get(low) == "untouched" or low in UNCHANGED for low in lows)
    thing = any(low in _FILE_WORDS for low in around)
    if not (denies or same) or not thing or not case.world.is_whole:
        return []
    changes = case.world.evidence.changes
    silent = [p for p, c in sorted(changes.items()) if p not in case.said and c.is_certain]
    if silent:
        return [contradicts(f"{case.world.describe(silent[0])}, and is named nowhere", in_diff(silent[0]))]
    told = (
        f"all {len(changes)} changed files are named"
        if len(changes) != 1
        else "the only changed file is named"
    )
    kept = [n for n, low in enumerate(lows) if STATES.get(low) == "untouched"]
    return [holds(told, (*kept, *where(lows, _SET_WORDS | _CHANGE_WORDS)), in_diff())]


def _only(case: Case, lows: list[str], at: int, *, says_all: bool) -> list[Atom]:
    world = case.world
    is_twofold = bool(ONLY & set(lows) and {"apart", "except", "besides", "aside", "excluding"} & set(lows))
    is_counted = at + 1 < len(lows) and case.tokens[at + 1].value is not None
    paths = [n for n, t in enumerate(case.tokens) if t.kind is WordKind.PATH and t.certain]
    # "Of the files in docs/, only a.md changed" tells of a part; so does "nothing in src/ but a.ts changed".
    scopes = [n for n in paths if n < at < len(lows) or (not says_all and _is_within(case, n))]
    within = [n for n in scopes if world.find_path(case.text(n)).is_many]
    if not world.is_whole or is_counted or is_twofold or within:
        return []
    names = [n for n, t in enumerate(case.tokens) if t.kind is WordKind.NAME and t.certain]
    covers = where(lows, _SET_WORDS | _CHANGE_WORDS | (_SCOPE - _OPINIONS))
    if names:
        return []
    if not paths:
        return _only_group(case, lows, covers)
    allowed = {path for n in paths for path in world.find_path(case.text(n)).paths}
    beyond = [p for p, c in sorted(world.evidence.changes.items()) if p not in allowed and c.is_certain]
    if beyond:
        return [contradicts(f"{world.describe(beyond[0])}, too", in_diff(beyond[0]))]
    idle = [n for n in paths if not _is_changed(case, case.text(n))]
    if idle and (says_all or len(idle) == len(paths)):
        text = case.text(idle[0])
        return [contradicts(f"{text} did not change", in_tree(text))]
    return [holds("nothing else changed", (*covers, *paths), in_diff())]


def _is_within(case: Case, at: int) -> bool:
    """True for the `src/` of "nothing in src/"."""
    return any(case.low(n) in ("in", "under", "inside", "within", "below") for n in (at - 1, at - 2))


def _is_changed(case: Case, text: str) -> bool:
    world = case.world
    return any(p in world.evidence.changes or p in world.renamed for p in world.find_path(text).paths)


def _only_group(case: Case, lows: list[str], covers: list[int]) -> list[Atom]:
    named = where(lows, _GROUPS)
    if not named:
        return []
    fits = _GROUPS[lows[named[0]]]
    beyond = [p for p in sorted(case.world.evidence.changes) if not fits(p)]
    if beyond:
        return [contradicts(f"{case.world.describe(beyond[0])}, too", in_diff(beyond[0]))]
    nouns = where(lows, _GROUP_NOUNS)
    return [holds("no other file changed", (*covers, *named, *nouns), in_diff())]


def check_untouched(case: Case, clause: Clause) -> list[Atom]:
    """`did not touch X`, `left X alone`, `no changes to X`."""
    span = range(clause.first, min(clause.last + 3, len(case.tokens)))
    if clause.relation is Relation.UNTOUCHED:
        lows = {case.low(n) for n in span}
        is_as = "as" in lows and bool({"is", "was", "before", "it"} & lows)
        if clause.negated or not (clause.lemma in STATES or UNCHANGED & lows or is_as):
            return []
    states = case.at(UNCHANGED | NEGATIONS | {"as", "at", "all", "way", "any"}, span)
    found: list[Atom] = []
    items = [i for i in clause.of(Role.OBJECT, Role.TARGET, Role.PLACE) if not i.modifies]
    but = [n for n in case.at(EXCEPT - {"than"}, span) if case.kind(n) is WordKind.WORD][
        :1
    ]  # "nothing in src/ besides a.py was touched"
    items = [i for i in items if not but or i.at < but[0]]
    named = [i for i in items if case.kind(i.at) in NAMES and case.kind(i.at) is not WordKind.QUOTE]
    for item in items:
        token = case.tokens[item.at]
        covers = (item.at, *clause.verb, *states)
        if token.kind is WordKind.PATH and not (named and item.role is not Role.OBJECT):
            found.append(_path_untouched(case, token.text, covers, token.certain))
        elif item in named:
            found.append(_name_untouched(case, clause, item.at, covers))
    return found or _group_untouched(case, clause, states)


def _path_untouched(case: Case, text: str, covers: Iterable[int], certain: bool) -> Atom:
    world = case.world
    match = world.find_path(text)
    touched = [p for p in match.paths if p in world.evidence.changes and world.evidence.changes[p].is_certain]
    touched += [p for p in match.paths if p in world.renamed]
    is_excepted = bool(case.at(EXCEPT - {"but"}))  # "nothing under tests/ changed apart from a.py"
    is_clear = len(match.paths) == 1 or (match.is_many and not is_excepted)
    if touched and is_clear and certain and not _is_told_move(case, touched[0]):
        shown = touched[0] if touched[0] in world.evidence.changes else world.renamed[touched[0]]
        return contradicts(world.describe(shown), in_diff(shown))
    if touched or match.unseen or not match.paths or not world.is_whole or (match.is_many and is_excepted):
        return unknown(f"nothing shows that {text} is unchanged")
    return holds(f"{match.wanted} did not change", covers, in_tree(match.wanted))


def _is_told_move(case: Case, path: str) -> bool:
    """True if a file was only renamed, and both names are in the statement: its text is the same."""
    now = case.world.renamed.get(path, path)
    change = case.world.change(now)
    if change is None or change.old_path is None or change.additions or change.deletions:
        return False
    named = {p for t in case.tokens if t.kind is WordKind.PATH for p in case.world.find_path(t.text).paths}
    return {now, change.old_path} <= named


def _name_untouched(case: Case, clause: Clause, at: int, covers: tuple[int, ...]) -> Atom:
    world, token = case.world, case.tokens[at]
    place = DefinitionPlace(case, clause.of(Role.PLACE, Role.SOURCE))
    known = [d for d in world.definitions(token.text) if not place or place.holds(d)]
    sure = [d for d in known if not d.by_words and (d.body_changed or d.fate is not DefinitionFate.CHANGED)]
    if sure and sure[0].fate is not DefinitionFate.ADDED:
        return contradicts(shown_fate(sure[0]), in_diff(sure[0].path))
    defined = world.definition_places(token.text)
    if known or not world.are_lines_whole or not defined:
        return unknown(f"nothing shows that `{token.text}` is unchanged")
    looked = {p.path for p in defined} & set(world.evidence.changes)
    if any(path in world.evidence.unparsed or not is_code_path(path) for path in looked):
        return unknown(f"nothing shows that `{token.text}` is unchanged")
    words = [*case.at(_DEFINED, (at - 1, at + 1)), *kind_words(case, at, None)]
    told = f"`{token.text}` did not change"
    return holds(told, (*covers, *place.at, *words), in_tree(defined[0].path))


_DEFINED = word_set("function class method constant helper")


def _is_whole_group(case: Case, clause: Clause) -> bool:
    """False for "left the doctor tests alone": words that are not known may narrow the group."""
    known = (
        _SET_WORDS | _GROUPS.keys() | _GROUP_NOUNS | GRAMMAR | UNCHANGED | _CHANGE_WORDS | PREPOSITIONS.keys()
    )
    return all(case.low(n) in known or case.low(n) in ("existing", "production") for n in clause.words)


def _group_untouched(case: Case, clause: Clause, states: list[int]) -> list[Atom]:
    """`existing tests were not changed`, `no production code was touched`."""
    span = range(clause.first, min(clause.last + 1, len(case.tokens)))
    named = [n for n in span if case.low(n) in _GROUPS and case.kind(n) is WordKind.WORD]
    if not named or not case.world.is_whole or not _is_whole_group(case, clause):
        return []
    fits = _GROUPS[case.tokens[named[0]].low]
    touched = [p for p in sorted(case.world.evidence.changes) if fits(p)]
    existing = case.at(("existing",), span)
    evidence = case.world.evidence
    if existing and fits is is_test_path:
        tests = [d for d in evidence.definitions if d.kind is DefinitionKind.TEST and not d.by_words]
        changed = set(touched)
        touched = [d.path for d in tests if d.fate is not DefinitionFate.ADDED]
        if not touched and (changed & evidence.unparsed or not all(is_code_path(p) for p in changed)):
            return []
    if touched:
        return [contradicts(case.world.describe(touched[0]), in_diff(touched[0]))]
    others = [n for n in span if case.low(n) in _GROUP_NOUNS or case.low(n) in GRAMMAR]
    return [holds("no such file changed", (*named, *states, *existing, *others, *clause.verb), in_diff())]
