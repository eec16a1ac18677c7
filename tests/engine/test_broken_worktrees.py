"""Agents that spoil their own worktree: the step ends with one clear sentence, and with a handoff."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.git.repositories import git

SAY = {"say": "## What Was Done\n- Added a.py.\n\n## Next Agent Context\nGo on."}
WRITE = {"write": {"path": "a.py", "text": "A = 1\n"}}

BROKEN: dict[str, tuple[str, str]] = {
    "a repository in its place": ("rm .git; git init -q", "its .git was replaced"),
    "no folder": ('rm -rf "$PWD"', "there is no folder"),
}
FIXED = {
    "no .git": "rm .git",
    "a lock": "touch $(git rev-parse --git-dir)/index.lock",
    "a lock that is a folder": "mkdir $(git rev-parse --git-dir)/index.lock",
    "another branch": "git checkout -qb other",
    "a repository inside": "git init -q nested; echo 1 > nested/x",
    "nothing committed yet": "git checkout -q --orphan other",
}


def _request(repository: Path) -> PipelineRequest:
    return PipelineRequest(template="quick_fix", prompt="Add a.", working_dir=str(repository))


def _backend(*actions: dict[str, Any]) -> ScriptedBackend:
    return ScriptedBackend({"developer": actions, "senior_reviewer": [SAY]})


@pytest.mark.parametrize("name", BROKEN)
async def test_what_cannot_be_fixed_fails_with_a_sentence(
    tmp_path: Path, repository: Path, name: str
) -> None:
    command, sentence = BROKEN[name]
    backend = _backend(WRITE, {"run": ["sh", "-c", command]}, SAY)
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(_request(repository))).id)
    assert ended.status == "failed"
    assert sentence in (ended.reason or "")
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert handoff.is_synthetic
    assert "what it changed could not be read" in handoff.content_md
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "fsck") == ""


@pytest.mark.thorough
@pytest.mark.parametrize("name", FIXED)
async def test_what_can_be_fixed_is(tmp_path: Path, repository: Path, name: str) -> None:
    backend = _backend(WRITE, {"run": ["sh", "-c", FIXED[name]]}, SAY)
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(_request(repository))).id)
        merged = await segue.results.merge(ended.id)
    assert ended.status == "done", ended.reason
    assert git(repository, "diff", "--name-only", "HEAD~1", merged) == "a.py"


async def test_an_abort_leaves_a_handoff(tmp_path: Path, repository: Path) -> None:
    async with build_test_segue(tmp_path, _backend(WRITE, {"delay": 600})) as segue:
        pipeline = await segue.pipelines.submit(_request(repository))
        while True:
            place = (await segue.views.pipeline(pipeline.id)).workspace
            if place and Path(place.path, "a.py").exists():
                break
            await asyncio.sleep(0.02)
        await segue.pipelines.abort(pipeline.id)
        ended = await segue.views.pipeline(pipeline.id)
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert handoff.is_synthetic
    assert handoff.metadata is not None
    assert [each["path"] for each in handoff.metadata["files_created"]] == ["a.py"]
