"""Turns a stretch of text on a topic into statements: reads its marks and puts it where it belongs."""

from __future__ import annotations

import re

from segue.domain.handoff.commands import commands_in
from segue.domain.handoff.draft import Draft, Piece, cut
from segue.domain.handoff.files import add_files, add_new_files
from segue.domain.handoff.notations import BAD_MARKS, DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.parts import PART_LABELS, parts_of
from segue.domain.handoff.paths import paths_in

_BOX = re.compile(r"\[([ xX~/!-]|DONE|TODO|IN PROGRESS|PENDING|COMPLETED|OPEN)\][ \t]+")
_MARK = re.compile(f"[{DONE_MARKS}{OPEN_MARKS}{BAD_MARKS}\u26a0\U0001f449][\ufe0f\u200d]*[ \t]*")
_FORBIDS = re.compile(
    r"\W*(?:do\s+\**not\b|don['\u2019]?t\b|never\b|avoid\b|must not\b|beware\b|warning\b"
    r"|caution\b|careful\b|gotcha\b|watch out\b"
    r"|nicht\b|niemals\b|ne pas\b|no\s+tocar\b|n\u00e3o\b|\u043d\u0435\s|\u4e0d\u8981"
    r"|\u7981\u6b62|\u52ff|\u26a0)",
    re.IGNORECASE,
)
_FORBIDS_WIDE = re.compile("\u7981\u6b62|\u4e0d\u8981|\uae08\uc9c0|\u5207\u52ff|\u6ce8\u610f")
_BLOCKED = re.compile(
    r"\W*(?:\w+[ \t]){0,2}(?:blocked (?:on|by)|waiting (?:on|for)|blocker:"
    r"|blockiert durch)\b",
    re.IGNORECASE,
)
_DONE_LEAD = re.compile(
    r"~~[^~\n]+~~|\W{0,4}(?:done|completed?|finished|fixed|shipped|merged|resolved|erledigt"
    r"|\u5df2\u5b8c\u6210|\u5b8c\u4e86)\b\W*[:\u2014\u2013-]",
    re.IGNORECASE,
)
_RIM = " \t*.!)(]`,;:~"
_TAIL = re.compile(
    r"(?:\(|[\u2014\u2013:-][ \t]*|\*\*)(?:\u2705[ \t]*)?(?:(?P<done>done|complete|completed"
    r"|finished|shipped|merged)"
    r"|todo|pending|not started|in progress|planned|deferred|open|partial|not done|wip|blocked)\W{0,4}$",
    re.IGNORECASE,
)

_TAIL_WORDS = (
    *("done", "complete", "completed", "finished", "shipped", "merged", "todo", "pending", "not started"),
    *("in progress", "planned", "deferred", "open", "partial", "wip", "blocked"),
)
"""What `_TAIL` ends with, but for signs: a cheap first look."""
_FIRST = frozenset("[" + DONE_MARKS + OPEN_MARKS + BAD_MARKS + "\u26a0\U0001f449")
_PROGRESS = frozenset({Topic.TASKS, Topic.NEXT, Topic.DONE, Topic.STATUS})
_PLAIN_TOPICS = frozenset(
    {Topic.DECISIONS, Topic.GOTCHAS, Topic.FAILED, Topic.PATTERNS, Topic.CONSTRAINTS, Topic.GOAL, Topic.BRIEF}
)
"""Topics that an item's own marks do not change."""
_STATED = frozenset({*PART_LABELS, Topic.DONE, Topic.CONTEXT, Topic.CONSTRAINTS, Topic.GOAL, Topic.BRIEF})
"""Topics whose items are statements; the others name files or commands."""
_MAY_BE_BLOCKED = frozenset({Topic.NEXT, Topic.STATUS, Topic.CONTEXT})
FILE_TOPICS = frozenset({Topic.CREATED, Topic.MODIFIED, Topic.CHANGED})


