"""With `keep_days`, a process that takes up pipelines cleans by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

from segue.application.pipelines.submit import PipelineRequest
from segue.application.segue import Segue
from segue.domain.audit import AuditKind
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.git.repositories import new_repository

STEPS = (TemplateStep(agent="developer", description="Work."),)


async def test_a_host_cleans_when_it_starts_what_ended_long_enough_ago(
    tmp_path: Path, database_url: str
) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    backend = ScriptedBackend({"developer": [{"say": "Looking."}, say_handoff("Did nothing.")]})
    asked = PipelineRequest(prompt="Work.", custom_steps=STEPS, working_dir=str(repo))
    async with build_test_segue(tmp_path, backend, database_url=database_url) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(asked)).id)
        assert ended.status is PipelineStatus.DONE
        assert ended.workspace is not None
        place = Path(ended.workspace.path)
        assert await segue.views.activity_after(0)
    async with build_test_segue(tmp_path, backend, keep_days=30, database_url=database_url) as segue:
        pass
    assert place.is_dir(), "it is not old enough"
    async with build_test_segue(tmp_path, backend, keep_days=0, database_url=database_url) as segue:
        async with asyncio.timeout(120):
            while AuditKind.LEFTOVERS_REMOVED not in await kinds(segue):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert not place.exists()
        assert await segue.views.activity_after(0) == []
        assert (await segue.views.pipeline(ended.id)).steps == ended.steps
        assert (await segue.views.verify_audit()).is_whole


async def kinds(segue: Segue) -> list[AuditKind]:
    return [entry.event_type for entry in await segue.views.entries_after(0)]
