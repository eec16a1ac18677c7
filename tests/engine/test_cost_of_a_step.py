"""What a step costs the database, counted: statements, write transactions, and readings of its pipeline."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import event

from segue.application.backends import Capabilities
from segue.application.pipelines import Submission
from segue.application.workers import WorkerPolicy
from segue.domain.catalog import TemplateStep
from segue.domain.pipeline import PipelineStatus
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff

STEPS = 10
BOUNDS = {"statements": 50.0, "write transactions": 6.5, "pipeline read": 13.0}
"""At most so many a step, with room for what the worker does at the end of a run."""
_QUIET = WorkerPolicy(beat_seconds=600)


class Silent(ScriptedBackend):
    """Tells nothing while it works: what agents do is written in batches, how many depends on the time."""

    capabilities = Capabilities()


async def count(folder: Path, steps: int) -> Counter[str]:
    """What a run of so many steps costs in all."""
    counted: Counter[str] = Counter()
    backend = Silent({"developer": [say_handoff("Did nothing.", next="Do nothing.")]})
    async with build_test_segue(folder, backend, policy=_QUIET) as segue:
        database: Any = segue.pipelines._database
        engine = database.writer.engine.sync_engine

        def executed(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
            counted["statements"] += not statement.startswith("BEGIN")
            counted["pipeline read"] += statement.startswith("SELECT pipelines.")

        event.listen(engine, "before_cursor_execute", executed)
        database.on_commit = [*database.on_commit, lambda: counted.update(["write transactions"])]
        request = Submission(
            prompt="Do nothing.",
            custom_steps=(TemplateStep(agent="developer", description="Do nothing."),) * steps,
            working_dir=str(folder),
        )
        ended = await follow_to_end(segue, (await segue.pipelines.submit(request)).id)
        event.remove(engine, "before_cursor_execute", executed)
    assert ended.status is PipelineStatus.DONE
    return counted


async def test_a_step_costs_no_more_than_this(tmp_path: Path) -> None:
    found = {}
    for steps in (1, 1 + STEPS):
        (tmp_path / str(steps)).mkdir()
        found[steps] = await count(tmp_path / str(steps), steps)
    a_step = {name: (found[1 + STEPS][name] - found[1][name]) / STEPS for name in BOUNDS}
    assert {name: cost for name, cost in a_step.items() if cost > BOUNDS[name]} == {}
