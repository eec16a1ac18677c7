"""What an item's own words and marks say of it: boxes, signs, verbs, warnings, words for done and open."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from segue.domain.handoff.extract.nothing import begins_with_none, names_none, says_nothing
from segue.domain.handoff.extract.topics import (
    BAD_MARKS,
    DONE_MARKS,
    MAY_BE_NONE,
    OPEN_MARKS,
    Topic,
)
from segue.domain.text.words import DID, DONE_WORDS, LIKE_ADJECTIVES, OPEN_WIDE, word_set

_BOX: Final = re.compile(r"\[([ xX~/!-]|DONE|TODO|IN PROGRESS|PENDING|COMPLETED|OPEN)\][ \t]+")
_MARK: Final = re.compile(f"[{DONE_MARKS}{OPEN_MARKS}{BAD_MARKS}\u26a0\U0001f449][\ufe0f\u200d]*[ \t]*")
_FORBIDS: Final = re.compile(
    r"\W*(?:do\s+\**not\b|don['\u2019]?t\b|never\b|avoid\b|must not\b|beware\b|warning\b"
    r"|caution\b|careful\b|gotcha\b|watch out\b"
    r"|nicht\b|niemals\b|ne pas\b|no\s+tocar\b|n\u00e3o\b|\u043d\u0435\s|\u4e0d\u8981"
    r"|\u7981\u6b62|\u52ff|\u26a0)",
    re.IGNORECASE,
)
_FORBIDS_A_STEP: Final = re.compile(
    r"[*_]*(?:do\s+\**not|don['\u2019]?t|must\s+\**not)\**\s+(?!forget|lose sight)[a-z]", re.IGNORECASE
)
"""`Do not merge ...` among next steps; other words for it tell of work that is open: `Never tested`."""
_FORBIDS_WIDE: Final = re.compile("\u7981\u6b62|\u4e0d\u8981|\uae08\uc9c0|\u5207\u52ff|\u6ce8\u610f")
_BLOCKED: Final = re.compile(
    r"\W*(?:\w+[ \t]){0,2}(?:blocked (?:on|by)|waiting (?:on|for)|blocker:"
    r"|blockiert durch)\b",
    re.IGNORECASE,
)
_DONE_LEAD: Final = re.compile(
    r"~~[^~\n]+~~|(?:[\w.#-]{1,20}:[ \t]+)?\W{0,4}(?:done|completed?|finished|fixed|shipped|merged|resolved"
    r"|erledigt|\u5df2\u5b8c\u6210|\u5b8c\u4e86)\b\W*[:\u2014\u2013-]",
    re.IGNORECASE,
)
_OPEN_LEAD: Final = re.compile(r"[\w.#-]{1,20}:[ \t]+(?:TODO|WIP|PENDING|OPEN|SKIPPED)\b")
_WIDE_END: Final = r"[\s*`]*(?:[(\uff08][^()\uff08\uff09\n]{0,60}[)\uff09])?[\s.\u3002*]*$"
_SAID_DONE: Final = re.compile(
    "(?:済み|(?<![決経返救])済|しました|完了|已完成|완료|구현됨|수정됨|추가됨)" + _WIDE_END
)
_SAID_OPEN: Final = re.compile(rf"(?:{OPEN_WIDE}|要実装|尚未\w{{2,4}})" + _WIDE_END)
_CONDITION: Final = re.compile("条件|조건|确认|確認|前に|之前|まで|까지")
"""How an item ends that says of its subject that it is done, or still open, where verbs stand last."""
_LABEL: Final = r"(?:\*\*|__)(?:{})(?:(?:\*\*|__)[ \t]*:|:(?:\*\*|__))"
_BESIDE_ALL: Final = r"impact|(?:root )?cause|background|location|files?|date"
_BESIDE: Final = re.compile(
    _LABEL.format(
        _BESIDE_ALL + "|problem|issue|symptoms?|effect|before|previously|why|note|commits?|prs?|branch|tests?"
        "|coverage|results?|target"
    ),
    re.IGNORECASE,
)
_ISSUE: Final = re.compile(_LABEL.format("problems?|issues?|symptoms?|errors?|bugs?"), re.IGNORECASE)
_BESIDE_AHEAD: Final = re.compile(_LABEL.format(_BESIDE_ALL), re.IGNORECASE)
"""Labels of what is said beside a piece of work, done or to be done: `**Impact:** ...`."""
_BEFORE_VERBS: Final = frozenset(
    {"i", "we", "also", "successfully", "fully", "then", "have", "i've", "we've", "i\u2019ve", "we\u2019ve"}
)
_NO_OBJECT: Final = frozenset({"with", "on", "at", "by", "for", "nothing", "neither", "no", "as"})
_ARTICLES: Final = frozenset(
    {"the", "a", "an", "all", "both", "every", "each", "its", "our", "os", "as", "le", "la"}
)
_STRESS: Final = "*_"
_ORDERS: Final = word_set(
    "add adjust align apply audit build bump change check clean close commit complete configure confirm "
    "connect consider convert create debug decide define delete deploy design document draft enable ensure "
    "evaluate expand explore extend extract fill finalize finish fix get implement improve integrate "
    "introduce investigate keep make measure merge migrate monitor move optimize polish port prepare "
    "publish push refactor release remove rename replace report resolve restore resume review "
    "rewrite run schedule set ship simplify start submit switch sync test tune update upgrade use validate "
    "verify wire write"
)
"""Verbs that say what is to be done, as the first word of an item."""
_STRESSED: Final = re.compile(r"(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__)[ \t]*[:\u2014\u2013-]?[ \t]*")
_LOOKED_AT: Final = word_set("tested verified reviewed validated investigated")
_CHANGED: Final = word_set("built closed merged deleted disabled enabled dropped")
_WORKED: Final = (DID - LIKE_ADJECTIVES - _LOOKED_AT) | _CHANGED
"""What the stressed words before an item end with, if they tell of work."""
_NOT_WORKED: Final = word_set("not be to never is are was were yet being as if when get gets already")
_COMMIT: Final = re.compile(r"[ \t]*\((?:commits? )?`?[0-9a-f]{7,40}`?[),]")
_EXPLAINS: Final = re.compile(r"\W*(?:this|these|that|those|everything|it|the above) [a-z]", re.IGNORECASE)
_ASKS_FOR: Final = re.compile(
    r"\b(?:should|must|needs?|have to|has to|todo|next|please|will|let|run|remains?|pending|not yet)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")
_LONGEST_LINE: Final = 200
_TAIL: Final = re.compile(
    r"(?:\(|[\u2014\u2013:-][ \t]*|\*\*)(?:\u2705[ \t]*)?(?:(?P<done>done|complete|completed"
    r"|finished|shipped|merged)"
    r"|todo|pending|not started|in progress|planned|deferred|open|partial|not done|wip|blocked)\W{0,4}$",
    re.IGNORECASE,
)


def skip_marks(text: str, start: int, end: int, checked: bool | None) -> tuple[int, bool | None, str]:
    """Where the words of an item begin, what its box says, and the signs before them."""
    box = _BOX.match(text, start, end)
    if box:
        start = box.end()
        checked = box[1] in ("x", "X", "DONE", "COMPLETED")
    marked = ""
    while mark := _MARK.match(text, start, end):
        marked += mark[0][0]
        start = mark.end()
    return start, checked, marked


def is_done(words: str, checked: bool | None, marked: str) -> bool | None:
    """What the box, the sign or the word at an item's rim says."""
    if checked is not None:
        return checked
    for sign in marked:
        if sign in DONE_MARKS:
            return True
        if sign in OPEN_MARKS or sign in BAD_MARKS:
            return False
    line = words[:_LONGEST_LINE].partition("\n")[0]
    if _DONE_LEAD.match(line):
        return True
    if _OPEN_LEAD.match(line):
        return False
    tail = _TAIL.search(line.rstrip()[-40:])
    return None if tail is None else tail["done"] is not None


