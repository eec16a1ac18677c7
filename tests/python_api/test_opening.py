"""Opening and closing: in any loop, several at once, beside a server; nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from segue import (
    AgentBackend,
    CheckOutcome,
    NotTrusted,
    Result,
    RunEvent,
    SegueError,
    open_segue,
    run_pipeline,
)
from segue.domain.errors import BackendUnavailable, IllegalMove, InvalidRequest, PipelineNotFound, UnknownName
from segue.testing import ScriptedBackend
from tests.conftest import make_repository
from tests.interrupts import hearing_ctrl_c
from tests.python_api.rig import REPLY, opened
from tests.serving import ServedSegue

WAITS = {"actions": [{"delay": 600}, {"say": REPLY}]}


def threads() -> set[threading.Thread]:
    return set(threading.enumerate())


def is_running(pid: int) -> bool:
    """Whether a process does anything; one that ended may wait for somebody to notice."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until_sent(run: Any) -> None:
    """Wait until the agent has its briefing."""
    async for event in run.events():
        if event.kind == "message_sent":
            return


@pytest.fixture
def served(tmp_path: Path, project: Path) -> Iterator[ServedSegue]:
    """`segue serve` on the data folder that the tests of this file open Segue with."""
    serve = ServedSegue(project, tmp_path / "data", SEGUE_CONFIG_DIR=str(tmp_path / "config"))
    serve.start()
    yield serve
    serve.close()


async def test_nothing_is_left_when_it_is_closed(repository: Path, tmp_path: Path) -> None:
    await asyncio.to_thread(int)  # the loop has threads of its own by now
    tasks, before = asyncio.all_tasks(), threads()
    async with opened(repository, tmp_path, ScriptedBackend()) as segue:
        run = await segue.run("twice", "Look.", checks=["true", lambda _folder: CheckOutcome(True)])
        async for event in run.events():
            if event.kind == "step_done":
                break  # a follower that leaves early
        assert (await run.result()).is_ok
    assert asyncio.all_tasks() == tasks
    assert not [each for each in threads() - before if each.name.startswith("segue")]


async def test_the_loop_has_its_own_threads_again(repository: Path, tmp_path: Path) -> None:
    own = ThreadPoolExecutor(thread_name_prefix="own")
    asyncio.get_running_loop().set_default_executor(own)
    async with opened(repository, tmp_path, ScriptedBackend()) as segue:
        await (await segue.run("alone", "Look.")).result()
    assert (await asyncio.to_thread(threading.current_thread)).name.startswith("own")


async def test_two_can_be_open_at_once_and_be_closed_in_any_order(tmp_path: Path) -> None:
    places = [tmp_path / "first", tmp_path / "second"]
    for place in places:
        (place / "project").mkdir(parents=True)
        make_repository(place / "project")
    first, second = [opened(place / "project", place, ScriptedBackend()) for place in places]
    one, two = await first.__aenter__(), await second.__aenter__()
    runs = [await segue.run("alone", f"Look at {segue.folder}.") for segue in (one, two)]
    assert [(await run.result()).id for run in runs] == [1, 1]
    await first.__aexit__(None, None, None)
    assert (await (await two.run("alone", "Look again.")).result()).id == 2
    await second.__aexit__(None, None, None)
    assert not (await asyncio.to_thread(threading.current_thread)).name.startswith("segue")


async def test_closing_aborts_what_goes_on(repository: Path, tmp_path: Path) -> None:
    backend = ScriptedBackend()
    async with opened(repository, tmp_path, backend, options=WAITS) as segue:
        run = await segue.run("alone", "Wait.")
        waiting = asyncio.create_task(run.result())
        await until_sent(run)
    assert backend.aborted
    with pytest.raises(IllegalMove, match="closed before run 1 ended"):
        await waiting
    async with opened(repository, tmp_path, ScriptedBackend()) as segue:
        result = await (await segue.get_run(run.id)).result()
    assert (result.status, result.reason) == ("aborted", "its program closed Segue")


async def test_an_exception_aborts_what_goes_on_and_is_what_the_program_sees(
    repository: Path, tmp_path: Path
) -> None:
    async def fail() -> None:
        async with opened(repository, tmp_path, ScriptedBackend(), options=WAITS) as segue:
            await until_sent(await segue.run("alone", "Wait."))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with opened(repository, tmp_path, ScriptedBackend()) as segue:
        assert await (await segue.get_run(1)).status() == "aborted"


