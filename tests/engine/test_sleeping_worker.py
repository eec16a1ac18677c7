"""A worker that slept while another one took its pipeline, and wakes about to send: nothing is said twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from segue.application.conversations.conversation import Conversation
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import Capabilities
from segue.application.segue import Segue
from segue.bootstrap import open_segue
from segue.domain.errors import LeaseLost
from segue.domain.pipeline import Lease, PipelineStatus
from segue.domain.session import Session, SessionMessage
from segue.domain.workers import Worker
from segue.testing import (
    ScriptedBackend,
    ScriptedModel,
    build_test_segue,
    follow_to_end,
    say,
    say_handoff,
    script,
    turn,
)
from tests.agents.rigs import EACH_BACKEND, MAKERS, make_project, profile_of
from tests.engine.sleeping import Bed, is_asleep
from tests.engine.test_steps import until
from tests.holding import hold_until

HANDOFF = "## Outcome\ncompleted\n\n## What Was Done\n- Looked at it.\n\n## Next Agent Context\nContinue."


async def take_over(bed: Bed, project: Path, is_at_work: Any) -> tuple[int, str]:
    """Let one Segue sleep before it sends, another one take over, and wake the first while the agent works.

    Gives how many attempts there were, and what the one that slept has logged.
    """
    request = PipelineRequest(template="one", prompt="Look.", working_dir=str(project))
    asleep = await asyncio.to_thread(bed.start, request)
    await until(lambda: is_asleep(asleep))
    try:
        async with open_segue(bed.settings) as segue:
            await segue.start()
            await free_all(segue)
            await until(is_at_work)
            os.kill(asleep.pid, signal.SIGCONT)
            await until(lambda: "lease_lost" in bed.log)
            (bed.folder / "go").touch()
            async with asyncio.timeout(120):
                ended = await follow_to_end(segue, 1)
            bed.may_end.touch()
            await asyncio.to_thread(asleep.join, 120)
    finally:
        asleep.kill()
    assert ended.status is PipelineStatus.DONE, ended.reason
    assert "Traceback" not in bed.log
    return ended.steps[0].attempt_count, bed.log


async def free_all(segue: Segue) -> None:
    """Remove the workers that sleep, as after ten seconds of silence."""

    def remove(rows: Any) -> None:
        for worker in rows.find(Worker):
            if worker.id != segue.workers.me:
                rows.delete(worker)

    await segue.pipelines._store.write(remove)
    segue.workers.look_for_work()


def lay_out(folder: Path, agent: Mapping[str, Any]) -> Path:
    template = {"steps": [{"agent": "dev", "description": "[[slow]]"}], "on_bad_handoff": "note"}
    (folder / "config").mkdir(parents=True)
    (folder / "project").mkdir()
    project = make_project(folder / "project", {})
    catalog = {"agents": {"dev": agent}, "templates": {"one": template}}
    (folder / "config" / "catalog.yaml").write_text(repr(catalog).replace("None", "null"))
    return project


async def test_a_command_is_started_once(tmp_path: Path) -> None:
    wait = f"until test -e '{tmp_path}/go'; do sleep 0.02; done"
    program = f"cat > /dev/null; echo begin >> '{tmp_path}/runs'; {wait}; echo 'Looked at it.'"
    project = lay_out(tmp_path, {"backend": "command", "options": {"command": ["sh", "-c", program]}})
    bed = Bed(folder=tmp_path, backend="command")
    attempts, _ = await take_over(bed, project, (tmp_path / "runs").exists)
    assert attempts == 1
    assert (tmp_path / "runs").read_text() == "begin\n"


async def test_a_session_that_dies_with_its_process_is_followed_by_a_new_one(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    actions = [
        {"run": ["sh", "-c", f"echo begin >> '{runs}'"]},
        hold_until(tmp_path / "go"),
        {"run": ["sh", "-c", f"echo end >> '{runs}'"]},
        {"say": HANDOFF},
    ]
    project = lay_out(tmp_path, {"backend": "scripted", "options": {"actions": actions}})
    attempts, _ = await take_over(Bed(folder=tmp_path, backend="scripted"), project, runs.exists)
    assert attempts == 2
    assert runs.read_text().count("end\n") == 1, "the agent of the one that slept is stopped at once"


@pytest.mark.thorough
@pytest.mark.parametrize("name", EACH_BACKEND)
async def test_a_real_agent_gets_its_prompt_once_in_each_session(tmp_path: Path, name: str) -> None:
    plan = script({"slow": turn(say(HANDOFF + " word" * 150), chunk=20, chunk_delay=0.1)})
    with ScriptedModel(plan) as model:
        rig = MAKERS[name](tmp_path / "home", model.url)
        project = lay_out(tmp_path, profile_of(rig))
        method = "take" if rig.backend == "opencode" else "send"
        bed = Bed(folder=tmp_path, backend=rig.backend, method=method)
        attempts, _ = await take_over(bed, project, lambda: asked(model) > 0)
        assert attempts == 1
        assert asked(model) == 1


def asked(model: ScriptedModel) -> int:
    """How often an agent has brought the prompt to its model."""
    return sum(request.scenario == "slow" for request in model.requests)


class Once(ScriptedBackend):
    """Says of itself that another process could send."""

    capabilities = Capabilities(once=True)


async def test_who_slept_before_it_acts_looks_whether_the_lease_still_holds(
    tmp_path: Path, project: Path
) -> None:
    go = tmp_path / "go"
    backend = Once({"developer": [hold_until(go), say_handoff("Fixed it.")]})
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = (await segue.pipelines.submit(PipelineRequest(template="quick_fix", prompt="x"))).id
        await until(lambda: "developer" in backend.received)

        def read(rows: Any) -> tuple[Session, SessionMessage]:
            return rows.get(Session, 1), rows.get(SessionMessage, 1)

        session, message = await segue.pipelines._store.read(read)
        for number, slept in ((1, 0), (0, 0), (0, 60)):
            late = segue.sessions._conversations.of(session, lease=Lease(pipeline, number))
            late._confirmed -= slept
            outcome = await asyncio.gather(late.confirm(), return_exceptions=True)
            assert isinstance(outcome[0], LeaseLost) is (slept > 0)
        unsent = SessionMessage(
            session_id=session.id,
            kind=message.kind,
            key="another",
            wire_id="another",
            text="Do it again.",
            created_at=message.created_at,
        )
        with pytest.raises(LeaseLost):
            await Conversation.deliver(late, unsent)
        assert len(backend.received["developer"]) == 1
        go.touch()
