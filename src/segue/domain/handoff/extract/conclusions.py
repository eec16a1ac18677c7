"""Finds sentences that say how the work ended: the last resort, where no status is given."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from segue.domain.handoff.extract.reply_outcome import completed_abroad
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.units import OutcomeWords
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.handoff.model import Outcome
from segue.domain.text.words import OPEN_WIDE

_SUBJECTS: Final = (
    "task|mission|work|session|phase|stage|milestone|implementation|everything|story|stories|sprint|scope"
    "|migration|refactoring|waves?|slices?|tickets?"
)
_SUBJECT: Final = re.compile(_SUBJECTS)
_STATED: Final = re.compile(
    rf"(?:^|[.!?*]\s*|\n)(?:the |this |all )?(?:{_SUBJECTS}|all tasks)(?: (?!not\b|never\b)\w+)? "
    r"(?:is |was |are |has been |have been )?(?:now )?(?:fully |all )?(?:completed?|done|finished"
    r"|accomplished)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS: Final = ("complete", "done", "finished", "accomplished")
"""What `_STATED` ends with."""
_ALL_DONE: Final = re.compile(
    r"\b(?:all (?:merged|done|completed?|shipped|green|closed|landed)"
    r"|all (?:[\w#-]+ ){0,4}(?:tasks?|tests?|items?|steps?|phases?|issues?|failures?)(?: \([^()\n]{1,20}\))?"
    r" (?:are |were |have been )?(?:now )?(?:closed|completed?|done|finished|resolved|merged|shipped"
    r"|delivered|fixed)|ready to (?:merge|ship|release))\b",
    re.IGNORECASE,
)
_STILL_OPEN: Final = re.compile(
    r"\b(?:still\s+(?:\w+\s){0,2}?(?:open|require[sd]?)|(?:still|remain(?:s|ing)?)\s+(?:\w+\s){0,2}?(?:pending|blocked"
    r"|incomplete|unfinished|unconfirmed|unverified|failing|broken|untested|missing))\b",
    re.IGNORECASE,
)
_WORK: Final = (
    r"(?:yet\s+)?(?:been\s+)?(?:fully\s+)?(?:attempted|done|completed?|finished|started|deployed|merged"
    r"|implemented|wired|tested|verified|built|integrated|applied|committed|pushed|live)\b"
)
_NOT_DONE: Final = re.compile(
    r"(?:(?<=is )|(?<=are )|(?<=has )|(?<=have )|(?<=and )|(?<=but )|(?<=[*\n(])|(?<=[.;:] ))"
    rf"not\**\s+{_WORK}",
    re.IGNORECASE,
)
_ISNT_DONE: Final = re.compile(
    rf"(?:(?<=\bis)|(?<=\bare)|(?<=\bhas)|(?<=\bhave))n't\s+{_WORK}", re.IGNORECASE
)
_DONE_CUES: Final = ("all ", "ready to ")
_OPEN_CUES: Final = (
    *(("still ", _STILL_OPEN), ("remain", _STILL_OPEN)),
    *(("not", _NOT_DONE), ("n't ", _ISNT_DONE)),
)
"""What such a sentence holds, found fast, and what it must look like from there."""
_Phrases = tuple[tuple[str, re.Pattern[str]], ...]
_OPEN_ABROAD: Final[_Phrases] = (
    (
        "nicht",
        re.compile(
            r"(?<!war )(?<!waren )(?:noch )?nicht (?:fertig|begonnen|abgeschlossen|umgesetzt|implementiert"
            r"|getestet|deployt|gemergt|zusammengeführt|gepusht|erledigt)\b"
        ),
    ),
    ("nichts ist", re.compile("nichts ist (?:fertig|gepusht|gemergt|zusammengeführt|committet|getestet)")),
    (
        "pas ",
        re.compile(
            "(?<!était )(?<!avait )pas (?:encore )?(?:fait|commencé|terminé|testé|implémenté|déployé|livré)"
        ),
    ),
    ("restano aperte", re.compile("restano aperte")),
    ("non ", re.compile(r"non (?:ancora )?(?:completat|finit|testat|iniziat)[oaie]\b")),
    (" terminar", re.compile("(?:sin|por|falta) terminar")),
    ("não ", re.compile("não (?:foi )?(?:concluíd|iniciad|testad|implementad)[oa]")),
)
_WIDE: Final = re.compile(f"{OPEN_WIDE}|仍未|尚未(?:完成|实现|实施|部署|测试|提交|开始|验证|合并|建立)")
_OPEN_IN_OTHER_SCRIPTS: Final[_Phrases] = (
    ("не ", re.compile("не (?:сделан|завершен|начат|протестирован)")),
    ("未", _WIDE),
    ("미", _WIDE),
)
"""Words that say by themselves that a part is open, below what they hold."""
_NO_STATEMENT: Final = re.compile(
    r"\b(?:if|once|when|before|after|until|unless|whether|should|must|will|not|never|without|confirm|ensure|verify|previous|earlier|last"
    r"|wenn|falls|sobald|bevor|si|quand|avant|cuando|antes|quando|se)\b|n['\u2019]t\b|[\"\u201c\u300c]",
    re.IGNORECASE,
)
"""What stands before such words where they are a condition, a negation, a quotation or old."""
_BREAK: Final = (". ", "! ", "? ", "\n", "\u3002")
_FIRST_PAGES: Final = 6_000
_LAST_PAGE: Final = 2_000
_MOST: Final = 50
"""How often a cue is looked at."""
_WEIGHT: Final = 2
"""How much such a sentence counts."""


def conclusion_of(text: str) -> OutcomeWords | None:
    """A sentence on the first pages or the last: the work is complete, a part is open, or all is done."""
    found = _conclusion_in(text, 0, min(len(text), _FIRST_PAGES))
    if found is None and len(text) > _FIRST_PAGES:
        found = _conclusion_in(text, max(_FIRST_PAGES, len(text) - _LAST_PAGE), len(text))
    return found


def _conclusion_in(text: str, start: int, end: int) -> OutcomeWords | None:
    page = text[start:end]
    lower = page.lower()
    if len(lower) != len(page):  # a few letters become two: then only what is written small is found
        lower = page
    if said := _found_stated(page, lower):
        outcome = Outcome.COMPLETED
    elif said := _found_open(page, lower):
        outcome = Outcome.PARTIAL
    elif said := _found_all_done(page, lower) or _found_abroad(page):
        outcome = Outcome.COMPLETED
    else:
        return None
    return OutcomeWords(
        text=outcome.value, start=start + said.start(), end=start + said.end(), weight=_WEIGHT
    )


def _found_open(page: str, lower: str) -> re.Match[str] | None:
    for cue, pattern in _OPEN_CUES:
        if found := _found(page, lower, cue, pattern):
            return found
    others: _Phrases = () if page.isascii() else _OPEN_IN_OTHER_SCRIPTS
    if " the " not in lower:
        others = _OPEN_ABROAD + others
    for stem, pattern in others:
        for said in pattern.finditer(lower) if stem in lower else ():
            if _is_statement(page, said.start()):
                return said
    return None


def _found_abroad(page: str) -> re.Match[str] | None:
    found = islice(completed_abroad().finditer(page), _MOST)
    return next((said for said in found if _is_statement(page, said.start())), None)


def _found_all_done(page: str, lower: str) -> re.Match[str] | None:
    found = (_found(page, lower, cue, _ALL_DONE) for cue in _DONE_CUES)
    return next((said for said in found if said), None)


def _found(page: str, lower: str, cue: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    at = lower.find(cue)
    for _ in range(_MOST):
        if at < 0:
            return None
        said = pattern.match(page, at)
        if said and _is_statement(page, at):
            return said
        at = lower.find(cue, at + len(cue))
    return None


def _is_statement(page: str, at: int) -> bool:
    """False in a fence, a condition or a quotation, and in a heading that opens no work ahead."""
    begin = max(page.rfind(mark, max(0, at - 120), at) for mark in _BREAK) + 1
    begin = max(begin, at - 120)
    line = page.rfind("\n", 0, at) + 1
    if page.startswith("#", line) and not _opens_work_ahead(page[line:].partition("\n")[0]):
        return False
    return _NO_STATEMENT.search(page, begin, at) is None and page.count("```", 0, at) % 2 == 0


def _opens_work_ahead(heading: str) -> bool:
    reading = read_heading(heading.strip("# *_\r"))
    return reading is not None and reading.topic is Topic.NEXT


def _found_stated(page: str, lower: str) -> re.Match[str] | None:
    for word in _ENDS:
        at = lower.find(word)
        while at >= 0:
            begin = max(0, at - 60)
            told = _SUBJECT.search(lower, begin, at)
            said = _STATED.search(page, begin, at + len(word) + 1) if told else None
            if said and said.end() > at:
                return said
            at = lower.find(word, at + len(word))
    return None
