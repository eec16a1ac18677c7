"""Pipelines that have ended leave nothing in the process that ran them."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from segue.adapters.storage.reader import THREADS
from segue.application.pipelines.submit import PipelineRequest
from segue.application.segue import Segue
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff

FIRST, MORE = 20, 100
ALLOWED = {"SqliteConnection", "open files"}
"""Of these there may be some more, as the test says."""


async def run_some(segue: Segue, folder: Path, count: int) -> None:
    request = PipelineRequest(
        prompt="Do it.", custom_steps=(TemplateStep(agent="developer"),) * 2, working_dir=str(folder)
    )
    for _ in range(count):
        ended = await follow_to_end(segue, (await segue.pipelines.submit(request)).id)
        assert ended.status is PipelineStatus.DONE


async def held_by_this_process() -> Counter[str]:
    """Open files, tasks and values of ours, once all that is about to end has ended."""
    async with asyncio.timeout(60):
        while any(task.get_name().startswith("pipeline-") for task in asyncio.all_tasks()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return _held_now()


def _held_now() -> Counter[str]:
    gc.collect()
    held = Counter(
        type(each).__name__ for each in gc.get_objects() if str(type(each).__module__).startswith("segue.")
    )
    held["open files"] = len(list(Path("/proc/self/fd").iterdir()))
    held["tasks"] = len(asyncio.all_tasks())
    return held


async def held_beyond(before: Counter[str], *, seconds: float = 60) -> Counter[str]:
    """What is held now and was not before, once it is as little as it gets: a leak never goes.

    A stream that was left in the middle is closed by the event loop, some turns after it was collected.
    """
    more = await held_by_this_process() - before
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while more.keys() - ALLOWED:
                await asyncio.sleep(0.1)
                more = _held_now() - before
    return more


@pytest.mark.thorough
async def test_a_hundred_pipelines_more_leave_no_file_no_task_and_no_value(
    tmp_path: Path, project: Path
) -> None:
    backend = ScriptedBackend({"developer": [say_handoff("Fixed it.")]})
    async with build_test_segue(tmp_path, backend) as segue:
        await run_some(segue, project, FIRST)
        before = await held_by_this_process()
        await run_some(segue, project, MORE)
        more = await held_beyond(before)
    readers = more.pop("SqliteConnection", 0)  # each is opened when reads first come at once, then kept
    assert readers <= THREADS
    assert more.pop("open files", 0) <= 2 * readers
    assert more == Counter()
