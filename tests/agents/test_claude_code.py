"""Claude Code itself, against the scripted model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from segue.adapters.backends.claude_code import ClaudeCodeBackend
from segue.adapters.backends.streamed import StreamedBackend
from segue.application.ports.backend import (
    Message,
    PermissionAsked,
    PermissionSettled,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.errors import AgentFailed, BackendUnavailable
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool, rules_for
from segue.testing import Playable, ScriptedModel, read, say, shell
from tests.agents import rig_claude_code
from tests.agents.native_cases import NativeCases, of, options, run
from tests.agents.rig import Rig

pytestmark = pytest.mark.thorough

ASK = (*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, pattern="*", action=Ruling.ASK))


class TestClaudeCode(NativeCases):
    """The common cases, and what is Claude Code's own."""

    title = "Claude Code"
    hello = Tool.EDIT
    flaky = "flaky"
    spent = (4500, 700, 90)

    def make_rig(self, home: Path, url: str) -> Rig:
        return rig_claude_code.make(home, url)

    def make_backend(self, sessions: Path) -> StreamedBackend:
        return ClaudeCodeBackend(sessions_dir=sessions)

    async def test_it_tells_what_it_cost(self, backend: StreamedBackend, rig: Rig, workspace: Path) -> None:
        request = rig.request(str(workspace))
        _, events = await run(backend, request, "[[edit]]")
        reported = [event.usage for event in of(events, UsageReported)]
        assert (reported[0].context_tokens, reported[0].cost) == (1340, None)
        first = reported[-1]
        assert first.cost
        await run(backend, request, "[[again]]", number="m2")
        both = await backend.usage(request.key)
        assert both is not None
        assert both.cost is not None
        assert both.cost > first.cost

    async def test_the_rules_refuse_a_push(self, backend: StreamedBackend, rig: Rig, workspace: Path) -> None:
        reply, events = await run(backend, rig.request(str(workspace)), "[[push]]")
        assert reply.text == "Tried to push."
        assert [(e.access.targets, e.allowed) for e in of(events, PermissionSettled)] == [
            (("git push origin main",), False)
        ]
        ended = of(events, ToolUsed)[-1]
        assert ended.state is ToolState.FAILED
        assert "refused by the rules" in ended.output

    async def test_the_rules_keep_it_from_the_credential(
        self, backend: StreamedBackend, workspace: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "own data"
        folder.mkdir()
        for name in ("credential", "other"):
            (folder / name).write_text(f"word of {name}\n")
        rules = rules_for((), str(workspace), str(folder / "credential"))
        script: list[Playable] = [
            read(str(folder / "other")),
            read(str(folder / "credential")),
            shell(f"cat '{folder}/credential'"),
            say("Looked."),
        ]
        with ScriptedModel({"peek": script}) as model:
            rig = self.make_rig(tmp_path / "agent-home", model.url)
            _, events = await run(backend, rig.request(str(workspace), permissions=rules), "[[peek]]")
            heard = json.dumps([request.body for request in model.requests])
        ended = [event.state for event in of(events, ToolUsed) if event.state is not ToolState.STARTED]
        assert ended == [ToolState.DONE, ToolState.FAILED, ToolState.FAILED]
        assert "word of other" in heard
        assert "word of credential" not in heard

    async def test_settings_in_the_workspace_do_not_undo_the_rules(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        (workspace / ".claude").mkdir()
        lax = {"disableAllHooks": True, "permissions": {"allow": ["Bash"]}}
        (workspace / ".claude" / "settings.json").write_text(json.dumps(lax))
        _, events = await run(backend, rig.request(str(workspace)), "[[push]]")
        assert "refused by the rules" in of(events, ToolUsed)[-1].output

    async def test_a_kind_of_tool_that_is_denied_is_not_offered(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        denied = (PermissionRule(tool=tool, action=Ruling.DENY) for tool in (Tool.EDIT, Tool.SHELL))
        rules = (*DEFAULT_RULES, *denied)
        with pytest.raises(AgentFailed, match="offers no tool to write with"):
            await run(backend, rig.request(str(workspace), permissions=rules), "[[edit]]")
        assert not (workspace / "hello.txt").exists()

    @pytest.mark.parametrize("allow", [True, False])
    async def test_a_person_is_asked_and_answers_another_segue(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, allow: bool
    ) -> None:
        request = rig.request(str(workspace), permissions=ASK)
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[commands]]"))
        second = self.make_backend(backend.sessions_dir)
        asked: list[PermissionAsked] = []
        used: list[ToolUsed] = []

        async def answer() -> None:
            async for event in second.events(session, "m1"):
                if isinstance(event, PermissionAsked):
                    asked.append(event)
                    await second.answer(session, event.id, allow=allow, comment="as you like")
                    await second.answer(session, event.id, allow=not allow)
                elif isinstance(event, ToolUsed) and event.state is not ToolState.STARTED:
                    used.append(event)

        _, reply = await asyncio.wait_for(asyncio.gather(answer(), second.wait(session, "m1")), 120)
        assert reply.text == "Ran them."
        assert [event.access.targets for event in asked] == [("echo bad; exit 3",), ("echo good",)]
        assert asked[1].title == "Bash: echo good"
        assert used[1].state is (ToolState.DONE if allow else ToolState.FAILED)
        assert used[1].exit_code == (0 if allow else None)
        assert allow or "refused by a person: as you like" in used[1].output

    async def test_an_abort_ends_a_question(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        request = rig.request(str(workspace), permissions=ASK)
        session = await backend.open(request)
        await backend.send(request, session, Message(id="m1", text="[[commands]]"))
        async with asyncio.timeout(120):
            async for event in backend.events(session, "m1"):
                if isinstance(event, PermissionAsked):
                    await backend.abort(session)
        with pytest.raises(AgentFailed, match="aborted"):
            await backend.wait(session, "m1")

    async def test_too_many_turns_are_a_failure(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        profile = rig.profile(options=options(rig, max_turns=1))
        with pytest.raises(AgentFailed, match="max_turns"):
            await run(backend, rig.request(str(workspace), profile=profile), "[[commands]]")

    async def test_without_a_key_it_says_how_to_log_in(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        without = options(rig, set_env={"ANTHROPIC_API_KEY": ""})
        with pytest.raises(BackendUnavailable, match=r"not logged in.*ANTHROPIC_API_KEY"):
            await run(backend, rig.request(str(workspace), profile=rig.profile(options=without)), "[[again]]")
        probe = await backend.probe(without)
        assert not probe.works
        assert "not logged in" in probe.said
        ready = await backend.probe(rig.options)
        assert ready.works
        assert ready.version is not None
        assert "Claude Code" in ready.version

    async def test_a_system_prompt_and_arguments_reach_it(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        given = options(rig, append_system_prompt="Speak like a sailor.", arguments=["--effort", "low"])
        await run(backend, rig.request(str(workspace), profile=rig.profile(options=given)), "[[again]]")
        assert "Speak like a sailor." in str(model.turns[-1].body)
