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
_NONE_AND_MORE: Final = re.compile(
    r"[\W_]*(?:none|nothing|n/a|keine|aucune?|ninguno|nenhum|nessuno|нет|なし|无|無|없음)"
    r"[ *_`]{0,3}(?:[,:\u2014\u2013\uff0c\u3001]|[ ]-[ ])",
    re.IGNORECASE,
)
_LONGEST_WORD_FOR_NOTHING: Final = 40
_LONGEST_NO: Final = 80
NOTHING_LONGEST: Final = 200
"""A text of this length says something."""


def says_nothing(text: str) -> bool:
    """True for what an agent writes where it has nothing to say: `None.`, `- Нет`, `[]`, `無し`."""
    if len(text) >= NOTHING_LONGEST:
        return False
    if len(text) > _LONGEST_WORD_FOR_NOTHING:
        return _NOTHING_LEAD.match(text) is not None
    words = text.strip(" \t\r\n-*_.`~()[]{}!。:;>|—–").casefold()  # noqa: RUF001 (dashes that agents write)
    if words in NOTHING or not any(map(str.isalnum, words)):
        return True
    return _NOTHING_LEAD.match(text) is not None


def begins_with_none(text: str) -> bool:
    """True for `None, milestone shipped.` where issues are asked for: what follows belongs elsewhere."""
    return _NONE_AND_MORE.match(text) is not None


def tells_of_none(text: str) -> bool:
    """True for `Skipped files: none` and `Zero risk`."""
    return len(text) < _LONGEST_NO and _OF_NONE.fullmatch(text) is not None


def names_none(text: str) -> bool:
    """True for `No known issues.` where issues are asked for."""
    return len(text) < _LONGEST_NO and _NAMES_NONE.fullmatch(text) is not None
