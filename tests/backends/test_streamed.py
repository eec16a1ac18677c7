"""How Claude Code and Codex are started, asked and ended; needs neither program."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends import claude_hook
from segue.adapters.backends.claude_code import ClaudeCodeBackend, _settings
from segue.adapters.backends.codex import CodexBackend, CodexOptions, _sandbox, _told
from segue.adapters.backends.streams import Tail
from segue.application.ports.backend import Message, PermissionAsked, PermissionSettled, SessionRequest
from segue.domain.catalog import AgentProfile
from segue.domain.errors import AgentFailed, BackendUnavailable
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool, rules_for


@pytest.mark.parametrize(
    ("more", "is_free"),
    [([], True), ([PermissionRule(tool=Tool.READ, pattern="secrets/*", action=Ruling.DENY)], False)],
)
def test_reading_goes_past_the_hook_where_claude_code_keeps_from_single_files_itself(
    tmp_path: Path, more: list[PermissionRule], is_free: bool
) -> None:
    rules = rules_for(more, str(tmp_path), "/data/segue/credential")
    made = _settings(tmp_path, rules, None)
    (hook,) = made["hooks"]["PreToolUse"]
    assert made["permissions"]["deny"] == (["Read(//data/segue/credential)"] if is_free else [])
    assert ("Read" in made["permissions"]["allow"]) is is_free
    assert (hook["matcher"] == "*") is not is_free


def test_codex_is_told_what_it_must_not_read_and_run(tmp_path: Path) -> None:
    told = _told(rules_for((), str(tmp_path), "/data/segue/credential"))
    assert "`*git push*`" in told
    assert "Never read files that match these patterns: `/data/segue/credential`." in told
    assert _told(()) == ""


@pytest.mark.parametrize("credential", [None, "/data/segue/credential", "/w/data/credential"])
@pytest.mark.parametrize(
    ("own", "mode"),
    [
        ([], "workspace-write"),
        ([PermissionRule(action=Ruling.ALLOW)], "workspace-write"),
        ([PermissionRule(tool=Tool.EDIT, action=Ruling.DENY)], "read-only"),
        ([PermissionRule(tool=Tool.EDIT, action=Ruling.ASK)], "read-only"),
    ],
)
def test_keeping_the_credential_does_not_change_codex_s_sandbox(
    own: list[PermissionRule], mode: str, credential: str | None
) -> None:
    assert _sandbox(CodexOptions(), rules_for(own, "/w", credential))["sandbox_mode"] == mode


class TestHook:
    """What Claude Code runs before each tool call."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        rules = [*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, pattern="rm *", action=Ruling.ASK)]
        rules.append(PermissionRule(tool=Tool.MCP, action=Ruling.DENY))
        claude_hook.write_rules(tmp_path, rules, str(tmp_path), "segue")
        return tmp_path

    @pytest.mark.parametrize(
        ("name", "given", "allowed"),
        [
            ("Bash", {"command": "make"}, True),
            ("Bash", {"command": "cd x && git push"}, False),
            ("Write", {"file_path": "a.txt"}, True),
            ("Write", {"file_path": "/etc/a.txt"}, False),
            ("Write", {"file_path": "../a.txt"}, False),
            ("mcp__other__x", {}, False),
            ("mcp__segue__x", {}, True),
        ],
    )
    def test_the_rules_decide(self, folder: Path, name: str, given: dict[str, Any], allowed: bool) -> None:
        said = claude_hook.main(folder, {"tool_name": name, "tool_input": given, "tool_use_id": "t1"})
        decision = said["hookSpecificOutput"]["permissionDecision"]
        assert decision == ("allow" if allowed else "deny")
        (line,) = Tail(claude_hook.journal(folder)).read()
        event = claude_hook.told(line)
        assert isinstance(event, PermissionSettled)
        assert event.allowed is allowed

    def test_a_question_waits_for_its_answer(self, folder: Path) -> None:
        said: list[dict[str, Any]] = []
        call = {"tool_name": "Bash", "tool_input": {"command": "rm x"}, "tool_use_id": "t/1"}
        asking = threading.Thread(target=lambda: said.append(claude_hook.main(folder, call)))
        asking.start()
        tail, lines = Tail(claude_hook.journal(folder)), list[dict[str, Any]]()
        deadline = time.monotonic() + 120
        while not lines and time.monotonic() < deadline:
            lines = tail.read()
            time.sleep(0.01)
        event = claude_hook.told(lines[0])
        assert isinstance(event, PermissionAsked)
        assert event.title == "Bash: rm x"
        claude_hook.answer([folder], "nothing", allow=True, comment="")
        claude_hook.answer([folder], "../t1", allow=True, comment="")
        claude_hook.answer([folder], event.id, allow=False, comment="keep it")
        claude_hook.answer([folder], event.id, allow=True, comment="")
        asking.join(60)
        decided = said[0]["hookSpecificOutput"]
        assert decided["permissionDecision"] == "deny"
        assert decided["permissionDecisionReason"] == "refused by a person: keep it"

    def test_without_rules_it_blocks(self, tmp_path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "segue.adapters.backends.claude_hook", str(tmp_path)],
            input='{"tool_name": "Bash", "tool_input": {"command": "make"}}',
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 2
        assert "the rules could not be applied" in done.stderr


