"""Reads changed files out of bullets, table rows, git status, diff stat and trees; tells new from changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.draft import Draft, Piece, cut
from segue.domain.handoff.reading.labels import lines_of
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.paths import is_path, paths_in
from segue.domain.handoff.reading.words import NO_LETTERS, word_set

_GIT_STATUS: Final = re.compile(r"(\?\?|[MADRCU]{1,2}|new file:|modified:|deleted:|renamed:)[ \t]+(\S[^\n]*)")
_DIFF_STAT: Final = re.compile(r"[ \t]*(\S+)[ \t]+\|[ \t]+(?:\d+|Bin)[^\n]*")
_TREE_LINE: Final = re.compile(r"[ \t\u2502\u251c\u2514\u2500|`+-]*([\w.@-][\w./@-]*)([^\n]*)")
_DASH: Final = re.compile(
    r"[ \t:\uff1a](?:(?<=[ \t])[ \t]*(?:[\u2014\u2013-]{1,2}|[\u2192=])[ \t]+"
    r"|(?<=:)[*_`]{0,3}[ \t]|(?<=\uff1a))"
)
_NEW_LEAD: Final = re.compile(r"\W*(?:[Nn]ew|[Aa]dd(?:ed)?)\b")
_NEW: Final = re.compile(
    # It begins with the rarest character of each way to say it: that one is found fast.
    r"[wWcCA(|:\u2014\u2013\u65b0\u521b\uc2e0\u0441\u043d-](?:(?<=\bNEW)\b|(?<=\bC)REATED\b|(?<=\bA)DDED\b"
    r"|(?<=\b[Nn]ew)(?:ly)? (?:file|module|test|script|doc|component)"
    r"|(?<=\b[Cc])(?:reated?|r\u00e9\u00e9|riado|reado)\b"
    r"|(?<=[\u2014\u2013:-])\s*[Nn]ew\b|(?<=\()(?:new|created|added|novo|nuevo|neu|nouveau)\b"
    r"|(?<=\|)\W*(?:[Nn]ew|[Aa]dded)\W*(?:\||$)"
    r"|(?<=\u65b0)[\u589e\u5efa\u898f]|(?<=\u521b)\u5efa|(?<=\uc2e0)\uaddc"
    r"|(?<=\u0441)\u043e\u0437\u0434\u0430\u043d|(?<=\u043d)\u043e\u0432\u044b\u0439)"
)
_ERSTELLT: Final = re.compile(r"\b[Ee]rstellt\b")
_NEW_STEMS: Final = ("new", "add", "crea", "neu", "nov", "nuevo", "erstellt", "cri")
_STRESSED_NEW: Final = re.compile(
    r"NEW\b(?<=\bNEW)|\((?:new|created)\b|[|\u2014\u2013:]\W*(?:Created|New file|Added new)\b"
)
_CHANGED: Final = re.compile(
    r"\b(?:[Mm]odif(?:ied|y)|[Uu]pdated?|[Cc]hanged|[Ee]dited|[Ee]xtended|[Rr]efactored"
    r"|[Rr]ewrote|[Ff]ixed|EXISTING|MODIFIED|UPDATED|[Gg]e\u00e4ndert"
    r"|[Mm]odifi\u00e9|[Mm]odificado|[Aa]ctualizado|[Aa]tualizado)\b|\u4fee\u6539|\u66f4\u65b0"
    r"|\u5909\u66f4|\uc218\uc815|\u043e\u0431\u043d\u043e\u0432|\u0438\u0437\u043c\u0435\u043d"
)
_WORD: Final = re.compile(r"\w+")
_MAKES: Final = word_set(
    "create created add added wrote new introduced generated scaffolded neu neue erstellt hinzugef\u00fcgt "
    "cr\u00e9\u00e9 ajout\u00e9 creado criado adicionado"
)
_CHANGES: Final = word_set(
    "update updated modify modified changed edited fixed extended refactored rewrote hardened patched "
    "aktualisiert ge\u00e4ndert modifi\u00e9 actualizado atualizado"
)
_VERBS: Final = _MAKES | _CHANGES
_MAKES_WITHIN: Final = ("\u0441\u043e\u0437\u0434\u0430", "\u0434\u043e\u0431\u0430\u0432\u043b")
_MAKES_AT_END: Final = (
    *("\u65b0\u589e", "\u65b0\u5efa", "\u521b\u5efa"),
    *("\u4f5c\u6210", "\u8ffd\u52a0", "\uc0dd\uc131"),
)
_CHANGES_WITHIN: Final = ("\u043e\u0431\u043d\u043e\u0432\u043b", "\u0438\u0437\u043c\u0435\u043d")
_CHANGES_AT_END: Final = ("\u66f4\u65b0", "\u4fee\u6539", "\u4fee\u6b63", "\uc218\uc815")
"""Verbs right before a path, as whole words, as stems, or at the end where words have no spaces."""
_FILE: Final = re.compile(r"\w\.[A-Za-z]{2,5}\b")
"""Without a back-tick, a slash or this, a text is not searched for paths."""
_CHANGE_AFTER: Final = re.compile(
    r"[`*_)\]]{0,4}[ \t]*[:\u2014\u2013-]+[ \t*_]*(?:added|updated|modified|changed|fixed"
    r"|extended|refactored|rewrote|replaced|removed|now)\b",
    re.IGNORECASE,
)
_GONE: Final = re.compile(
    r"\b(?:deleted|removed|DELETED|REMOVED|gel\u00f6scht|supprim\u00e9)\b|\u5220\u9664|\u524a\u9664"
)
_GONE_STEMS: Final = ("deleted", "removed", "gel\u00f6scht", "supprim\u00e9", "\u5220\u9664", "\u524a\u9664")
_MARKED_NEW: Final = re.compile(r"[`*_]{0,3}[ \t]*[(\[](?:new|NEW|created|added)\b")
_LONGEST_LIST: Final = 600
_LEAD: Final = 6
"""Before a path that begins an account stand its signs at most."""


def add_files(draft: Draft, text: str, topic: Topic, piece: Piece) -> bool:
    """The files that one item names, each with the words about it; false if it names none."""
    status = _GIT_STATUS.fullmatch(text, piece.start, piece.end)
    if status and is_path(status[2].split(" -> ")[-1].strip("`")):
        _add(
            draft,
            _by_letter(status[1], topic),
            cut(text, status.start(2), status.end(2)),
            None,
            status[1][:1] == "D",
        )
        return True
    paths = list(paths_in(text, piece.start, piece.end))
    if not paths:
        return False
    dash = _DASH.search(text, paths[0].end, min(piece.end, paths[0].end + _LONGEST_LIST))
    about = cut(text, dash.end(), piece.end) if dash else None
    listed = [path for path in paths if dash is None or path.end <= dash.start()]
    for at, path in enumerate(listed):
        words = piece.text
        if len(listed) > 1:
            after = listed[at + 1].start if at + 1 < len(listed) else piece.end
            words = f"{text[piece.start : paths[0].start]} {text[path.end : after]}"
        kind = _kind(topic, words)
        _add(draft, kind, path, about, kind is topics.MODIFIED and _is_gone(piece.text))
    return True


def add_files_or_rest(draft: Draft, text: str, topic: Topic, piece: Piece, heading: str = "") -> None:
    """The same; what names no file belongs to no field, and is kept."""
    if not add_files(draft, text, topic, piece):
        draft.others.append((heading, piece))


def add_listed_files(draft: Draft, text: str, topic: Topic, start: int, end: int) -> None:
    """The files in a fence: `git status`, `git diff --stat`, a tree, or one path a line."""
    for begin, stop in lines_of(text, start, end):
        piece = cut(text, begin, stop)
        stat = _DIFF_STAT.fullmatch(text, piece.start, piece.end)
        if stat and is_path(stat[1]):
            _add(draft, _kind(topic, ""), cut(text, stat.start(1), stat.end(1)), None, False)
        elif piece.text:
            leaf = _TREE_LINE.match(text, piece.start, piece.end)
            name = leaf.start(1) if leaf and piece.text[0] in "\u251c\u2514\u2502|`" else piece.start
            if name < piece.end:
                add_files(draft, text, topic, cut(text, name, piece.end))


def files_told(draft: Draft, text: str, start: int, end: int) -> None:
    """Files that an account of work names right after the verb: `Created a.py`, `**a.py**: Updated ...`."""
    stop = min(end, start + 1000)
    words = text[start:stop]
    if not (("`" in words or "/" in words or ("." in words and _FILE.search(words))) and _tells(words)):
        return
    begin = start
    for count, path in enumerate(paths_in(text, start, stop)):
        before = text[max(begin, path.start - 60) : path.start].rsplit("\n", 1)[-1]
        begin = path.end
        if count >= 8:
            return
        verbs = [] if not before else _WORD.findall(before.lower())[-3:]
        if _is_said(verbs, _MAKES, _MAKES_WITHIN, _MAKES_AT_END):
            _add(draft, topics.CREATED, path, None, False)
        elif (path.start - start < _LEAD and _CHANGE_AFTER.match(text, path.end, end)) or _is_said(
            verbs, _CHANGES, _CHANGES_WITHIN, _CHANGES_AT_END
        ):
            _add(draft, topics.MODIFIED, path, None, False)


def _tells(words: str) -> bool:
    """A cheap first look: without a verb, only a path at the very start can be told of."""
    lead = words[: words.find(" ", _LEAD)]
    if not words.isascii() or "." in lead or "/" in lead or "file" in lead or "LICENSE" in lead:
        return True
    return not _VERBS.isdisjoint(words.lower().translate(NO_LETTERS).split())


def _is_said(words: list[str], known: frozenset[str], stems: tuple[str, ...], ends: tuple[str, ...]) -> bool:
    if not known.isdisjoint(words):
        return True
    return not "".join(words).isascii() and any(
        word.endswith(ends) or any(stem in word for stem in stems) for word in words if not word.isascii()
    )


def add_new_files(draft: Draft, text: str, paths: Iterable[Piece]) -> None:
    """The files of a list that are marked as new, whatever the list is for."""
    for path in paths:
        if _MARKED_NEW.match(text, path.end):
            _add(draft, topics.CREATED, path, None, False)


def _by_letter(letter: str, topic: Topic) -> Topic:
    if letter.startswith(("?", "A", "new")):
        return topics.CREATED
    return topics.MODIFIED if letter[:1] in "MDRCUmdr" else topic


def _may_be_new(words: str) -> bool:
    """A cheap first look: without one of these, nothing is marked as new."""
    lower = words.lower()
    return not lower.isascii() or any(stem in lower for stem in _NEW_STEMS)


def _said_new(words: str) -> re.Match[str] | None:
    if lead := _NEW_LEAD.match(words):
        return lead
    return _NEW.search(words) or (_ERSTELLT.search(words) if "rstellt" in words else None)


def _is_gone(words: str) -> bool:
    lower = words.lower()
    return any(stem in lower for stem in _GONE_STEMS) and _GONE.search(words) is not None


def _kind(topic: Topic, words: str) -> Topic:
    if topic is topics.CHANGED:
        new = _said_new(words) if _may_be_new(words) else None
        if new is None:
            return topics.MODIFIED
        return topics.MODIFIED if _CHANGED.search(words, 0, new.start()) else topics.CREATED
    return topics.CREATED if topic is topics.MODIFIED and _STRESSED_NEW.search(words) else topic


def _add(draft: Draft, topic: Topic, path: Piece, about: Piece | None, gone: bool) -> None:
    parts: list[tuple[str, Piece]] = [("path", path)]
    if about is not None and about.text:
        parts.append(("purpose" if topic is topics.CREATED else "description", about))
    if gone and topic is topics.MODIFIED:
        parts.append(("change_type", Piece("delete", -1, -1)))
    draft.add(topic, path, parts)
