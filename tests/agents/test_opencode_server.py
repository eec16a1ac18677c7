"""The life of an OpenCode server: found again, started anew, shared, stopped; and somebody else's server."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from segue.adapters.backends.opencode.backend import OpenCodeBackend
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import Message, Said, ToolState, ToolUsed
from segue.domain.errors import BackendUnavailable, SessionLost
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import Reaction, TemplateStep
from segue.testing import build_test_segue, follow_to_end
from tests.agents.opencode_bench import HANDOFF, SLOW, Bench, ask, running_bench

pytestmark = pytest.mark.thorough

_ORPHANER = """
import asyncio, os, pickle, signal, sys
from pathlib import Path
from segue.adapters.backends.opencode.backend import OpenCodeBackend
from segue.application.ports.backend import Message

async def main():
    request = pickle.loads(sys.stdin.buffer.read())
    backend = OpenCodeBackend(sessions_dir=Path(sys.argv[1]))
    session = await backend.open(request)
    await backend.send(request, session, Message(id="m1", text="[[short]]"))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("opencode")) as made:
        yield made


@pytest_asyncio.fixture
async def backend(bench: Bench) -> AsyncIterator[OpenCodeBackend]:
    made = bench.backend()
    yield made
    await made.shutdown()


async def _begin(bench: Bench, backend: OpenCodeBackend, workspace: Path, scenario: str) -> str:
    request = bench.request(workspace)
    session = await backend.open(request)
    before = bench.asked(scenario)
    await backend.send(request, session, Message(id="m1", text=f"[[{scenario}]]"))
    await bench.model.wait_for_async(lambda _: bench.asked(scenario) > before, 120)
    return session


