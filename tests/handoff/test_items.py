"""Cutting a text into its items."""

from __future__ import annotations

import pytest

from segue.domain.text.items import split_items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("one\ntwo\n\nthree", ["one\ntwo", "three"]),
        ("- a\n  - nested\n- b", ["a\n  - nested", "b"]),
        ("    - a\n      more\n    - b", ["a\n      more", "b"]),
        ("1. a\n2) b", ["a", "b"]),
        ("- [x] done\n- [ ] open", ["done", "open"]),
        ("| A | B |\n|---|---|\n| c | d |", ["| A | B |", "| c | d |"]),
        ("- a\n\n  still a\n- b", ["a\n\n  still a", "b"]),
        ("- a\n\nparagraph", ["a", "paragraph"]),
        ("before\n```\n- code\n```", ["before\n```\n- code\n```"]),
        ("", []),
        ("-\n", []),
    ],
)
def test_a_text_is_cut_at_top_level_items(text: str, items: list[str]) -> None:
    found = split_items(text, 7)
    assert [item.text for item in found] == items
    assert all(text[item.start - 7 : item.end - 7] == item.text for item in found)
