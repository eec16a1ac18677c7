"""Runs a scenario in a process of its own that kills itself at the n-th act, and runs it again to its end."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.application.segue import Segue
from segue.domain.errors import IllegalMove
from segue.domain.template import TemplateStep
from segue.testing import build_test_segue, follow_to_end
from segue.testing.pipelines import lay_out_database
from tests.engine.outside import OutsideBackend

AGENTS = ("worker", "careless", "long", "silent", "broken")
CATALOG = "agents:\n" + "".join(f"  {name}: {{backend: scripted}}\n" for name in AGENTS)
_QUIET = WorkerPolicy(beat_seconds=600)
"""A worker whose heartbeat adds no transaction: only what the scenario does is counted."""

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(["tests.engine.killing", "segue.adapters.engine.local_engine"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a scenario runs."""

    folder: Path
    database_url: str
    key: str
    """Tells this run from others in the same database."""

    @property
    def project(self) -> Path:
        """Where the agents work: a git repository."""
        return self.folder / "project"

    @property
    def outside(self) -> Path:
        """What the agent program keeps."""
        return self.folder / "outside"

    def prepare(self) -> None:
        """Make the folders, the catalog, the repository and, where they are files, the databases."""
        if self.database_url.startswith("sqlite"):
            lay_out_database(self.folder / "data")
        self.project.mkdir(parents=True)
        (self.folder / "config").mkdir()
        (self.folder / "config" / "catalog.yaml").write_text(CATALOG)
        (self.project / "old.py").write_text("OLD = 1\n")
        identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        for arguments in (["init", "-q", "-b", "main"], ["add", "old.py"], ["commit", "-qm", "Begin"]):
            subprocess.run(["git", *identity, *arguments], cwd=self.project, check=True)


async def _submit(segue: Segue, place: Place, *agents: str) -> int:
    request = PipelineRequest(
        prompt="Do the work.",
        custom_steps=tuple(TemplateStep(agent=agent, description="Do it.") for agent in agents),
        working_dir=str(place.project),
        idempotency_key=place.key,
    )
    return (await segue.pipelines.submit(request)).id


def _following(*agents: str) -> Callable[[Segue, Place], Awaitable[int]]:
    async def follow(segue: Segue, place: Place) -> int:
        pipeline = await _submit(segue, place, *agents)
        await follow_to_end(segue, pipeline)
        return pipeline

    return follow


async def _abort(segue: Segue, place: Place) -> int:
    """A run that is aborted while its agent works."""
    pipeline = await _submit(segue, place, "silent", "worker")
    async with segue.feed.subscribe(after=0, pipeline_id=pipeline) as entries:
        async for entry in entries:
            if entry.event_type in ("message_sent", "pipeline_aborted"):
                break
    with suppress(IllegalMove):  # it has ended, or the one before the kill is carried out
        await segue.pipelines.abort(pipeline, "changed my mind")
    await follow_to_end(segue, pipeline)
    return pipeline


SCENARIOS: Mapping[str, Callable[[Segue, Place], Awaitable[int]]] = {
    "a repaired step": _following("careless", "worker"),
    "a handover": _following("long"),
    "a failure": _following("worker", "broken"),
    "an abort": _abort,
}


def run_until(scenario: str, place: Place, n: int) -> bool:
    """Run a scenario in a process that kills itself after the n-th act; false if it ended before."""
    process = _forking.Process(target=_be_killed, args=(scenario, place, n))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0


def _be_killed(scenario: str, place: Place, n: int) -> None:
    asyncio.run(_count(scenario, place, n))


async def _count(scenario: str, place: Place, n: int) -> None:
    acts = 0

    def act(_name: str = "commit") -> None:
        nonlocal acts
        acts += 1
        if acts == n:
            os.kill(os.getpid(), signal.SIGKILL)

    backend = OutsideBackend(place.outside, act)
    async with opened(place, backend) as segue:
        store: Any = segue.pipelines._store
        store.on_commit = [*store.on_commit, act]
        await SCENARIOS[scenario](segue, place)


def opened(place: Place, backend: OutsideBackend) -> Any:
    """Segue on the database of a place."""
    return build_test_segue(place.folder, backend, policy=_QUIET, database_url=place.database_url)


async def run_to_end(scenario: str, place: Place) -> dict[str, Any]:
    """Run a scenario, or what is left of it, and tell what came of it."""
    backend = OutsideBackend(place.outside)
    async with opened(place, backend) as segue, asyncio.timeout(120):
        pipeline = await SCENARIOS[scenario](segue, place)
        detail = await segue.views.pipeline(pipeline)
        steps = [await segue.views.step(pipeline, number + 1) for number in range(len(detail.steps))]
        entries = await segue.views.entries_after(0, pipeline_id=pipeline)
    return {
        "status": str(detail.status),
        "reason": detail.reason,
        "steps": [(str(s.status), [(str(t.status), len(t.repairs)) for t in s.attempts]) for s in steps],
        "handed off": [step.latest_handoff and step.latest_handoff.is_synthetic for step in steps],
        "committed": [step.end_commit is not None for step in steps],
        "said": sorted(
            (agent, [turn.text.split("\n")[0] for turn in backend.turns(session)])
            for session, agent in backend.sessions().items()
        ),
        "audit": [str(entry.event_type) for entry in entries if entry.event_type != "pipeline_resumed"],
    }
