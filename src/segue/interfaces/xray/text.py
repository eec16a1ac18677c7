"""Text of others, fit to be shown: secrets taken out, and what cannot be seen made visible."""

from __future__ import annotations

import re

from segue.domain.handoff import redact

LONGEST_LINE = 1_000
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PICTURES = 0x2400
"""Where Unicode has a picture for each of the first control characters: `␀`."""


def visible(text: str) -> str:
    """Text in which control characters and marks that turn its direction are seen and do nothing."""
    return _UNSEEN.sub(_picture, text)


def shown(text: str) -> str:
    """Text as the page may show it: without secrets, and visible."""
    return visible(redact(text)[0])


def shown_lines(text: str) -> tuple[str, ...]:
    """The lines of a text as they may be shown, none of them longer than a screen can bear."""
    lines = redact(text.replace("\r\n", "\n"))[0].split("\n")
    return tuple(cut(visible(line)) for line in lines)


def cut(line: str) -> str:
    """A line, cut where it is too long to be of use."""
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}\u2026"


def squeezed(text: str) -> str:
    """A text on one line, without marks of Markdown: for finding the same words elsewhere."""
    return " ".join(re.sub(r"[`*_]|\\n", " ", text).split()).casefold()


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(_PICTURES + code) if code < 0x20 else f"\u27e8U+{code:04X}\u27e9"
