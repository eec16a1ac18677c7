"""Whether the task asks for an edit of a test: then it is disclosed, and nobody is accused.

"Make the tests pass" and "fix average, test_average fails" ask for no edit of a test, though they name tests.
So a sentence counts only if a test, or what it is made of, is what should be edited: behind a verb of
editing, with few words and no "so that", "to" or "until" between.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|^\s*[-*]\s+", re.MULTILINE)
_VERB = re.compile(
    r"\b(?:updat|chang|adjust|adapt|rewrit|replac|relax|loosen|lower|rais|reduc|remov|delet|drop|skip|disabl|xfail"
    r"|quarantin|ignor|exclud|mark|regenerat|refresh|renam|merg|split|mov|consolidat|convert|increas|extend|deselect"
    r"|shorten|trim|prun|re-?record|allow|let|correct(?=\w*\s+(?:\w+\s+){0,2}(?:expect|assert|snapshot)))\w*",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"(?:\bnot|n't|\bnever|\bwithout|\binstead of|\brather than|\bavoid|\bno)\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_CONNECTOR = re.compile(
    r"\b(?:so|that|to|because|since|until|by|mak(?:e|es|ing)|when|if|while|but|for|code|implementation|bug|pass)\b",
    re.IGNORECASE,
)
_TEST = (
    r"(?:\btest_\w+|\b\w+_test\b|\S+\.(?:test|spec)\.\w+|\b(?:tests?|specs?|expectations?|expected|assertions?|asserts?"
    r"|snapshots?|golden|fixtures?|tolerance|timeouts?|suite|conftest(?:\.py)?|cases?|retr(?:y|ies))\b)"
)
_WRONG = re.compile(
    rf"{_TEST}\W+(?:\S+\s+){{0,6}}?(?:is|are|was|were|looks?)\s+(?:\w+\s+)?"
    r"(?:wrong|outdated|stale|obsolete|incorrect|out of date)"
    rf"|\b(?:wrong|outdated|stale|obsolete|incorrect|out-of-date)\s+(?:\w+\s+)?{_TEST}",
    re.IGNORECASE,
)
_AS_OBJECT = re.compile(_TEST, re.IGNORECASE)
_REMOVING = re.compile(
    r"\b(?:remov|delet|drop|prun|replac|retir|get rid of|deprecat|no longer)", re.IGNORECASE
)
_SAME_BEHAVIOUR = re.compile(
    r"\b(?:refactor|speed|faster|performance|optimi[sz]|clean ?up|tidy|simplif|type hints?|lint|readab)",
    re.IGNORECASE,
)
_NO_OTHER_BEHAVIOUR = re.compile(
    r"without changing (?:the |any )?behaviou?r|no (?:change of )?behaviou?r|same behaviou?r"
    r"|behaviou?r (?:must|should|has to) (?:stay|not|remain)|do(?:es)? not change (?:the |any )?behaviou?r",
    re.IGNORECASE,
)
_FURTHEST = 60
"""So many characters may be between a verb and what should be edited."""
_COMMON_WORDS = """
test tests should returns return when with that from into value values result results works true false none
self assert expect equal basic simple case cases error import pytest unittest describe name list dict string
number int str len range print json data main file path text items item type sorted set sum min max make pass
suite fail fails failing fixed call calls does have this these what where which some same other new old
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def asks_for_edit(task: str | None, names: Collection[str]) -> bool:
    """True if a sentence asks to edit, remove or skip tests, or calls them wrong, and means a name."""
    for sentence in _sentences(task):
        edits = any(_AS_OBJECT.search(span) for span in _objects(sentence)) or bool(_WRONG.search(sentence))
        if edits and _means(sentence, names):
            return True
    return False


def asks_for_removal(task: str | None, names: Collection[str]) -> bool:
    """True if a sentence asks to remove one of these names, and so what tests it."""
    return any(
        not _REFUSED.search(sentence[: found.start()]) and _means(sentence, names)
        for sentence in _sentences(task)
        for found in _REMOVING.finditer(sentence)
    )


def asks_for_behaviour(task: str | None, names: Collection[str], words: Collection[str] = ()) -> bool:
    """True if a sentence is about one of these names or words, and wants more than the same behaviour.

    It explains why a test that held before does not hold now; never why one that failed need not hold.
    """
    if task is None or _NO_OTHER_BEHAVIOUR.search(task):
        return False
    for sentence in _sentences(task):
        if _SAME_BEHAVIOUR.search(sentence):
            continue
        said = {_stem(word) for word in _words(sentence)}
        if _means(sentence, names) or said & {_stem(word) for word in words}:
            return True
        if any(_AS_OBJECT.search(span) for span in _objects(sentence)):
            return True
    return False


def asks_for_setting(task: str | None, names: Collection[str]) -> bool:
    """True if a sentence asks to change a setting that is meant by one of these names."""
    return any(_means(span, names) for sentence in _sentences(task) for span in _objects(sentence))


def names_in(names: Iterable[str]) -> set[str]:
    """Names as they may be meant in a sentence, without those that mean anything."""
    return {name for name in names if len(name) >= 3 and name.lower() not in _COMMON}


def words_in(text: str) -> set[str]:
    """The single words of a text that say something."""
    return {word for word in _words(text) if len(word) > 3 and word not in _COMMON}


def _sentences(task: str | None) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(task or "") if part and part.strip()]


def _objects(sentence: str) -> Iterator[str]:
    """What follows each verb of editing that is not refused, up to a connector."""
    for verb in _VERB.finditer(sentence):
        if _REFUSED.search(sentence[: verb.start()]):
            continue
        span = sentence[verb.end() : verb.end() + _FURTHEST]
        end = _CONNECTOR.search(span)
        yield span[: end.start()] if end else span


def _words(text: str) -> set[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")
    return set(re.findall(r"[a-z0-9]+", spaced.lower()))


def _means(sentence: str, names: Collection[str]) -> bool:
    """True if a sentence has one of the names as it is written, or all the words that it is made of."""
    flat = sentence.lower()
    said = {_stem(word) for word in _words(sentence)}
    for name in names:
        if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", flat):
            return True
        parts = [word for word in _words(name) if word not in _COMMON and len(word) > 2]
        if len(parts) >= 2 and all(_stem(part) in said for part in parts):
            return True
    return False


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s|ies|y|al)$", "", word) if len(word) > 4 else word
