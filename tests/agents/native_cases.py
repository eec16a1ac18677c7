"""What every agent that is driven by its own stream must do: the cases for Claude Code and Codex alike."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from segue.adapters.backends import supervised
from segue.adapters.backends.streamed import StreamedBackend
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import (
    Message,
    Reply,
    Retrying,
    Said,
    SessionEvent,
    SessionRequest,
    ToolServer,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost
from segue.domain.permissions import DEFAULT_RULES, SESSION_VARIABLE, PermissionRule, Ruling, Tool
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import (
    Playable,
    ScriptedModel,
    build_test_segue,
    call,
    cut,
    empty,
    error,
    follow_to_end,
    overflow,
    say,
    shell,
    turn,
    usage,
    write,
)
from tests.agents.rig import Rig

E = TypeVar("E")
SERVER = Path(__file__).with_name("tool_server.py")
SCRIPT: dict[str, list[Playable]] = {
    "edit": [
        turn(say("I will write it."), write("hello.txt", "hello\n"), usage=usage(1000, 20, 300, 40)),
        turn(say("Wrote hello.txt."), usage=usage(1500, 10, 400, 50)),
    ],
    "again": [turn(say("Once more."), usage=usage(2000, 5))],
    "commands": [shell("echo bad; exit 3"), shell("echo good"), say("Ran them.")],
    "push": [shell("git push origin main"), say("Tried to push.")],
    "slow": [turn(say("word " * 600), chunk_delay=0.1, chunk=10)],
    "sleep": [turn(say("Now I sleep."), shell("sleep 4; echo slept")), say("Slept.")],
    "hand": [shell("sleep 4; echo x >> runs"), say("outcome: completed\nwhat_was_done: [Fixed it]\n")],
    "tool": [call("submit_handoff", {"summary": "all is done"}), say("Handed off.")],
    "silent": [empty()],
    "flaky": [turn(error(500), times=1, then=say("Recovered."))],
    "broken": [turn(cut("half of it"), times=1, then=say("Recovered."))],
    "e401": [error(401)],
    "e429": [error(429, retry_after=1)],
    "e500": [error(500)],
    "e404": [error(404)],
    "overflow": [overflow()],
    "cut": [cut("half of it")],
}


class NativeCases:
    """Subclassed for each agent."""

    title: str
    hello: Tool
    """The kind of tool with which this agent writes a file for the scripted model."""

    spent: tuple[int, int, int]
    """What two messages of the script are counted as: read anew, read from the cache, written to it."""
    flaky: str
    """The scenario of an error that this agent tells before it tries again."""

    @abstractmethod
    def make_rig(self, home: Path, url: str) -> Rig:
        """The agent."""

    @abstractmethod
    def make_backend(self, sessions: Path) -> StreamedBackend:
        """Its back end."""

    @pytest.fixture
    def model(self) -> Iterator[ScriptedModel]:
        with ScriptedModel(SCRIPT) as running:
            yield running

    @pytest.fixture
    def rig(self, tmp_path: Path, model: ScriptedModel) -> Rig:
        return self.make_rig(tmp_path / "agent-home", model.url)

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Path:
        made = tmp_path / "work dir"
        made.mkdir()
        return made

    @pytest.fixture
    async def backend(self, tmp_path: Path) -> AsyncIterator[StreamedBackend]:
        made = self.make_backend(tmp_path / "sessions")
        yield made
        for session in await made.leftovers():
            await made.close(session)

    async def test_it_edits_a_file_and_tells_what_it_does(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        reply, events = await run(backend, rig.request(str(workspace)), "[[edit]] größer")
        assert reply.text == "Wrote hello.txt."
        assert (workspace / "hello.txt").read_text() == "hello\n"
        assert "".join(e.text for e in of(events, Said)) == "I will write it.\n\nWrote hello.txt."
        began, ended = of(events, ToolUsed)
        assert (began.tool, began.state) == (self.hello, ToolState.STARTED)
        assert (ended.call_id, ended.state) == (began.call_id, ToolState.DONE)
        assert "hello.txt" in began.target

    async def test_a_session_goes_on_with_a_second_message(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        await run(backend, request, "[[edit]]")
        reply, events = await run(backend, request, "[[again]]", number="m2")
        assert reply.text == "Once more."
        assert "Wrote hello.txt." in str(model.turns[-1].body)
        found = await backend.usage(request.key)
        assert found is not None
        assert (found.input_tokens, found.cache_read_tokens, found.cache_write_tokens) == self.spent
        assert (found.output_tokens, found.context_tokens) == (35, 2000)
        assert of(events, UsageReported)[-1].usage == found

    async def test_it_reports_usage_while_it_works(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        _, events = await run(backend, rig.request(str(workspace)), "[[edit]]")
        reported = [event.usage for event in of(events, UsageReported)]
        assert reported[-1].context_tokens == 1950
        assert reported[-1].context_window
        assert reported[-1].context_share is not None

    async def test_a_message_is_delivered_once(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        session = await backend.open(request)
        assert await backend.open(request) == session
        for _ in range(2):
            await backend.send(request, session, Message(id="m1", text="[[again]]"))
        await backend.wait(session, "m1")
        await backend.send(request, session, Message(id="m1", text="[[again]]"))
        assert (await backend.wait(session, "m1")).text == "Once more."
        assert len([r for r in model.requests if r.scenario == "again"]) == 1

    async def test_commands_are_told_with_their_exit_codes(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        _, events = await run(backend, rig.request(str(workspace)), "[[commands]]")
        ended = [e for e in of(events, ToolUsed) if e.state is not ToolState.STARTED]
        assert [(e.tool, e.target, e.state, e.exit_code) for e in ended] == [
            (Tool.SHELL, "echo bad; exit 3", ToolState.FAILED, 3),
            (Tool.SHELL, "echo good", ToolState.DONE, 0),
        ]
        assert ended[1].output.strip() == "good"

    async def test_an_abort_in_mid_stream_ends_every_process(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[slow]]"))
        record = await model.wait_for_async(lambda r: r.scenario == "slow", 120)
        waiting = asyncio.create_task(backend.wait(session, "m1"))
        await backend.abort(session)
        with pytest.raises(AgentFailed, match="aborted"):
            await waiting
        assert marked(backend, session) == []
        await model.wait_for_async(lambda r: r is record and r.client_closed, 120)
        await backend.abort(session)
        await backend.close(session)
        assert await backend.leftovers() == []

    async def test_a_killed_process_is_a_failure(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[slow]]"))
        await model.wait_for_async(lambda r: r.scenario == "slow", 120)
        shell_ = supervised.supervisor_of(backend.sessions_dir / rig.backend / session / "m1")
        assert shell_ is not None
        for process in shell_.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        with pytest.raises(AgentFailed, match=f"{self.title} was killed by signal SIGKILL"):
            await backend.wait(session, "m1")

    async def test_another_segue_joins_a_turn_that_runs(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[sleep]]"))
        await model.wait_for_async(lambda r: r.scenario == "sleep", 120)
        await backend.shutdown()
        second = self.make_backend(backend.sessions_dir)
        assert session in await second.leftovers()
        await second.resume(request, session)
        await second.send(request, session, Message(id="m1", text="[[sleep]]"))
        events, reply = await asyncio.gather(collect(second, session, "m1"), second.wait(session, "m1"))
        assert reply.text == "Slept."
        assert of(events, Said)[0].text == "Now I sleep."
        assert len([r for r in model.requests if r.scenario == "sleep"]) == 2
        reply, _ = await run(second, request, "[[again]]", number="m2")
        assert reply.text == "Once more."

    async def test_a_whole_session_that_vanished_is_lost_to_another_segue(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[slow]]"))
        await model.wait_for_async(lambda r: r.scenario == "slow", 120)
        for process in marked(backend, session):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        with pytest.raises(SessionLost, match="left no exit code"):
            await self.make_backend(backend.sessions_dir).wait(session, "m1")
        with pytest.raises(AgentFailed, match="killed before it could reply"):
            await backend.wait(session, "m1")

    async def test_a_second_message_waits_for_no_first_one(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        request = rig.request(str(workspace))
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[slow]]"))
        with pytest.raises(BackendUnavailable, match="still at work"):
            await backend.send(request, session, Message(id="m2", text="[[again]]"))

    async def test_it_is_given_segues_own_tools_however_slow_they_start(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, tmp_path: Path
    ) -> None:
        called = tmp_path / "called.json"
        tools = ToolServer(
            name="segue",
            command=("/bin/sh", "-c", 'sleep 3; exec "$0" "$@"', sys.executable, str(SERVER), str(called)),
            environment={"TOOL_TOKEN": "s3cret-token"},
        )
        rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.MCP, action=Ruling.DENY))
        request = rig.request(str(workspace), tools=tools, permissions=rules)
        seen: list[str] = []
        watching = asyncio.create_task(watch_arguments(backend, request.key, seen))
        reply, events = await run(backend, request, "[[tool]]")
        watching.cancel()
        assert reply.text == "Handed off."
        assert '"summary": "all is done"' in called.read_text()
        assert '"token": "s3cret-token"' in called.read_text()
        used = [e for e in of(events, ToolUsed) if e.tool is Tool.MCP]
        assert used[-1].state is ToolState.DONE
        assert used[-1].name == "mcp__segue__submit_handoff"
        assert used[-1].output == "accepted"
        assert seen
        assert not any("s3cret-token" in line for line in seen)

    async def test_a_model_that_recovers_is_told_of(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        reply, events = await run(backend, rig.request(str(workspace)), f"[[{self.flaky}]]")
        assert reply.text == "Recovered."
        assert of(events, Retrying)

    async def test_a_pipeline_goes_on_with_it_after_segue_was_restarted(
        self, rig: Rig, project: Path, tmp_path: Path, model: ScriptedModel
    ) -> None:
        options = {rig.backend: dict(rig.options)}
        settings: dict[str, Any] = {"backend": rig.backend, "backend_options": options}
        folder, steps = tmp_path / "segue", (TemplateStep(agent="developer", model=rig.model),)
        made = self.make_backend(folder / "sessions")
        async with build_test_segue(folder, made, **settings) as segue:
            prompt = PipelineRequest(prompt="[[hand]] Fix it.", custom_steps=steps)
            submitted = await segue.pipelines.submit(prompt)
            await model.wait_for_async(lambda r: r.scenario == "hand", 120)
        made = self.make_backend(folder / "sessions")
        async with build_test_segue(folder, made, **settings) as segue, asyncio.timeout(120):
            ended = await follow_to_end(segue, submitted.id)
        assert ended.status is PipelineStatus.DONE, ended.reason
        handoff = ended.steps[0].latest_handoff
        assert handoff is not None
        assert handoff.metadata is not None
        assert (project / "runs").read_text() == "x\n"

    async def fails(self, backend: StreamedBackend, request: SessionRequest, scenario: str) -> BackendError:
        """What a scenario ends with."""
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text=f"[[{scenario}]]"))
        with pytest.raises(BackendError) as caught:
            await asyncio.wait_for(backend.wait(session, "m1"), 120)
        sentence = str(caught.value)
        assert "\n" not in sentence
        assert "Traceback" not in sentence
        return caught.value

    @pytest.mark.parametrize(
        ("scenario", "sentence"),
        [
            ("e429", "the provider of its model takes no more requests for now ("),
            ("e500", "the provider of its model had an error ("),
            ("e404", 'its model "scripted" does not exist or may not be used ('),
            ("overflow", "the context of its model is full ("),
            ("silent", "it ended well, but its last message has no text"),
        ],
    )
    async def test_an_error_of_the_model_is_one_sentence(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, scenario: str, sentence: str
    ) -> None:
        failed = await self.fails(backend, rig.request(str(workspace)), scenario)
        assert isinstance(failed, AgentFailed)
        assert str(failed).startswith(sentence)

    async def test_a_wrong_key_is_told_with_the_remedy(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        failed = await self.fails(backend, rig.request(str(workspace)), "e401")
        assert isinstance(failed, BackendUnavailable)
        assert str(failed).startswith("it is not logged in, or its key is wrong (")

    async def test_a_cut_connection_is_told(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        failed = await self.fails(backend, rig.request(str(workspace)), "cut")
        assert str(failed).startswith("the connection to its model was cut ("), failed

    async def test_a_provider_that_is_down_is_told(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        model.stop()
        failed = await self.fails(backend, rig.request(str(workspace)), "again")
        assert str(failed).startswith("the provider of its model cannot be reached")

    async def test_a_session_goes_on_after_an_error(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        request = rig.request(str(workspace))
        await self.fails(backend, request, "e404")
        reply, _ = await run(backend, request, "[[again]]", number="m2")
        assert reply.text == "Once more."

    async def test_a_missing_program_is_told_with_the_remedy(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, tmp_path: Path
    ) -> None:
        options = {**rig.options, "program": str(tmp_path / "nowhere")}
        with pytest.raises(BackendUnavailable, match="npm install -g"):
            await backend.open(rig.request(str(workspace), profile=rig.profile(options=options)))
        probe = await backend.probe(options)
        assert not probe.works
        assert "npm install -g" in probe.said


def of(events: list[SessionEvent], kind: type[E]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


async def collect(backend: StreamedBackend, session: str, number: str) -> list[SessionEvent]:
    """All events of a message."""
    return [event async for event in backend.events(session, number)]


async def run(
    backend: StreamedBackend, request: SessionRequest, text: str, *, number: str = "m1"
) -> tuple[Reply, list[SessionEvent]]:
    """One message from its beginning to its end."""
    session = await backend.open(request)
    await backend.send(request, session, Message(id=number, text=text))
    async with asyncio.timeout(120):
        events, reply = await asyncio.gather(collect(backend, session, number), backend.wait(session, number))
    return reply, events


def marked(backend: StreamedBackend, session: str) -> list[psutil.Process]:
    """The processes that a session started and that live."""
    mark, found = str(backend.sessions_dir / backend.name / session), []
    for process in psutil.process_iter():
        try:
            own = process.environ().get(SESSION_VARIABLE) == mark
            if own and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


async def watch_arguments(backend: StreamedBackend, session: str, seen: list[str]) -> None:
    """Write down what everybody can see of a session's processes."""
    while True:
        for process in await asyncio.to_thread(marked, backend, session):
            try:
                seen.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        await asyncio.sleep(0.05)


def options(rig: Rig, **changes: Any) -> dict[str, Any]:
    """The options of a rig, with changes to its environment among them."""
    environment = {**rig.options["set_env"], **changes.pop("set_env", {})}
    return {**rig.options, "set_env": environment, **changes}
