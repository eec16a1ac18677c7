"""Finds the verbs of a segment: words that tell of a deed, and what stands for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from segue.domain.claims.lexicon import (
    ADVERBS,
    AGENT,
    BE,
    DETERMINERS,
    NEGATIONS,
    PREPOSITIONS,
    STATES,
    WORK_NOUNS,
)
from segue.domain.claims.relations import APPOSITIONS
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import NOUNS, VERBS, Form, Relation, Sense
from segue.domain.text.words import word_set

LINKS = frozenset({"and", "or", "plus", "then", "&", "+"})
_HOLDERS = frozenset(
    {"left", "remain", "remains", "remained", "stay", "stays", "stayed", "kept", "now", "keeps"}
)
FEW_AUX = ADVERBS | NEGATIONS | BE | frozenset({"'ve", "'s", "longer", "all", "both", "each"})


_NEW_THINGS = APPOSITIONS | word_set(
    "scripts packages line lines in spec specs : unit regression targets entries"
)
_NEW_THINGS -= word_set("default value limit timeout threshold version")


_STAYS = frozenset({"exist", "live", "reside", "sit"})


_ALIKE = word_set("cut set put run split reset drop")
"""Words whose past looks like a noun."""


def token_is_noun(before: str, after: str, *, is_start: bool, low: str) -> bool:
    """True for the `cut` of "a first cut" and the `set` of "the test set"."""
    return low in _ALIKE and not is_start and before.isalpha() and after not in ("to", "from", "into", "in")


DONE = Sense(Relation.CHANGED, False, "do")
"""What any verb says that is not known: something was done."""
_SEEN = word_set(
    "read looked inspected reviewed checked verified confirmed examined studied traced investigated analysed "
    "analyzed found discovered noticed saw seen compared followed understood consulted considered used "
    "reused "
    "relied based mirrored matched tested reproduced debugged profiled measured benchmarked searched grepped "
    "described explained noted mentioned discussed decided chose chosen kept left skipped ignored omitted "
    "postponed deferred avoided forgot planned wanted needed required expected assumed thought believed "
    "learned learnt determined identified diagnosed located observed opened browsed skimmed scanned audited "
    "evaluated assessed explored tried attempted started began stopped failed passed succeeded ended "
    "returned "
    "exited finished completed asked told said reported claimed suggested recommended proposed agreed met "
    "waited watched listed printed showed shown displayed cited quoted referenced referred inherited called "
    "copied borrowed mimicked respected honoured honored preferred stayed remained happened occurred "
    "appeared "
    "depended caused triggered broke affected involved related limited located placed-in named supposed "
    "blocked rejected reverted undone committed pushed merged deployed released opened closed did had "
    "was were "
    "got been went came made gone done"
)
"""Verbs in the past that change nothing, or of which other rules tell."""
_IRREGULAR_PAST = word_set("gave took grew sped dealt brought laid dug swept fed bent shook drew froze wove")


def _is_past(low: str) -> bool:
    is_form = (low.endswith("ed") and len(low) > 4 and low.isalpha()) or low in _IRREGULAR_PAST
    return is_form and low not in _SEEN and low not in VERBS and low not in STATES


_NEVER_PASSIVE = word_set("wrote rewrote re-wrote took threw tore broke undid redid reran re-ran")
"""Forms that need somebody who did it: "`log` wrote to stdout" tells what `log` does."""


class FoundVerb(NamedTuple):
    """A verb in a segment."""

    at: int
    """Its position in the segment."""
    verb: tuple[int, ...]
    """Positions of its words."""
    sense: Sense
    form: Form
    passive: bool


class Segment:
    """One segment, read from left to right."""

    def __init__(self, tokens: Sequence[StatementToken], segment: list[int], prefix: tuple[int, ...]) -> None:
        self.tokens = tokens
        self.segment = segment
        self.prefix = prefix

    def low(self, k: int) -> str:
        """The word at a position; empty beyond the ends, and for things in code marks."""
        if not 0 <= k < len(self.segment):
            return ""
        token = self.tokens[self.segment[k]]
        return "" if token.kind in ENTITIES else token.low

    def token(self, k: int) -> StatementToken | None:
        return self.tokens[self.segment[k]] if 0 <= k < len(self.segment) else None

    def is_entity(self, k: int) -> bool:
        token = self.token(k)
        return token is not None and token.kind in ENTITIES

    def verbs(self) -> Iterator[FoundVerb]:
        found = list(self._all_verbs())
        is_first = bool(found) and found[0].form is not Form.THIRD and not self._is_apart(found[0].at)
        if is_first and not (found[0].passive and self.new_before(0, found[0].at)):
            yield from found
            return
        yield from (new for new in self._news() if not found or new.at < found[0].at)
        yield from found

    def new_before(self, begin: int, end: int) -> int | None:
        """Where the subject begins in "new methods `a` and `b`, `c` removed": what is new is told already."""
        commas = [n for n in range(begin, end) if "," in self.low(n)]
        is_told = bool(commas) and any(self.low(n) == "new" for n in range(begin, commas[-1]))
        return commas[-1] + 1 if is_told else None

    def _is_apart(self, at: int) -> bool:
        """True if a verb only tells more of what comes before: "new tests that should cut the noise"."""
        return any(self.low(n) in ("that", "which", "because", "so", "since") for n in range(at))

    def _news(self) -> Iterator[FoundVerb]:
        """`New test: X`, `2 new tests in X`, `X is a new dependency`: without any verb."""
        k = next((n for n in range(len(self.segment)) if self.low(n) == "new"), None)
        if k is None or k + 1 >= len(self.segment):
            return
        if not self.is_entity(k + 1) and self.low(k + 1) not in _NEW_THINGS:
            return  # the new value of something is not a new thing
        is_said = self.low(k - 1) in ("a", "an", "the") and self.low(k - 2) in BE
        passive = is_said and any(self.is_entity(n) for n in range(k))
        form = Form.PAST if passive else Form.BASE
        yield FoundVerb(k, (k,), Sense(Relation.CREATED, True, "new"), form, passive)

    def _all_verbs(self) -> Iterator[FoundVerb]:
        k = 0
        while k < len(self.segment):
            found = self._verb_at(k) or self._noun_at(k) or self._state_at(k) or self._other_verb(k)
            if found is None:
                k += 1
                continue
            yield found
            together = found.verb[-1] - found.verb[0] == len(found.verb) - 1
            k = found.verb[-1] + 1 if together else k + 1

    def _verb_at(self, k: int) -> FoundVerb | None:
        token = self.token(k)
        if token is None or token.kind is not WordKind.WORD:
            return None
        for verb in VERBS.get(token.low, ()):
            positions = self._particles(k, verb.particles)
            if positions is None or not self._acts(k, verb.form, verb.sense):
                continue
            passive = self._is_passive(k, verb.form)
            return FoundVerb(k, positions, verb.sense, verb.form, passive)
        return None

    def _other_verb(self, k: int) -> FoundVerb | None:
        """Any other verb in the past: something was done to what it is said of, whatever it was."""
        token = self.token(k)
        if token is None or token.kind is not WordKind.WORD or not _is_past(token.low):
            return None
        prev = self.back(k)
        if self.is_entity(prev) and any(self.low(n) in BE for n in range(prev + 1, k)):
            return FoundVerb(k, (k,), DONE, Form.PAST, True)
        is_agent = self.is_start(prev) and (prev >= 0 or k == 0 or self.low(k - 1) in ADVERBS)
        things = any(self.is_entity(n) for n in range(k + 1, len(self.segment)))
        return FoundVerb(k, (k,), DONE, Form.PAST, False) if is_agent and things else None

    def _particles(self, k: int, particles: tuple[str, ...]) -> tuple[int, ...] | None:
        if not particles:
            return (k,)
        ahead = tuple(self.low(k + 1 + n) for n in range(len(particles)))
        if ahead == particles:
            return tuple(range(k, k + 1 + len(particles)))
        if len(particles) == 1:
            for n in range(k + 2, min(k + 8, len(self.segment))):
                if self.low(n) == particles[0] and self._is_after_thing(n):
                    return (k, n)
        return None

    def _is_after_thing(self, n: int) -> bool:
        """True for the `out` of "ripped `foo` out"."""
        after = self.low(n + 1)
        is_end = after in ("of", "from", "and", "into") or not after.isalpha()
        is_thing = self.is_entity(n - 1) or self.low(n - 1) in APPOSITIONS
        return is_end and is_thing and not self.is_entity(n + 1)

    def _acts(self, k: int, form: Form, sense: Sense) -> bool:  # noqa: PLR0911 (one way out for each finding)
        """True if the word is a verb here, and tells of a deed."""
        prev = self.back(k)
        before, after = self.low(prev), self.low(k + 1)
        if self.low(k - 1) in ("which", "that", "who", "to", "where") and before != "longer":
            return False
        if sense.lemma == "make" and self._makes_change(k):
            return False
        if sense.lemma in ("have", "get", "hold", "sit", "live", "exist", "reside", "carry", "contain"):
            was = form is Form.PAST and sense.lemma in _STAYS
            return not was and self._is_having(k, sense.lemma)
        if form is Form.PAST and token_is_noun(before, after, is_start=self.is_start(prev), low=self.low(k)):
            return False
        match form:
            case Form.PAST:
                is_adjective = not DETERMINERS.isdisjoint((self.low(k - 1), before)) or before in (
                    "of",
                    "for",
                )
                is_last = k + 1 >= len(self.segment) or after in PREPOSITIONS or after in (".", ",")
                return is_last or not is_adjective
            case Form.BASE:
                is_noun = self.low(k - 1) in ("both", "all", "each")  # "both write endpoints"
                return (
                    not is_noun
                    and (k == 0 or k + 1 < len(self.segment))
                    and self.is_start(prev)
                    and (after not in PREPOSITIONS or after in ("to", "from"))
                )
            case Form.THIRD:
                if self.is_start(prev):
                    return after not in PREPOSITIONS and after not in BE and after not in (":", "")
                return before in AGENT or before in WORK_NOUNS or self.is_entity(prev)
            case _:
                return self.is_start(prev) or self.low(prev) in ("by", "without", "while")

    def _makes_change(self, k: int) -> bool:
        """True for "made no changes to": the noun tells."""
        ahead = any(
            self.low(n) in NOUNS and self.low(n + 1) in ("to", "in", "of", "on") for n in range(k + 1, k + 5)
        )
        return ahead or NOUNS.get(self.low(self.back(k))) is Relation.CHANGED

    def _is_having(self, k: int, lemma: str) -> bool:
        ahead = k + 1
        while self.low(ahead) in ADVERBS:
            ahead += 1
        is_helper = any(verb.form is Form.PAST for verb in VERBS.get(self.low(ahead), ()))
        is_helper = is_helper or self.low(ahead).endswith(("ed", "en"))
        if is_helper and lemma in ("have", "get"):
            return False
        if lemma in ("have", "get"):
            subject = any(self.is_entity(n) for n in range(k)) or self.low(k - 1) == "now"
            return subject and self.low(k - 1) not in ("i", "we", "to")
        return any(self.is_entity(n) for n in range(len(self.segment)))

    def back(self, k: int) -> int:
        """The position before a verb and its helpers."""
        n = k - 1
        while n >= 0 and self.low(n) in FEW_AUX:
            n -= 1
        return n

    def is_start(self, prev: int) -> bool:
        """True if what follows begins a clause whose subject is who did the work."""
        if prev < 0:
            return True
        low = self.low(prev)
        token = self.token(prev)
        assert token is not None
        return low in LINKS or low in AGENT or token.kind is WordKind.SIGN or low == "please"

    def _is_passive(self, k: int, form: Form) -> bool:
        if form is not Form.PAST:
            return False
        prev = self.back(k)
        if any(self.low(n) in BE for n in range(prev + 1, k)):
            return True
        if self.low(k) in _NEVER_PASSIVE:
            return False
        if prev < 0 or self.is_start(prev) or self.low(k - 1) in ("have", "has", "had", "did"):
            return False
        after = self.low(k + 1)
        return k + 1 >= len(self.segment) or after in PREPOSITIONS or after in LINKS or after in (",", ".")

    def _made_behind(self, k: int) -> tuple[int, ...]:
        """The `were made` of "adjustments were made to X"."""
        ahead = tuple(
            n for n in range(k + 1, k + 5) if self.low(n) in BE or self.low(n) in ("have", "has", "made")
        )
        is_made = bool(ahead) and ahead[-1] == k + len(ahead) and self.low(ahead[-1]) == "made"
        return ahead if is_made else ()

    def _noun_at(self, k: int) -> FoundVerb | None:
        """`removal of X`, `no changes to X`."""
        relation, after = NOUNS.get(self.low(k)), self.low(k + 1)
        if relation is None:
            return None
        sense, is_change = Sense(relation, True, "noun"), relation is Relation.CHANGED
        if is_change and self.low(k - 1) in ("no", "zero") and not after.isalpha():
            passive = any(self.is_entity(n) for n in range(k))
            return FoundVerb(k, (k - 1, k), sense, Form.PAST, passive)
        if is_change and (made := self._made_behind(k)):
            return FoundVerb(k, (k, *made), sense, Form.PAST, False)
        leads = after in ("of", "to", "in") or (is_change and after in ("for", "on", "under", "outside"))
        return FoundVerb(k, (k,), sense, Form.PAST, False) if leads and self.low(k - 1) != "in" else None

    def _state_at(self, k: int) -> FoundVerb | None:
        """`X is gone`, `README.md: unchanged`, `X no longer exists`."""
        low = self.low(k)
        if low == "longer" and self.low(k - 1) == "no":
            return self._no_longer(k)
        if low == "now" and self.low(k - 1) in BE:
            return self._is_now(k)
        state = STATES.get(low)
        if state is None:
            return None
        prev = self.low(k - 1)
        is_said = prev in BE or prev in _HOLDERS or (prev in ADVERBS and self.low(k - 2) in BE | _HOLDERS)
        ends = k + 1 >= len(self.segment) or not self.low(k + 1).isalpha() or self.low(k + 1) in PREPOSITIONS
        rest = range(1, len(self.segment))
        alone = k == 0 and bool(self.prefix) and all(self.low(n) in ("file", "module") for n in rest)
        is_told = alone or is_said or (low != "new" and self.is_entity(k - 1))
        if not (ends or alone) or self.is_entity(k + 1) or not is_told:
            return None
        return FoundVerb(k, (k,), Sense(Relation(state), True, low), Form.PAST, True)

    def _is_now(self, k: int) -> FoundVerb | None:
        """`a.py is now b.py`, `` `X` is now 5``."""
        if self.low(k + 1) in ("in", "under", "inside") and self.is_entity(k + 2):
            return FoundVerb(k, (k - 1, k), Sense(Relation.HAS, False, "live"), Form.PAST, True)
        called = self.low(k + 1) in ("called", "named", "known")
        at = k + (2 if called else 1) + (self.low(k + 2) == "as")
        target, subject = self.token(at), next((self.token(n) for n in range(k) if self.is_entity(n)), None)
        if target is None or subject is None or target.kind not in ENTITIES | {WordKind.NUMBER}:
            return None
        is_same = subject.kind is target.kind and (called or target.kind is WordKind.PATH)
        is_call = subject.kind is target.kind is WordKind.NAME and "()" in subject.text + target.text
        if is_same or is_call:
            sense = Sense(Relation.RENAMED, True, "rename")
        elif subject.kind is WordKind.NAME and target.kind is not WordKind.PATH:
            sense = Sense(Relation.VALUE, True, "is now")
        else:
            return None
        return FoundVerb(k, tuple(range(k - 1, at)), sense, Form.PAST, True)

    def _no_longer(self, k: int) -> FoundVerb | None:
        word = self.low(k + 1)
        for words, relation, lemma in _NO_LONGER:
            if word in words:
                is_deed = lemma == "no longer uses"
                form = Form.THIRD if is_deed else Form.PAST
                return FoundVerb(k - 1, (k - 1, k, k + 1), Sense(relation, True, lemma), form, not is_deed)
        return None


_HOLDS = word_set("has have contains contain defines includes exports provides exposes ships lists")
_NO_LONGER = (
    (_HOLDS, Relation.REMOVED, "no longer uses"),
    (word_set("exists exist there present available around part"), Relation.REMOVED, "no longer"),
    (word_set("used referenced imported called mentioned"), Relation.UNUSED, "no longer"),
    (word_set("uses imports references calls mentions"), Relation.UNUSED, "no longer uses"),
)
"""Words behind `no longer`, and what they say of the thing before or behind them."""
