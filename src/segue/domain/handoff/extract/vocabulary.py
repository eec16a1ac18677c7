"""Finds the topic that a heading, a label, a tag or a key means."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from segue.domain.handoff.extract.heading_words import LONGEST_HEADING, UNSPACED, words_of
from segue.domain.handoff.extract.topics import Topic
from segue.domain.text.words import DID, DONE_WORDS, OPEN_WORDS, word_set

_UMLAUTS: Final = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
_ASIDE: Final = re.compile(r"[(\uff08\[][^()\uff08\uff09\[\]]{0,200}[)\uff09\]]")
_DASH: Final = re.compile(r"[\u2014\u2013:\u2192]|[ ]-[ ]")
_JOINT: Final = re.compile(r"[/&+,]| and ")
_NOT: Final = word_set("not nicht pas не no non isnt arent wasnt werent never cannot nao inte")
_AHEAD: Final = frozenset({"be", "get", "until"})
"""What stands before a word for done where it is still to come."""
_NOT_YET: Final = ("未", "没", "沒", "待", "需", "需要", "计划", "計劃", "못", "안", "아직")
"""What stands before a word for done in a script without spaces, and turns it round."""
_VAGUE: Final = frozenset({Topic.WHOLE, Topic.STATUS, Topic.CONTEXT, Topic.ASIDE})
"""What says little: another phrase in the same heading says more."""
_OPEN_OR_BAD: Final = frozenset({Topic.NEXT, Topic.GOTCHAS})
_LEADS: Final = frozenset({Topic.GOTCHAS, Topic.BLOCKERS, Topic.QUESTIONS, Topic.FAILED, Topic.DECISIONS})
"""What a heading is about if it begins with one of its phrases: `Lessons from the first week`."""
_SAID_TO: Final = frozenset({Topic.CONTEXT, Topic.CONSTRAINTS, Topic.PATTERNS})
"""What else is said to whom comes next: `Working rules for next agents`."""
_SUCCESSORS: Final = frozenset({"next", "future", "fresh", "new", "incoming"})
_UNSURE: Final = frozenset({Topic.CHECKS, Topic.TASKS})
_LOOKED_AT: Final = frozenset({"tested", "verified", "reviewed", "validated", "investigated", "documented"})
_NOT_AS_REPORT: Final = frozenset({"how", "where", "why", "when", "if", "last", "date", "to"})
"""What a heading begins with that ends with a verb of work, and reports none."""
_EXPLAINS: Final = frozenset({"how", "como", "comment", "wie", "come", "как", "як", "jak", "hoe", "hur"})
"""What a heading begins with that explains how a thing works: `How the cache is built (summary)`."""
_NEEDS: Final = word_set(
    "needs need requires require awaiting requiere requieren requer requerem necesita "
    "precisa necessite braucht benotigt richiede требует требуют ожидает требуется потребує"
)
"""What a heading begins with that asks for a decision: `Requires a decision`."""
_TURNED: Final = frozenset({Topic.DONE, Topic.DECISIONS})
"""What a heading is not about after such a word."""
_WHAT_WAS: Final = re.compile(
    r"what (?:was|were|has been|have been|got|i|we|ive|weve)(?: just| already| also)? (?P<verb>\w+ed|built)\b"
)
_NO_WORK: Final = word_set(
    """
    agreed asked assumed blocked deferred dropped expected failed learned missed needed noticed observed
    planned proposed rejected requested skipped tried wanted
    """
)
"""Verbs in such a heading that tell of none."""
_BEFORE_DONE: Final = frozenset({"to", "when", "once", "after", "until", "before", "if", "can", "must"})
"""Words that make a word for done a condition."""
_AHEAD_FIRST: Final = frozenset({"next", "remaining", "pending", "upcoming"})
_TROUBLE: Final = frozenset(
    {"gap", "gaps", "risk", "risks", "issue", "issues", "problem", "problems", "bugs"}
)
_BESIDE: Final = frozenset({Topic.ASIDE, Topic.CHECKS, Topic.READING})
_ASKS: Final = re.compile(
    r"\b(?:must|should|(?:needs?|has|have|is|are) to)(?P<not> not)?(?: be| also)?$", re.IGNORECASE
)
"""`The migration must:` before a list of what is to be done."""
_NUMBERED: Final = re.compile(r"\W*(?:task|aufgabe|tarea|tarefa|t[a\u00e2]che) #?\d+\W*", re.IGNORECASE)
"""One of several tasks, not the one that was set."""
_RANK: Final = {topic: rank for rank, topic in enumerate(Topic)}


@dataclass(frozen=True, slots=True)
class HeadingMeaning:
    """What a heading was taken to mean."""

    topic: Topic
    """The topic."""
    exact: bool
    """True if the phrase is the whole heading, not one word of many."""
    weight: int
    """How many words of the heading the phrase covers."""
    strong: bool = True
    """True if that is half of them or more."""
    leads: bool = False
    """True if the heading begins with it: `Lessons from the first week`."""
    ends: bool = False
    """True if the heading ends with it: `Session 24 shipped`."""
    phrase: str = ""
    """The phrase that was found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tables:
    whole: dict[str, Topic]
    within: dict[str, Topic]
    unspaced: tuple[tuple[str, Topic], ...]
    longest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrase:
    """One entry of the vocabulary."""

    topic: Topic
    words: str
    language: str
    exact: bool
    """True if it counts only as a whole heading."""


