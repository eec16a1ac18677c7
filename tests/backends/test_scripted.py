"""The agent that replays a script: each of its actions, and each of its failures."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import Message, SessionRequest
from segue.application.views import PipelineDetail
from segue.domain.catalog import AgentProfile
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff

HELLO = Message(id="m1", text="Fix the button.")


def request(folder: Path, *, key: str = "key1", **options: Any) -> SessionRequest:
    return SessionRequest(
        key=key,
        agent_name="developer",
        profile=AgentProfile(options=options),
        model=None,
        working_dir=str(folder),
        title="",
    )


async def play(folder: Path, *actions: Any) -> str:
    """The words of an agent that does these things in a folder."""
    backend = ScriptedBackend({"developer": list(actions)})
    wanted = request(folder)
    session = await backend.open(wanted)
    await backend.send(wanted, session, HELLO)
    async with asyncio.timeout(120):
        return (await backend.wait(session, HELLO.id)).text


def lives(pid: int) -> bool:
    """True if this process runs."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_pid(path: Path) -> int:
    """The pid that a command writes into a file, once it has."""
    end = time.monotonic() + 120
    while not (path.is_file() and path.read_text().endswith("\n")):
        assert time.monotonic() < end
        time.sleep(0.01)
    return int(path.read_text())


class TestActions:
    async def test_it_says_its_words(self, tmp_path: Path) -> None:
        assert await play(tmp_path, {"say": "one"}, {"say": "two"}) == "one\ntwo"

    async def test_it_writes_appends_edits_and_deletes_files(self, tmp_path: Path) -> None:
        (tmp_path / "old").touch()
        await play(
            tmp_path,
            {"write": {"path": "deep/a.txt", "text": "größer\n"}},
            {"append": {"path": "deep/a.txt", "text": "more more\n"}},
            {"edit": {"path": "deep/a.txt", "find": "more", "replace": "less"}},
            {"delete": "old"},
            {"delete": "never-was"},
        )
        assert (tmp_path / "deep/a.txt").read_text(encoding="utf-8") == "größer\nless more\n"
        assert not (tmp_path / "old").exists()

    async def test_an_edit_that_an_earlier_attempt_made_is_no_failure(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x = 2\n")
        await play(tmp_path, {"edit": {"path": "a", "find": "x = 1", "replace": "x = 2"}})
        assert (tmp_path / "a").read_text() == "x = 2\n"

    @pytest.mark.parametrize("replace", ["new", ""])
    async def test_an_edit_of_what_is_not_there_is_a_failure(self, tmp_path: Path, replace: str) -> None:
        (tmp_path / "a").write_text("something else")
        for path in ("a", "missing"):
            with pytest.raises(AgentFailed, match=f"could not edit {path}: the text to replace is not there"):
                await play(tmp_path, {"edit": {"path": path, "find": "old", "replace": replace}})
        assert not (tmp_path / "missing").exists()

    async def test_it_runs_a_command_and_tells_its_output_and_exit_code(self, tmp_path: Path) -> None:
        words = await play(
            tmp_path,
            {"run": ["sh", "-c", "pwd; echo oops >&2; exit 3"]},
            {"say": "It said {output} and ended with {exit_code}."},
        )
        assert words == f"It said {tmp_path}\noops and ended with 3."

    async def test_a_command_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(AgentFailed, match="it could not run no-such-program: No such file"):
            await play(tmp_path, {"run": ["no-such-program"]})

    async def test_it_waits(self, tmp_path: Path) -> None:
        backend = ScriptedBackend({"developer": [{"delay": 0.2}, {"say": "late"}]})
        session = await backend.open(request(tmp_path))
        await backend.send(request(tmp_path), session, HELLO)
        waiting = asyncio.create_task(backend.wait(session, HELLO.id))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        assert (await waiting).text == "late"

    async def test_it_fails(self, tmp_path: Path) -> None:
        with pytest.raises(AgentFailed, match=r"^the model is overloaded$"):
            await play(tmp_path, {"say": "so far"}, {"fail": "the model is overloaded"})

    async def test_it_crashes(self, tmp_path: Path) -> None:
        with pytest.raises(SessionLost, match="its session crashed"):
            await play(tmp_path, {"crash": 1})

    @pytest.mark.parametrize("path", ["../x", "/etc/hostname", "a/../../x", "link/x"])
    @pytest.mark.parametrize("action", ["write", "append", "edit", "delete"])
    async def test_a_path_outside_the_working_directory_is_refused(
        self, tmp_path: Path, action: str, path: str
    ) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "link").symlink_to(tmp_path)
        (tmp_path / "x").write_text("safe")
        given: Any = {"path": path, "text": "t"}
        if action == "edit":
            given = {"path": path, "find": "safe", "replace": "t"}
        if action == "delete":
            given = path
        refused = f"it wanted to touch {re.escape(path)}, which is outside the working directory"
        with pytest.raises(AgentFailed, match=refused):
            await play(folder, {action: given})
        assert (tmp_path / "x").read_text() == "safe"

    @pytest.mark.parametrize(
        "action",
        [
            {"write": {"path": "folder", "text": "t"}},
            {"append": {"path": "missing/a", "text": "t"}},
            {"delete": "folder"},
            {"edit": {"path": "binary", "find": "a", "replace": "b"}},
        ],
    )
    async def test_a_file_action_that_cannot_be_done_is_a_failure(
        self, tmp_path: Path, action: dict[str, Any]
    ) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "binary").write_bytes(b"\xff\xfe")
        with pytest.raises(AgentFailed, match="it could not do its file action"):
            await play(tmp_path, action)

    async def test_an_abort_ends_a_running_command_with_its_children(self, tmp_path: Path) -> None:
        backend = ScriptedBackend({"developer": [{"run": ["sh", "-c", "sleep 60 & echo $! > pid; wait"]}]})
        session = await backend.open(request(tmp_path))
        await backend.send(request(tmp_path), session, HELLO)
        async with asyncio.timeout(120):
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.02)
        pid = int((tmp_path / "pid").read_text())
        await backend.abort(session)
        with pytest.raises(AgentFailed, match="aborted"):
            await backend.wait(session, HELLO.id)
        async with asyncio.timeout(120):
            while lives(pid):  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.02)

    async def test_an_abort_ends_a_command_that_is_starting_with_its_children(self, tmp_path: Path) -> None:
        backend = ScriptedBackend({"developer": [{"run": ["sh", "-c", "sleep 600 & echo $! > pid; wait"]}]})
        session = await backend.open(request(tmp_path))
        before = {*psutil.Process().children()}
        await backend.send(request(tmp_path), session, HELLO)
        while {*psutil.Process().children()} == before:  # noqa: ASYNC110  # each turn of the loop counts
            await asyncio.sleep(0)
        pid = wait_for_pid(tmp_path / "pid")  # without a turn of the loop: asyncio is not done with the start
        async with asyncio.timeout(120):
            await backend.abort(session)
            while lives(pid):  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.02)

    async def test_the_same_message_twice_is_played_once(self, tmp_path: Path) -> None:
        backend = ScriptedBackend({"developer": [{"say": "x"}]})
        session = await backend.open(request(tmp_path))
        for _ in range(2):
            await backend.send(request(tmp_path), session, HELLO)
        await backend.wait(session, HELLO.id)
        assert backend.received["developer"] == [HELLO.text]
        await backend.close(session)
        with pytest.raises(SessionLost):
            await backend.wait(session, HELLO.id)


