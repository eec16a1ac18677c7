"""Paths as people read them."""

from __future__ import annotations


def seen_from(folder: str, path: str) -> str:
    """A path inside the folder as it is seen from there; every other one as it is."""
    inside = f"{folder.rstrip('/')}/"
    within = path.removeprefix(inside)
    return path if len(inside) == 1 or not within or within.startswith("/") else within
