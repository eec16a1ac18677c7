"""Reads free prose, sentence by sentence: only what says in so many words what it is."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.draft import Draft, Piece, cut
from segue.domain.handoff.reading.files import files_told
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.sentences import sentences_in
from segue.domain.handoff.reading.statements import tells_of_work
from segue.domain.handoff.reading.words import DID, NO_LETTERS, word_set

_VERBS: Final = "|".join(sorted(DID)) + "|set up"
_CUES: Final[tuple[tuple[Topic, frozenset[str], re.Pattern[str]], ...]] = (
    (
        topics.BLOCKERS,
        word_set("blocked blocking blocker cannot waiting blockiert"),
        re.compile(
            r"\b(?:blocked (?:by|on)|is blocking|blocker:|cannot (?:proceed"
            r"|continue)|waiting (?:for|on)|blockiert durch)\b"
        ),
    ),
    (
        topics.GOTCHAS,
        word_set(
            "watch careful beware caution gotcha warning known heads sure vorsicht achtung aufpassen cause "
            "do don never avoid"
        ),
        re.compile(
            r"\b(?:watch out|be careful|careful with|beware|caution|gotcha|warning:|known issue"
            r"|heads[- ]up|make sure not|vorsicht|achtung|aufpassen"
            r"|root cause of)\b|^\W*(?:do not|don['\u2019]t|never|avoid)\b"
        ),
    ),
    (
        topics.QUESTIONS,
        word_set("unclear sure question decided undecided unklar"),
        re.compile(
            r"\b(?:unclear|not sure (?:if|whether|how|why)|open question|to be decided|undecided|unklar)\b"
        ),
    ),
    (
        topics.DECISIONS,
        word_set("decided chose opted went settled decision entschieden"),
        re.compile(
            r"\b(?:(?:we|i) (?:decided|chose|opted|went with|settled on)"
            r"|decision:|decided to|entschieden)\b"
        ),
    ),
    (
        topics.PATTERNS,
        word_set("always pattern convention"),
        re.compile(
            r"\b(?:always use|the pattern is|pattern:|by convention"
            r"|the convention)\b"
        ),
    ),
    (
        topics.NEXT,
        word_set("next then todo remaining still should need needs remains left follow n\u00e4chstes"),
        re.compile(
            r"^\W*(?:next(?:,| step| up|:)|then,? (?:we|you|run|add|do)|todo\b|remaining\b"
            r"|still (?:to do|need|open|missing)|als n\u00e4chstes\b)"
            r"|\b(?:should (?:be|now|next|then|also|probably)|(?:still |now )?needs? to be|next step"
            r"|remains to be|left to do|follow[- ]up)\b"
        ),
    ),
    (
        topics.DONE,
        DID | {"set"},
        re.compile(rf"^\W*(?:(?:i|we) (?:also |then )?)?set up\b|\b(?:has|have) been (?:{_VERBS})\b"),
    ),
)
"""What a sentence must say to be taken, surest first; without one of the words, it does not say so. One
that begins with what was done is taken as an item is (`tells_of_work`)."""
_ASKS: Final = re.compile(r"\?\W*$")
_WORD: Final = re.compile(r"[^\W\d_]+")
_CUE_WORDS: Final = frozenset().union(*(words for _, words, _ in _CUES))


def read_prose(draft: Draft, text: str, piece: Piece) -> bool:
    """Takes down the sentences of `piece` that say what they are; true if there was one."""
    found = False
    for begin, end in sentences_in(text, piece.start, piece.end):
        sentence = cut(text, begin, end)
        topic = topic_of_sentence(sentence.text)
        if topic is None:
            continue
        found = True
        draft.add(topic, sentence)
        if topic is topics.DONE:
            files_told(draft, text, sentence.start, sentence.end)
    return found


def topic_of_sentence(sentence: str) -> Topic | None:
    """The topic of a sentence, or none: a wrong statement costs more than a missing one."""
    if len(sentence) > 600:
        return None
    lower = sentence.lower()
    words = lower.translate(NO_LETTERS).split() if lower.isascii() else _WORD.findall(lower)
    asks = "?" in lower[-4:] and _ASKS.search(lower) is not None
    if not asks and _CUE_WORDS.isdisjoint(words):
        return None
    for topic, known, cue in _CUES:
        if (asks and topic is topics.QUESTIONS) or (not known.isdisjoint(words) and cue.search(lower)):
            return topic
    return topics.DONE if tells_of_work(sentence) else None
