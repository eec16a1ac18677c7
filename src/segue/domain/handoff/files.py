"""Reads changed files out of bullets, table rows, git status, diff stat and trees; tells new from changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from segue.domain.handoff.draft import Draft, Piece, cut
from segue.domain.handoff.notations import Topic
from segue.domain.handoff.paths import is_path, paths_in

_GIT_STATUS = re.compile(r"(\?\?|[MADRCU]{1,2}|new file:|modified:|deleted:|renamed:)[ \t]+(\S[^\n]*)")
_DIFF_STAT = re.compile(r"[ \t]*(\S+)[ \t]+\|[ \t]+(?:\d+|Bin)[^\n]*")
_TREE_LINE = re.compile(r"[ \t\u2502\u251c\u2514\u2500|`+-]*([\w.@-][\w./@-]*)([^\n]*)")
_DASH = re.compile(r"[ \t]+[\u2014\u2013-]{1,2}[ \t]+|:[*_`]{0,3}[ \t]|[ \t]+[\u2192=][ \t]+|\uff1a")
_NEW = re.compile(
    r"\bNEW\b|\((?:new|created|added|novo|nuevo|neu|nouveau)\b|\bnew(?:ly)? (?:file|module|test|script|doc|component)|\bcreated?\b|\badd(?:ed)?\b"
    r"|\bneu\b|\bnouveau\b|\bnuevo\b|\bnovo\b|\bcriado\b|\bcreado\b|\u65b0\u589e|\u65b0\u5efa|\u65b0\u898f|\u521b\u5efa|\uc2e0\uaddc|\u0441\u043e\u0437\u0434\u0430\u043d|\u043d\u043e\u0432\u044b\u0439",
)
_CHANGED = re.compile(r"\b(?:[Mm]odified|[Uu]pdated|[Cc]hanged|[Ee]dited|[Ee]xtended|[Rr]efactored|[Rr]ewrote|[Ff]ixed|EXISTING|MODIFIED|UPDATED)\b")
_GONE = re.compile(r"\b(?:deleted|removed|DELETED|REMOVED|gel\u00f6scht|supprim\u00e9)\b|\u5220\u9664|\u524a\u9664")
_LONGEST_LIST = 600


def add_files(draft: Draft, text: str, topic: Topic, piece: Piece) -> None:
    """The files that one item names, each with the words about it."""
    status = _GIT_STATUS.fullmatch(text, piece.start, piece.end)
    if status and is_path(status[2].split(" -> ")[-1].strip("`")):
        _add(draft, _by_letter(status[1], topic), cut(text, status.start(2), status.end(2)), None, status[1][:1] == "D")
        return
    head = _head(text, piece)
    paths = list(paths_in(text, piece.start, head)) or list(paths_in(text, piece.start, piece.end))
    about = cut(text, min(_after(text, head, piece.end), piece.end), piece.end) if paths and head < piece.end else None
    for path in paths:
        _add(draft, _kind(topic, piece.text), path, about, _GONE.search(piece.text) is not None)


def add_listed_files(draft: Draft, text: str, topic: Topic, start: int, end: int) -> None:
    """The files in a fence: `git status`, `git diff --stat`, a tree, or one path a line."""
    for begin, stop in _lines(text, start, end):
        piece = cut(text, begin, stop)
        stat = _DIFF_STAT.fullmatch(text, piece.start, piece.end)
        if stat and is_path(stat[1]):
            _add(draft, _kind(topic, ""), cut(text, stat.start(1), stat.end(1)), None, False)
        elif piece.text:
            leaf = _TREE_LINE.match(text, piece.start, piece.end)
            begin = leaf.start(1) if leaf and piece.text[0] in "\u251c\u2514\u2502|`" else piece.start
            if begin < piece.end:
                add_files(draft, text, topic, cut(text, begin, piece.end))


def files_told(draft: Draft, text: str, piece: Piece) -> None:
    """Files that an account of work names right after the verb: `Created a.py`, `**a.py**: Updated ...`."""
    line_end = min(piece.end, piece.start + 300)
    first = next(paths_in(text, piece.start, line_end), None)
    if first is None:
        return
    before = text[piece.start : first.start].strip(" \t`*_[(")
    if not before:
        said = text[first.end : first.end + 60]
        lead = said.strip(" \t`*_)]:\u2014\u2013-").split(" ", 1)[0]
        verb = lead
    else:
        verb = before.split(" ", 1)[0]
        if len(before.split()) > 4:
            return
    if _NEW.match(verb.lower()):
        _add(draft, Topic.CREATED, first, None, False)
    elif _CHANGED.match(verb):
        _add(draft, Topic.MODIFIED, first, None, False)


def _head(text: str, piece: Piece) -> int:
    """Where the list of paths ends and the words about them begin."""
    at, stop = piece.start, min(piece.end, piece.start + _LONGEST_LIST)
    while dash := _DASH.search(text, at, stop):
        if next(paths_in(text, piece.start, dash.start() + 1), None):
            return dash.start()
        at = dash.end()
    return piece.end


def _after(text: str, at: int, end: int) -> int:
    dash = _DASH.match(text, at, end)
    return dash.end() if dash else at


def _by_letter(letter: str, topic: Topic) -> Topic:
    if letter.startswith(("?", "A", "new")):
        return Topic.CREATED
    return Topic.MODIFIED if letter[:1] in "MDRCUmdr" else topic


def _kind(topic: Topic, words: str) -> Topic:
    if topic is Topic.CHANGED:
        return Topic.CREATED if _NEW.search(words) and not _CHANGED.search(words) else Topic.MODIFIED
    if topic is Topic.MODIFIED and re.search(r"\bNEW\b|\(new\b", words):
        return Topic.CREATED
    return topic


def _add(draft: Draft, topic: Topic, path: Piece, about: Piece | None, gone: bool) -> None:
    parts: list[tuple[str, Piece]] = [("path", path)]
    if about is not None and about.text:
        parts.append(("purpose" if topic is Topic.CREATED else "description", about))
    if gone and topic is Topic.MODIFIED:
        parts.append(("change_type", Piece("delete", -1, -1)))
    draft.add(topic, path, parts)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1