def load_phrases() -> list[Phrase]:
    """The vocabulary; phrases of a topic that stands first come first."""
    data = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text("utf-8"))
    return [
        Phrase(topic=topic, words=" ".join(words_of(words)), language=language, exact=kind == "exact")
        for topic in Topic
        for language, topics in data.items()
        for kind, listed in topics.get(topic.value, {}).items()
        for written in listed
        for words in dict.fromkeys((written, written.translate(_UMLAUTS) if language == "de" else written))
    ]


@cache
def _tables() -> _Tables:
    whole: dict[str, Topic] = {}
    within: dict[str, Topic] = {}
    unspaced: dict[str, Topic] = {}
    for phrase in load_phrases():
        squashed = phrase.words.replace(" ", "")
        whole.setdefault(squashed, phrase.topic)
        if phrase.exact:
            continue
        if UNSPACED.search(squashed):
            unspaced.setdefault(squashed, phrase.topic)
        else:
            within.setdefault(phrase.words, phrase.topic)
    for topic in Topic:
        whole["".join(words_of(topic.value))] = topic
    ordered = sorted(unspaced.items(), key=lambda pair: (-len(pair[0]), _RANK[pair[1]]))
    longest = max((phrase.count(" ") + 1 for phrase in within), default=1)
    return _Tables(whole=whole, within=within, unspaced=tuple(ordered), longest=longest)


@lru_cache(maxsize=8192)
def read_heading(heading: str) -> HeadingMeaning | None:
    """The topic of a heading, or none.

    What stands before a colon goes before the rest; what stands in brackets counts only if it is a
    heading by itself and the rest means nothing. How a thing was made is no account of the work.
    """
    reading = _in_parts(heading)
    if reading is None or reading.topic not in _TURNED:
        return reading
    first = words_of(heading)[:1]
    if reading.topic is Topic.DONE:
        return reading if _EXPLAINS.isdisjoint(first) else None
    return reading if _NEEDS.isdisjoint(first) else replace(reading, topic=Topic.QUESTIONS)


def _in_parts(heading: str) -> HeadingMeaning | None:
    bare = heading[:LONGEST_HEADING]
    if not bare.isascii() or "(" in bare or "[" in bare:
        bare = _ASIDE.sub(" ", bare)
    head, colon, _ = bare.replace("\uff1a", ":").partition(":")
    if colon and (reading := _read(head)) and reading.exact:
        return reading
    if reading := _read(bare):
        if reading.topic is Topic.READING:
            return _file_heading(heading) or reading
        return _of_parts(bare) or reading if reading.topic is Topic.CONTEXT else reading
    if (first := _DASH.split(bare, maxsplit=1)[0]) != bare and (reading := _read(first)):
        return reading
    return _in_brackets(heading)


def _in_brackets(heading: str) -> HeadingMeaning | None:
    """What stands in brackets, where that is a heading by itself; a priority only grades."""
    for aside in _ASIDE.findall(heading[:LONGEST_HEADING]):
        if (reading := _read(aside)) and reading.exact:
            graded = reading.phrase.endswith("priority")
            return replace(reading, exact=False, strong=False) if graded else reading
        if (reading := _read(aside.partition(",")[0])) and reading.exact and reading.topic not in _VAGUE:
            return reading
    return None


def _of_parts(heading: str) -> HeadingMeaning | None:
    """`Important notes / gotchas` are gotchas: the part that says more counts."""
    parts = _JOINT.split(heading)
    readings = [_read(part) for part in parts] if len(parts) > 1 else []
    return next((each for each in readings if each and each.exact and each.topic in _LEADS), None)


