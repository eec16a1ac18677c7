"""kill -9 after every commit and after every call of the back end: what comes of a run is always the same."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.engine.killing import SCENARIOS, Place, run_to_end, run_until

STRIDE = 1 if os.environ.get("SEGUE_EVERY_GAP") else 8
"""Every eighth moment with ./do test all; with SEGUE_EVERY_GAP=1 every single one, in some 25 minutes."""
MOST = 200
"""More moments than any scenario has: a limit for what would never end."""
SAMPLE = {"a repaired step": (9, 17), "a handover": (11, 15), "a failure": (14,), "an abort": (8,)}
"""Moments in the middle of things, for every run of the tests."""


async def check(scenario: str, moments: Iterable[int], folder: Path, database_url: str | None = None) -> int:
    """Kill at each of these moments until the scenario ends before it, and compare with an undisturbed run.

    Gives the last moment at which it was killed.
    """

    async def place(name: str) -> Place:
        made = folder / name
        url = database_url or f"sqlite:///{made / 'data' / 'segue.db'}"
        found = Place(folder=made, database_url=url, key=name)
        await asyncio.to_thread(found.prepare)
        return found

    undisturbed = await run_to_end(scenario, await place("undisturbed"))
    last = 0
    for n in moments:
        here = await place(f"killed-{n}")
        was_killed = await asyncio.to_thread(run_until, scenario, here, n)
        assert await run_to_end(scenario, here) == undisturbed, f"killed at {n}"
        if not was_killed:
            break
        last = n
    return last


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_kill_in_the_middle_changes_nothing(scenario: str, tmp_path: Path) -> None:
    assert await check(scenario, SAMPLE[scenario], tmp_path) == SAMPLE[scenario][-1]


@pytest.mark.thorough
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_kill_at_any_moment_changes_nothing(scenario: str, tmp_path: Path) -> None:
    assert 0 < await check(scenario, range(min(3, STRIDE), MOST, STRIDE), tmp_path) < MOST - STRIDE


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_kill_at_any_moment_changes_nothing_on_postgresql(
    scenario: str, tmp_path: Path, postgres_url: str
) -> None:
    assert (
        0 < await check(scenario, range(min(5, STRIDE), MOST, STRIDE), tmp_path, postgres_url) < MOST - STRIDE
    )
