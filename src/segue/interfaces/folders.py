"""Paths as people read them."""

from __future__ import annotations

import re


def seen_from(folder: str, text: str) -> str:
    """What an agent did, with the paths inside its folder as they are seen from there."""
    inside = folder.rstrip("/")
    return re.sub(rf"(?<![\w./~-]){re.escape(inside)}/(?=[^\s\"'/])", "", text) if inside else text
