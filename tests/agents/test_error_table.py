"""The error table: whatever goes wrong, the step says why in a sentence, its session is gone, nothing hangs.

These tests write docs/errors.md: WRITE_DOCS=1 ./do test all tests/agents/test_error_table.py
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import AgentBackend
from segue.application.segue import Segue
from segue.application.views import PipelineDetail
from segue.bootstrap import open_segue
from segue.settings import Settings
from segue.testing import ScriptedModel, follow_to_end
from segue.testing.pipelines import lay_out_database
from tests.agents.faults import FAULTS, PLAN, agent_processes, catalog_of, nothing, speaking, stem
from tests.agents.rig import Rig
from tests.agents.rigs import EACH_BACKEND, MAKERS, make_project, profile_of

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
NOWHERE = "http://127.0.0.1:9"


@asynccontextmanager
async def running(tmp_path: Path, **changes: Any) -> AsyncIterator[Segue]:
    """A Segue with the real back ends."""
    await asyncio.to_thread(lay_out_database, tmp_path / "data")
    settings = Settings(
        data_dir=tmp_path / "data", config_dir=tmp_path / "config", step_timeout=400, **changes
    )
    async with open_segue(settings) as segue:
        await segue.start()
        yield segue


AT_ONCE = 3
"""An agent takes seconds to start: with more at once, some would be late for that reason alone."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """The agent of a table, and what it needs."""

    segue: Segue
    project: Path
    rig: Rig
    model: ScriptedModel
    starting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def suffer(self, number: int) -> PipelineDetail:
        """Run the pipeline of one fault to its end. Few agents start at once, but any number may work."""
        fault = FAULTS[number]
        wanted = PipelineRequest(
            template=f"fault{number}", prompt="Do it.", title=fault.name, working_dir=str(self.project)
        )
        async with self.starting:
            pipeline_id = (await self.segue.pipelines.submit(wanted)).id
            ending = asyncio.create_task(follow_to_end(self.segue, pipeline_id))
            begun = asyncio.create_task(speaking(self.segue, pipeline_id))
            await asyncio.wait({ending, begun}, return_when=asyncio.FIRST_COMPLETED)
            begun.cancel()
        await fault.act(self.segue, pipeline_id, self.rig, self.model)
        async with asyncio.timeout(500):
            return await ending


@pytest.mark.parametrize("name", EACH_BACKEND)
async def test_every_fault_ends_with_one_clear_sentence(tmp_path: Path, name: str) -> None:
    with ScriptedModel(PLAN) as model:
        rig = MAKERS[name](tmp_path / "home", model.url)
        down = MAKERS[name](tmp_path / "down", NOWHERE)
        project = make_project(tmp_path / "project", catalog_of(rig, down, profile_of))
        async with running(tmp_path, mcp="off") as segue:  # no fault has to do with Segue's own tools
            table = Table(segue=segue, project=project, rig=rig, model=model)
            quiet = [number for number, fault in enumerate(FAULTS) if fault.act is nothing]
            quiet.sort(key=lambda number: not FAULTS[number].is_tried_again)
            suffered = await asyncio.gather(*(table.suffer(number) for number in quiet))
            ended = dict(zip(quiet, suffered, strict=True))
            for number in range(len(FAULTS)):  # these need the agent for themselves
                if number not in ended:
                    model.requests.clear()
                    ended[number] = await table.suffer(number)
            await none_left(segue.backends.get(rig.backend, "")[1])
        await all_gone(rig)
    rows = [(FAULTS[n].name, found) for n, found in sorted(ended.items())]
    for what, found in rows:
        check(what, found)
    compare_with_page(name, rows, rig)


async def none_left(backend: AgentBackend) -> None:
    """Every session is gone; one is closed just after its step has ended."""
    async with asyncio.timeout(120):
        while await backend.leftovers():  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def all_gone(rig: Rig) -> None:
    """No process of the agent is left once Segue has stopped."""
    async with asyncio.timeout(120):
        while left := agent_processes(rig):
            await asyncio.sleep(0.2)
            assert all(isinstance(process, psutil.Process) for process in left)


def check(fault: str, found: PipelineDetail) -> None:
    step = found.steps[0]
    if found.status == "done":
        assert fault in ("permission denied", "agent or server killed", "429, too many requests"), fault
        return
    reason = step.error_message or ""
    assert found.status == ("aborted" if fault.startswith("abort") else "failed"), (fault, reason)
    assert reason, fault
    assert "\n" not in reason, (fault, reason)
    assert len(reason) < 700, (fault, reason)
    assert "Traceback" not in reason, (fault, reason)
    assert "timed out after" not in reason, (fault, reason)


def compare_with_page(name: str, rows: Sequence[tuple[str, PipelineDetail]], rig: Rig) -> None:
    """The page says what happened here; with WRITE_DOCS it is made to.

    Where an agent asks its model again by itself, the last of several errors is told: a row may have several.
    """
    head, *parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    sections = {part.partition("\n")[0].strip("`"): read_rows(part) for part in parts}
    known = sections.setdefault(name, {})
    for fault, found in rows:
        step, said = found.steps[0].status, describe(found, rig)
        if os.environ.get("WRITE_DOCS"):
            told = known.get(fault, ("", []))[1]
            known[fault] = (step, [*told, said] if said not in told else told)
        assert known.get(fault, ("", []))[0] == step, f"docs/errors.md, {name}, {fault}: {step}"
        assert said in known[fault][1], f"docs/errors.md, {name}, {fault}: {said}"
    if os.environ.get("WRITE_DOCS"):
        written = [write_section(each, sections[each]) for each in MAKERS if each in sections]
        PAGE.write_text("\n".join([head.rstrip() + "\n", *written]), encoding="utf-8")


Rows = dict[str, tuple[str, list[str]]]
"""What goes wrong -> how the step ends, and the sentences that may tell why."""


def describe(found: PipelineDetail, rig: Rig) -> str:
    step = found.steps[0]
    if found.status == "done":
        return "(a new attempt continues)" if step.attempt_count > 1 else "(the agent is told, and continues)"
    return stem(step.error_message or "", rig).replace("|", "\\|")


def read_rows(part: str) -> Rows:
    cells = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")][1:]
    return {fault: (step, said.split(" or: ")) for fault, step, said in cells}


def write_section(name: str, rows: Rows) -> str:
    lines = [f"## `{name}`", "", "| what goes wrong | the step | why, in one sentence |", "|---|---|---|"]
    lines += [f"| {fault} | {step} | {' or: '.join(said)} |" for fault, (step, said) in rows.items()]
    return "\n".join(lines) + "\n"
