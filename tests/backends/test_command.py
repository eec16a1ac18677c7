"""Any program as an agent: what goes in, what comes out, how it ends, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from segue.adapters.backends import supervised
from segue.adapters.backends.command import CommandBackend
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import Message, SessionRequest
from segue.domain.catalog import AgentProfile
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end

HELLO = Message(id="m1", text="Fix the button, größer.")


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[CommandBackend]:
    """A command back end; whatever its sessions started is ended afterwards."""
    made = CommandBackend(sessions_dir=tmp_path / "sessions", timeout=0.5)
    yield made
    for session in (tmp_path / "sessions" / "command").glob("*"):
        await made.close(session.name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working directory of the agent."""
    made = tmp_path / "work dir"
    made.mkdir()
    return made


def request(folder: Path, *command: str, key: str = "key1", model: str | None = None, **options: Any) -> Any:
    """What the engine asks for when a step begins."""
    return SessionRequest(
        key=key,
        agent_name="developer",
        profile=AgentProfile(backend="command", options={"command": command, **options}),
        model=model,
        working_dir=str(folder),
        title="a step",
    )


def shell(folder: Path, script: str, **options: Any) -> SessionRequest:
    """A request for a shell script."""
    made: SessionRequest = request(folder, "/bin/sh", "-c", script, **options)
    return made


async def ask(backend: CommandBackend, wanted: SessionRequest, message: Message = HELLO) -> str:
    """Open, send and wait."""
    session = await begin(backend, wanted, message)
    async with asyncio.timeout(120):
        return (await backend.wait(session, message.id)).text


async def begin(backend: CommandBackend, wanted: SessionRequest, message: Message = HELLO) -> str:
    """Open and send."""
    session = await backend.open(wanted)
    await backend.send(wanted, session, message)
    return session


async def read_pid(path: Path) -> int:
    """The pid that a script writes into a file, once it has."""
    async with asyncio.timeout(120):
        while not (path.is_file() and path.read_text().endswith("\n")):  # noqa: ASYNC110  # another process
            await asyncio.sleep(0.01)
    return int(path.read_text())


