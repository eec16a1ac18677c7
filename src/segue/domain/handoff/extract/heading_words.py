"""The words that headings and columns are compared by: without case, accents, numbers and signs."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_ACCENTS: Final = {
    code: base
    for code in range(0xC0, 0x250)
    if (base := unicodedata.normalize("NFD", chr(code))[0]) != chr(code) and base.isascii()
}
"""Agents often write `proximos pasos` and `etat actuel`: letters are compared without accents."""
LONGEST_HEADING: Final = 160


def words_of(heading: str) -> list[str]:
    """The words that headings are compared by: lower case, no numbers, no signs, no apostrophes."""
    heading = heading[:LONGEST_HEADING]
    if " " not in heading:
        heading = _HUMP.sub(" ", heading)
    if heading.isascii():
        plain = heading.lower().replace("'", "")
    else:
        plain = unicodedata.normalize("NFKC", heading).casefold().translate(_ACCENTS)
        plain = plain.replace("'", "").replace("\u2019", "")
    return [word for word in _WORD.findall(plain) if not word.isdigit()]


def has_no_spaces(text: str) -> bool:
    """True if it is written in a script that puts no spaces between words."""
    return not text.isascii() and UNSPACED.search(text) is not None