def is_bad(marked: str) -> bool:
    """True if the sign before an item says that something is wrong: outside of a list of tasks no step."""
    return marked[:1] in BAD_MARKS if marked else False


def is_blocked(words: str, checked: bool | None) -> bool:
    """True if an item begins with what it waits for."""
    if checked:
        return False
    return _BLOCKED.match(words) is not None


def forbids(words: str) -> bool:
    """True for a warning or a ban: `Do not merge`, `Careful:`."""
    return _FORBIDS.match(words) is not None


def _said_last(words: str) -> bool | None:
    """What the last word of an item's first line says of it."""
    line = words[:_LONGEST_LINE].partition("\n")[0]
    if _SAID_OPEN.search(line):
        return False
    return True if _SAID_DONE.search(line) and not _CONDITION.search(line) else None


def tells_of_work(words: str) -> bool:
    """True if an item begins with what was done: `Added ...`, `**Cache:** Removed ...`."""
    first = words[:1]
    if first in _STRESS:
        label = _STRESSED.match(words)
        if label and _says_work(label[0], words[label.end() :]):
            return True
        words = words[label.end() :] if label else words
        first = words[:1]
    if not first.isalpha():
        return False
    word, _, rest = words.partition(" ")
    word = word.lower()
    while word in _BEFORE_VERBS and rest:
        word, _, rest = rest.partition(" ")
        word = word.lower()
    word = word.rstrip(",")  # with a colon it is a label: `Updated: 2026-05-04`
    if word in DID:
        after = rest.partition(" ")[0].lower()
        return after not in _NO_OBJECT and (word not in LIKE_ADJECTIVES or _is_object(after))
    return False


def _says_work(label: str, rest: str) -> bool:
    """True for `**Boot regression closed**: ...` and `**Offline errors** (`570de98`): ...`."""
    if _COMMIT.match(rest):
        return True
    said = [word.strip("*_:.,!\u2014\u2013-").lower() for word in label.split()]
    said = [word for word in said if word]
    if len(said) < 2 or rest.lstrip(" *_:")[:1].isdigit():  # `**Document created**: 2026-05-04`
        return False
    return said[-1] in _WORKED and said[-2] not in _NOT_WORKED


