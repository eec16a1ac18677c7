"""Text of others, made safe for the screen: nothing in it drives the terminal or hides what it says."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from markdown_it import MarkdownIt

_JOINER = "\u200d"
"""Joins emoji; harmless."""


def calm(text: str) -> str:
    """The text without control characters, marks that turn its direction, and halves of characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c if _is_harmless(c) else "\ufffd" for c in lines)


def first_line(text: str, most: int = 60) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(calm(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def at_home(path: str) -> str:
    """A path as people write it, with `~` for their home."""
    try:
        return f"~/{Path(path).relative_to(Path.home())}".removesuffix("/.")
    except (ValueError, RuntimeError):
        return path


def parser() -> MarkdownIt:
    """Reads Markdown so that nothing disappears: tags, links, images and entities stay as they are."""
    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": 12})
    reader.enable(["table", "strikethrough"])
    reader.disable(["link", "image", "autolink", "html_inline", "html_block", "entity", "reference"])
    return reader


def _is_harmless(character: str) -> bool:
    if character.isprintable() or character in ("\n", "\t", _JOINER):
        return True
    return unicodedata.category(character) == "Zs"
