"""Finds the topic that a heading, a label, a tag or a key means."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.phrases_of_knowledge import PHRASES_OF_KNOWLEDGE
from segue.domain.handoff.reading.phrases_of_work import PHRASES_OF_WORK
from segue.domain.handoff.reading.words import DONE_WORDS, NOTHING, OPEN_WORDS

_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_ASIDE: Final = re.compile(r"[(\uff08\[][^()\uff08\uff09\[\]]{0,200}[)\uff09\]]")
_DASH: Final = re.compile(r"[\u2014\u2013:\u2192]|[ ]-[ ]")
_NOT: Final = frozenset(
    {
        "not",
        "nicht",
        "pas",
        "не",
        "no",
        "non",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "never",
        "cannot",
        "não",
        "inte",
    }
)
_AHEAD: Final = frozenset({"be", "get", "until"})
"""What stands before a word for done where it is still to come."""
_NOT_YET: Final = ("未", "没", "沒", "待", "需", "需要", "计划", "計劃", "못", "안", "아직")
"""What stands before a word for done in a script without spaces, and turns it round."""
_NOTHING_LEAD: Final = re.compile(
    r"\W*(?:none|nothing|n/a|no changes|нет|keine|aucune?|ninguno|nenhum)[.;]\s", re.IGNORECASE
)
_NAMES_NONE: Final = re.compile(
    r"[\W_]*(?:no|keine|aucune?|ning[uú]na?|nenhuma?|nessuna?)(?:\s(?:known|open|new|active|major|critical|current"
    r"|outstanding|remaining|other|further|offenen|bekannten))*\s(?:issues?|blockers?|questions?|problems?|risks?"
    r"|bugs?|probleme|fragen|problèmes?|problemas?|problemi|problema)(?:\s(?:at|this|time|currently|yet|remain"
    r"|remaining|found|known|noted|identified|for|now|left|so|far|encountered|reported|noto|noti|attivo|attivi))*"
    r"[\W_]*",
    re.IGNORECASE,
)
_LEAD_FIRST: Final = frozenset("nNkKaA\u043d\u041d")
"""What `_NOTHING_LEAD` begins with, but for signs."""
_SIGNS: Final = " \t\r\n*`-_([{\"'>~#"
_NOTHING_FIRST: Final = frozenset(case for word in NOTHING for case in (word[0], word[0].upper()))
"""What a word for nothing begins with, but for signs."""
_VAGUE: Final = frozenset({Topic.WHOLE, Topic.STATUS, Topic.CONTEXT, Topic.ASIDE})
"""What says little: another phrase in the same heading says more."""
_OPEN_OR_BAD: Final = frozenset({Topic.NEXT, Topic.GOTCHAS})
_LEADS: Final = frozenset({Topic.GOTCHAS, Topic.BLOCKERS, Topic.QUESTIONS, Topic.FAILED, Topic.DECISIONS})
"""What a heading is about if it begins with one of its phrases: `Lessons from the first week`."""
_ASKS: Final = re.compile(
    r"\b(?:must|should|(?:needs?|has|have|is|are) to)(?P<not> not)?(?: be| also)?$", re.IGNORECASE
)
"""`The migration must:` before a list of what is to be done."""
_LONGEST_HEADING: Final = 160
_LONGEST_WORD_FOR_NOTHING: Final = 40
_LONGEST_NO: Final = 80
_NONE_FIRST: Final = frozenset("nNkKaA_(*")
"""What `_NAMES_NONE` begins with."""
_RANK: Final = {topic: rank for rank, topic in enumerate(Topic)}


@dataclass(frozen=True, slots=True)
class Reading:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tables:
    whole: dict[str, Topic]
    within: dict[str, Topic]
    unspaced: tuple[tuple[str, Topic], ...]
    longest: int
    first: frozenset[str]
    """The words that a phrase begins with."""


def words_of(heading: str) -> list[str]:
    """The words that headings are compared by: lower case, no numbers, no signs, no apostrophes."""
    heading = heading[:_LONGEST_HEADING]
    if " " not in heading:
        heading = _HUMP.sub(" ", heading)
    if heading.isascii():
        plain = heading.lower().replace("'", "")
    else:
        plain = unicodedata.normalize("NFKC", heading).casefold().replace("'", "").replace("\u2019", "")
    return [word for word in _WORD.findall(plain) if not word.isdigit()]


@cache
def _tables() -> _Tables:
    whole: dict[str, Topic] = {}
    within: dict[str, Topic] = {}
    unspaced: dict[str, Topic] = {}
    all_phrases = PHRASES_OF_WORK | PHRASES_OF_KNOWLEDGE
    for topic in Topic:
        for raw in all_phrases[topic].split(";"):
            phrase = " ".join(words_of(raw))
            if not phrase:
                continue
            whole.setdefault(phrase, topic)
            if raw.strip().startswith("="):
                continue
            if _UNSPACED.search(phrase):
                unspaced.setdefault(phrase.replace(" ", ""), topic)
            else:
                within.setdefault(phrase, topic)
    for topic in Topic:
        whole[" ".join(words_of(topic.value))] = topic
    ordered = sorted(unspaced.items(), key=lambda pair: (-len(pair[0]), _RANK[pair[1]]))
    longest = max(phrase.count(" ") + 1 for phrase in within)
    first = frozenset(phrase.split(" ", 1)[0] for phrase in within)
    return _Tables(whole=whole, within=within, unspaced=tuple(ordered), longest=longest, first=first)


@lru_cache(maxsize=8192)
def read_heading(heading: str) -> Reading | None:
    """The topic of a heading, or none.

    What stands before a colon goes before the rest; what stands in brackets counts only if it is a
    heading by itself and the rest means nothing.
    """
    bare = heading[:_LONGEST_HEADING]
    if not bare.isascii() or "(" in bare or "[" in bare:
        bare = _ASIDE.sub(" ", bare)
    head, colon, _ = bare.replace("\uff1a", ":").partition(":")
    if colon and (reading := _read(head)) and reading.exact:
        return reading
    if reading := _read(bare):
        return _told_files(heading) or reading if reading.topic is Topic.READING else reading
    if (first := _DASH.split(bare, maxsplit=1)[0]) != bare and (reading := _read(first)):
        return reading
    for aside in _ASIDE.findall(heading[:_LONGEST_HEADING]):
        if (reading := _read(aside)) and reading.exact:
            return reading
    return None


def _told_files(heading: str) -> Reading | None:
    """`Files (uncommitted)` are files that were changed."""
    for aside in _ASIDE.findall(heading[:_LONGEST_HEADING]):
        reading = _read(aside)
        if reading and reading.topic in (Topic.CREATED, Topic.MODIFIED, Topic.CHANGED):
            return reading
    return None


@lru_cache(maxsize=8192)
def read_label(label: str) -> Reading | None:
    """The topic of a label that stands before text: stricter, for a label is often just a name."""
    reading = read_heading(label)
    if reading is None or reading.exact:
        return reading
    return reading if reading.weight * 2 >= len(words_of(_ASIDE.sub(" ", label))) else None


@lru_cache(maxsize=2048)
def read_introduction(line: str) -> Reading | None:
    """The topic of a line before a list: a label, or a sentence that says it at its begin or end."""
    if reading := read_label(line):
        return reading
    if asks := _ASKS.search(line):
        return Reading(topic=Topic.GOTCHAS if asks["not"] else Topic.NEXT, exact=True, weight=1)
    words, tables = words_of(line), _tables()
    for size in range(min(3, len(words) - 1), 0, -1):
        topic = tables.within.get(" ".join(words[:size]))
        if topic is not None:
            return Reading(topic=topic, exact=True, weight=size) if topic in _LEADS else None
    return None


def _read(heading: str) -> Reading | None:
    words = words_of(heading)
    if not words:
        return None
    tables = _tables()
    topic = tables.whole.get(" ".join(words))
    if topic is not None:
        return Reading(topic=topic, exact=True, weight=len(words))
    if not heading.isascii() and _UNSPACED.search(heading):
        found = _unspaced("".join(words), tables)
        if found is not None:
            return found
    if "for" in words and (reading := _before_whom(words, tables)):
        return reading
    return _longest_phrase(words, tables)


def _before_whom(words: list[str], tables: _Tables) -> Reading | None:
    """`Warnings for the next session` are warnings."""
    at = words.index("for")
    whom = [word for word in words[at + 1 : at + 3] if word not in ("the", "your", "our")]
    found = _longest_phrase(words[:at], tables) if at and whom[:1] in (["next"], ["future"]) else None
    return found if found and (found.topic in _LEADS or found.topic is Topic.CONTEXT) else None


def _unspaced(squashed: str, tables: _Tables) -> Reading | None:
    found: Reading | None = None
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
            return Reading(topic=Topic.TASKS, exact=False, weight=found.weight)
    return found


def _unspaced_reading(squashed: str, phrase: str, topic: Topic) -> Reading:
    """What such a heading is about stands at its end: `manual generation is not implemented`."""
    if topic is Topic.DONE and squashed[: squashed.find(phrase)].endswith(_NOT_YET):
        topic = Topic.NEXT
    exact = len(phrase) * 2 >= len(squashed)
    strong = exact or (topic not in _VAGUE and squashed.endswith(phrase))
    return Reading(topic=topic, exact=exact, weight=max(1, len(phrase) // 2), strong=strong)


def _longest_phrase(words: list[str], tables: _Tables) -> Reading | None:
    total = len(words)
    if tables.first.isdisjoint(words):
        return None
    for size in range(min(tables.longest, total), 0, -1):
        if size * 5 < total and size < 3:
            return _leading_word(words, tables)
        found = {
            _negated(topic, words[at - 1] if at else "")
            for at in range(total - size + 1)
            if words[at] in tables.first
            and (topic := tables.within.get(" ".join(words[at : at + size]))) is not None
        }
        if found:
            topic = Topic.TASKS if {Topic.DONE, Topic.NEXT} <= found else min(found, key=_RANK.__getitem__)
            if topic in _OPEN_OR_BAD and _says_done_last(words, tables):
                topic = Topic.DONE
            leads = topic in _LEADS and tables.within.get(" ".join(words[:size])) is topic
            ends = tables.within.get(words[-1]) is topic
            strong = size * 2 >= total
            return Reading(topic=topic, exact=False, weight=size, strong=strong, leads=leads, ends=ends)
    return None


def _says_done_last(words: list[str], tables: _Tables) -> bool:
    """`Flaky tests fixed` are fixed; `Tests to be fixed` are not."""
    done = tables.within.get(words[-1]) is Topic.DONE and words[-1] in DONE_WORDS
    return done and _negated(Topic.DONE, words[-2]) is Topic.DONE


def _leading_word(words: list[str], tables: _Tables) -> Reading | None:
    """`The decisions, and where they are written`: in a long heading one word counts only at its begin."""
    for word in words[:2]:
        topic = tables.within.get(word)
        if topic in _LEADS:
            return Reading(topic=topic, exact=False, weight=1, strong=False)
    return None


def _negated(topic: Topic, before: str) -> Topic:
    """`Flagged but not fixed` is work ahead, and so is `To be fixed`."""
    return Topic.NEXT if topic is Topic.DONE and (before in _NOT or before in _AHEAD) else topic


NOTHING_LONGEST: Final = 200
"""A text of this length says something."""


def says_nothing(text: str) -> bool:
    """True for what an agent writes where it has nothing to say: `None.`, `- Нет`, `[]`, `無し`."""
    size = len(text)
    first = text[:1]
    if size > _LONGEST_WORD_FOR_NOTHING:
        if size >= NOTHING_LONGEST or (first not in _LEAD_FIRST and first.isalnum()):
            return False
        first = text.lstrip(_SIGNS)[:1]
        return (first in _LEAD_FIRST or not first.isalnum()) and _NOTHING_LEAD.match(text) is not None
    if first not in _NOTHING_FIRST and first.isalnum():
        return False
    words = text.strip(" \t\r\n-*_.`~()[]{}!。:;>|—–").casefold()  # noqa: RUF001 (dashes that agents write)
    if words in NOTHING or not (words[:1].isalnum() or any(map(str.isalnum, words))):
        return True
    return ("." in text or ";" in text) and _NOTHING_LEAD.match(text) is not None


def names_none(text: str) -> bool:
    """True for `No known issues.` where issues are asked for."""
    return len(text) < _LONGEST_NO and text[0] in _NONE_FIRST and _NAMES_NONE.fullmatch(text) is not None


def has_no_spaces(text: str) -> bool:
    """True if it is written in a script that puts no spaces between words."""
    return not text.isascii() and _UNSPACED.search(text) is not None


@lru_cache(maxsize=2048)
def is_done_word(text: str) -> bool | None:
    """True if a status cell says done, false if it says open, none if it says neither."""
    words = words_of(text)
    joined = " ".join(words)
    if joined in OPEN_WORDS or any(w in OPEN_WORDS for w in words) or "not" in words:
        return False
    return True if any(w in DONE_WORDS for w in words) else None