def lives(pid: int) -> bool:
    """True if this process runs."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class TestWhatGoesIn:
    async def test_the_briefing_arrives_on_standard_input_word_for_word(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        assert await ask(backend, request(folder, "cat")) == HELLO.text

    async def test_the_briefing_can_be_a_file_and_then_standard_input_is_empty(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        wanted = shell(folder, 'cat; cat "$0"; test "$0" = "$SEGUE_BRIEFING_FILE" && echo same')
        wanted = request(folder, *wanted.profile.options["command"], "{briefing_file}", briefing="file")
        assert await ask(backend, wanted) == f"{HELLO.text}same\n"

    async def test_model_and_working_directory_are_filled_in(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        show = ("sh", "-c", 'printf "%s|%s" "$1" "$2"', "show")
        wanted = request(folder, *show, "m={model}", "{working_dir}", model="{working_dir}; rm x")
        assert await ask(backend, wanted) == f"m={{working_dir}}; rm x|{folder}"

    async def test_the_program_runs_in_the_working_directory(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        assert await ask(backend, shell(folder, "pwd")) == f"{folder}\n"

    async def test_a_program_of_the_project_is_found_from_the_working_directory(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        program = folder / "agent.sh"
        program.write_text("#!/bin/sh\necho mine\n")
        program.chmod(0o755)
        assert await ask(backend, request(folder, "./agent.sh")) == "mine\n"

    async def test_no_command_of_the_shell_takes_the_place_of_a_program(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        (folder / "echo").write_text("#!/bin/sh\nprintf real\n")
        (folder / "echo").chmod(0o755)
        wanted = request(folder, "echo", "-n", set_env={"PATH": f"{folder}:{os.environ['PATH']}"})
        assert await ask(backend, wanted) == "real"

    async def test_a_command_may_be_written_as_one_line(self, backend: CommandBackend, folder: Path) -> None:
        profile = AgentProfile(options={"command": """sh -c "printf '%s' 'two words'" """})
        wanted = SessionRequest(
            key="k", agent_name="a", profile=profile, model=None, working_dir=str(folder), title=""
        )
        assert await ask(backend, wanted) == "two words"

    async def test_a_secret_of_the_environment_does_not_arrive_unless_it_is_named(
        self, backend: CommandBackend, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_SECRET", "swordfish")
        monkeypatch.setenv("MY_TOKEN", "needed")
        seen = await ask(
            backend, shell(folder, "env", pass_env=["MY_TOKEN", "NOT_SET"], set_env={"MODE": "fast"})
        )
        lines = seen.splitlines()
        assert "swordfish" not in seen
        assert "MY_TOKEN=needed" in lines
        assert "MODE=fast" in lines
        assert f"PATH={os.environ['PATH']}" in lines
        assert not [line for line in lines if line.startswith("NOT_SET")]

    async def test_no_open_file_of_segue_is_handed_on(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        with (tmp_path / "open").open("w"):
            seen = await ask(backend, shell(folder, "ls /proc/self/fd"))
        assert len(seen.split()) == 4  # in, out, err, and the folder that ls reads

    async def test_the_folder_of_a_session_is_for_this_user_alone(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        session = await backend.open(request(folder, "cat"))
        assert stat.S_IMODE((tmp_path / "sessions" / "command" / session).stat().st_mode) == 0o700


class TestHowItEnds:
    async def test_exit_3_is_told_with_the_last_words_of_its_standard_error(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        with pytest.raises(AgentFailed, match=r"^its command exited with 3: no model, sorry$"):
            await ask(backend, shell(folder, "echo hi; echo first >&2; echo 'no model, sorry' >&2; exit 3"))

    async def test_exit_codes_can_be_declared_good(self, backend: CommandBackend, folder: Path) -> None:
        assert await ask(backend, shell(folder, "echo fine; exit 3", ok_exit_codes=[0, 3])) == "fine\n"

    async def test_a_death_by_signal_is_named(self, backend: CommandBackend, folder: Path) -> None:
        with pytest.raises(AgentFailed, match=r"^its command was killed by signal SIGKILL"):
            await ask(backend, shell(folder, "kill -9 $$"))

    async def test_a_supervisor_that_is_killed_is_a_failure_and_no_endless_wait(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        session = await begin(backend, shell(folder, "sleep 30"))
        pid = await read_pid(tmp_path / "sessions" / "command" / session / HELLO.id / "pid")
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(AgentFailed, match="killed before it could reply"):
            await backend.wait(session, HELLO.id)

    async def test_a_program_that_is_not_on_the_path_is_named(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        with pytest.raises(
            BackendUnavailable, match='"no-such-agent" of agent "developer" is not on the PATH'
        ):
            await backend.open(request(folder, "no-such-agent"))

    async def test_a_program_that_does_not_exist_is_named(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        with pytest.raises(BackendUnavailable, match=r'"\./gone" of agent "developer" does not exist'):
            await backend.open(request(folder, "./gone"))

    async def test_a_program_that_is_not_executable_is_named(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        (folder / "plain.sh").write_text("echo no")
        with pytest.raises(BackendUnavailable, match=r'"\./plain\.sh" .* is not executable; run chmod \+x'):
            await backend.open(request(folder, "./plain.sh"))

    async def test_a_program_without_its_interpreter_says_so(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        (folder / "odd").write_text("#!/no/such/interpreter\n")
        (folder / "odd").chmod(0o755)
        with pytest.raises(AgentFailed, match=r"exited with 12[67] \(the shell could not run it\): .+"):
            await ask(backend, request(folder, "./odd"))

    async def test_a_working_directory_that_is_gone_is_named(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        with pytest.raises(BackendUnavailable, match=r"the working directory .*/gone is gone"):
            await backend.open(request(folder / "gone", "cat"))

    async def test_wrong_options_are_one_sentence(self, backend: CommandBackend, folder: Path) -> None:
        with pytest.raises(
            BackendUnavailable, match=r'agent "developer" .* options are wrong: "comand"'
        ) as e:
            await backend.open(request(folder, "cat", comand="cat"))
        assert "\n" not in str(e.value)

    @pytest.mark.parametrize("script", ["true", "printf ' \\n\\n'"])
    async def test_no_words_are_a_failure(self, backend: CommandBackend, folder: Path, script: str) -> None:
        with pytest.raises(AgentFailed, match="wrote nothing on its standard output"):
            await ask(backend, shell(folder, script))

    async def test_a_reply_over_the_limit_is_a_failure(self, backend: CommandBackend, folder: Path) -> None:
        with pytest.raises(AgentFailed, match=r"its reply has 11 bytes, more than max_reply_bytes \(10\)"):
            await ask(backend, shell(folder, "printf 12345678901", max_reply_bytes=10))

    async def test_a_program_that_floods_its_output_is_not_waited_for(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        with pytest.raises(AgentFailed, match="more than max_reply_bytes"):
            await ask(backend, shell(folder, "while :; do echo flood; done", max_reply_bytes=1000))

    async def test_output_that_is_no_utf_8_is_read_with_marks_in_the_bad_places(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        assert await ask(backend, shell(folder, r"printf 'a\377b\000c'")) == "a\ufffdb\ufffdc"

    async def test_a_million_lines_come_through_quickly(self, backend: CommandBackend, folder: Path) -> None:
        started = time.process_time()
        reply = await ask(backend, request(folder, "seq", "1000000"))
        assert reply.endswith("\n999999\n1000000\n")
        assert time.process_time() - started < 5

    async def test_a_program_that_never_reads_its_briefing_is_fine(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        big = Message(id="big", text="x" * 5_000_000)
        assert await ask(backend, shell(folder, "echo done"), big) == "done\n"


class TestAbort:
    async def test_the_whole_process_group_is_gone_with_a_grandchild(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        session = await begin(backend, shell(folder, "sleep 60 & echo $! > pid; wait"))
        grandchild = await read_pid(folder / "pid")
        assert lives(grandchild)
        await backend.abort(session)
        assert not lives(grandchild)

    async def test_one_that_ignores_sigterm_is_gone(self, backend: CommandBackend, folder: Path) -> None:
        session = await begin(
            backend, shell(folder, "trap '' TERM; echo $$ > pid; while :; do sleep 1; done")
        )
        stubborn = await read_pid(folder / "pid")
        await backend.abort(session)
        assert not lives(stubborn)

    async def test_one_that_called_setsid_is_gone(self, backend: CommandBackend, folder: Path) -> None:
        script = "setsid sh -c 'echo $$ > pid; sleep 60' & wait"
        session = await begin(backend, shell(folder, script))
        runaway = await read_pid(folder / "pid")
        await backend.abort(session)
        assert not lives(runaway)

    async def test_a_daemon_whose_parents_are_gone_is_gone(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        script = "(setsid sh -c 'echo $$ > pid; sleep 60' &) ; sleep 60"
        session = await begin(backend, shell(folder, script))
        daemon = await read_pid(folder / "pid")
        await backend.abort(session)
        assert not lives(daemon)

    async def test_one_with_an_empty_environment_in_the_same_group_is_gone(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        script = "(env -i /bin/sh -c 'echo $$ > pid; sleep 60' &) ; sleep 60"
        session = await begin(backend, shell(folder, script))
        nameless = await read_pid(folder / "pid")
        await backend.abort(session)
        assert not lives(nameless)

    async def test_other_sessions_live_on(self, backend: CommandBackend, folder: Path) -> None:
        one = await begin(backend, shell(folder, "sleep 60", key="one"))
        await begin(backend, shell(folder, "echo $$ > pid; sleep 60", key="two"))
        other = await read_pid(folder / "pid")
        await backend.abort(one)
        assert lives(other)

    async def test_abort_is_safe_to_repeat_and_before_anything_was_sent(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        session = await backend.open(shell(folder, "sleep 60"))
        await backend.abort(session)
        await backend.abort("never-opened")

    async def test_whoever_waits_learns_of_the_abort(self, backend: CommandBackend, folder: Path) -> None:
        session = await begin(backend, shell(folder, "sleep 60"))
        waiting = asyncio.create_task(backend.wait(session, HELLO.id))
        await asyncio.sleep(0.05)
        await backend.abort(session)
        with pytest.raises(AgentFailed):
            await waiting


class TestOnceAndOnlyOnce:
    async def test_the_same_message_twice_runs_the_program_once(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        wanted = shell(folder, "echo x >> runs; cat")
        session = await begin(backend, wanted)
        await backend.send(wanted, session, HELLO)
        assert (await backend.wait(session, HELLO.id)).text == HELLO.text
        await backend.send(wanted, session, HELLO)
        assert (folder / "runs").read_text() == "x\n"

    async def test_a_second_message_gets_its_own_reply(self, backend: CommandBackend, folder: Path) -> None:
        wanted = request(folder, "cat")
        assert await ask(backend, wanted) == HELLO.text
        assert await ask(backend, wanted, Message(id="m2", text="Again, please.")) == "Again, please."
        assert (await backend.wait("key1", HELLO.id)).text == HELLO.text

    async def test_the_next_segue_joins_the_living_process_and_gets_its_reply(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        wanted = shell(folder, "echo x >> runs; until test -e go; do sleep 0.02; done; echo finished")
        session = await begin(backend, wanted)
        await backend.shutdown()

        after = CommandBackend(sessions_dir=tmp_path / "sessions")
        assert await after.open(wanted) == session
        await after.send(wanted, session, HELLO)
        waiting = asyncio.create_task(after.wait(session, HELLO.id))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        (folder / "go").touch()
        assert (await waiting).text == "finished\n"
        assert (folder / "runs").read_text() == "x\n"
        pid = await read_pid(tmp_path / "sessions" / "command" / session / HELLO.id / "pid")
        await asyncio.to_thread(os.waitpid, pid, 0)  # this process lives on, as no Segue does

    async def test_a_program_outlives_the_process_that_started_it(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        starter = tmp_path / "starter.py"
        starter.write_text(
            "import asyncio, os, sys\nfrom pathlib import Path\n"
            "from segue.adapters.backends.command import CommandBackend\n"
            "from segue.application.ports.backend import Message, SessionRequest\n"
            "from segue.domain.catalog import AgentProfile\n"
            "async def main():\n"
            "    b = CommandBackend(sessions_dir=Path(sys.argv[1]))\n"
            "    o = {'command': ['/bin/sh', '-c', 'sleep 0.7; echo late']}\n"
            "    r = SessionRequest(key='key1', agent_name='a', profile=AgentProfile(options=o),\n"
            "        model=None, working_dir=sys.argv[2], title='')\n"
            "    await b.send(r, await b.open(r), Message(id='m1', text='hi'))\n"
            "    if sys.argv[3] == 'crash': os._exit(9)\n"
            "    await b.shutdown()\n"
            "asyncio.run(main())\n"
        )
        for how in ("crash", "stop"):
            sessions = tmp_path / "sessions"
            command = [sys.executable, "-X", "dev", str(starter), str(sessions), str(folder), how]
            process = await asyncio.create_subprocess_exec(*command)
            assert await process.wait() == (9 if how == "crash" else 0)
            assert (await backend.wait("key1", "m1")).text == "late\n"
            await backend.close("key1")

    async def test_a_process_without_its_pid_file_is_found_all_the_same(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        session = await begin(backend, shell(folder, "echo $$ > pid; sleep 60"))
        pid = await read_pid(folder / "pid")
        message = tmp_path / "sessions" / "command" / session / HELLO.id
        (message / "pid").unlink()
        assert supervised.supervisor_of(message) is not None
        await CommandBackend(sessions_dir=tmp_path / "sessions").abort(session)
        assert not lives(pid)

    async def test_a_session_whose_process_is_gone_is_lost(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        session = await begin(backend, shell(folder, "sleep 60"))
        pid = await read_pid(tmp_path / "sessions" / "command" / session / HELLO.id / "pid")
        os.killpg(pid, signal.SIGKILL)
        with pytest.raises(SessionLost, match="its process is gone and left no exit code"):
            await CommandBackend(sessions_dir=tmp_path / "sessions").wait(session, HELLO.id)

    async def test_a_pid_that_belongs_to_another_program_now_is_not_ours(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        session = await backend.open(request(folder, "cat"))
        message = tmp_path / "sessions" / "command" / session / HELLO.id
        message.mkdir()
        (message / "pid").write_text(f"{os.getpid()}\n")
        with pytest.raises(SessionLost):
            await backend.wait(session, HELLO.id)
        await backend.abort(session)  # and we are still here

    async def test_a_message_that_was_never_sent_has_no_reply(
        self, backend: CommandBackend, folder: Path
    ) -> None:
        session = await backend.open(request(folder, "cat"))
        with pytest.raises(SessionLost):
            await backend.wait(session, "never-sent")

    async def test_close_removes_the_folder_and_what_still_runs(
        self, backend: CommandBackend, folder: Path, tmp_path: Path
    ) -> None:
        session = await begin(backend, shell(folder, "setsid sh -c 'echo $$ > pid; sleep 60' & echo done"))
        left_running = await read_pid(folder / "pid")
        assert (await backend.wait(session, HELLO.id)).text == "done\n"
        await backend.close(session)
        await backend.close(session)
        assert not (tmp_path / "sessions" / "command" / session).exists()
        assert not lives(left_running)

    async def test_no_zombie_is_left(self, backend: CommandBackend, folder: Path, tmp_path: Path) -> None:
        for message in (HELLO, Message(id="m2", text="Again.")):
            await ask(backend, request(folder, "cat"), message)
        session = tmp_path / "sessions" / "command" / "key1"
        pids = [int((session / name / "pid").read_text()) for name in ("m1", "m2")]
        await backend.close("key1")
        assert [pid for pid in pids if psutil.pid_exists(pid)] == []


class TestInAPipeline:
    """The same, through the engine."""

    @staticmethod
    def configure(tmp_path: Path, script: str) -> None:
        config = tmp_path / "config"
        config.mkdir()
        options = {"command": ["/bin/sh", "-c", script]}
        profile = {"backend": "command", "options": options}
        (config / "agents.yaml").write_text(json.dumps({"agents": {"developer": profile}}))

    async def run(self, tmp_path: Path, script: str, **settings: Any) -> Any:
        self.configure(tmp_path, script)
        async with build_test_segue(tmp_path, ScriptedBackend(), **settings) as segue:
            steps = (TemplateStep(agent="developer"),)
            submitted = await segue.pipelines.submit(PipelineRequest(prompt="Fix it.", custom_steps=steps))
            async with asyncio.timeout(120):
                return await follow_to_end(segue, submitted.id)

    async def test_the_program_gets_its_orders_and_task_and_its_words_are_handed_on(
        self, tmp_path: Path, project: Path
    ) -> None:
        ended = await self.run(tmp_path, 'cat > got; printf "## What Was Done\n- Fixed it.\n"')
        assert ended.status is PipelineStatus.DONE
        assert "Fix it." in (project / "got").read_text()
        assert ended.steps[0].latest_handoff.metadata is not None

    async def test_exit_3_fails_the_pipeline_with_one_sentence(self, tmp_path: Path, project: Path) -> None:
        ended = await self.run(tmp_path, "echo 'out of tokens' >&2; exit 3")
        assert ended.status is PipelineStatus.FAILED
        assert ended.reason == "step 1 (developer) failed: its command exited with 3: out of tokens"

    async def test_a_step_over_its_time_is_aborted_and_its_process_is_gone(
        self, tmp_path: Path, project: Path
    ) -> None:
        ended = await self.run(tmp_path, "echo $$ > pid; sleep 60", step_timeout=2)
        assert ended.status is PipelineStatus.FAILED
        assert ended.reason is not None
        assert ended.reason.startswith("step 1 (developer) failed: it timed out after 2 s")
        assert "\n" not in ended.reason
        assert not lives(int((project / "pid").read_text()))
        assert list((tmp_path / "data" / "sessions").glob("*/command/*")) == []

    async def test_a_pipeline_goes_on_in_the_same_process_after_segue_stopped(
        self, tmp_path: Path, project: Path
    ) -> None:
        self.configure(tmp_path, "echo x >> runs; until test -e go; do sleep 0.02; done; echo finished")
        async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
            steps = (TemplateStep(agent="developer"),)
            submitted = await segue.pipelines.submit(PipelineRequest(prompt="Fix it.", custom_steps=steps))
            async with asyncio.timeout(120):
                while not (project / "runs").exists():  # noqa: ASYNC110  # another process
                    await asyncio.sleep(0.02)
        [supervisor] = (tmp_path / "data" / "sessions").glob("*/command/*/*/pid")
        pid = await read_pid(supervisor)
        (project / "go").touch()
        async with build_test_segue(tmp_path, ScriptedBackend(), ask_writer=False) as segue:
            async with asyncio.timeout(120):
                ended = await follow_to_end(segue, submitted.id)
        assert ended.status is PipelineStatus.DONE
        assert (project / "runs").read_text() == "x\n"
        await asyncio.to_thread(os.waitpid, pid, 0)  # this process lives on, as no Segue does
