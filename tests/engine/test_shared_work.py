"""A run that begins on one machine and is continued, shown and merged on another; both in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from segue.adapters.git import bundles
from segue.adapters.git.shared import GitSharedRepositories
from segue.adapters.git.workspaces import GitWorkspaces
from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.queries import SqlRows
from segue.application.pipelines.results import Results
from segue.application.pipelines.shared_work import SharedWork, moved_here
from segue.application.pipelines.transactions import create_pipeline
from segue.application.ports.workspace import StepCommit, WorkspaceRequest
from segue.bootstrap import SystemClock
from segue.domain.errors import CannotMerge, IllegalMove, RepositoryError
from segue.domain.pipeline import Pipeline, PipelineStatus
from segue.domain.repository_source import Bundle
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.engine.test_handing_over import DONE, ONE_STEP, WORK
from tests.engine.test_steps import until
from tests.git.repositories import git, new_repository, write
from tests.sessions.scripts import agent
from tests.storage.test_store import PLACE, new_pipeline


class Machine:
    """A data folder, and the parts that know it."""

    def __init__(self, folder: Path, store: SqlStore) -> None:
        self._store = store
        root = folder / "worktrees"
        self.workspaces = GitWorkspaces(root=root)
        repositories = GitSharedRepositories(root=root, clones=folder / "repositories", push_to=None)
        self.shared = SharedWork(store=store, repositories=repositories, clock=SystemClock())
        self.results = Results(
            store=store, workspaces=self.workspaces, clock=SystemClock(), shared=self.shared
        )

    async def change(self, pipeline: Pipeline, *bundles: Bundle, **fields: Any) -> Pipeline:
        def change(rows: SqlRows) -> Pipeline:
            rows.insert_all(bundles)
            return rows.save_run(rows.pipeline(pipeline.id), replace(pipeline, **fields))

        return await self._store.write(change)

    async def begin(self, folder: Path) -> Pipeline:
        new = new_pipeline("Fix it")
        steps = (*new.steps, replace(new.steps[0], order_index=1))
        pipeline, _ = await self._store.write(
            lambda rows: create_pipeline(rows, replace(new, steps=steps), PLACE, worker=None)
        )
        workspace = await self.workspaces.open(
            WorkspaceRequest(
                pipeline_id=pipeline.id,
                title="Fix it",
                working_dir=str(folder),
                branch=None,
                choice=pipeline.workspace_choice,
            )
        )
        known = await self.shared.describe(workspace, None)
        return await self.change(
            pipeline,
            *known.bundles,
            workspace=workspace,
            source=known.source,
            home=self.shared.home,
            working_dir=str(folder),
            status=PipelineStatus.RUNNING,
        )

    async def do_step(self, pipeline: Pipeline, number: int, file: str) -> Pipeline:
        """An agent writes a file, and the step is done."""
        assert pipeline.workspace is not None
        step, now = pipeline.steps[number - 1], datetime.now(UTC)
        begun = pipeline.start_step(step.id, await self.workspaces.mark(pipeline.workspace), now)
        write(Path(pipeline.workspace.path), {file: f"{file}\n"})
        about = StepCommit(pipeline_id=1, step=number, agent_name="a", title="Fix it", handoff_hash="0" * 64)
        commit = await self.workspaces.commit(pipeline.workspace, about)
        kept = await self.shared.keep(begun, begun.step(step.id), commit)
        done = begun.finish_step(step.id, now, commit)
        return await self.change(done, *kept.bundles, source=kept.source)


async def test_a_run_is_continued_shown_and_merged_on_another_machine(
    tmp_path: Path, database: SqlStore
) -> None:
    mine = new_repository(tmp_path / "mine", {"a.py": "a = 1\n"})
    here, there = Machine(tmp_path / "here", database), Machine(tmp_path / "there", database)
    run = await here.do_step(await here.begin(mine), 1, "one.py")
    assert not here.shared.is_elsewhere(run)
    assert there.shared.is_elsewhere(run)
    assert "+one.py" in await there.results.diff(run.id, step=1)
    workspace = await there.shared.restore(run)
    run = await there.change(moved_here(run, workspace, there.shared.home))
    run = await there.do_step(run, 2, "two.py")
    assert run.status is PipelineStatus.DONE
    assert here.shared.is_elsewhere(run)
    for machine in (here, there):
        diff = await machine.results.diff(run.id)
        assert "+one.py" in diff
        assert "+two.py" in diff
        assert await machine.results.files(run.id) is not None
    with pytest.raises(IllegalMove, match="is on another machine"):
        await here.results.clean(run.id)
    assert await there.results.worktree(run.id) == workspace.path
    await here.change(run, workspace=replace(workspace, path=str(tmp_path / "here" / "worktrees" / "1")))
    assert await here.results.worktree(run.id) is None, "what has its path is an older one"
    await here.change(run)
    mine.rename(tmp_path / "away")
    with pytest.raises(CannotMerge, match="is not its repository here"):
        await there.results.merge(run.id)
    (tmp_path / "away").rename(mine)
    assert (await here.results.preview_merge(run.id)).changed == ("one.py", "two.py")
    await here.results.merge(run.id)
    assert (mine / "two.py").read_text() == "two.py\n"
    assert git(mine, "status", "--porcelain") == ""


async def test_runs_of_one_repository_share_what_they_begin_from(tmp_path: Path, database: SqlStore) -> None:
    mine = new_repository(tmp_path / "mine", {"a.py": "a = 1\n"})
    here = Machine(tmp_path / "here", database)
    first, second = await here.begin(mine), await here.begin(mine)
    assert first.source == second.source
    assert len(await database.read(lambda rows: rows.find(Bundle))) == 1
    await here.do_step(first, 1, "one.py")
    await here.do_step(second, 1, "two.py")
    sizes = [len(each.content) for each in await database.read(lambda rows: rows.find(Bundle))]
    assert len(sizes) == 3


async def test_what_cannot_be_kept_is_no_reason_to_fail(
    tmp_path: Path, database: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = new_repository(tmp_path / "mine", {"a.py": "a = 1\n"})
    here = Machine(tmp_path / "here", database)
    run = await here.begin(mine)
    monkeypatch.setattr(bundles, "MOST_BYTES", 10)
    run = await here.do_step(run, 1, "one.py")
    assert run.source is None
    other = new_repository(tmp_path / "other", {"b.py": "b = 1\n"})
    known = await here.shared.describe(
        await here.workspaces.check(str(other), None, run.workspace_choice), None
    )
    assert known.source is None
    assert known.notes[0].endswith("no other one can continue it")


async def test_a_run_in_place_is_only_shown_where_it_is(tmp_path: Path, database: SqlStore) -> None:
    mine = new_repository(tmp_path / "mine", {"a.py": "a = 1\n"})
    here, there = Machine(tmp_path / "here", database), Machine(tmp_path / "there", database)
    run = await here.change(await here.begin(mine), source=None)
    with pytest.raises(RepositoryError, match="only that machine has its files"):
        await there.results.diff(run.id)
    with pytest.raises(RepositoryError, match="alone"):
        await there.shared.restore(run)


async def test_what_was_handed_over_on_a_lost_machine_is_told_to_be_lost(
    tmp_path: Path, repository: Path, postgres_url: str
) -> None:
    go = tmp_path / "go"
    waits = {"run": ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.1; done"]}
    developer = agent(*WORK, given=[waits, *DONE])
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "catalog.yaml").write_text(json.dumps({"agents": {"developer": developer}}))
    before, after = ScriptedBackend(), ScriptedBackend()
    async with build_test_segue(tmp_path, before, database_url=postgres_url) as segue:
        pipeline = (await segue.pipelines.submit(ONE_STEP)).id
        await until(lambda: len(before.received.get("developer", ())) == 3)
    go.touch()
    with psycopg.connect(postgres_url) as connection:  # as if it was killed before the next one began
        connection.execute("DELETE FROM agents WHERE id = (SELECT max(id) FROM agents)")
    elsewhere = tmp_path / "elsewhere"
    async with build_test_segue(tmp_path, after, database_url=postgres_url, data_dir=elsewhere) as segue:
        ended = await follow_to_end(segue, pipeline)
    assert ended.status is PipelineStatus.DONE, ended.reason
    (told,) = after.received["developer"]
    assert "This step is under way" in told
    assert "is to be done again" in told
    assert ended.workspace is not None
    assert Path(ended.workspace.path).is_relative_to(elsewhere)
