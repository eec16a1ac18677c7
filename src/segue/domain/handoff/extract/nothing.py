"""Tells a text that says something from `None.` and `No known issues.`"""

from __future__ import annotations

import re
from typing import Final

from segue.domain.text.words import NOTHING

_NOTHING_LEAD: Final = re.compile(
    r"\W*(?:none|nothing|n/a|no changes|нет|keine|aucune?|ninguno|nenhum)[.;]\s", re.IGNORECASE
)
_NAMES_NONE: Final = re.compile(
    r"[\W_]*(?:no|keine|aucune?|ning[uú]na?|nenhuma?|nessuna?)(?:\s(?:known|open|new|active|major|critical|current"
    r"|outstanding|remaining|other|further|offenen|bekannten))*\s(?:issues?|blockers?|questions?|problems?|risks?"
    r"|bugs?|probleme|fragen|problèmes?|problemas?|problemi|problema)(?:\s(?:at|this|time|currently|yet|remain"
    r"|remaining|found|known|noted|identified|for|now|left|so|far|encountered|reported|noto|noti|attivo|attivi))*"
    r"[\W_]*",
    re.IGNORECASE,
)
_OF_NONE: Final = re.compile(
    r"[\W_]*zero \w+[\W_]*|[^:\n]{2,60}:[\s*`]*(?:none|nothing|keine|aucune?|ninguno|nenhum|нет)"
    r"(?: (?:detected|found|needed|left|so far))?[\W_]*",
    re.IGNORECASE,
)
_LEAD_FIRST: Final = frozenset("nNkKaA\u043d\u041d")
"""What `_NOTHING_LEAD` begins with, but for signs."""
_SIGNS: Final = " \t\r\n*`-_([{\"'>~#"
_NOTHING_FIRST: Final = frozenset(case for word in NOTHING for case in (word[0], word[0].upper()))
"""What a word for nothing begins with, but for signs."""
_LONGEST_WORD_FOR_NOTHING: Final = 40
_LONGEST_NO: Final = 80
_NONE_FIRST: Final = frozenset("nNkKaA_(*")
"""What `_NAMES_NONE` begins with."""
NOTHING_LONGEST: Final = 200
"""A text of this length says something."""


def says_nothing(text: str) -> bool:
    """True for what an agent writes where it has nothing to say: `None.`, `- Нет`, `[]`, `無し`."""
    size = len(text)
    first = text[:1]
    if size > _LONGEST_WORD_FOR_NOTHING:
        if size >= NOTHING_LONGEST or (first not in _LEAD_FIRST and first.isalnum()):
            return False
        first = text.lstrip(_SIGNS)[:1]
        return (first in _LEAD_FIRST or not first.isalnum()) and _NOTHING_LEAD.match(text) is not None
    if first not in _NOTHING_FIRST and first.isalnum():
        return False
    words = text.strip(" \t\r\n-*_.`~()[]{}!。:;>|—–").casefold()  # noqa: RUF001 (dashes that agents write)
    if words in NOTHING or not (words[:1].isalnum() or any(map(str.isalnum, words))):
        return True
    return ("." in text or ";" in text) and _NOTHING_LEAD.match(text) is not None


def tells_of_none(text: str) -> bool:
    """True for `Skipped files: none` and `Zero risk`."""
    return len(text) < _LONGEST_NO and _OF_NONE.fullmatch(text) is not None


def names_none(text: str) -> bool:
    """True for `No known issues.` where issues are asked for."""
    return len(text) < _LONGEST_NO and text[0] in _NONE_FIRST and _NAMES_NONE.fullmatch(text) is not None