def _is_object(word: str) -> bool:
    """True if what follows a participle shows that something was done to it: `Closed the issue`."""
    return word in _ARTICLES or not word[:1].isalpha()


def _of_done(words: str, checked: bool | None, marked: str) -> Topic:
    if checked is None and _BESIDE.match(words) and not tells_of_work(words):
        return Topic.CONTEXT
    if checked is None and is_bad(marked):
        return Topic.GOTCHAS
    return Topic.NEXT if is_done(words, checked, marked) is False else Topic.DONE


def _of_tasks(words: str, checked: bool | None, marked: str) -> Topic:
    return Topic.DONE if is_done(words, checked, marked) else Topic.NEXT


def _of_next(words: str, checked: bool | None, marked: str) -> Topic:
    if is_blocked(words, checked):
        return Topic.BLOCKERS
    if checked is None and not marked:
        if _ISSUE.match(words):
            return Topic.GOTCHAS
        if _BESIDE_AHEAD.match(words):
            return Topic.CONTEXT
        if _FORBIDS_A_STEP.match(words):
            return Topic.GOTCHAS
    return _of_tasks(words, checked, marked)


def _of_status(words: str, checked: bool | None, marked: str) -> Topic:
    if is_blocked(words, checked):
        return Topic.BLOCKERS
    done = is_done(words, checked, marked) if marked or checked is not None else None
    if checked is None and is_bad(marked):
        return Topic.GOTCHAS
    if done is not None:
        return Topic.DONE if done else Topic.NEXT
    if forbids(words):
        return Topic.GOTCHAS
    if not words.isascii() and (said := _said_last(words)) is not None:
        return Topic.DONE if said else Topic.NEXT
    return Topic.DONE if tells_of_work(words) else Topic.CONTEXT


def _of_context(words: str, checked: bool | None, marked: str) -> Topic:
    if is_blocked(words, checked):
        return Topic.BLOCKERS
    if checked is not None:
        return Topic.DONE if checked else Topic.NEXT
    if "\u26a0" in marked or forbids(words):
        return Topic.GOTCHAS
    if not words.isascii():
        if "\u26a0" in words[:_LONGEST_LINE] or _FORBIDS_WIDE.search(words[:120]):
            return Topic.GOTCHAS
        if (said := _said_last(words)) is not None:
            return Topic.DONE if said else Topic.NEXT
    return Topic.DONE if tells_of_work(words) else Topic.CONTEXT


def _of_blockers(words: str, checked: bool | None, marked: str) -> Topic:
    return Topic.ASIDE if is_done(words, checked, marked) else Topic.BLOCKERS


def _of_gotchas(words: str, _checked: bool | None, _marked: str) -> Topic:
    return Topic.DONE if not words.startswith("~") and _DONE_LEAD.match(words) else Topic.GOTCHAS


def _of_questions(_words: str, checked: bool | None, _marked: str) -> Topic:
    return Topic.DECISIONS if checked else Topic.QUESTIONS


_OWN_TOPIC: Final[dict[Topic, Callable[[str, bool | None, str], Topic]]] = {
    Topic.DONE: _of_done,
    Topic.TASKS: _of_tasks,
    Topic.NEXT: _of_next,
    Topic.STATUS: _of_status,
    Topic.CONTEXT: _of_context,
    Topic.BLOCKERS: _of_blockers,
    Topic.GOTCHAS: _of_gotchas,
    Topic.QUESTIONS: _of_questions,
}
"""Topics that an item's own words and marks can change."""


def begins_with_order(words: str) -> bool:
    """True if an item begins with what is to be done: `Add ...`, `**Write** ...`."""
    first = words.lstrip("*_` ").partition(" ")[0].rstrip("*_:,")
    return first[:1].isupper() and first.lower() in _ORDERS


def own_topic(topic: Topic, words: str, checked: bool | None, marked: str) -> Topic:
    """The topic of an item in a list on `topic`, where its own marks may say otherwise."""
    if topic in MAY_BE_NONE and begins_with_none(words):
        return Topic.ASIDE
    rule = _OWN_TOPIC.get(topic)
    return topic if rule is None else rule(words, checked, marked)


def explains(words: str) -> bool:
    """True for a paragraph among next steps that says something of them: `This order is deliberate.`"""
    return _EXPLAINS.match(words) is not None and _ASKS_FOR.search(words) is None


def reports(words: str) -> bool:
    """True if a text has a word for finished work in it, or is not written in English."""
    return not words.isascii() or not (DID | DONE_WORDS).isdisjoint(_WORD.findall(words.lower()))


def says_something(topic: Topic, words: str) -> bool:
    """False for `None.`, and for `No known issues.` under Known issues."""
    if says_nothing(words):
        return False
    return topic not in MAY_BE_NONE or not names_none(words)
