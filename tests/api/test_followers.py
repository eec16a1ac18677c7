"""Many followers of live events: each is sent each event once, and each event is made JSON once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from segue.application.event_stream import BEGINNING, EventPage
from segue.application.pipelines.submit import PipelineRequest
from segue.application.segue import Segue
from segue.domain.template import TemplateStep
from segue.interfaces.api.event_frames import EventFrames, stream

FOLLOWERS = 20
PIPELINES = 3


async def sent_to(segue: Segue, frames: EventFrames, pipeline_id: int | None) -> list[tuple[str, int, str]]:
    """What a follower is sent until its pipelines are done: kind, id and position of each event."""
    found: list[tuple[str, int, str]] = []
    content = stream(segue, frames, BEGINNING, pipeline_id).body_iterator
    assert isinstance(content, AsyncGenerator)
    left = PIPELINES if pipeline_id is None else 1
    async with aclosing(content):
        rest = b""
        async for piece in content:
            assert isinstance(piece, bytes)
            *frames_sent, rest = (rest + piece).split(b"\n\n")
            for frame in map(bytes.decode, frames_sent):
                lines = dict(line.split(": ", 1) for line in frame.splitlines())
                found.append((lines["event"], json.loads(lines["data"])["id"], lines["id"]))
                left -= lines["event"] == "pipeline_done"
            if not left:
                return found
    raise AssertionError(found)


class SeenFrames(EventFrames):
    """Knows every event of every page, also of pages with more than a follower waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[str, int]] = set()

    def of(self, page: EventPage, pipeline_id: int | None = None) -> bytes:
        self.seen |= {(type(event).__name__, event.id) for _, event in page}
        return super().of(page, pipeline_id)


async def test_each_follower_is_sent_each_event_once_and_it_is_made_json_once(
    segue: Segue, tmp_path: Path
) -> None:
    frames = SeenFrames()
    request = PipelineRequest(
        prompt="Do it.", custom_steps=(TemplateStep(agent="developer"),) * 2, working_dir=str(tmp_path)
    )
    async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
        everything = [tasks.create_task(sent_to(segue, frames, None)) for _ in range(FOLLOWERS)]
        for number in range(PIPELINES):
            (tmp_path / f"work{number}").mkdir()
            await segue.pipelines.submit(replace(request, working_dir=str(tmp_path / f"work{number}")))
        of_one = [tasks.create_task(sent_to(segue, frames, 2)) for _ in range(FOLLOWERS)]
    entries = {(str(each.event_type), each.id) for each in await segue.views.entries_after(0)}
    of_the_run = {
        (str(each.event_type), each.id) for each in await segue.views.entries_after(0, pipeline_id=2)
    }
    for follower, expected in [
        *((each, entries) for each in everything),
        *((each, of_the_run) for each in of_one),
    ]:
        sent = [(kind, number) for kind, number, _ in follower.result()]
        assert len(sent) == len(set(sent))
        assert {each for each in sent if not each[0].startswith(("agent_", "usage_"))} == expected
        positions = [tuple(map(int, position.split("-"))) for _, _, position in follower.result()]
        assert all(a[0] <= b[0] and a[1] <= b[1] and a != b for a, b in pairwise(positions))
    distinct = {each[:2] for follower in everything for each in follower.result()}
    assert len(distinct) <= len(frames.seen)
    assert frames.made == len(frames.seen)
