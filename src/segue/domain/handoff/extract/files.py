"""Reads changed files out of bullets, table rows, git status, diff stat and trees; tells new from changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from segue.domain.handoff.extract.cues import tells_of_work
from segue.domain.handoff.extract.topics import Topic
from segue.domain.text.paths import is_path, paths_in
from segue.domain.text.span import TextPiece, cut
from segue.domain.text.words import word_set

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
    "removed deleted renamed migrated moved aktualisiert ge\u00e4ndert modifi\u00e9 actualizado atualizado"
)
_MAKES_WITHIN: Final = ("\u0441\u043e\u0437\u0434\u0430", "\u0434\u043e\u0431\u0430\u0432\u043b")
_MAKES_AT_END: Final = (
    *("\u65b0\u589e", "\u65b0\u5efa", "\u521b\u5efa"),
    *("\u4f5c\u6210", "\u8ffd\u52a0", "\uc0dd\uc131"),
)
_CHANGES_WITHIN: Final = (
    "\u0443\u0434\u0430\u043b",
    "\u043e\u0431\u043d\u043e\u0432\u043b",
    "\u0438\u0437\u043c\u0435\u043d",
)
_CHANGES_AT_END: Final = ("\u66f4\u65b0", "\u4fee\u6539", "\u4fee\u6b63", "\uc218\uc815")
"""Verbs right before a path, as whole words, as stems, or at the end where words have no spaces."""
_CHANGE_AFTER: Final = re.compile(
    r"[`*_)\]]{0,4}[ \t]*[:\u2014\u2013-]+[ \t*_]*(?:added|updated|modified|changed|fixed"
    r"|extended|refactored|rewrote|replaced|removed|now)\b",
    re.IGNORECASE,
)
_CHANGED_IN: Final = re.compile(
    r"(?:\b(?:in|to|from|into|inside|of|at|under)\b|\s\u0432)[ \t\n]+[`*_\[(]{0,3}$"
)
"""Before a path in an account that begins with a verb: `Fixed the total in cart.py`."""
_ADDS: Final = re.compile("\\b(?:add(?:ed)?|hinzugefügt|ajouté|adicionado|добавл\\w*)\\b")
"""What is added to a file makes none: `Added tests to test_cart.py`."""
_USES: Final = re.compile(
    r"\b(?:includes?|imports?|references?|links?|calls?|dependency|dependencies)\b (?:for|of|to|on|from)\W+$",
    re.IGNORECASE,
)
"""`Added includes for a.h` changes another file."""
_NOW_AFTER: Final = re.compile(r"[`*_)\]]{0,4}(?:'s\b[^.\n]{0,40})?[ \t\n]+(?:also )?now\b")
_GONE: Final = re.compile(
    r"\b(?:deleted|removed|DELETED|REMOVED|gel\u00f6scht|supprim\u00e9)\b|\u5220\u9664|\u524a\u9664"
)
_MARKED_NEW: Final = re.compile(r"[`*_]{0,3}[ \t]*[(\[](?:new|NEW|created|added)\b")
_JOINED: Final = re.compile(
    r"[`*_)\]]{0,3}[ \t]*(?:,|&|\+|/)?[ \t]*(?:and|und|et|y|e|\u0438)?[ \t\n]*[`*_\[(]{0,3}"
)
"""What stands between the paths of one list: `Updated a.py, b.py and c.py`."""
_ANNOUNCES: Final = re.compile(
    r"\b(?:created|built|new|added|generated|written|delivered|creado|criado|créé|erstellt)\b", re.IGNORECASE
)
_ENTRY: Final = re.compile(
    r"[ \t]*+(?:`(?P<quoted>[^`\n]{1,300}+)`|(?P<bare>[^`\n]{1,300}?))"
    r"(?=[ \t]*(?:\n|$)|[ \t]+(?:[\u2014\u2013-]{1,2}[ \t]|[(\u2192])|:[ \t])"
)
"""An item of a list of files that is one name, before what is said of it."""
_ENTRY_NAME: Final = re.compile(r"(?!v?\d+(?:\.\d+)*$)[\w.@%+~$*{}\[\]/\\-]*[^\W_][\w.@%+~$*{}\[\]/\\-]*")
_ENDING: Final = re.compile(r"\.\w{1,6}$")
_JOINS: Final = word_set("and und et y e i or & + ->")
_OTHER_CLAUSE: Final = re.compile(
    r"\b(?:that|which|where|while|(?:so|in order) to|to (?!(?:the|an?|its|our|your|this|both)\b)[a-z]+"
    r"|includ(?:es?|ing)|via|using|wip(?:e|ing)|based on|per|every|each)\b[^.;]*$"
)
"""Before a path that only stands in what is said of a change: `Updated the build to copy a.dll`."""
_CHANGING_COMMAND: Final = re.compile(r"`(?:git )?(?:add|checkout|cp|mv|restore|rm|touch)\b")
_LONGEST_LIST: Final = 600
_MOST_TOLD: Final = 8
_LEAD: Final = 6
_NO_CHANGE: Final = word_set("not never without no like such as see não nunca pas nicht nie kein keine")
"""Words before a path that name it without saying that it was changed."""
"""Before a path that begins an account stand its signs at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file that an item names."""

    topic: Topic
    path: TextPiece
    about: TextPiece | None = None
    is_gone: bool = False


def files_in(text: str, topic: Topic, piece: TextPiece, *, is_value: bool = False) -> list[File]:
    """The files that one item names, each with the words about it; `is_value` in YAML or JSON."""
    status = _GIT_STATUS.fullmatch(text, piece.start, piece.end)
    if status and is_path(status[2].split(" -> ")[-1].strip("`")):
        path = cut(text, status.start(2), status.end(2))
        return [File(topic=_by_letter(status[1], topic), path=path, is_gone=status[1][:1] == "D")]
    paths = list(paths_in(text, piece.start, piece.end))
    entry = _entry(text, piece, listed=is_value)
    if entry is not None and (not paths or " " in entry.text):
        paths = [entry]
    if not paths:
        return []
    dash = _DASH.search(text, paths[0].end, min(piece.end, paths[0].end + _LONGEST_LIST))
    about = cut(text, dash.end(), piece.end) if dash else None
    listed = [path for path in paths if dash is None or path.end <= dash.start()]
    found: list[File] = []
    for at, path in enumerate(listed):
        words = piece.text
        if len(listed) > 1:
            after = listed[at + 1].start if at + 1 < len(listed) else piece.end
            words = f"{text[piece.start : paths[0].start]} {text[path.end : after]}"
        kind = _kind(topic, words)
        gone = kind is Topic.MODIFIED and _GONE.search(piece.text) is not None
        found.append(File(topic=kind, path=path, about=about, is_gone=gone))
    return found


def _entry(text: str, piece: TextPiece, *, listed: bool) -> TextPiece | None:
    """The name that an item is: `Procfile` in a list of values, `docs/my notes/a b.txt` anywhere."""
    found = _ENTRY.match(text, piece.start, piece.end)
    if found is None:
        return None
    group = "quoted" if found["quoted"] is not None else "bare"
    name = found[group]
    words = name.split(" ")
    if len(words) == 1:
        told = listed or "/" in name or (group == "quoted" and _ENDING.search(name) is not None)
        return cut(text, *found.span(group)) if told and _ENTRY_NAME.fullmatch(name) else None
    spaced = "/" in words[0] and _ENDING.search(words[-1]) and "," not in name and _JOINS.isdisjoint(words)
    if not spaced or any(_ENDING.search(word) for word in words[:-1]):
        return None
    return cut(text, *found.span(group))


def files_in_line(text: str, topic: Topic, piece: TextPiece) -> list[File]:
    """The files in a line of a fence: `git status`, `git diff --stat`, a tree, or a path."""
    stat = _DIFF_STAT.fullmatch(text, piece.start, piece.end)
    if stat and is_path(stat[1]):
        return [File(topic=_kind(topic, ""), path=cut(text, stat.start(1), stat.end(1)))]
    leaf = _TREE_LINE.match(text, piece.start, piece.end)
    name = leaf.start(1) if leaf and piece.text[0] in "\u251c\u2514\u2502|`" else piece.start
    return files_in(text, topic, cut(text, name, piece.end)) if name < piece.end else []


def files_told(text: str, start: int, end: int, *, every: bool = False, made: bool = False) -> list[File]:
    """Files that an account of work names right after the verb: `Created a.py`, `**a.py**: Updated ...`.

    With `every`, a file that stands elsewhere in it was changed, too. With `made`, the account is one of what
    is new.
    """
    stop = min(end, start + 1000)
    found: list[File] = []
    begin = start
    last: Topic | None = None
    works = tells_of_work(text[start:stop])
    for path in paths_in(text, start, stop)[:_MOST_TOLD]:
        near = text[max(begin, path.start - 60) : path.start]
        last = (
            last
            if last is not None and _JOINED.fullmatch(near)
            else _told_of(text, path, near, works=works, start=start, end=end)
        )
        begin = path.end
        kind = last
        if (
            kind is None
            and (every or (made and path.start - start < _LEAD))
            and not _only_names(near, text[start : path.start])
        ):
            kind = Topic.CREATED if made else Topic.MODIFIED
        if kind is not None:
            found.append(File(topic=kind, path=path))
    return found


def _only_names(near: str, before: str) -> bool:
    """True if the words before a path say that it is an example, a part of a command, or was left alone."""
    line = near.rsplit("\n", 1)[-1]
    in_code = before[before.rfind("`") :] if before.count("`") % 2 == 1 else ""
    in_command = " " in in_code and not _CHANGING_COMMAND.match(in_code)
    return (
        in_command
        or not _NO_CHANGE.isdisjoint(_WORD.findall(line.lower()))
        or _OTHER_CLAUSE.search(line) is not None
    )


def _told_of(text: str, path: TextPiece, near: str, *, works: bool, start: int, end: int) -> Topic | None:
    """What the words around a path say of it: that it is new, that it was changed, or nothing."""
    words = _WORD.findall(near.rsplit("\n", 1)[-1].lower())
    verbs = words[-3:]
    if not _CHANGES.isdisjoint(words):  # `Docs updated for the new command: a.md`
        verbs = [word for word in verbs if word != "new"]
    if _MARKED_NEW.match(text, path.end, end):
        return Topic.CREATED
    if _USES.search(near):
        return None
    if _is_said(verbs, _MAKES, _MAKES_WITHIN, _MAKES_AT_END):
        adds_to = _CHANGED_IN.search(near) is not None and _ADDS.search(" ".join(words)) is not None
        return Topic.MODIFIED if adds_to else Topic.CREATED
    if (
        (works and _CHANGED_IN.search(near))
        or _NOW_AFTER.match(text, path.end, end)
        or (path.start - start < _LEAD and _CHANGE_AFTER.match(text, path.end, end))
        or _is_said(verbs, _CHANGES, _CHANGES_WITHIN, _CHANGES_AT_END)
    ):
        return Topic.MODIFIED
    return None


def announces_new(heading: str) -> bool:
    """True for a heading over what is new: `Documentation created`, `What we built`."""
    return _ANNOUNCES.search(heading) is not None and _CHANGED.search(heading) is None


def _is_said(words: list[str], known: frozenset[str], stems: tuple[str, ...], ends: tuple[str, ...]) -> bool:
    if not known.isdisjoint(words):
        return True
    return not "".join(words).isascii() and any(
        word.endswith(ends) or any(stem in word for stem in stems) for word in words if not word.isascii()
    )


def marked_new(text: str, paths: Iterable[TextPiece]) -> list[File]:
    """The files of a list that are marked as new, whatever the list is for."""
    return [File(topic=Topic.CREATED, path=path) for path in paths if _MARKED_NEW.match(text, path.end)]


def _by_letter(letter: str, topic: Topic) -> Topic:
    if letter.startswith(("?", "A", "new")):
        return Topic.CREATED
    return Topic.MODIFIED if letter[:1] in "MDRCUmdr" else topic


def _said_new(words: str) -> re.Match[str] | None:
    if lead := _NEW_LEAD.match(words):
        return lead
    return _NEW.search(words) or _ERSTELLT.search(words)


def _kind(topic: Topic, words: str) -> Topic:
    if topic is Topic.CHANGED:
        new = _said_new(words)
        if new is None:
            return Topic.MODIFIED
        return Topic.MODIFIED if _CHANGED.search(words, 0, new.start()) else Topic.CREATED
    return Topic.CREATED if topic is Topic.MODIFIED and _STRESSED_NEW.search(words) else topic
