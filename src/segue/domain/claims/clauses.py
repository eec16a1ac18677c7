"""Cuts a statement into clauses: what is said to have been done, to what, where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from segue.domain.claims.lexicon import (
    AGENT,
    DETERMINERS,
    GRAMMAR,
    KIND_NOUNS,
    NEGATIONS,
    PREPOSITIONS,
    STATES,
    USES,
    WORK_NOUNS,
)
from segue.domain.claims.meanings import meant
from segue.domain.claims.relations import APPOSITIONS, Clause, ClauseItem, Role
from segue.domain.claims.segments import ARROWS, segments_of
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verb_finder import FEW_AUX, LINKS, FoundVerb, Segment
from segue.domain.claims.verbs import NOUNS, VERBS, Form, Relation, Sense
from segue.domain.text.words import word_set

_FILE_WORDS = word_set("file files module modules script folder directory package branch")
_OF = USES | {"all", "most", "both", "version", "value"}
_NEAR = 2
"""How far behind a clause its file may be, with a parenthesis between."""
_PLAIN_SUBJECTS = GRAMMAR | AGENT | WORK_NOUNS | FEW_AUX | LINKS
_KINDS = GRAMMAR | APPOSITIONS | KIND_NOUNS.keys()
"""Words that only tell of what kind a thing is."""
_PLACES = frozenset({"place", "target", "source"})
_APART = word_set("that so because since while when where")
"""What comes behind tells why, or of which one; it says nothing of what came before."""


def clauses_of(tokens: Sequence[StatementToken]) -> list[Clause]:
    """The clauses of a statement, in order."""
    found: list[Clause] = []
    for segment, prefix in segments_of(tokens):
        clauses = _Clauses(tokens, segment, prefix).clauses()
        found.extend(clauses)
        if found and not clauses and segment and all(tokens[at].kind is WordKind.PATH for at in segment):
            found[-1] = _placed(tokens, found[-1], segment)
    return found


def _placed(tokens: Sequence[StatementToken], clause: Clause, paths: Sequence[int]) -> Clause:
    """A clause with the files behind it in parentheses: "Resolved the crash (a.py)"."""
    if abs(min(paths) - clause.last) > _NEAR or any(
        tokens[item.at].kind is WordKind.PATH for item in clause.items
    ):
        return clause
    return replace(
        clause, items=(*clause.items, *(ClauseItem(at, Role.PLACE) for at in paths)), last=max(paths)
    )


class _Clauses:
    """Makes the clauses of one segment, from its verbs."""

    def __init__(self, tokens: Sequence[StatementToken], segment: list[int], prefix: tuple[int, ...]) -> None:
        words = self.words = Segment(tokens, segment, prefix)
        self.tokens = tokens
        self.segment = segment
        self.prefix = prefix
        self.has_own = False
        """True once a clause of the segment has its own object: what stands before is its place."""
        self.verbs = words.verbs
        self.low = words.low
        self.token = words.token
        self.is_entity = words.is_entity
        self.back = words.back
        self.is_start = words.is_start

    def clauses(self) -> list[Clause]:
        verbs = list(self.verbs())
        found: list[Clause] = []
        begins = [self._begin(found_verb, verbs[n - 1] if n else None) for n, found_verb in enumerate(verbs)]
        for n, verb in enumerate(verbs):
            end = begins[n + 1] if n + 1 < len(verbs) else len(self.segment)
            found.append(self._clause(verb, begins[n], end))
        return self._shared(found)

    def _begin(self, verb: FoundVerb, last: FoundVerb | None) -> int:
        """Where the clause of a verb begins: before its subject."""
        floor = last.at + 1 if last else 0
        prev = self.back(verb.at)
        if prev < floor:
            return floor
        if self.is_start(prev) and not verb.passive and self.low(prev) not in AGENT:
            return prev + 1
        if last is None:
            return 0
        apart = [n for n in range(floor, verb.at) if self.low(n) in _APART]
        if apart and verb.passive:
            commas = [n for n in range(apart[-1], verb.at) if "," in self.low(n)]
            return commas[-1] + 1 if commas else apart[-1]
        for n in range(prev, floor - 1, -1):
            token = self.token(n)
            if self.low(n) in LINKS or (token is not None and token.kind is WordKind.SIGN):
                return n + 1
        return max(floor, prev + 1) if not verb.passive else floor

    def _clause(self, verb: FoundVerb, begin: int, end: int) -> Clause:
        subject = [n for n in range(self._behind_turn(begin, verb.at), verb.at) if n not in verb.verb]
        aux = range(self.back(verb.at) + 1, verb.at)
        denied = any(
            self.low(n) in NEGATIONS or self.low(n) == "zero" for n in (*aux, *verb.verb, verb.at - 1)
        )
        negated = denied and not verb.sense.lemma.startswith("no longer")
        if self.low(self.back(verb.at)) == "without" or self.low(verb.at + 1) == "neither":
            negated = True
        sense = self._presence(verb, subject)
        items: list[ClauseItem] = []
        words: list[int] = []
        foreign = False
        if verb.passive and (self._is_habit(verb, aux, end) or self._is_told_apart(begin, aux)):
            foreign = True
        elif verb.passive or sense.lemma in ("remain", "stay") or self._changes_itself(verb, end):
            self._walk(subject, Role.OBJECT, items, words, sense)
        elif sense.relation is Relation.HAS or sense.lemma == "no longer uses":
            role = Role.OBJECT if sense.lemma in ("live", "reside", "sit", "exist") else Role.PLACE
            self._walk(subject, role, items, words, sense)
        else:
            foreign = self._other_subject(subject, items) and sense.lemma != "new"
        start = Role.PLACE if sense.lemma == "noun" else Role.OBJECT
        rest = [n for n in range(verb.at + 1, end) if n not in verb.verb]
        after = Role.TARGET if verb.passive and sense.lemma in ("rename", "is now") else Role.TOPIC
        if rest and verb.passive and self._is_more(rest):
            after = Role.OBJECT
        self._walk(rest, after if verb.passive else start, items, words, sense)
        items = self._of_noun(verb, sense, items) if sense.lemma == "noun" else items
        items += self._lead_places(begin)
        items += self._prefixed(items, words, sense)
        sense, items = meant(self.words, verb, sense, subject, items)
        if sense.lemma == "make" and any(NOUNS.get(self.tokens[at].low) is Relation.CHANGED for at in words):
            sense = Sense(Relation.CHANGED, True, "change")
            items = [
                item._replace(role=Role.OBJECT) if item.role in (Role.PLACE, Role.TARGET) else item
                for item in items
            ]
            negated = negated or any(self.tokens[at].low == "no" for at in words)
        if verb.passive and any(self.low(n) in ("neither", "none", "nothing") for n in subject):
            negated = True
        around = [self.low(n) for n in range(begin, end)]
        return Clause(
            relation=sense.relation,
            strong=sense.strong,
            lemma=sense.lemma,
            verb=tuple(self.segment[n] for n in verb.verb),
            items=tuple(items),
            words=tuple(words),
            first=self.segment[begin] if begin < len(self.segment) else self.segment[verb.at],
            last=self.segment[min(end, len(self.segment)) - 1],
            negated=negated,
            foreign=foreign,
            is_new="now" in around or "new" in around or sense.lemma in ("gain", "get", "receive"),
        )

    def _behind_turn(self, begin: int, end: int) -> int:
        """Where the subject begins in "requests 1.0 -> 2.0, rich added": what turned is told already."""
        arrows = [n for n in range(begin, end) if self.low(n) in ARROWS]
        commas = [n for n in range(begin, end) if "," in self.low(n)]
        is_told = bool(arrows and commas) and arrows[-1] < commas[-1]
        return commas[-1] + 1 if is_told else self.words.new_before(begin, end) or begin

    def _of_noun(self, verb: FoundVerb, sense: Sense, items: list[ClauseItem]) -> list[ClauseItem]:
        """ "removal of X", "changes to X": X is what it is said of."""
        turns = sense.relation in (Relation.RENAMED, Relation.REPLACED, Relation.VALUE)
        topics = turns or self.low(verb.at + 1) == "of"
        roles = (Role.TOPIC,) if topics else (Role.PLACE, Role.TARGET)
        return [item._replace(role=Role.OBJECT) if item.role in roles else item for item in items]

    def _presence(self, verb: FoundVerb, subject: list[int]) -> Sense:
        """ "calc.py now defines `total`" says that it is there."""
        is_file = any((t := self.token(n)) is not None and t.kind is WordKind.PATH for n in subject)
        comes = verb.sense.relation in (Relation.ADDED, Relation.CREATED)
        is_file = is_file and all(self.low(n) not in WORK_NOUNS for n in subject)
        if comes and is_file and verb.form is Form.THIRD and not verb.passive:
            return Sense(Relation.HAS, True, "have")
        return verb.sense

    def _prefixed(self, items: list[ClauseItem], words: Sequence[int], sense: Sense) -> list[ClauseItem]:
        """What stands before the clause, and is what it speaks of: "`total` (moved to b.py)"."""
        names = [at for at in self.prefix if self.tokens[at].kind is WordKind.NAME]
        lows = {self.tokens[at].low for at in words} - GRAMMAR
        has_own, self.has_own = self.has_own, self.has_own or bool(lows - _KINDS)
        has_object = has_own or bool(lows - _KINDS) or any(item.role is Role.OBJECT for item in items)
        is_place = bool(items or lows) or has_own or sense.relation is Relation.VALUE
        role = Role.PLACE if is_place else Role.OBJECT
        found = []
        for at in self.prefix:
            if any(item.at == at for item in items):
                continue
            if at in names:
                found.append(ClauseItem(at, Role.OBJECT if not has_object else role))
            else:
                found.append(ClauseItem(at, Role.PLACE if names else role))
        return found

    def _is_more(self, rest: list[int]) -> bool:
        """True for the `b.py` of "a.py was edited, and so was b.py"."""
        n = next((at for at in rest if self.low(at) not in LINKS and "," not in self.low(at)), rest[-1])
        return self.is_entity(n) and any(self.low(at) in LINKS for at in rest if at < n)

    def _lead_places(self, begin: int) -> list[ClauseItem]:
        """The place before a comma: "In calc.py, added ..."."""
        if begin == 0 or self.low(0) not in ("in", "inside", "within", "under"):
            return []
        comma = next((n for n in range(begin) if "," in self.low(n)), 0)
        subject = next((n for n in range(comma) if self.low(n) in AGENT), comma)
        return [ClauseItem(self.segment[n], Role.PLACE) for n in range(subject) if self.is_entity(n)]

    def _changes_itself(self, verb: FoundVerb, end: int) -> bool:
        """True for "the body of `total` has changed": nobody is named who changed it."""
        is_bare = not any(self.is_entity(n) or self.low(n).isalpha() for n in range(verb.at + 1, end))
        return verb.sense.lemma == "change" and verb.form is Form.PAST and is_bare

    def _is_told_apart(self, begin: int, aux: range) -> bool:
        """True for "the flag that was registered" and "(was defined, but never called)": it was so before."""
        was = any(self.low(n) in ("was", "were", "been", "be") for n in aux)
        is_aside = begin == 0 and aux.start == 0 and bool(self.prefix)
        return was and (self.low(begin) in ("that", "where", "when") or is_aside)

    def _is_habit(self, verb: FoundVerb, aux: range, end: int) -> bool:
        """True for "files are written by one function": it tells what always happens."""
        present = any(self.low(n) in ("is", "are") for n in aux) and not any(
            self.low(n) in ("now", "been", "longer") for n in aux
        )
        if not present or verb.sense.lemma in (*STATES, "no longer", "rename", "is now"):
            return False
        by = any(self.low(n) == "by" for n in range(verb.at, end))
        return by or verb.sense.relation not in (Relation.REMOVED, Relation.RENAMED, Relation.VALUE)

    def _other_subject(self, subject: list[int], items: list[ClauseItem]) -> bool:
        """True if the subject is neither who did the work nor the work itself."""
        if not subject:
            return False
        last = self.token(subject[-1])
        lead = self.low(subject[0])
        is_apart = any((t := self.token(n)) is not None and t.kind is WordKind.SIGN for n in subject)
        if lead in PREPOSITIONS and is_apart:
            items += [
                ClauseItem(self.segment[n], Role.PLACE)
                for n in subject
                if self.is_entity(n) and lead in ("in", "inside", "within", "under", "on")
            ]
            return False
        if last is not None and last.kind is WordKind.SIGN:
            return False
        for n in subject:
            low = self.low(n)
            if self.is_entity(n):
                return True
            if low.isalpha() and low not in _PLAIN_SUBJECTS:
                return True
        return False

    def _walk(
        self, positions: Sequence[int], role: Role, items: list[ClauseItem], words: list[int], sense: Sense
    ) -> None:
        """Gives every thing its role by the prepositions before it."""
        for n in positions:
            token = self.token(n)
            assert token is not None
            low = self.low(n)
            if low == "as" and "well" in (self.low(n - 1), self.low(n + 1)):
                continue  # `as well as` is a long `and`
            if low in PREPOSITIONS and token.kind is WordKind.WORD:
                role = self._role_after(n, low, role, sense)
                continue
            if role in _PLACES and self._begins_object(n, items, role):
                role = Role.OBJECT
            if token.kind in ENTITIES or token.kind in (WordKind.NUMBER, WordKind.RANGE):
                items.append(ClauseItem(self.segment[n], role, self._modifies(n)))
            elif role is Role.OBJECT and token.kind is WordKind.WORD:
                if (items or words) and self._is_describing(n, low):
                    role = Role.SUB
                words.append(self.segment[n])
            elif token.kind is WordKind.SIGN and ":" in token.text and role is Role.TOPIC:
                role = Role.OBJECT
            elif token.text in ARROWS and role is not Role.SUB:
                role = Role.TARGET

    def _is_describing(self, n: int, low: str) -> bool:
        """True for the `referencing` of "instructions referencing a.md"."""
        is_form = low.endswith("ing") and low not in _KINDS and self.low(n - 1) not in DETERMINERS
        return is_form and (self.is_entity(n + 1) or self.low(n + 1) in DETERMINERS)

    def _begins_object(self, n: int, items: list[ClauseItem], role: Role) -> bool:
        """True for the `b` and the `a test` of "added `a` to x.py, `b` and a test"."""
        token = self.token(n)
        is_thing = token is not None and (token.kind is WordKind.NAME or token.low in DETERMINERS)
        return is_thing and self._is_next(n) and self._last_is_path(items, role)

    def _is_next(self, n: int) -> bool:
        """True behind a comma or `and`."""
        before = self.token(n - 1)
        return before is not None and (before.low in LINKS or "," in before.text)

    def _last_is_path(self, items: list[ClauseItem], role: Role) -> bool:
        return bool(items) and items[-1].role is role and self.tokens[items[-1].at].kind is WordKind.PATH

    def _role_after(self, n: int, low: str, role: Role, sense: Sense) -> Role:  # noqa: PLR0911 (one way out for each finding)
        if role is Role.SUB:
            return role
        found = Role(PREPOSITIONS[low])
        nxt = self.token(n + 1)
        if low == "to" and nxt is not None and nxt.kind is WordKind.WORD and self._is_infinitive(n + 1):
            return Role.SUB
        if low == "of" and role is Role.OBJECT and sense.relation is Relation.CHANGED:
            return Role.OBJECT
        if low == "of" and self.low(n - 1) == "out":
            return Role.SOURCE
        if low == "of" and role is Role.OBJECT and self.low(n - 1) in _OF:
            return Role.OBJECT
        if found is Role.WITH and sense.relation is Relation.REPLACED and low in ("with", "by"):
            return Role.TARGET
        if low == "as" and sense.relation is Relation.RENAMED:
            return Role.TARGET
        if low == "for" and sense.lemma in ("swap", "swap_out", "exchange", "trade", "substitute"):
            return Role.TARGET
        return found

    def _is_infinitive(self, n: int) -> bool:
        low = self.low(n)
        if low in DETERMINERS or low in GRAMMAR or low in APPOSITIONS or low == "use":
            return low == "use"
        return not self.is_entity(n) and not (self.is_entity(n + 1) and low in KIND_NOUNS)

    def _modifies(self, n: int) -> bool:
        after = self.token(n + 1)
        if after is None or after.kind is not WordKind.WORD or after.value is not None:
            return False
        low, token = after.low, self.token(n)
        is_path = token is not None and token.kind is WordKind.PATH
        if low in PREPOSITIONS or low in LINKS or low in GRAMMAR or low in FEW_AUX:
            return False
        if low in APPOSITIONS:
            return is_path and low not in _FILE_WORDS
        return low not in VERBS and low not in STATES and low not in AGENT

    def _with_changes(self, found: list[Clause]) -> list[Clause]:
        """ "a.py has no changes", "a.py has edits": what has them is what changed."""
        has_changes = [c.relation for c in found] == [Relation.HAS, Relation.CHANGED] and not found[1].items
        if not has_changes or found[1].verb[0] - found[0].verb[-1] > _NEAR:
            return found
        items = tuple(item._replace(role=Role.OBJECT) for item in found[0].items)
        verb = (*found[0].verb, *found[1].verb)
        return [replace(found[1], items=items, verb=verb, first=found[0].first)]

    def _shared(self, found: list[Clause]) -> list[Clause]:
        """Gives verbs without an object that of their neighbour: "renamed and moved `a`"."""
        found = self._with_changes(found)
        for n in range(len(found) - 2, -1, -1):
            clause, nxt = found[n], found[n + 1]
            between = [self.tokens[at].low for at in range(max(clause.verb) + 1, min(nxt.verb))]
            is_list = all(low in LINKS or low in FEW_AUX or low == "," for low in between)
            if not clause.items and not clause.words and nxt.relation is not Relation.RAN and is_list:
                found[n] = replace(clause, items=nxt.items, words=nxt.words)
        for n in range(1, len(found)):
            clause = found[n]
            if not clause.items and any(self.tokens[at].low in ("it", "them", "both") for at in clause.words):
                objects = tuple(item for item in found[n - 1].items if item.role is Role.OBJECT)
                found[n] = replace(clause, items=objects)
        return found
