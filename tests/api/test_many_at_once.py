"""Many clients at once: all are answered, those who read and those who follow."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from segue.application.app import Segue
from segue.testing import follow_to_end
from tests.api.test_pipelines_api import QUICK_FIX, submit


@pytest.mark.parametrize("clients", [8, 40])
async def test_reads_at_once_are_all_answered(client: httpx.AsyncClient, segue: Segue, clients: int) -> None:
    pipeline = await submit(client, QUICK_FIX)
    await follow_to_end(segue, pipeline["id"])
    async with asyncio.timeout(120):
        answers = await asyncio.gather(*(client.get("/pipelines/1") for _ in range(clients)))
    assert [answer.status_code for answer in answers] == [200] * clients
    assert all(answer.json() == answers[0].json() for answer in answers)
