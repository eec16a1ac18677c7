"""Paths as people read them."""

from __future__ import annotations

import pytest

from segue.interfaces.folders import seen_from


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("/home/me/shop/src/calc.py", "src/calc.py"),
        ("cat /home/me/shop/a.py '/home/me/shop/b c.py'", "cat a.py 'b c.py'"),
        ("cd /home/me/shop && ls /home/me/shop/", "cd /home/me/shop && ls /home/me/shop/"),
        ("/home/me/shop2/a.py", "/home/me/shop2/a.py"),
        ("/mnt/home/me/shop/a.py", "/mnt/home/me/shop/a.py"),
        ("/home/me/shop//etc/passwd", "/home/me/shop//etc/passwd"),
        ("src/calc.py", "src/calc.py"),
        ("", ""),
    ],
)
def test_a_path_is_seen_from_its_folder(text: str, seen: str) -> None:
    assert seen_from("/home/me/shop", text) == seen
    assert seen_from("/home/me/shop/", text) == seen


@pytest.mark.parametrize("folder", ["", "/"])
def test_no_folder_changes_nothing(folder: str) -> None:
    assert seen_from(folder, "/etc/hosts") == "/etc/hosts"