def _file_heading(heading: str) -> HeadingMeaning | None:
    """`Files (uncommitted)` are files that were changed."""
    for aside in _ASIDE.findall(heading[:LONGEST_HEADING]):
        reading = _read(aside)
        if reading and reading.topic in (Topic.CREATED, Topic.MODIFIED, Topic.CHANGED):
            return reading
    return None


@lru_cache(maxsize=8192)
def read_label(label: str) -> HeadingMeaning | None:
    """The topic of a label that stands before text: stricter, for a label is often just a name."""
    reading = read_heading(label)
    if reading is None or reading.exact:
        return reading
    return reading if reading.weight * 2 >= len(words_of(_ASIDE.sub(" ", label))) else None


def _asked_by(line: str) -> HeadingMeaning | None:
    """What a line asks for that ends with a verb: `The import must not`."""
    asks = _ASKS.search(line)
    if asks is None:
        return None
    return HeadingMeaning(topic=Topic.GOTCHAS if asks["not"] else Topic.NEXT, exact=True, weight=1)


@lru_cache(maxsize=2048)
def read_introduction(line: str, *, inside: bool = False) -> HeadingMeaning | None:
    """The topic of a line before a list: a label, or a sentence that says it at its begin or end.

    `inside` a section that means something, what the line asks for belongs to that section.
    """
    if reading := read_label(line):
        return reading
    if asked := _asked_by(line):
        return None if inside and asked.topic is Topic.NEXT else asked
    words, tables = words_of(line), _tables()
    for size in range(min(3, len(words) - 1), 0, -1):
        topic = tables.within.get(" ".join(words[:size]))
        if topic is not None:
            return (
                HeadingMeaning(topic=topic, exact=True, weight=size) if _leads(topic, words, size) else None
            )
    return None


def _leads(topic: Topic, words: list[str], size: int) -> bool:
    """True if a line that begins with a phrase is about its topic: `Implemented foundations include`."""
    if topic is Topic.NEXT:
        return words[0] in _AHEAD_FIRST and _TROUBLE.isdisjoint(words)
    if topic is Topic.DONE:
        return words[0] in DID
    return topic in _LEADS or (topic in _BESIDE and size > 1)


def _read(heading: str) -> HeadingMeaning | None:
    words = words_of(heading)
    if not words or _NUMBERED.fullmatch(heading):
        return None
    tables = _tables()
    topic = tables.whole.get("".join(words))
    if topic is not None:
        return HeadingMeaning(topic=topic, exact=True, weight=len(words), phrase=" ".join(words))
    if not heading.isascii() and UNSPACED.search(heading):
        found = _unspaced("".join(words), tables)
        if found is not None:
            return found
    if "for" in words and (reading := _before_whom(words, tables)):
        return reading
    found = _longest_phrase(words, tables)
    if found is None or found.topic in _UNSURE:
        return _told_last(words) or _what_was(words) or found
    return found


def _what_was(words: list[str]) -> HeadingMeaning | None:
    """`What was tested` and `What we refactored` tell of work."""
    told = _WHAT_WAS.match(" ".join(words))
    if told is None or told["verb"] in _NO_WORK:
        return None
    return HeadingMeaning(topic=Topic.DONE, exact=False, weight=0, strong=False, phrase=told[0])


def _told_last(words: list[str]) -> HeadingMeaning | None:
    """`Backup volumes added` tells of work. No phrase says so: a label that ends like this is none."""
    told = words[-1] in DID and words[-1] not in _LOOKED_AT and len(words) > 1
    if not told or words[0] in _NOT_AS_REPORT or _negated(Topic.DONE, words[-2]) is not Topic.DONE:
        return None
    return HeadingMeaning(topic=Topic.DONE, exact=False, weight=0, strong=False, ends=True, phrase=words[-1])


def _before_whom(words: list[str], tables: _Tables) -> HeadingMeaning | None:
    """`Warnings for the next session` are warnings."""
    at = words.index("for")
    whom = [word for word in words[at + 1 : at + 3] if word not in ("the", "your", "our")]
    found = _longest_phrase(words[:at], tables) if at and whom[:1] and whom[0] in _SUCCESSORS else None
    return found if found and (found.topic in _LEADS or found.topic in _SAID_TO) else None