async def test_another_process_joins_the_session(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    pid = bench.state()["pid"]
    session = await _begin(bench, backend, workspace, "short")
    await backend.shutdown()
    other = bench.backend()
    told = [event async for event in other.events(session, "m1")]
    assert (await other.wait(session, "m1")).text == SLOW[:400]
    assert "".join(e.text for e in told if isinstance(e, Said)) == SLOW[:400]
    await other.close(session)
    await other.shutdown()
    assert bench.state()["pid"] == pid


async def test_segue_is_killed_and_the_next_one_gets_the_reply(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    import pickle

    request, before = bench.request(workspace), bench.asked("short")
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", _ORPHANER, str(bench.sessions_dir)],
        input=pickle.dumps(request),
        check=False,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL
    await backend.send(request, request.key, Message(id="m1", text="[[short]]"))
    assert (await backend.wait(request.key, "m1")).text == SLOW[:400]
    assert bench.asked("short") == before + 1


async def test_a_server_that_is_killed_loses_the_work_and_is_started_anew(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    session = await _begin(bench, backend, workspace, "slow")
    waiting = asyncio.create_task(backend.wait(session, "m1"))
    pid = bench.state()["pid"]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SessionLost) as caught:
        await waiting
    assert str(caught.value) == (
        "the OpenCode server died while it worked on the message, and was started anew"
    )
    await backend.abort(session)
    await backend.close(session)
    reply, _ = await ask(backend, bench.request(workspace), "[[edit]]")
    assert reply.text == HANDOFF
    assert bench.state()["pid"] != pid


async def test_a_server_that_hangs_is_ended_and_started_anew(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    session = await _begin(bench, backend, workspace, "slow")
    waiting = asyncio.create_task(backend.wait(session, "m1"))
    pid = bench.state()["pid"]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(SessionLost, match="died while it worked"):
        await waiting
    assert not psutil.pid_exists(pid)
    assert (await ask(backend, bench.request(workspace), "[[say]]"))[0].text == "Said."


async def test_a_pipeline_outlives_its_server(bench: Bench, tmp_path: Path, project: Path) -> None:
    options, before = {"opencode": bench.rig.options}, bench.asked("whole")
    async with build_test_segue(
        tmp_path, bench.backend(), backend="opencode", backend_options=options
    ) as segue:
        steps = tuple(TemplateStep(agent=name, on_bad_handoff=Reaction.NOTE) for name in ("developer", "qa"))
        wanted = PipelineRequest(custom_steps=steps, prompt="[[whole]] Fix the button.")
        submitted = await segue.pipelines.submit(wanted)
        await bench.model.wait_for_async(lambda _: bench.asked("whole") > before, 120)
        os.kill(bench.state()["pid"], signal.SIGKILL)
        ended = await follow_to_end(segue, submitted.id)
    assert ended.status is PipelineStatus.DONE
    assert bench.asked("whole") == before + 3  # the first step twice


async def test_somebody_elses_server(bench: Bench, backend: OpenCodeBackend, workspace: Path) -> None:
    state = bench.state()
    login = {"url": state["url"], "username": "opencode", "password": state["password"]}
    request = bench.request(workspace, options=login)
    reply, told = await ask(backend, request, "[[edit]]")
    assert reply.text == HANDOFF
    assert (workspace / "hello.txt").is_file()
    assert ToolState.DONE in [e.state for e in told if isinstance(e, ToolUsed)]
    (bench.sessions_dir / "opencode" / "sessions" / f"{request.key}.json").unlink()
    await backend.resume(request, request.key)  # as on another machine
    assert (await backend.wait(request.key, "m1")).text == HANDOFF
    await backend.close(request.key)
    await backend.shutdown()
    assert psutil.pid_exists(state["pid"])
    for wrong in ({**login, "password": "wrong"}, {"url": state["url"]}):
        with pytest.raises(BackendUnavailable, match=r'refuses us .*; set "username" and "password"'):
            await backend.open(bench.request(workspace, options=wrong))
    with pytest.raises(BackendUnavailable, match=r"at http://127.0.0.1:9 cannot be reached"):
        await backend.open(bench.request(workspace, options={"url": "http://127.0.0.1:9"}))
    probe = await backend.probe({**bench.rig.options, **login})
    assert (probe.works, probe.program) == (True, None)


async def test_the_files_are_for_the_user_alone(bench: Bench) -> None:
    files = [*bench.sessions_dir.glob("opencode/servers/*/state.json")]
    files += bench.sessions_dir.glob("opencode/sessions/*.json")
    assert len(files) >= 2
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


async def test_a_look_at_the_back_end(bench: Bench, backend: OpenCodeBackend) -> None:
    found = await backend.probe(bench.rig.options)
    assert found.works
    assert found.program == bench.rig.options["program"]
    assert found.version
    missing = await backend.probe({"program": "no-such-program"})
    assert not missing.works
    assert missing.said == (
        'the program "no-such-program" is not on the PATH; run `segue agents install opencode`, '
        'or name it in the option "program"'
    )
    broken = await backend.probe({"program": "/bin/false"})
    assert broken.said == "the OpenCode server ended at its start: it said nothing"
    assert (await backend.probe({"program": 3})).said.startswith('its options are wrong: "program": ')


async def test_a_server_that_nobody_needs_is_stopped_by_the_sweep(bench: Bench, workspace: Path) -> None:
    lonely = OpenCodeBackend(sessions_dir=bench.sessions_dir.parent / "lonely")
    request = bench.request(workspace)
    session = await lonely.open(request)
    (state,) = lonely.sessions_dir.glob("opencode/servers/*/state.json")
    await lonely.shutdown()  # with a session that is not closed
    assert state.exists()
    sweeper = OpenCodeBackend(sessions_dir=lonely.sessions_dir)
    assert list(await sweeper.leftovers()) == [session]
    (lonely.sessions_dir / "opencode" / "sessions" / f"{session}.json").unlink()
    (left,) = await sweeper.leftovers()
    assert left.startswith("server-")
    user = OpenCodeBackend(sessions_dir=lonely.sessions_dir)
    await user.probe(bench.rig.options)
    await sweeper.close(left)
    assert state.exists()  # as another process uses it
    await user.shutdown()
    assert not state.exists()
    assert not await sweeper.leftovers()
    await sweeper.shutdown()