async def test_a_detached_run_is_interrupted_and_can_be_resumed(repository: Path, tmp_path: Path) -> None:
    backend = ScriptedBackend()
    async with opened(repository, tmp_path, backend, options=WAITS) as segue:
        run = await segue.run("alone", "Wait.", detach=True)
        await until_sent(run)
    assert not backend.aborted
    async with opened(repository, tmp_path, ScriptedBackend()) as segue:
        assert await (await segue.get_run(run.id)).status() == "running"
        resumed = await segue.resume(run.id)
        await until_sent(resumed)
        with pytest.raises(IllegalMove, match="being run by another Segue"):
            await segue.resume(run.id)
        await resumed.abort()
    async with opened(repository, tmp_path, ScriptedBackend()) as segue:
        with pytest.raises(IllegalMove, match="is aborted"):
            await segue.resume(run.id)


async def test_the_same_key_gives_the_same_run_and_continues_it(repository: Path, tmp_path: Path) -> None:
    crash = {"actions": [{"delay": 600}], "when": {"session": [{"say": REPLY}]}}
    async with opened(repository, tmp_path, ScriptedBackend(), options=crash) as segue:
        first = await segue.run("alone", "Look.", key="once", detach=True)
        assert (await segue.run("alone", "Look.", key="once", detach=True)).id == first.id
        await until_sent(first)
    async with opened(repository, tmp_path, ScriptedBackend(), options=crash) as segue:
        second = await segue.run("alone", "Look.", key="once")
        result = await second.result()
        third = await (await segue.run("alone", "Look.", key="once")).result()
    assert second.id == first.id
    assert (result.status, result.steps[0].attempt_count) == ("done", 2)
    assert third == result


def test_a_script_without_a_loop(repository: Path, tmp_path: Path) -> None:
    seen: list[RunEvent] = []
    scripts = {"developer": [{"say": REPLY}], "senior_reviewer": [{"say": REPLY}]}
    result = run_pipeline("quick_fix", "Look.", backend=ScriptedBackend(scripts), on_event=seen.append)
    assert isinstance(result, Result)
    assert result.is_ok
    assert seen[-1].kind == "pipeline_done"


async def test_a_script_in_a_running_loop_is_told_what_to_write() -> None:
    with pytest.raises(InvalidRequest, match="use `async with open_segue"):
        run_pipeline("quick_fix", "Look.")