def _unspaced(squashed: str, tables: _Tables) -> HeadingMeaning | None:
    found: HeadingMeaning | None = None
    rest = squashed
    for phrase, topic in tables.unspaced:
        if phrase not in rest:
            continue
        if found is None:
            found = _unspaced_reading(squashed, phrase, topic)
            rest = squashed.replace(phrase, "|")
        elif found.topic in _VAGUE and topic not in _VAGUE and squashed.endswith(phrase):
            return _unspaced_reading(squashed, phrase, topic)
        elif {topic, found.topic} == {Topic.DONE, Topic.NEXT}:
            return HeadingMeaning(topic=Topic.TASKS, exact=False, weight=found.weight)
    return found


def _unspaced_reading(squashed: str, phrase: str, topic: Topic) -> HeadingMeaning:
    """What such a heading is about stands at its end: `manual generation is not implemented`."""
    if topic is Topic.DONE and squashed[: squashed.find(phrase)].endswith(_NOT_YET):
        topic = Topic.NEXT
    exact = len(phrase) * 2 >= len(squashed)
    strong = exact or (topic not in _VAGUE and squashed.endswith(phrase))
    weight = max(1, len(phrase) // 2)
    return HeadingMeaning(topic=topic, exact=exact, weight=weight, strong=strong, phrase=phrase)


def _longest_phrase(words: list[str], tables: _Tables) -> HeadingMeaning | None:
    total = len(words)
    for size in range(min(tables.longest, total), 0, -1):
        if size * 5 < total and size < 3:
            return _leading_word(words, tables)
        found = {
            _negated(topic, words[at - 1] if at else ""): phrase
            for at in range(total - size + 1)
            if (topic := tables.within.get(phrase := " ".join(words[at : at + size]))) is not None
        }
        if found:
            return _of_phrases(words, size, found, tables)
    return None


def _of_phrases(words: list[str], size: int, found: dict[Topic, str], tables: _Tables) -> HeadingMeaning:
    topic = Topic.TASKS if {Topic.DONE, Topic.NEXT} <= set(found) else min(found, key=_RANK.__getitem__)
    phrase = next(iter(found.values())) if topic is Topic.TASKS else found.get(topic, "")
    if topic in _OPEN_OR_BAD and _says_done(words, phrase, tables):
        topic = Topic.DONE
    return HeadingMeaning(
        topic=topic,
        exact=False,
        weight=size,
        strong=size * 2 >= len(words),
        leads=topic in _LEADS and tables.within.get(" ".join(words[:size])) is topic,
        ends=tables.within.get(words[-1]) is topic,
        phrase=phrase,
    )


def _says_done(words: list[str], phrase: str, tables: _Tables) -> bool:
    """`Flaky tests fixed` and `Open items closed on main` are done; `Tests to be fixed` are not."""
    if not _BEFORE_DONE.isdisjoint(words):
        return False
    after = len(phrase.split()) + next((at for at in range(len(words)) if phrase.startswith(words[at])), 0)
    return any(
        tables.within.get(word) is Topic.DONE
        and word in _status_words()[0]
        and _negated(Topic.DONE, words[at - 1]) is Topic.DONE
        for at, word in enumerate(words)
        if at >= after
    )


def _leading_word(words: list[str], tables: _Tables) -> HeadingMeaning | None:
    """`The decisions, and where they are written`: in a long heading one word counts only at its begin."""
    for word in words[:2]:
        topic = tables.within.get(word)
        if topic in _LEADS:
            return HeadingMeaning(topic=topic, exact=False, weight=1, strong=False, phrase=word)
    return None


def _negated(topic: Topic, before: str) -> Topic:
    """`Flagged but not fixed` is work ahead, and so is `To be fixed`; what is not blocking is a gap."""
    if topic is Topic.BLOCKERS:
        return Topic.GOTCHAS if before in _NOT else topic
    return Topic.NEXT if topic is Topic.DONE and (before in _NOT or before in _AHEAD) else topic


@lru_cache(maxsize=2048)
def is_done_word(text: str) -> bool | None:
    """True if a status cell says done, false if it says open, none if it says neither."""
    words = words_of(text)
    done, open_ = _status_words()
    if " ".join(words) in open_ or not open_.isdisjoint(words) or "not" in words:
        return False
    return None if done.isdisjoint(words) else True


@cache
def _status_words() -> tuple[frozenset[str], frozenset[str]]:
    """The words for done and for open, as words are compared."""
    done, open_ = (
        frozenset(" ".join(words_of(word)) for word in listed) for listed in (DONE_WORDS, OPEN_WORDS)
    )
    return done, open_
