"""What a step costs the database, counted: what writes, what reads, and what reads its pipeline."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import Capabilities
from segue.application.ports.engine import WorkerPolicy
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff

STEPS = 10
BOUNDS = {"statements": 32.0, "write transactions": 5.2, "reads": 1.5, "pipeline read": 0.0}
"""At most so many a step, with room for what the worker does at the end of a run.

Six of the statements keep the chains of the audit trail: three transactions read and write a head each.
"""
_QUIET = WorkerPolicy(beat_seconds=600)


class Silent(ScriptedBackend):
    """Tells nothing while it works: what agents do is written in batches, how many depends on the time."""

    capabilities = Capabilities()


async def count(folder: Path, steps: int) -> Counter[str]:
    """What a run of so many steps costs in all."""
    counted: Counter[str] = Counter()
    backend = Silent({"developer": [say_handoff("Did nothing.", next="Do nothing.")]})
    async with build_test_segue(folder, backend, policy=_QUIET) as segue:
        store: Any = segue.pipelines._store

        def executed(statement: str) -> None:
            if statement in ("COMMIT", "BEGIN", "BEGIN IMMEDIATE"):
                counted["write transactions"] += statement == "COMMIT"
            else:
                counted["statements"] += 1
                counted["pipeline read"] += "FROM pipelines t" in statement

        await store.write(lambda rows: rows._connection._connection.set_trace_callback(executed))
        read = store.read

        async def read_counted(act: Any) -> Any:
            counted["reads"] += 1
            return await read(act)

        store.read = read_counted
        request = PipelineRequest(
            prompt="Do nothing.",
            custom_steps=(TemplateStep(agent="developer", description="Do nothing."),) * steps,
            working_dir=str(folder),
        )
        ended = await follow_to_end(segue, (await segue.pipelines.submit(request)).id)
    assert ended.status is PipelineStatus.DONE
    return counted


async def test_a_step_costs_no_more_than_this(tmp_path: Path) -> None:
    found = {}
    for steps in (1, 1 + STEPS):
        (tmp_path / str(steps)).mkdir()
        found[steps] = await count(tmp_path / str(steps), steps)
    a_step = {name: (found[1 + STEPS][name] - found[1][name]) / STEPS for name in BOUNDS}
    assert {name: cost for name, cost in a_step.items() if cost > BOUNDS[name]} == {}