def add_statement(
    draft: Draft, text: str, topic: Topic, place: tuple[int, int], checked: bool | None = None
) -> None:
    """Adds what `text` says at `place` on `topic`, where its own marks say that it belongs."""
    start, end = place
    marked = ""
    if text[start : start + 1] in _FIRST:
        start, checked, marked = _skip_marks(text, place, checked)
    piece = cut(text, start, end)
    words = piece[0]
    if not words:
        return
    if topic is Topic.DONE:
        if _is_done(words, checked, marked) is False:
            topic = Topic.NEXT
    elif topic not in _PLAIN_TOPICS:
        topic = _own_topic(topic, words, checked, marked)
    if topic in _STATED:
        draft.add(topic, piece, parts_of(topic, text, piece) if "\n" in words else ())
    else:
        _add_named(draft, text, topic, piece)


def _add_named(draft: Draft, text: str, topic: Topic, piece: Piece) -> None:
    if topic in FILE_TOPICS:
        add_files(draft, text, topic, piece)
    elif topic is Topic.CHECKS:
        for command, parts in commands_in(text, piece):
            draft.add(Topic.CHECKS, command, parts)
    elif topic is Topic.READING:
        _add_reading(draft, text, piece)


def _skip_marks(text: str, place: tuple[int, int], checked: bool | None) -> tuple[int, bool | None, str]:
    start, end = place
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
    line = words[:200]
    if "\n" in line:
        line = line[: line.index("\n")]
    if _DONE_LEAD.match(line):
        return True
    core = line.rstrip(_RIM)
    if core[-1:].isalnum() and not core[-12:].lower().endswith(_TAIL_WORDS):
        return None
    tail = _TAIL.search(line.rstrip()[-40:])
    return None if tail is None else tail["done"] is not None


def _own_topic(topic: Topic, words: str, checked: bool | None, marked: str) -> Topic:
    if topic in _MAY_BE_BLOCKED and not checked and _says_blocked(words):
        return Topic.BLOCKERS
    if topic in _PROGRESS:
        return _by_progress(topic, words, checked, marked)
    if topic is Topic.CONTEXT:
        return _by_warning(words, checked, marked)
    if topic is Topic.BLOCKERS and _is_done(words, checked, marked):
        return Topic.ASIDE
    return Topic.DECISIONS if topic is Topic.QUESTIONS and checked else topic


def _says_blocked(words: str) -> bool:
    lead = words[:100].lower()
    return ("block" in lead or "waiting" in lead) and _BLOCKED.match(words) is not None


def _by_warning(words: str, checked: bool | None, marked: str) -> Topic:
    if checked is not None:
        return Topic.DONE if checked else Topic.NEXT
    warns = (
        "\u26a0" in marked
        or (not words.isascii() and "\u26a0" in words[:200])
        or _FORBIDS.match(words)
        or (not words.isascii() and _FORBIDS_WIDE.search(words[:120]))
    )
    return Topic.GOTCHAS if warns else Topic.CONTEXT


def _by_progress(topic: Topic, words: str, checked: bool | None, marked: str) -> Topic:
    done = _is_done(words, checked, marked)
    if done is not None and not (topic is Topic.STATUS and checked is None and not marked):
        return Topic.DONE if done else Topic.NEXT
    if topic is Topic.TASKS:
        return Topic.NEXT
    if topic is Topic.STATUS:
        return Topic.GOTCHAS if _FORBIDS.match(words) else Topic.CONTEXT
    return topic


def _add_reading(draft: Draft, text: str, piece: Piece) -> None:
    """A file to read, and why; without a path it is a thing to know."""
    paths = list(paths_in(text, piece.start, piece.end))
    if not paths:
        draft.add(Topic.CONTEXT, piece)
        return
    add_new_files(draft, text, paths)
    path = paths[0]
    before, after = cut(text, piece.start, path.start), cut(text, path.end, piece.end)
    reason = _tidy(text, after) if len(after.text) >= len(before.text) else _tidy(text, before)
    draft.add(Topic.READING, piece, [("file", path), *([("reason", reason)] if reason.text else [])])


def _tidy(text: str, piece: Piece) -> Piece:
    """Cuts the quotes, dashes and colons off that tie a reason to its path."""
    rim = " \t\r\n`*_:|,;\u2014\u2013-\u2192=()"
    inner = piece.text.strip(rim)
    at = piece.text.find(inner)
    return cut(text, piece.start + at, piece.start + at + len(inner))
