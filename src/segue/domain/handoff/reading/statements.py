"""Turns a stretch of text on a topic into statements: reads its marks and puts it where it belongs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.commands import commands_in
from segue.domain.handoff.reading.draft import Draft, Piece, cut, says_something
from segue.domain.handoff.reading.files import add_files_or_rest, add_new_files
from segue.domain.handoff.reading.notations import BAD_MARKS, DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.reading.parts import PART_LABELS, parts_of
from segue.domain.handoff.reading.paths import paths_in
from segue.domain.handoff.reading.words import DID, LIKE_ADJECTIVES, OPEN_WIDE

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
_FORBIDS_FIRST: Final = frozenset("dDnNaAmMbBwWcCgG\u043d\u041d\u4e0d\u7981\u52ff")
"""What `_FORBIDS` begins with, but for signs."""
_FORBIDS_WIDE: Final = re.compile("\u7981\u6b62|\u4e0d\u8981|\uae08\uc9c0|\u5207\u52ff|\u6ce8\u610f")
_BLOCKED: Final = re.compile(
    r"\W*(?:\w+[ \t]){0,2}(?:blocked (?:on|by)|waiting (?:on|for)|blocker:"
    r"|blockiert durch)\b",
    re.IGNORECASE,
)
_DONE_LEAD: Final = re.compile(
    r"~~[^~\n]+~~|\W{0,4}(?:done|completed?|finished|fixed|shipped|merged|resolved|erledigt"
    r"|\u5df2\u5b8c\u6210|\u5b8c\u4e86)\b\W*[:\u2014\u2013-]",
    re.IGNORECASE,
)
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
_STRESSED: Final = re.compile(r"(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__)[ \t]*[:\u2014\u2013-]?[ \t]*")
_LONGEST_LINE: Final = 200
_LONGEST_LEAD: Final = 60
_RIM: Final = " \t*.!)(]`,;:~"
_TAIL: Final = re.compile(
    r"(?:\(|[\u2014\u2013:-][ \t]*|\*\*)(?:\u2705[ \t]*)?(?:(?P<done>done|complete|completed"
    r"|finished|shipped|merged)"
    r"|todo|pending|not started|in progress|planned|deferred|open|partial|not done|wip|blocked)\W{0,4}$",
    re.IGNORECASE,
)

_TAIL_ENDS: Final = frozenset(
    {"done", "lete", "eted", "shed", "pped", "rged", "todo", "ding", "rted", "ress", "nned", "rred", "open"}
    | {"tial", "cked", " wip", "(wip", "-wip", ":wip", "*wip", "\u2014wip", "\u2013wip", "\twip"}
)
"""The last letters of what `_TAIL` ends with: a cheap first look."""
_new: Final = tuple.__new__
# A named tuple's own constructor is written in Python.
_FIRST: Final = frozenset("[" + DONE_MARKS + OPEN_MARKS + BAD_MARKS + "\u26a0\U0001f449")
_LEAD_SIGNS: Final = "*_`([ "
_DONE_FIRST: Final = frozenset({"do", "co", "fi", "sh", "me", "re", "er", "\u5df2\u5b8c", "\u5b8c\u4e86"})
"""What `_DONE_LEAD` begins with, but for signs."""
_STATED: Final = frozenset(
    {*PART_LABELS, topics.DONE, topics.CONTEXT, topics.CONSTRAINTS, topics.GOAL, topics.BRIEF}
)
"""Topics whose items are statements; the others name files or commands."""


def add_statement(
    draft: Draft, text: str, topic: Topic, start: int, end: int, checked: bool | None = None
) -> None:
    """Adds what `text[start:end]` says on `topic`, where its own marks say that it belongs."""
    marked = ""
    words = text[start:end].strip()
    if not words:
        return
    if words[0] in _FIRST:
        start, checked, marked = _skip_marks(text, text.index(words[0], start), end, checked)
        words = text[start:end].strip()
        if not words:
            return
    first = words[0]
    if text[start] != first:
        start = text.index(first, start)
    size = len(words)
    rule = _OWN_TOPIC.get(topic)
    if rule is not None:
        topic = rule(words, checked, marked)
    if topic not in _STATED:
        _add_named(draft, text, topic, _new(Piece, (words, start, start + size)))
    elif says_something(topic, words):
        parts = parts_of(topic, text, words, start, start + size) if "\n" in words else ()
        draft.take(topic, (words, start, start + size, parts))


def _add_named(draft: Draft, text: str, topic: Topic, piece: Piece) -> None:
    if topic in topics.FILES:
        add_files_or_rest(draft, text, topic, piece)
    elif topic is topics.CHECKS:
        for command, parts in commands_in(text, piece.start, piece.end):
            draft.add(topic, command, parts)
    elif topic is topics.READING:
        _add_reading(draft, text, piece)


def _skip_marks(text: str, start: int, end: int, checked: bool | None) -> tuple[int, bool | None, str]:
    box = _BOX.match(text, start, end)
    if box:
        start = box.end()
        checked = box[1] in ("x", "X", "DONE", "COMPLETED")
    marked = ""
    while mark := _MARK.match(text, start, end):
        marked += mark[0][0]
        start = mark.end()
    return start, checked, marked


def _is_done(words: str, checked: bool | None, marked: str) -> bool | None:
    """What the box, the sign or the word at an item's rim says."""
    if checked is not None:
        return checked
    for sign in marked:
        if sign in DONE_MARKS:
            return True
        if sign in OPEN_MARKS or sign in BAD_MARKS:
            return False
    line = words[:_LONGEST_LINE].partition("\n")[0]
    lead = line.lstrip(_LEAD_SIGNS)[:2].lower()
    if (lead in _DONE_FIRST or not lead[:1].isalnum()) and _DONE_LEAD.match(line):
        return True
    core = line.rstrip(_RIM)
    if core[-4:].lower() not in _TAIL_ENDS and core[-1:].isalnum():
        return None
    tail = _TAIL.search(line.rstrip()[-40:])
    return None if tail is None else tail["done"] is not None


