"""Finds sentences anywhere that say how the work ended: the last resort, where no status is given."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.model import Outcome
from segue.domain.handoff.reading.draft import Evidence

_STATED: Final = re.compile(
    r"(?:^|[.!?*]\s*|\n)(?:the |this |all )?(?:task|mission|work|session|phase|stage|milestone"
    r"|implementation|everything|story|sprint|scope|migration|refactoring|waves?|slices?|stories|tickets?"
    r"|all tasks)(?: \w+)? (?:is |was |are |has been |have been )?(?:now )?(?:fully |all )?(?:complete"
    r"|completed|done|finished|accomplished)\b",
    re.IGNORECASE | re.MULTILINE,
)
_SUBJECT: Final = re.compile(
    "task|mission|work|session|phase|stage|milestone|implementation|everything|story|sprint|scope|migration"
    "|refactoring|wave|slice|stories|ticket"
)
_ENDS: Final = ("complete", "done", "finished", "accomplished")
"""What `_STATED` ends with."""
_ALL_DONE: Final = re.compile(
    r"all (?:merged|done|complete|completed|shipped|green|closed|landed)\b"
    r"|all (?:[\w#-]+ ){0,4}(?:tasks?|tests?|items?|steps?|phases?|issues?|failures?)(?: \([^()\n]{1,20}\))?"
    r" (?:are |were |have been )?(?:now )?(?:closed|completed?|done|finished|resolved|merged|shipped"
    r"|delivered|fixed)\b|ready to (?:merge|ship|release)\b",
    re.IGNORECASE,
)
_STILL_OPEN: Final = re.compile(
    r"(?:still|remain(?:s|ing)?)\s+(?:\w+\s){0,2}?(?:pending|blocked|open|incomplete|unfinished|unconfirmed"
    r"|unverified|failing|broken|untested|requires?|missing)\b",
    re.IGNORECASE,
)
_NOT_DONE: Final = re.compile(
    r"not\**\s+(?:yet\s+)?(?:been\s+)?(?:fully\s+)?(?:attempted|done|completed?|finished|started|deployed"
    r"|merged|implemented|wired|tested|verified|built|integrated|applied|committed|pushed|live)\b",
    re.IGNORECASE,
)
_BEFORE_NOT: Final = (
    *("is ", "are ", "was ", "were ", "has ", "have ", "and ", "but "),
    *("*", "\n", ". ", "; ", ": ", "("),
)
"""What stands before `not done` where it is said of something, and is no condition."""
_PART_IS_OPEN: Final = {
    "nicht": ("noch nicht ", "nicht fertig", "nicht begonnen", "nicht abgeschlossen"),
    "nichts ist": ("nichts ist ",),
    "pas ": ("pas encore ", "pas fait", "pas commencé", "pas terminé"),
    "apert": ("restano aperte",),
    "non com": ("non completato",),
    "terminar": ("sin terminar", "por terminar", "falta terminar"),
    "não ": ("não concluíd", "não iniciad"),
    "не ": ("не сделано", "не завершен", "не начат"),
    "未": ("未完成", "未实现", "尚未", "仍未", "未実装", "未着手", "未対応"),
    "미": ("미수정", "미구현", "미완료", "미배포"),
}
"""Words that say by themselves that a part is open, below what all of them hold."""
_DONE_CUES: Final = ("all ", "ready to ")
_OPEN_CUES: Final = (("still ", _STILL_OPEN), ("remain", _STILL_OPEN), ("not", _NOT_DONE))
"""What such a sentence holds, found fast, and what it must look like from there."""
_FAR: Final = 20_000
_MOST: Final = 50
"""How often a cue is looked at."""
_WEIGHT: Final = 2
"""How much such a sentence counts."""


def conclusion_of(text: str) -> Evidence | None:
    """A sentence that says so in so many words: that a part is open, or else that the work is done.

    Looked for in the first pages: deep inside a long document, sentences tell of other things.
    """
    text = text[:_FAR]
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two
        lower = text
    return _found_open(text, lower) or _found_done(text, lower)


def _found_open(text: str, lower: str) -> Evidence | None:
    for cue, pattern in _OPEN_CUES:
        if found := _found(text, lower, cue, pattern):
            return Evidence(Outcome.PARTIAL.value, found.start(), found.end(), _WEIGHT)
    if text.isascii() and " the " in lower:
        return None
    for stem, phrases in _PART_IS_OPEN.items():
        for words in phrases if stem in lower else ():
            if (at := lower.find(words)) >= 0:
                return Evidence(Outcome.PARTIAL.value, at, at + len(words.rstrip()), _WEIGHT)
    return None


def _found_done(text: str, lower: str) -> Evidence | None:
    found = _found_stated(text, lower)
    for cue in _DONE_CUES:
        found = found or _found(text, lower, cue, _ALL_DONE)
    return found and Evidence(Outcome.COMPLETED.value, found.start(), found.end(), _WEIGHT)


def _found(text: str, lower: str, cue: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    at = lower.find(cue)
    for _ in range(_MOST):
        if at < 0:
            return None
        said = pattern.match(text, at)
        if said and (pattern is not _NOT_DONE or lower[max(0, at - 6) : at].endswith(_BEFORE_NOT)):
            return said
        at = lower.find(cue, at + len(cue))
    return None


def _found_stated(text: str, lower: str) -> re.Match[str] | None:
    for word in _ENDS:
        at = lower.find(word)
        while at >= 0:
            begin = max(0, at - 60)
            said = (
                _STATED.search(text, begin, at + len(word) + 1) if _SUBJECT.search(lower, begin, at) else None
            )
            if said and said.end() > at:
                return said
            at = lower.find(word, at + len(word))
    return None
