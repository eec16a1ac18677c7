"""Pipelines from the first step to the last."""

from __future__ import annotations

from pathlib import Path

from segue.application.pipelines.submit import PipelineRequest
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff


async def test_each_step_runs_in_order_and_the_pipeline_ends_done(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend(
        {"developer": [say_handoff("Fixed it.")], "senior_reviewer": [say_handoff("Looked at it.")]}
    )
    async with build_test_segue(tmp_path, backend) as segue:
        submitted = await segue.pipelines.submit(
            PipelineRequest(template="quick_fix", prompt="Fix the button.")
        )
        assert submitted.status is PipelineStatus.RUNNING
        ended = await follow_to_end(segue, submitted.id)
    assert ended.status is PipelineStatus.DONE
    assert [step.status for step in ended.steps] == [StepStatus.DONE, StepStatus.DONE]