def _is_blocked(words: str, checked: bool | None) -> bool:
    if checked:
        return False
    lead = words[:_LONGEST_LEAD].lower()
    return ("block" in lead or "waiting" in lead) and _BLOCKED.match(words) is not None


def _forbids(words: str) -> bool:
    first = words[0]
    return (first in _FORBIDS_FIRST or not first.isalnum()) and _FORBIDS.match(words) is not None


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


def _is_object(word: str) -> bool:
    """True if what follows a participle shows that something was done to it: `Closed the issue`."""
    return word in _ARTICLES or not word[:1].isalpha()


def _of_done(words: str, checked: bool | None, marked: str) -> Topic:
    if checked is None and words[0] in _STRESS and _BESIDE.match(words) and not tells_of_work(words):
        return topics.CONTEXT
    return topics.NEXT if _is_done(words, checked, marked) is False else topics.DONE


def _of_tasks(words: str, checked: bool | None, marked: str) -> Topic:
    return topics.DONE if _is_done(words, checked, marked) else topics.NEXT


def _of_next(words: str, checked: bool | None, marked: str) -> Topic:
    if _is_blocked(words, checked):
        return topics.BLOCKERS
    if checked is None and not marked:
        if words[0] in _STRESS and _BESIDE_AHEAD.match(words):
            return topics.CONTEXT
        if words[0] in "*_dDmM" and _FORBIDS_A_STEP.match(words):
            return topics.GOTCHAS
    return _of_tasks(words, checked, marked)


def _of_status(words: str, checked: bool | None, marked: str) -> Topic:
    if _is_blocked(words, checked):
        return topics.BLOCKERS
    done = _is_done(words, checked, marked) if marked or checked is not None else None
    if done is not None:
        return topics.DONE if done else topics.NEXT
    if _forbids(words):
        return topics.GOTCHAS
    if not words.isascii() and (said := _said_last(words)) is not None:
        return topics.DONE if said else topics.NEXT
    return topics.DONE if tells_of_work(words) else topics.CONTEXT


def _of_context(words: str, checked: bool | None, marked: str) -> Topic:
    if _is_blocked(words, checked):
        return topics.BLOCKERS
    if checked is not None:
        return topics.DONE if checked else topics.NEXT
    if "\u26a0" in marked or _forbids(words):
        return topics.GOTCHAS
    if not words.isascii():
        if "\u26a0" in words[:_LONGEST_LINE] or _FORBIDS_WIDE.search(words[:120]):
            return topics.GOTCHAS
        if (said := _said_last(words)) is not None:
            return topics.DONE if said else topics.NEXT
    return topics.DONE if tells_of_work(words) else topics.CONTEXT


def _of_blockers(words: str, checked: bool | None, marked: str) -> Topic:
    return topics.ASIDE if _is_done(words, checked, marked) else topics.BLOCKERS


def _of_questions(_words: str, checked: bool | None, _marked: str) -> Topic:
    return topics.DECISIONS if checked else topics.QUESTIONS


_OWN_TOPIC: Final[dict[Topic, Callable[[str, bool | None, str], Topic]]] = {
    topics.DONE: _of_done,
    topics.TASKS: _of_tasks,
    topics.NEXT: _of_next,
    topics.STATUS: _of_status,
    topics.CONTEXT: _of_context,
    topics.BLOCKERS: _of_blockers,
    topics.QUESTIONS: _of_questions,
}
"""Topics that an item's own words and marks can change; an item without a topic of the record is dropped."""


def _add_reading(draft: Draft, text: str, piece: Piece) -> None:
    """A file to read, and why; without a path it is a thing to know."""
    paths = list(paths_in(text, piece.start, piece.end))
    if not paths:
        draft.add(topics.CONTEXT, piece)
        return
    add_new_files(draft, text, paths)
    path = paths[0]
    before, after = cut(text, piece.start, path.start), cut(text, path.end, piece.end)
    reason = _tidy(text, after) if len(after.text) >= len(before.text) else _tidy(text, before)
    draft.add(topics.READING, piece, [("file", path), *([("reason", reason)] if reason.text else [])])


def _tidy(text: str, piece: Piece) -> Piece:
    """Cuts the quotes, dashes and colons off that tie a reason to its path."""
    rim = " \t\r\n`*_:|,;\u2014\u2013-\u2192=()"
    inner = piece.text.strip(rim)
    at = piece.text.find(inner)
    return cut(text, piece.start + at, piece.start + at + len(inner))
