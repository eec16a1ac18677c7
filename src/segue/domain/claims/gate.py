"""Tells claims from plans, wishes, questions, conditions, quotations and other people's deeds."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.claims.lexicon import BAD, COUNT_NOUNS, FINE
from segue.domain.claims.relations import Clause
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.text.words import word_set

_PLAN = word_set(
    "will would should shall must may might could can need needs needed todo to-do next later soon plan "
    "plans planned planning want wants wanted wish hope hopes going please consider propose proposed "
    "proposes suggest suggested suggests recommend recommended recommends goal aim remaining pending "
    "blocked requires required won't let's shouldn't we'll i'll decided intend intends intended follow-up "
    "eventually try nicht soll sollte wird muss"
)
_DOUBT = word_set(
    "probably likely maybe perhaps seems seem apparently presumably hopefully expect expects expected "
    "assume assumes assuming supposedly supposed unclear unsure believe think guess imagine almost"
)
_CONDITION = word_set("if unless once until when whenever whether assuming suppose provided")
_EARLIER = word_set(
    "previous previously earlier already originally initially formerly yesterday before historically"
)
_OTHERS = word_set(
    "planner reviewer upstream user users someone somebody teammate colleague maintainer maintainers "
    "predecessor customer client team ci bot dependabot"
)
_TOLD = word_set("asked said says claims claimed reported reports according believes thought told quoted")
_TRIED = word_set("tried try attempted attempt attempting trying")
_UNDONE = word_set("reverted revert undid undone rolled restored")
_PLAN_HEADINGS = word_set(
    "next todo remaining remain remains plan plans planned planning future open question questions "
    "blocker blockers blocked blocking goal goals risk risks follow followup follow-up followups "
    "pending left instructions instruction acceptance criteria requirements requirement failed tried "
    "history historical background previous previously earlier deferred proposal proposed suggested "
    "suggestion suggestions recommended recommendation recommendations idea ideas should must how task "
    "tasks objective objectives expected example examples quote prompt request attempts attempt caveats "
    "limitations known offen offene offenen n\u00e4chste n\u00e4chsten aufgaben aufgabe prochaines "
    "siguientes pendiente pendientes wishes wishlist backlog"
)
_NOT_PLANS = word_set("completed done finished resolved closed passed")


def heading_reason(heading: str) -> str | None:
    """Why what is below a heading claims nothing; none if it may."""
    words = [
        "".join(c for c in word if c.isalpha() or c == "-").strip("-") for word in heading.lower().split()
    ]
    if any(word in _NOT_PLANS for word in words):
        return None
    found = next((word for word in words if word in _PLAN_HEADINGS), None)
    return f"it is listed under \u201c{heading.strip('# *:')}\u201d" if found else None


def gate(tokens: Sequence[StatementToken], clauses: Sequence[Clause]) -> str | None:
    """Why a statement claims nothing; none if it is a claim."""
    lows = [t.low if t.kind in (WordKind.WORD, WordKind.SIGN) else "" for t in tokens]
    if not lows:
        return None
    if "?" in tokens[-1].text and tokens[-1].kind is WordKind.SIGN:
        return "it is a question"
    first = next((low for low in lows if low.isalpha() or "'" in low), "")
    if first in ("do", "don't", "never") and ("not" in lows[:3] or first != "do"):
        return "it is an instruction"
    if first in _ORDERS or (first == "make" and "sure" in lows[:4]):
        return "it is an instruction"
    if first in _CONDITION:
        return "it is a condition"
    own = [c for c in clauses if not c.foreign]
    head = _head(lows, clauses)
    return _by_words(lows, head, own, by_program=any(t.kind is WordKind.COMMAND for t in tokens[:head]))


def _head(lows: list[str], clauses: Sequence[Clause]) -> int:
    """Where the first deed or result is; what comes before it tells whether it is real."""
    verbs = [min(c.verb) for c in clauses if c.verb]
    results = [
        n
        for n, low in enumerate(lows)
        if low in FINE or low in BAD or COUNT_NOUNS.get(low) in ("passed", "skipped")
    ]
    things = [n for n, low in enumerate(lows) if not low]
    return min([*verbs, *results], default=things[-1] + 1 if things else len(lows))


def _by_words(lows: list[str], head: int, own: Sequence[Clause], *, by_program: bool) -> str | None:
    """What the words before a deed, and those behind it, say of whether it is real."""
    lead, tail = lows[:head], lows[head:]
    is_turned = "now" in lows or any(
        c.relation in (Relation.RENAMED, Relation.VALUE) or c.lemma in _TURNS for c in own
    )
    for n, low in enumerate(lead):
        for words, reason in _LEADS:
            if low in words and not _is_lifted(words, lead, n, by_program=by_program, is_turned=is_turned):
                return reason
    if not own and any(low in _PLAN for low in tail[:3]) and "find" not in tail:
        return "it is a plan or a wish"
    if tail and (tail[0] in FINE or tail[0] in BAD):
        if any(low in _CONDITION for low in tail):
            return "it is a condition"
        if any(low in ("before", "previously", "yesterday", "earlier") for low in tail[:4]):
            return "it tells of what was so before"
    for n, low in enumerate(tail[:-1]):
        if low == "by" and any(word in _OTHERS or word == "previous" for word in tail[n + 1 : n + 4]):
            return "it tells of others"
    undone = any(low in _UNDONE and tail[n] != "to" for n, low in enumerate(tail[1:]))
    return "it was undone again" if undone else None


def _is_lifted(words: frozenset[str], lead: list[str], n: int, *, by_program: bool, is_turned: bool) -> bool:
    """True where a word that tells of plans, attempts, others or the past does not do so."""
    if words is _PLAN:
        ahead = lead[n + 1 : n + 5]
        shows = any(low in ("find", "see", "found") for low in ahead) and ("you" in lead[:n] or "be" in ahead)
        return shows or bool({"as", "per"} & set(lead[max(0, n - 2) : n]))
    return by_program if words in (_TOLD, _TRIED) else words is _EARLIER and is_turned


_TURNS = frozenset({"new", "gone", "same", "move"})
"""What may be told by what was so before: "a.py did not exist before"."""
_ORDERS = word_set("ensure maintain keep remember verify confirm check beware note")
_LEADS = (
    (_PLAN, "it is a plan or a wish"),
    (_DOUBT, "it is a guess"),
    (_CONDITION, "it is a condition"),
    (_TRIED, "it tells of an attempt"),
    (_TOLD, "it tells of others"),
    (_OTHERS, "it tells of others"),
    (_EARLIER, "it tells of what was so before"),
)
