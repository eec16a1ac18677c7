"""Clauses without a verb: what a heading, an arrow, a status or a value says."""

from __future__ import annotations

from dataclasses import replace

from segue.domain.claims.check_definitions import NAMES
from segue.domain.claims.counted import counted_in
from segue.domain.claims.frames import framed_clauses, named_clauses
from segue.domain.claims.ledger import Statement
from segue.domain.claims.lexicon import COUNT_NOUNS, GRAMMAR, PREFIXES, PREPOSITIONS, by_word
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.segments import ARROWS
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.text.words import word_set

_LETTERS = by_word({Relation.CREATED: "a ?? +", Relation.CHANGED: "m", Relation.REMOVED: "d"})
_TURNS = word_set("was were from instead before previously formerly not old than")
_VALUE_WORDS = word_set(
    "went goes is now at from to version of asks for defaults equals the in lists has value new default used "
    "set it instead was gave given where on we old become becomes became"
)


def implied_clauses(
    statement: Statement, tokens: list[StatementToken], clauses: list[Clause]
) -> list[Clause]:
    """What a statement says without a verb of its own."""
    return (
        named_clauses(tokens, clauses)
        or _arrow_clause(tokens, clauses)
        or _coded(tokens, clauses)
        or framed_clauses(tokens, clauses)
        or _value(tokens, clauses)
        or _signed(tokens, clauses)
        or _counted(tokens, clauses)
        or _titled(statement, tokens, clauses)
        or _behaves(tokens, clauses)
        or _lead(statement, tokens, clauses)
    )