def test_a_script_is_told_that_a_run_waits_for_a_person(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    asks = {"say": "open_questions: [{question: Which one?, recommendation: Both}]"}
    with pytest.raises(IllegalMove, match=r"waits for a person: it asks: Which one\?"):
        run_pipeline("quick_fix", "Look.", backend=ScriptedBackend({"developer": [asks]}))


def test_ctrl_c_aborts_the_run_and_ends_its_agent(repository: Path, tmp_path: Path) -> None:
    """A program that is interrupted leaves no agent behind."""
    agent, pid = tmp_path / "agent.py", tmp_path / "pid"
    agent.write_text(f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    options = {"command": {"command": f"{sys.executable} {agent}"}}
    program = f"""
import asyncio
from segue import open_segue
async def main():
    async with open_segue(".", backend="command", data_dir={str(tmp_path / "data")!r},
                          settings={{"backend_options": {options!r}}}) as segue:
        run = await segue.run("quick_fix", "Wait.")
        async for event in run.events():
            print(event.kind, flush=True)
asyncio.run(main())
"""
    process = subprocess.Popen(
        hearing_ctrl_c([sys.executable, "-c", program]),
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while process.stdout.readline() not in ("message_sent\n", ""):
        pass
    while not pid.exists() or not pid.read_text():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not is_running(int(pid.read_text()))
    shown = subprocess.run(
        [sys.executable, "-m", "segue", "pipelines", "show", "1", "--json"],
        cwd=repository,
        env=os.environ | {"SEGUE_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(shown.stdout)["status"] == "aborted"


async def test_beside_a_server_each_runs_its_own(
    served: ServedSegue, repository: Path, tmp_path: Path
) -> None:
    """Its back end lives in this program alone, so a server that took the run would fail it."""
    gate = asyncio.Event()

    class Waits(ScriptedBackend):
        async def wait(self, session: str, message_id: str) -> Any:
            await gate.wait()
            return await super().wait(session, message_id)

    async with opened(repository, tmp_path, Waits()) as segue:
        runs = [await segue.run("alone", f"Look {number}.") for number in range(3)]
        await until_sent(runs[-1])
        listed = await asyncio.to_thread(served.pipeline, runs[0].id)
        assert listed["status"] == "running"
        gate.set()
        results = [await run.result() for run in runs]
    assert [str(result.status) for result in results] == ["done"] * 3
    ended = await asyncio.to_thread(served.pipeline, runs[0].id)
    assert ended["result"]["sentence"] == results[0].sentence


async def test_a_project_that_is_not_trusted_is_refused_unless_the_program_vouches_for_it(
    repository: Path, tmp_path: Path
) -> None:
    (repository / ".segue").mkdir()
    catalog = repository / ".segue" / "catalog.yaml"
    catalog.write_text("templates: {mine: {steps: [{agent: developer}]}}\n")
    backend = ScriptedBackend({"developer": [{"say": REPLY}]})
    with pytest.raises(NotTrusted, match="segue trust"):
        async with opened(repository, tmp_path, backend):
            pass
    async with open_segue(repository, backend=backend, trust=True) as segue:
        assert (await (await segue.run("mine", "Look.")).result()).status == "done"
    async with open_segue(repository, backend=backend):
        pass  # as after `segue trust --yes`
    catalog.write_text("templates: {mine: {steps: [{agent: architect}]}}\n")
    with pytest.raises(NotTrusted, match=r"has changed since it was trusted \(.segue/catalog.yaml\)"):
        async with open_segue(repository, backend=backend):
            pass


async def open_and_leave(*arguments: Any, **named: Any) -> None:
    async with open_segue(*arguments, **named):
        pass


async def test_what_is_wrong_is_said_when_it_is_opened(project: Path, tmp_path: Path) -> None:
    class Half(AgentBackend):
        pass

    class Odd(ScriptedBackend):
        def __init__(self) -> None:
            super().__init__()

    wrong: list[tuple[type[SegueError], str, dict[str, Any]]] = [
        (InvalidRequest, "gone is not a folder", {"folder": project / "gone"}),
        (
            SegueError,
            'unknown setting "step_time". .*Did you mean "step_timeout"',
            {"settings": {"step_time": 1}},
        ),
        (SegueError, '"step_timeout" given to open_segue is wrong', {"settings": {"step_timeout": -1}}),
        (InvalidRequest, "not a subclass of AgentBackend", {"backend": object()}),
        (InvalidRequest, "Half lacks abort, close, open, send, wait", {"backend": Half}),
        (BackendUnavailable, "Odd cannot be made", {"backend": Odd}),
        (SegueError, 'no back end "opencod"', {"backend": "opencod"}),
    ]
    for kind, message, named in wrong:
        if named.get("backend") == "opencod":
            async with open_segue(**named, data_dir=tmp_path / "data") as segue:
                with pytest.raises(kind, match=message):
                    await segue.run("quick_fix", "Look.")
            continue
        with pytest.raises(kind, match=message):
            await open_and_leave(**named)


async def test_what_is_wrong_with_a_run_is_said_when_it_is_begun(project: Path, tmp_path: Path) -> None:
    async with opened(project, tmp_path, ScriptedBackend()) as segue:
        with pytest.raises(UnknownName, match='Did you mean "alone"'):
            await segue.run("alon", "Look.")
        with pytest.raises(InvalidRequest, match='"prompt" is empty'):
            await segue.run("alone", " ")
        with pytest.raises(InvalidRequest, match=r'write checks=\["pytest -q"\]'):
            await segue.run("alone", "Look.", checks="pytest -q")
        with pytest.raises(InvalidRequest, match='there is no "elsewhere"'):
            await segue.run("alone", "Look.", workspace="elsewhere")  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InvalidRequest, match="a PipelineTemplate or TemplateSteps"):
            await segue.run([{"agent": "dev"}], "Look.")  # type: ignore[list-item]  # that is the point
        with pytest.raises(InvalidRequest, match="is empty"):
            await segue.run([], "Look.")
        with pytest.raises(PipelineNotFound):
            await segue.get_run(7)
        kept = segue
    with pytest.raises(IllegalMove, match="is closed"):
        await kept.run("alone", "Look.")


def test_a_program_that_configures_no_logging_sees_none(repository: Path, tmp_path: Path) -> None:
    """A failing step is a warning in the log, which a library keeps to itself."""
    program = """
from segue import run_pipeline
from segue.testing import ScriptedBackend
print(run_pipeline("quick_fix", "Try.", backend=ScriptedBackend({"developer": [{"fail": "no"}]})).status)
"""
    silent = subprocess.run(
        [sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, check=True
    )
    assert (silent.stdout, silent.stderr) == ("failed\n", "")
    loud = "import logging, sys\nlogging.basicConfig(level=logging.INFO, stream=sys.stderr)\n" + program
    heard = subprocess.run(
        [sys.executable, "-c", loud], cwd=repository, capture_output=True, text=True, check=True
    )
    assert heard.stdout == "failed\n"
    assert "WARNING:segue.application.pipelines.closing:event='step_failed'" in heard.stderr
