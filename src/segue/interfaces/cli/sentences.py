"""Words of reasons and records as sentences of a screen."""

from __future__ import annotations

from segue.interfaces.cli.lines import one_line


def sentence_of(reason: str) -> str:
    """A reason as a sentence: with a capital where it begins with a word, and a full stop."""
    text = one_line(reason)
    start = text[:1].upper() if text.partition(" ")[0].isalpha() else text[:1]  # not of a path or a name
    return f"{start}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"