class TestScripts:
    @pytest.mark.parametrize(
        ("action", "said"),
        [
            ({"sya": "x"}, r'wrong at actions\.0\.sya: unknown key\. .*Did you mean "say"'),
            ({"say": "x", "fail": "y"}, "exactly one of these keys: say, write"),
            ({}, "exactly one of these keys"),
            ({"say": None}, "exactly one of these keys"),
            ({"run": []}, r"wrong at actions\.0\.run"),
            ({"run": "ls"}, r"wrong at actions\.0\.run"),
            ({"delay": -1}, r"wrong at actions\.0\.delay"),
            ({"write": {"path": "a"}}, r"wrong at actions\.0\.write\.text"),
            ("say", r"wrong at actions\.0"),
        ],
    )
    def test_what_is_wrong_in_a_script_is_named(self, action: Any, said: str) -> None:
        with pytest.raises(
            BackendUnavailable, match=f'the script of agent "developer" is .*{said}'
        ) as caught:
            ScriptedBackend({"developer": [action]})
        assert "\n" not in str(caught.value)

    async def begin(self, folder: Path, **options: Any) -> str:
        backend = ScriptedBackend()
        wanted = request(folder, **options)
        session = await backend.open(wanted)
        await backend.send(wanted, session, HELLO)
        return (await backend.wait(session, HELLO.id)).text

    async def test_a_script_can_be_a_file_of_the_working_directory(self, tmp_path: Path) -> None:
        (tmp_path / "play.yaml").write_text("developer:\n  - say: from a file\n")
        assert await self.begin(tmp_path, script="play.yaml") == "from a file"

    async def test_actions_in_the_options_go_over_the_file(self, tmp_path: Path) -> None:
        assert await self.begin(tmp_path, script="none", actions=[{"say": "mine"}]) == "mine"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("developer: [", "is no YAML: "),
            ("a: 2026-99-99", "is no YAML: "),
            ("other:\n  - say: x\n", 'has no list of actions under "developer"'),
            ("developer: say\n", 'has no list of actions under "developer"'),
            ("- x\n", 'has no list of actions under "developer"'),
            ("", 'has no list of actions under "developer"'),
            ("developer:\n  - sya: x\n", "unknown key"),
        ],
    )
    async def test_a_broken_script_file_is_one_sentence(self, tmp_path: Path, text: str, said: str) -> None:
        (tmp_path / "play.yaml").write_text(text)
        with pytest.raises(BackendUnavailable, match=re.escape(said)) as caught:
            await self.begin(tmp_path, script="play.yaml")
        assert "\n" not in str(caught.value)

    async def test_a_missing_script_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BackendUnavailable, match=r"cannot read the script .*/gone\.yaml: No such file"):
            await self.begin(tmp_path, script="gone.yaml")

    async def test_an_agent_without_a_script_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BackendUnavailable, match='agent "developer" has no script: give "actions"'):
            await self.begin(tmp_path)


