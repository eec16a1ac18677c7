"""What a statement says by its frame, whatever its verb: there or not, same or not, from here to there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from segue.domain.claims.lexicon import (
    COUNT_NOUNS,
    DETERMINERS,
    GRAMMAR,
    KIND_NOUNS,
    NEGATIONS,
    PREPOSITIONS,
    USES,
)
from segue.domain.claims.relations import APPOSITIONS, Clause, ClauseItem, Role
from segue.domain.claims.segments import ARROWS
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.text.words import word_set

_LATER = word_set(
    "now anymore longer left remain remains survive survives anywhere nowhere today nobody nothing"
)
_EARLIER = word_set("before earlier previously formerly until prior")
_THERE = word_set(
    "exist exists existed there present found find finds see sees have has had hold holds contain contains "
    "sport sports carry carries live lives sit sits available around left remain remains survive survives "
    "refers refer points point mentions mention anything"
)
_AWAY = word_set("lost loses vanished disappeared dropped-out lacks free without evaporated")
_WHERE = word_set(
    "tree disk repo repository codebase code place anywhere nowhere everywhere every file files you one "
    "anyone "
    "somebody nobody nothing grep search today also longer anymore now before earlier previously yet "
    "like a few "
    "fresh shiny brand new entirely until prior either such will can be there's"
)
_DIFFERENT = word_set("differ differs differed different differently")
_SAME = word_set("same identical as-before kept-content")
_SAMENESS = word_set(
    "look looks looked body code contents content lines line some character byte before earlier now old "
    "exactly still version text source stays remains remain left kept keep keeps i whole part parts every "
    "them today implementation"
)
_OLD = word_set("was were former formerly previously once originally ex replaces replaced instead née then")
_NAMING = word_set(
    "name names named called became become becomes turned turns known title what gave given give new "
    "refactor today goes go has the that it its from"
)
_SOURCES = word_set("from left formerly was were than instead longer not off vacated")


_NAMES = (WordKind.NAME, WordKind.SNIPPET, WordKind.QUOTE)
_HOLDING = word_set("have has had hold holds contain contains sport sports carry carries")


_GLUE = GRAMMAR | frozenset(PREPOSITIONS) | DETERMINERS | NEGATIONS | APPOSITIONS


class _Gist:
    """A statement as a row of words and things."""

    def __init__(self, tokens: Sequence[StatementToken]) -> None:
        self.tokens = tokens
        self.lows = ["" if t.kind in ENTITIES else t.low for t in tokens]
        self.names = [n for n, t in enumerate(tokens) if t.kind in _NAMES]
        self.paths = [n for n, t in enumerate(tokens) if t.kind is WordKind.PATH]

    def at(self, words: Collection[str]) -> list[int]:
        """Where one of these words is."""
        return [n for n, low in enumerate(self.lows) if low in words]

    def says_only(self, words: Collection[str], last: int | None = None) -> bool:
        """True if every word up to there is one of these, or one of grammar."""
        ahead = self.lows[: len(self.lows) if last is None else last]
        return all(not low.isalpha() or low in words or low in _GLUE for low in ahead)

    def head(self) -> int:
        """Where a side remark begins, behind all things: "..., which should do for a while"."""
        last = max([*self.names, *self.paths], default=0)
        behind = range(last + 1, len(self.lows))
        ends = (n for n in behind if self.tokens[n].kind is WordKind.SIGN or self.lows[n] in _ASIDES)
        return next(ends, len(self.lows))

    def before(self, n: int) -> str:
        """The word before a thing, its article and its kind left aside."""
        n -= 1
        while n >= 0 and self.lows[n] in _CALLED:
            n -= 1
        return self.lows[n] if n >= 0 else ""


_ASIDES = word_set("which because so hence since for as good finally")
_CALLED = DETERMINERS | APPOSITIONS | word_set("named called in at name 's of")
_NO_DEEDS = (Relation.HAS, Relation.UNUSED, Relation.UNTOUCHED)


def framed_clauses(tokens: Sequence[StatementToken], clauses: Sequence[Clause]) -> list[Clause]:
    """The clause of a statement whose frame tells more than its verbs."""
    if any(c.relation not in _NO_DEEDS and c.strong and c.items and not c.foreign for c in clauses):
        return []
    gist = _Gist(tokens)
    if any(c.relation in (Relation.RAN, Relation.RESULT) for c in clauses):
        return []
    return _ran(gist) or _moved(gist) or _absent_or_there(gist) or _same_or_not(gist)


_RUNNING = word_set(
    "did gave go made run runs ran round used command commands issued fired started let finish finished came "
    "called typed entered executed tried triggered performed went with which i locally once twice again then "
    "shell $ off through completion"
)


def _ran(gist: _Gist) -> list[Clause]:
    """ "Gave `make check` a go", "Command used: `npm test`", "$ npm test"."""
    commands = [n for n, t in enumerate(gist.tokens) if t.kind is WordKind.COMMAND]
    cues = gist.at(_RUNNING)
    is_other = gist.names or gist.paths or gist.at(NEGATIONS | {"you", "to", "can", "if"})
    if not commands or not cues or is_other or any(t.value is not None for t in gist.tokens):
        return []
    behind = range(commands[-1] + 1, len(gist.lows))
    end = next((n for n in behind if gist.lows[n] in _ASIDES or "," in gist.lows[n]), None)
    if not gist.says_only(_RUNNING, end):
        return []
    items = [ClauseItem(n, Role.OBJECT) for n in commands]
    return [_made(gist, Relation.RAN, items, cues, lemma="run")]


def _moved(gist: _Gist) -> list[Clause]:
    """ "`total` went from a.py to b.py", "b.py is the new home of `total`, it was in a.py"."""
    if len(gist.names) != 1 or len(gist.paths) != 2:
        return []
    old = [n for n in gist.paths if gist.before(n) in _SOURCES]
    arrow = [n for n in range(gist.paths[0], gist.paths[1]) if gist.tokens[n].text in ARROWS]
    if not old and arrow:
        old = gist.paths[:1]
    if len(old) != 1 or gist.at(_STAYING):
        return []
    new = next(n for n in gist.paths if n not in old)
    items = (
        ClauseItem(gist.names[0], Role.OBJECT),
        ClauseItem(old[0], Role.SOURCE),
        ClauseItem(new, Role.TARGET),
    )
    return [_made(gist, Relation.RENAMED, items, gist.at(_MOVING), lemma="move")]


_MOVING = word_set(
    "go goes went gone left places home found find lives live sits sit longer anymore not formerly new to "
    "no changed than rather have has from you will can used was now"
)
_STAYING = word_set("copied copy same both like similar read compared uses used-in imports imported calls")


def _is_counted(gist: _Gist) -> bool:
    """True for "one test in a.py did not exist before", and where a value or a command is told of."""
    counts = (n for n, t in enumerate(gist.tokens) if t.value)
    return any(t.kind in (WordKind.NUMBER, WordKind.VERSION, WordKind.COMMAND) for t in gist.tokens) or any(
        not COUNT_NOUNS.keys().isdisjoint(gist.lows[n + 1 : n + 3]) for n in counts
    )


def _is_in_another(gist: _Gist, things: Sequence[int]) -> bool:
    """True for "a.py lives at b.py now", which tells of a move."""
    return any(gist.lows[n - 1] in ("at", "in", "under") for n in things[1:])


def _turns(things: Sequence[int], there: Sequence[int], denied: Sequence[int]) -> bool:
    """True for "holds `a`, and no longer `b`": what is denied is not said of all."""
    said = [n for n in things for verb in there if verb < n]
    return any(n < no for no in denied for n in said) and any(n > denied[-1] for n in said)


def _absent_or_there(gist: _Gist) -> list[Clause]:  # noqa: PLR0911 (one way out for each finding)
    """ "You will not find X in a.py any more", "there is now a X", "X did not exist before"."""
    things = gist.names or gist.paths
    denied = [n for n in gist.at(NEGATIONS) if gist.lows[n] != "without"]
    there, away = gist.at(_THERE if denied else _THERE - _HOLDING), gist.at(_AWAY)
    if _is_counted(gist) or _is_in_another(gist, things) or _turns(things, there, denied):
        return []
    determined = [n for n in things if n and gist.lows[n - 1] in ("no", "zero")]
    if not things or not (there or away or determined):
        return []
    end = len(gist.lows) if gist.says_only(_THERE | _AWAY | _WHERE | _LATER) else gist.head()
    is_said = any(n < end for n in (*there, *away, *determined)) and set(things) <= set(range(end))
    if not is_said or not gist.says_only(_THERE | _AWAY | _WHERE | _LATER, end):
        return []
    later, earlier = gist.at(_LATER), gist.at(_EARLIER)
    items = [ClauseItem(n, Role.OBJECT) for n in things]
    items += [ClauseItem(n, Role.PLACE) for n in gist.paths if gist.names]
    cues = [*there, *away, *denied, *later, *earlier, *gist.at(_WHERE)]
    if bool(denied) != bool(away):
        if denied and earlier:
            return [_made(gist, Relation.CREATED, items, cues, lemma="new")]
        if not later and not away and not determined:
            return []
        if not gist.names or (gist.paths and not gist.at(USES)):
            return [_made(gist, Relation.REMOVED, items, cues, lemma="gone")]
        return [_made(gist, Relation.UNUSED, items, cues, lemma="gone")]
    if denied or not (set(later) - set(gist.at({"left", "remains", "remain"})) or gist.at({"new", "fresh"})):
        return []
    if gist.names and not gist.at({"new", "fresh"}):
        return [_made(gist, Relation.HAS, items, cues, lemma="have")]
    return [_made(gist, Relation.CREATED, items, cues, lemma="new")]


def _same_or_not(gist: _Gist) -> list[Clause]:
    """ "a.py differs from before", "not one line of a.py differs", "`total` is the same as before"."""
    things = gist.names or gist.paths
    differs, same = gist.at(_DIFFERENT), gist.at(_SAME)
    end = len(gist.lows) if gist.says_only(_SAMENESS | _DIFFERENT | _SAME) else gist.head()
    cue = [n for n in (*differs, *same) if n < end and gist.lows[n + 1 : n + 2] != ["for"]]
    if not things or not cue or not gist.says_only(_SAMENESS | _DIFFERENT | _SAME, end):
        return []
    is_changed = bool(differs) is not bool(gist.at(NEGATIONS))
    items = [ClauseItem(n, Role.OBJECT) for n in things]
    items += [ClauseItem(n, Role.PLACE) for n in gist.paths if gist.names]
    cues = [*differs, *same, *gist.at(_SAMENESS), *gist.at(NEGATIONS), *gist.at({"one", "single", "what"})]
    if is_changed:
        return [_made(gist, Relation.CHANGED, items, cues, lemma="change")]
    return [_made(gist, Relation.UNTOUCHED, items, cues, lemma="same")]


def named_clauses(tokens: Sequence[StatementToken], clauses: Sequence[Clause]) -> list[Clause]:
    """ "What was `a` is `b` now", "b.py, previously a.py", "`b` is the new name of `a`"."""
    gist = _Gist(tokens)
    things = gist.names if len(gist.names) == 2 else gist.paths if not gist.names else []
    if len(things) != 2 or any(c.negated or c.relation not in _RENAMING for c in clauses if c.strong):
        return []
    words = _NAMING | _OLD | _LATER | set(KIND_NOUNS)
    end = len(gist.lows) if gist.says_only(words) else gist.head()
    cues = [n for n in gist.at(words) if n < end]
    if not gist.says_only(words, end) or not gist.at(_OLD | _NAMED):
        return []
    old = [n for n in things if gist.before(n) in _OLD or _is_new_name_of(gist, n)]
    if len(old) == 2:
        old = old[1:] if gist.lows[things[0] - 1 : things[0]] == ["was"] else []
    if not old and not set(gist.lows[things[0] + 1 : things[1]]) & _LEADS_TO:
        return []  # nothing tells which of them is the new name
    first = old[0] if old else things[0]
    second = next(n for n in things if n != first)
    items = [ClauseItem(first, Role.OBJECT), ClauseItem(second, Role.TARGET)]
    items += [ClauseItem(n, Role.PLACE) for n in gist.paths if gist.names]
    return [_made(gist, Relation.RENAMED, items, cues, lemma="rename" if old else "called")]


_LEADS_TO = word_set("now called named became become becomes name to")
_NAMED = word_set("name named called became become becomes turned turns known")
_RENAMING = (Relation.RENAMED, Relation.HAS, Relation.CHANGED, Relation.CREATED, Relation.REPLACED)


def _is_new_name_of(gist: _Gist, n: int) -> bool:
    """True for the `a` of "`b` is the new name of `a`"."""
    return gist.lows[max(0, n - 2) : n] == ["name", "of"]


def _made(
    gist: _Gist, relation: Relation, items: Sequence[ClauseItem], cues: Sequence[int], *, lemma: str
) -> Clause:
    near = [n for n in gist.at({"called", "named"}) if n not in cues]
    return Clause(
        relation=relation, strong=True, lemma=lemma, verb=tuple(sorted({*cues, *near})), items=tuple(items),
        words=(), first=0, last=len(gist.tokens) - 1, is_new=bool(gist.at({"now", "new"})),
    )  # fmt: skip
