"""Paths as people read them."""

from __future__ import annotations

import pytest

from segue.interfaces.folders import seen_from


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/home/me/shop/src/calc.py", "src/calc.py"),
        ("/home/me/shop/a b.py", "a b.py"),
        ("/home/me/shop", "/home/me/shop"),
        ("/home/me/shop/", "/home/me/shop/"),
        ("/home/me/shop2/a.py", "/home/me/shop2/a.py"),
        ("/mnt/home/me/shop/a.py", "/mnt/home/me/shop/a.py"),
        ("/home/me/shop//etc/passwd", "/home/me/shop//etc/passwd"),
        ("src/calc.py", "src/calc.py"),
        ("", ""),
    ],
)
def test_a_path_is_seen_from_its_folder(path: str, seen: str) -> None:
    assert seen_from("/home/me/shop", path) == seen
    assert seen_from("/home/me/shop/", path) == seen


@pytest.mark.parametrize("folder", ["", "/"])
def test_no_folder_changes_nothing(folder: str) -> None:
    assert seen_from(folder, "/etc/hosts") == "/etc/hosts"
