"""Which Segue can work with a database of which revision."""

from __future__ import annotations

import pytest

from segue.adapters.storage.migrations import is_current, is_older, works_with


@pytest.mark.parametrize(
    ("first", "second", "older", "together"),
    [
        ("0015", "0015.1", True, True),
        ("0015.9", "0015.10", True, True),
        ("0015.2", "0016", True, False),
        ("0016", "0015.2", False, False),
        ("0009", "0015", True, False),
        ("of somebody else", "0015", True, False),
    ],
)
def test_a_part_more_only_adds_and_the_next_number_changes(
    first: str, second: str, older: bool, together: bool
) -> None:
    assert is_older(first, second) is older
    assert works_with(first, second) is together


@pytest.mark.parametrize(
    ("present", "current"), [(None, False), ("0001", False), ("9999", False), ("of somebody else", False)]
)
def test_only_a_schema_that_is_whole_needs_no_migration(present: str | None, current: bool) -> None:
    assert is_current(present) is current