class TestInAPipeline:
    async def run(self, tmp_path: Path, backend: ScriptedBackend) -> PipelineDetail:
        async with build_test_segue(tmp_path, backend) as segue:
            steps = (TemplateStep(agent="developer", description="Fix it."),)
            submitted = await segue.pipelines.submit(
                PipelineRequest(prompt="It is broken.", custom_steps=steps)
            )
            async with asyncio.timeout(120):
                return await follow_to_end(segue, submitted.id)

    async def test_after_a_crash_a_new_attempt_gets_the_same_briefing_and_a_note(
        self, tmp_path: Path, project: Path
    ) -> None:
        backend = ScriptedBackend({"developer": [{"crash": 1}, say_handoff("Fixed it.")]})
        ended = await self.run(tmp_path, backend)
        assert ended.status is PipelineStatus.DONE
        assert ended.steps[0].attempt_count == 2
        first, second = backend.received["developer"]
        assert second.startswith(first)
        note = second.removeprefix(first)
        assert "An earlier attempt was cut off" in note
        assert "Attempt 1 at this step ended before it could hand off: its session crashed." in note

    async def test_a_session_that_always_crashes_fails_the_step_in_the_end(
        self, tmp_path: Path, project: Path
    ) -> None:
        ended = await self.run(tmp_path, ScriptedBackend({"developer": [{"crash": 99}]}))
        assert ended.status is PipelineStatus.FAILED
        assert ended.steps[0].attempt_count == 3
        assert ended.reason == (
            "step 1 (developer) failed: its session was lost 3 times in a row: its session crashed"
        )

    async def test_a_failure_is_the_reason_of_the_pipeline(self, tmp_path: Path, project: Path) -> None:
        ended = await self.run(tmp_path, ScriptedBackend({"developer": [{"fail": "out of tokens"}]}))
        assert ended.status is PipelineStatus.FAILED
        assert ended.reason == "step 1 (developer) failed: out of tokens"

    async def test_a_missing_script_fails_the_pipeline_with_one_sentence(
        self, tmp_path: Path, project: Path
    ) -> None:
        ended = await self.run(tmp_path, ScriptedBackend())
        assert ended.status is PipelineStatus.FAILED
        assert 'agent "developer" has no script' in (ended.reason or "")


@pytest.mark.parametrize(("made_by_a_test", "kept"), [(True, 1), (False, 0)])
async def test_only_one_that_a_test_made_keeps_what_was_said(
    tmp_path: Path, made_by_a_test: bool, kept: int
) -> None:
    backend = ScriptedBackend(sessions_dir=None if made_by_a_test else tmp_path)
    wanted = request(tmp_path, actions=[{"say": "Done."}])
    session = await backend.open(wanted)
    await backend.send(wanted, session, HELLO)
    await backend.wait(session, HELLO.id)
    await backend.abort(session)
    await backend.close(session)
    assert [len(each) for each in (backend.received, backend.aborted, backend.closed)] == [kept] * 3