def stand_in(folder: Path, script: str) -> str:
    """A program that writes what the script says."""
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def request_for(folder: Path, backend: str, **options: Any) -> SessionRequest:
    return SessionRequest(
        key="k1",
        agent_name="developer",
        profile=AgentProfile(backend=backend, options=options),
        model=None,
        working_dir=str(folder),
        title="a step",
    )


class TestProcess:
    """How the programs are started, and how they end; a small script stands for them."""

    async def ask(self, tmp_path: Path, script: str, **options: Any) -> str:
        backend = CodexBackend(sessions_dir=tmp_path / "sessions")
        request = request_for(tmp_path, "codex", program=stand_in(tmp_path, script), **options)
        session = await backend.open(request)
        try:
            await backend.send(request, session, Message(id="m1", text="größer"))
            return (await asyncio.wait_for(backend.wait(session, "m1"), 120)).text
        finally:
            await backend.close(session)

    async def test_it_gets_the_users_environment_without_what_is_segues(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SEGUE_TOKEN", "secret")
        monkeypatch.setenv("MINE", "kept")
        monkeypatch.setenv("GONE", "x")
        script = """
        text="$(cat) $SEGUE_TOKEN $MINE ${GONE-unset} $MORE $PWD"
        echo '{"type": "item.completed", "item": {"type": "agent_message", "text": "'"$text"'"}}'
        echo '{"type": "turn.completed", "usage": {}}'
        """
        text = await self.ask(tmp_path, script, set_env={"GONE": "", "MORE": "added"})
        assert text == f"größer  kept unset added {tmp_path}"

    @pytest.mark.parametrize(
        ("script", "sentence"),
        [
            ("echo first >&2; echo 'no such option' >&2; exit 2", "Codex exited with 2: no such option"),
            (
                "echo 'Error: no thread' >&2; echo '  1: <unknown>' >&2; exit 1",
                "Codex exited with 1: Error: no thread",
            ),
            ("kill -9 $$", "Codex was killed by signal SIGKILL"),
            ("echo 'bwrap: no namespaces' >&2; exit 1", "Codex's sandbox does not work on this machine"),
            ("exit 0", "Codex ended without telling how its turn went"),
        ],
    )
    async def test_a_bad_end_is_one_sentence(self, tmp_path: Path, script: str, sentence: str) -> None:
        with pytest.raises(AgentFailed) as caught:
            await self.ask(tmp_path, script)
        assert str(caught.value).startswith(sentence)

    async def test_codex_that_waits_for_the_network_for_ever_is_not_waited_for(self, tmp_path: Path) -> None:
        line = '{"type": "error", "message": "Reconnecting... waiting for network (x)"}'
        with pytest.raises(AgentFailed, match="cannot be reached: Codex has waited for the network 3 times"):
            await self.ask(
                tmp_path, f"echo '{line}'; echo '{line}'; echo '{line}'; sleep 60", offline_retries=3
            )

    async def test_wrong_options_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(BackendUnavailable, match='"sandbox":'):
            await self.ask(tmp_path, "exit 0", sandbox="none")

    async def test_a_program_that_is_nowhere_is_told_with_the_remedy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        backend = ClaudeCodeBackend(sessions_dir=tmp_path / "sessions")
        with pytest.raises(BackendUnavailable) as caught:
            await backend.open(request_for(tmp_path, "claude_code"))
        assert str(caught.value) == (
            'the program "claude" is not on the PATH; install it with `segue agents install claude` or '
            '`npm install -g @anthropic-ai/claude-code`, or set "program" in the agent\'s options'
        )
