"""Many clients at once: all are answered, those who read and those who follow."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

from segue.application.segue import Segue
from segue.testing import follow_to_end
from tests.api.test_pipelines_api import QUICK_FIX, submit


@pytest.mark.parametrize("clients", [8, pytest.param(40, marks=pytest.mark.thorough)])
async def test_reads_at_once_are_all_answered(client: httpx.AsyncClient, segue: Segue, clients: int) -> None:
    pipeline = await submit(client, QUICK_FIX)
    await follow_to_end(segue, pipeline["id"])
    async with asyncio.timeout(120):
        answers = await asyncio.gather(*(client.get("/pipelines/1") for _ in range(clients)))
    assert [answer.status_code for answer in answers] == [200] * clients
    assert all(answer.json() == answers[0].json() for answer in answers)


async def test_a_read_needs_no_thread_of_the_framework(client: httpx.AsyncClient, segue: Segue) -> None:
    """FastAPI gives plain functions a thread each; three of them made a read take twice as long."""
    before = {*threading.enumerate()}
    pipeline = await submit(client, QUICK_FIX)
    await follow_to_end(segue, pipeline["id"])
    for path in (
        "/pipelines",
        "/pipelines/1",
        "/pipelines/1/steps/1",
        "/approvals",
        "/health",
        "/sessions/1",
    ):
        await client.get(path)
    new = {thread.name for thread in threading.enumerate()} - {thread.name for thread in before}
    assert not [name for name in new if "AnyIO" in name]
