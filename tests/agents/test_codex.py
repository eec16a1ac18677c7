"""Codex itself, against the scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from segue.adapters.backends.codex import CodexBackend
from segue.adapters.backends.streamed import StreamedBackend
from segue.application.ports.backend import ToolState, ToolUsed
from segue.domain.errors import BackendUnavailable
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool, rules_for
from segue.testing import ScriptedModel
from tests.agents import rig_codex
from tests.agents.native_cases import NativeCases, of, options, run
from tests.agents.rig import Rig

pytestmark = pytest.mark.thorough


class TestCodex(NativeCases):
    """The common cases, and what is Codex's own."""

    title = "Codex"
    hello = Tool.SHELL
    flaky = "broken"
    spent = (4500, 700, 90)

    def make_rig(self, home: Path, url: str) -> Rig:
        return rig_codex.make(home, url)

    def make_backend(self, sessions: Path) -> StreamedBackend:
        return CodexBackend(sessions_dir=sessions)

    async def test_rules_against_editing_make_the_sandbox_read_only(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        asking = PermissionRule(tool=Tool.EDIT, action=Ruling.ASK)
        rules = rules_for([asking], str(workspace), "/data/credential")
        structlog.reset_defaults()  # a command that ran in this process may have asked for errors alone
        with capture_logs() as logs:
            await run(backend, rig.request(str(workspace), permissions=rules), "[[edit]]")
        assert not (workspace / "hello.txt").exists()
        assert [line["rule"] for line in logs if line["event"] == "ask_is_deny"] == ["edit *"]

    async def test_the_sandbox_keeps_writing_inside_the_workspace(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        await run(backend, rig.request(str(workspace)), "[[edit]]")
        assert (workspace / "hello.txt").exists()

    async def test_rules_about_commands_are_told_to_it(
        self, backend: StreamedBackend, rig: Rig, workspace: Path, model: ScriptedModel
    ) -> None:
        given = rig.profile(options=options(rig, append_system_prompt="Speak like a sailor."))
        await run(backend, rig.request(str(workspace), profile=given), "[[again]]")
        assert "Speak like a sailor." in str(model.turns[-1].body)
        assert "`*git push*`" in str(model.turns[-1].body)

    async def test_an_option_opens_the_sandbox(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        given = rig.profile(options=options(rig, sandbox="danger-full-access"))
        rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.EDIT, action=Ruling.DENY))
        request = rig.request(str(workspace), profile=given, permissions=rules)
        _, events = await run(backend, request, "[[edit]]")
        assert (workspace / "hello.txt").exists()
        assert of(events, ToolUsed)[-1].state is ToolState.DONE

    async def test_without_its_key_it_says_so(
        self, backend: StreamedBackend, rig: Rig, workspace: Path
    ) -> None:
        without = options(rig, set_env={"SCRIPTED_KEY": ""})
        with pytest.raises(BackendUnavailable, match=r"SCRIPTED_KEY.*codex login"):
            await run(backend, rig.request(str(workspace), profile=rig.profile(options=without)), "[[again]]")

    async def test_a_probe_tells_what_is_there(
        self, backend: StreamedBackend, rig: Rig, tmp_path: Path
    ) -> None:
        ready = await backend.probe(rig.options)
        assert ready.works
        assert ready.version is not None
        assert ready.version.startswith("codex-cli")
        bare = tmp_path / "bare"
        bare.mkdir()
        nobody = await backend.probe(options(rig, set_env={"CODEX_HOME": str(bare)}))
        assert not nobody.works
        assert "codex login" in nobody.said