def _value(tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`` `LIMIT`: 10 -> 20``, `LIMIT = 20 in a.py`, `` `ruff` is now at 0.2``."""
    names = [n for n, t in enumerate(tokens) if t.kind is WordKind.NAME]
    values = [n for n, t in enumerate(tokens) if t.kind in (WordKind.NUMBER, WordKind.VERSION)]
    if len(values) > 1:
        values = [n for n in values if names and n > names[0]]
    if len(names) != 1 or not 1 <= len(values) <= 2 or any(c.relation is not Relation.HAS for c in clauses):
        return []
    end = _tail(tokens, max(*names, *values))
    is_turn = len(values) == 2 and [tokens[n - 1].low for n in values] == ["from", "to"]
    words = [t.low for t in tokens[:end] if t.kind is WordKind.WORD]
    counted = any(tokens[n + 1].low in COUNT_NOUNS for n in values if n + 1 < len(tokens))
    signed = any(tokens[n].kind is WordKind.NUMBER and tokens[n].text[:1] in "+-" for n in values)
    if counted or signed or not (is_turn or all(low in _VALUE_WORDS or low in GRAMMAR for low in words)):
        return []
    verb = tuple(n for n, t in enumerate(tokens) if t.low in _VALUE_WORDS and t.kind is WordKind.WORD)
    places = tuple(ClauseItem(n, Role.PLACE) for n, t in enumerate(tokens) if t.kind is WordKind.PATH)
    if len(values) == 2 and any(tokens[n].low in _TURNS for n in range(values[0], values[1])):
        values.reverse()  # `20, up from 10`
    old = (ClauseItem(values[0], Role.SOURCE),) if len(values) == 2 else ()
    items = (ClauseItem(names[0], Role.OBJECT), *old, ClauseItem(values[-1], Role.TARGET), *places)
    is_state = not old and "is" in words and _CHANGING.isdisjoint(words)
    return [_made(Relation.VALUE, items, verb, len(tokens) - 1, lemma="is" if is_state else "is now")]


_CHANGING = word_set("went goes now from to new set instead was gave given become becomes became")


_CODES = {**_LETTERS, "r": Relation.RENAMED, "rm": Relation.REMOVED, "mv": Relation.RENAMED}


def _coded(tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`M a.py`, `D a.py`, `rm a.py`, `git mv a.py b.py`."""
    first = 1 if tokens and tokens[0].low == "git" and len(tokens) > 1 else 0
    things = [n for n, t in enumerate(tokens) if t.kind is WordKind.PATH]
    if clauses or not things or things[0] != first + 1 or tokens[first].kind in ENTITIES:
        return []
    relation = _CODES.get(tokens[first].low)
    is_code = len(tokens[first].text) > 1 or tokens[first].text.isupper() or tokens[first].text == "+"
    words = [n for n, t in enumerate(tokens) if t.kind is WordKind.WORD]
    verb = tuple(n for n in words if tokens[n].low in _CODES or tokens[n].low == "git")
    if relation is None or not is_code or any(tokens[n].low not in GRAMMAR for n in words if n not in verb):
        return []
    if relation is not Relation.RENAMED:
        return [_made(relation, tuple(ClauseItem(n, Role.OBJECT) for n in things), verb, len(tokens) - 1)]
    if len(things) != 2:
        return []
    items = (ClauseItem(things[0], Role.OBJECT), ClauseItem(things[1], Role.TARGET))
    return [_made(relation, items, verb, len(tokens) - 1, lemma="rename")]


def _tail(tokens: list[StatementToken], last: int) -> int:
    """Where a side remark begins: "..., which should do for a while"."""
    return next(
        (n for n in range(last + 1, len(tokens)) if tokens[n].text in (",", ";") or tokens[n].low == "which"),
        len(tokens),
    )


_MORE = word_set("new additional more extra further insertions insertion grew gained added up")
_FEWER = word_set("fewer less deletions deletion shrank removed deleted")
_DIFFS = word_set(
    "diff scope summary diffstat number count total amount edits edit changes changed files file involved "
    "involves touched modified edited spread took takes looking footprint affected size stands came "
    "went grew "
    "makes that comes tests lines line test in-all only it you see counts extent covers spans across"
)


_COUNTING = _MORE | _FEWER | _DIFFS | GRAMMAR | frozenset(PREPOSITIONS) | frozenset(COUNT_NOUNS)


def _counted(tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`3 files in the diff`, `2 additional tests in a.py`, `a.py grew by 40 lines`."""
    if any(c.strong and not c.foreign for c in clauses) or any(t.kind in NAMES for t in tokens):
        return []  # "one more test: `test_a`" names it, and counts no others
    counts = [c for c in counted_in(tokens) if c.what not in _RESULTS]
    lows = [t.low for t in tokens]
    paths = [n for n, t in enumerate(tokens) if t.kind is WordKind.PATH]
    words = [n for n, t in enumerate(tokens) if t.kind is WordKind.WORD]
    end = _tail(tokens, max([*paths, *(c.noun for c in counts), *(c.at for c in counts)], default=0))
    others = [n for n in words if n < end and tokens[n].low not in _COUNTING and tokens[n].value is None]
    if len(counts) != 1 or others:
        return []
    is_files = counts[0].what == "files"
    relation = Relation.CHANGED
    if not is_files:
        if not paths or not (_MORE | _FEWER | {"went", "came", "grew"}) & set(lows):
            return []
        relation = Relation.REMOVED if _FEWER & set(lows) else Relation.ADDED
        relation = Relation.HAS if _HOLDING & set(lows) else relation  # "a.py has 6 tests, up from 5"
    elif paths or _NEGATED & set(lows) or not (_DIFFS - {"files", "file"}) & set(lows):
        return []
    elif {"new", "created", "added"} & set(lows):
        relation = Relation.CREATED
    verb = tuple(n for n in words if n < end and tokens[n].low in _MORE | _FEWER | _DIFFS)
    places = tuple(ClauseItem(n, Role.PLACE) for n in paths)
    return [_made(relation, places, verb, len(tokens) - 1, lemma="count")]


_HOLDING = word_set("has have holds hold contains contain")
_RESULTS = frozenset({"passed", "failed", "skipped", "collected", "errors", "warnings", "commits"})
_NEGATED = word_set("not no without than")


def _signed(tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`a.py: +3 -1`."""
    paths = [n for n, t in enumerate(tokens) if t.kind is WordKind.PATH]
    signed = [n for n, t in enumerate(tokens) if t.kind is WordKind.NUMBER and t.text[:1] in "+-\u2212"]
    if clauses or len(paths) != 1 or not signed:
        return []
    return [_made(Relation.CHANGED, (ClauseItem(paths[0], Role.OBJECT),), (), len(tokens) - 1)]


def _titled(statement: Statement, tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`fix: deadlock in a.py`: what a commit message begins with tells that something was done."""
    first = statement.text.partition(":")[0].partition("(")[0].strip()
    if clauses or first not in PREFIXES or ":" not in statement.text[:40]:
        return []
    return _softly(tokens, "titled")


_THESE_DAYS = word_set("now longer anymore")


def _behaves(tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`` `total` in a.py copes with missing keys now``: it does something that it did not do before."""
    cues = [n for n, t in enumerate(tokens) if t.low in _THESE_DAYS]
    if not cues or any(not c.foreign for c in clauses):
        return []
    return _softly(tokens, "behave")


def _softly(tokens: list[StatementToken], lemma: str) -> list[Clause]:
    """Something was done to what is named, whatever it was."""
    names = tuple(ClauseItem(n, Role.OBJECT) for n, t in enumerate(tokens) if t.kind is WordKind.NAME)
    places = tuple(ClauseItem(n, Role.PLACE) for n, t in enumerate(tokens) if t.kind is WordKind.PATH)
    made = _made(Relation.CHANGED, (*names, *places), (), len(tokens) - 1, lemma=lemma)
    return [replace(made, strong=False)] if names or places else []


def _lead(statement: Statement, tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`a.py: better messages`, among the things that were done."""
    if clauses or not statement.field.startswith("what_was_done") or statement.relation or len(tokens) < 3:
        return []
    is_lead = tokens[0].kind is WordKind.PATH and tokens[1].text in (":", "-", "\u2014", "\u2013")
    return [_made(Relation.CHANGED, (ClauseItem(0, Role.OBJECT),), (), 0)] if is_lead else []


def _arrow_clause(tokens: list[StatementToken], clauses: list[Clause]) -> list[Clause]:
    """`a.py -> b.py`, with or without a word such as (renamed)."""
    at = _arrow(tokens)
    old = [n for n in range(at) if tokens[n].kind in {*NAMES, WordKind.PATH}]
    new = [n for n in range(at + 1, len(tokens)) if tokens[n].kind in {*NAMES, WordKind.PATH}]
    others = [c for c in clauses if c.relation is not Relation.RENAMED]
    if not at or not old or not new or others or any(c.of(Role.TARGET) for c in clauses):
        return []
    if tokens[old[-1]].kind is not tokens[new[0]].kind:
        return []
    verb = tuple(v for c in clauses for v in c.verb)
    moved = [ClauseItem(old[-1], Role.OBJECT)]
    if tokens[old[0]].kind is WordKind.NAME and tokens[old[-1]].kind is WordKind.PATH:
        moved = [ClauseItem(old[0], Role.OBJECT), ClauseItem(old[-1], Role.SOURCE)]
    items = (*moved, ClauseItem(new[0], Role.TARGET))
    return [_made(Relation.RENAMED, items, verb, len(tokens) - 1, lemma="rename")]


def inherited_clauses(
    statement: Statement, tokens: list[StatementToken], clauses: list[Clause]
) -> list[Clause]:
    """What a heading, a lead-in, a letter or an arrow says of the things in an item."""
    things = [n for n, t in enumerate(tokens) if t.kind in {*NAMES, WordKind.PATH}]
    if not things or not statement.relation:
        return []
    lead = things[0]
    before = [t.low for t in tokens[:lead] if t.kind is WordKind.WORD]
    if statement.is_list and any(low not in GRAMMAR and low not in _LETTERS for low in before):
        return []
    relation = statement.relation
    verb: tuple[int, ...] = ()
    letters = [n for n, t in enumerate(tokens) if t.low in _LETTERS and t.text == t.text.upper()]
    if len(letters) == 1:
        relation, verb = _LETTERS[tokens[letters[0]].low], (letters[0],)
    if relation is Relation.CHANGED and any(item.at == lead for c in clauses for item in c.items):
        return []  # its own clause says more
    if statement.is_list and tokens[lead].kind is WordKind.PATH:
        deeds = (c for c in clauses if c.relation in (Relation.CREATED, Relation.REMOVED, Relation.RENAMED))
        if any(item.at == lead for c in deeds for item in c.of(Role.OBJECT)):
            return []
        together = [n for n in things if tokens[n].kind is WordKind.PATH and _is_listed(tokens, lead, n)]
        return [_made(relation, tuple(ClauseItem(n, Role.OBJECT) for n in together), verb, lead)]
    return [] if clauses or statement.is_list else [_of_heading(relation, tokens, things)]


def _of_heading(relation: Relation, tokens: list[StatementToken], things: list[int]) -> Clause:
    """An item below a heading such as `Added`."""
    words = tuple(n for n, t in enumerate(tokens) if t.kind is WordKind.WORD)
    items: list[ClauseItem] = []
    role = Role.OBJECT
    for n, token in enumerate(tokens):
        if token.low in ("in", "to", "into", "from", "under"):
            role = Role.PLACE
        elif token.low in ("for", "because", "so", "which", "that", "with", "\u2014", "-", ":") and items:
            role = Role.TOPIC
        elif n in things:
            items.append(ClauseItem(n, role))
    return _made(relation, tuple(items), (), len(tokens) - 1, words=words)


def _is_listed(tokens: list[StatementToken], lead: int, at: int) -> bool:
    """True if only commas and `and` are between two files of one item."""
    return all(
        t.kind is WordKind.PATH
        or t.low in ("and", "&")
        or (t.kind is WordKind.SIGN and set(t.text) <= set(",` "))
        for t in tokens[lead:at]
    )


def _arrow(tokens: list[StatementToken]) -> int:
    return next((n for n, t in enumerate(tokens) if t.text in ARROWS), 0)


def _made(
    relation: Relation,
    items: tuple[ClauseItem, ...],
    verb: tuple[int, ...],
    last: int,
    *,
    lemma: str = "listed",
    words: tuple[int, ...] = (),
) -> Clause:
    return Clause(
        relation=relation, strong=True, lemma=lemma, verb=verb, items=items, words=words, first=0, last=last
    )
