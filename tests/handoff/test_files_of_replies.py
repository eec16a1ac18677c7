"""Which files a reply says it created or changed, and which it only names."""

from __future__ import annotations

import pytest

from segue.domain.handoff import Handoff, Origin, extract_handoff


def _read(reply: str) -> Handoff:
    found = extract_handoff(reply, origin=Origin.REPLY)
    assert found.handoff is not None
    return found.handoff


def _modified(reply: str) -> list[str]:
    return [file.path for file in _read(reply).files_modified]


def _created(reply: str) -> list[str]:
    return [file.path for file in _read(reply).files_created]


@pytest.mark.parametrize(
    ("reply", "modified"),
    [
        ("I updated the build.cfg to copy the helper.dll next to it.", ["build.cfg"]),
        ("I added a lint setting that includes `tests/extra.py` as well.", []),
        ("I described what `cat secrets.env` prints.", []),
        ("I rewrote the note on wiping `cache.db` in `README.md`.", ["README.md"]),
        ("I restored it with `git restore src/store.py`.", ["src/store.py"]),
        ("I changed `a.py`, `b.py` and `c.py`.", ["a.py", "b.py", "c.py"]),
    ],
)
def test_a_file_is_changed_only_where_the_change_is_said_of_it(reply: str, modified: list[str]) -> None:
    assert _modified(reply) == modified


@pytest.mark.parametrize(
    "reply",
    [
        "I added two tests to `test_cart.py`.",
        "Добавлена запись в `test_cart.py`.",
        "I added `total()` in `test_cart.py`.",
        "I added a new case to `test_cart.py`.",
    ],
)
def test_what_is_added_to_a_file_makes_no_new_file(reply: str) -> None:
    assert (_created(reply), _modified(reply)) == ([], ["test_cart.py"])


def test_a_file_that_is_named_in_full_is_not_named_twice() -> None:
    reply = "I rewrote `docs/shop/index.ext.md`.\n\nI moved the heading of `index.ext.md`, too.\n"

    assert _modified(reply) == ["docs/shop/index.ext.md"]


def test_work_below_a_path_changed_that_file() -> None:
    reply = "I changed two pages.\n\n## `docs/cart.md`\n\n- Added the new rule\n- Removed the old one\n"

    assert _modified(reply) == ["docs/cart.md"]
