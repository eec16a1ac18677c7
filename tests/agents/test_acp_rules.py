"""The `acp` back end with a little agent that does as it is told: files, terminals, errors, endings."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from segue.adapters.backends.acp.backend import AcpBackend
from segue.application.ports.backend import (
    Message,
    PermissionAsked,
    PermissionSettled,
    SessionEvent,
    SessionRequest,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.catalog import AgentProfile
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost
from segue.domain.permissions import DEFAULT_RULES, Access, PermissionRule, Ruling, Tool
from tests.agents.conftest import StartAcp

AGENT = Path(__file__).with_name("little_acp_agent.py")

Started: TypeAlias = Callable[[], set[psutil.Process]]


@pytest.fixture
def backend(start_acp: StartAcp) -> AcpBackend:
    return start_acp(timeout=1)


@pytest.fixture
def patient(start_acp: StartAcp) -> AcpBackend:
    """One that lets an agent stop by itself, however slow the machine is."""
    return start_acp(timeout=120)


@pytest.fixture
def started() -> Started:
    """The processes of this test alone: another one in this process may have left some."""
    before = {*psutil.Process().children()}
    return lambda: {*psutil.Process().children()} - before


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def request(workspace: Path, *arguments: str, key: str = "k1", **changes: Any) -> SessionRequest:
    rules = changes.pop("permissions", DEFAULT_RULES)
    model = changes.pop("model", None)
    command = [sys.executable, str(AGENT), *arguments]
    return SessionRequest(
        key=key,
        agent_name="little",
        profile=AgentProfile(backend="acp", options={"command": command, **changes}),
        model=model,
        working_dir=str(workspace),
        title="a test",
        permissions=rules,
    )


async def work(backend: AcpBackend, asked: SessionRequest, *steps: list[Any], message: str = "m1") -> str:
    session = await backend.open(asked)
    await backend.send(asked, session, Message(id=message, text=json.dumps(steps)))
    return (await backend.wait(session, message)).text


async def events_of(backend: AcpBackend, message: str = "m1") -> list[SessionEvent]:
    return [event async for event in backend.events("k1", message)]


def call(method: str, **params: Any) -> list[Any]:
    return ["call", method, params]


async def test_files_are_read_and_written_inside_the_workspace_alone(
    backend: AcpBackend, workspace: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (workspace / "lines.txt").write_text("one\ntwo\nthree\n")
    (workspace / "link").symlink_to(secret)
    (workspace / "out").symlink_to(tmp_path)
    inside = str(workspace / "lines.txt")
    outside = [str(secret), "../secret.txt", str(workspace / "link"), str(workspace / "out" / "new.txt")]
    found = json.loads(
        await work(
            backend,
            request(workspace, client_files=True),
            call("fs/read_text_file", path=inside),
            call("fs/read_text_file", path=inside, line=2, limit=1),
            call("fs/write_text_file", path=str(workspace / "sub" / "new.txt"), content="new"),
            call("fs/read_text_file", path=str(workspace / "none.txt")),
            *(call("fs/read_text_file", path=path) for path in outside),
            *(call("fs/write_text_file", path=path, content="bad") for path in outside),
        )
    )
    assert [one["result"] for one in found[:3]] == [
        {"content": "one\ntwo\nthree\n"},
        {"content": "two\n"},
        {},
    ]
    assert (workspace / "sub" / "new.txt").read_text() == "new"
    assert found[3]["error"]["code"] == -32002
    assert all("outside the working directory" in one["error"]["data"]["details"] for one in found[4:])
    assert secret.read_text() == "secret"
    assert not (tmp_path / "new.txt").exists()


async def test_a_shorter_file_leaves_nothing_of_the_longer_one(backend: AcpBackend, workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text("a long text")
    await work(
        backend,
        request(workspace, client_files=True),
        call("fs/write_text_file", path=str(path), content="short"),
    )
    assert path.read_text() == "short"


async def test_files_and_terminals_that_were_not_offered_are_refused(
    backend: AcpBackend, workspace: Path
) -> None:
    found = json.loads(
        await work(
            backend,
            request(workspace),
            call("fs/write_text_file", path=str(workspace / "a.txt"), content="x"),
            call("terminal/create", command="touch b.txt"),
            call("something/else"),
        )
    )
    assert [one["error"]["code"] for one in found] == [-32601] * 3
    assert not list(workspace.iterdir())


async def test_the_rules_cover_files_and_terminals(backend: AcpBackend, workspace: Path) -> None:
    rules = (
        *DEFAULT_RULES,
        PermissionRule(tool=Tool.EDIT, pattern="*.lock", action=Ruling.DENY),
        PermissionRule(tool=Tool.SHELL, pattern="rm *", action=Ruling.DENY),
    )
    found = json.loads(
        await work(
            backend,
            request(workspace, client_files=True, client_terminals=True, permissions=rules),
            call("fs/write_text_file", path=str(workspace / "a.lock"), content="x"),
            call("terminal/create", command="rm", args=["-r", "."]),
        )
    )
    assert all("rules" in one["error"]["message"] for one in found)
    assert not (workspace / "a.lock").exists()
    settled = [event for event in await events_of(backend) if isinstance(event, PermissionSettled)]
    assert settled == [
        PermissionSettled(access=Access(tool=Tool.EDIT, targets=(str(workspace / "a.lock"),)), allowed=False),
        PermissionSettled(access=Access(tool=Tool.SHELL, targets=("rm -r .",)), allowed=False),
    ]


async def test_a_terminal_runs_in_the_workspace_and_keeps_the_end_of_its_output(
    backend: AcpBackend, workspace: Path
) -> None:
    found = json.loads(
        await work(
            backend,
            request(workspace, client_terminals=True),
            call(
                "terminal/create",
                command="pwd; echo $COLOUR; exit 3",
                env=[{"name": "COLOUR", "value": "red"}],
            ),
            call("terminal/wait_for_exit", terminalId="$"),
            call("terminal/output", terminalId="$"),
            call("terminal/release", terminalId="$"),
            call("terminal/output", terminalId="$"),
        )
    )
    assert found[1]["result"] == {"exitCode": 3, "signal": None}
    assert found[2]["result"]["output"] == f"{workspace}\nred\n"
    assert found[2]["result"]["exitStatus"]["exitCode"] == 3
    assert found[4]["error"]["code"] == -32002


async def test_a_terminal_is_killed_with_what_it_started(backend: AcpBackend, workspace: Path) -> None:
    found = json.loads(
        await work(
            backend,
            request(workspace, client_terminals=True),
            call(
                "terminal/create",
                command="yes | head -c 5000; sleep 600 & echo $! > pid; wait",
                outputByteLimit=100,
            ),
            call("terminal/create", command="true", cwd="/"),
            call("terminal/create", command="while [ ! -s pid ]; do sleep 0.05; done"),
            call("terminal/wait_for_exit", terminalId="terminal-2"),
            call("terminal/kill", terminalId="terminal-1"),
            call("terminal/wait_for_exit", terminalId="terminal-1"),
            call("terminal/output", terminalId="terminal-1"),
        )
    )
    assert "outside the working directory" in found[1]["error"]["data"]["details"]
    assert found[5]["result"]["signal"] == "SIGKILL"
    assert found[6]["result"]["truncated"] is True
    assert len(found[6]["result"]["output"]) == 100
    await gone(int((workspace / "pid").read_text()))


async def test_closing_ends_terminals_too(backend: AcpBackend, workspace: Path) -> None:
    line = "sleep 600 & echo $! > pid; wait"
    await work(
        backend,
        request(workspace, client_terminals=True),
        call("terminal/create", command=line),
        call("terminal/create", command="while [ ! -s pid ]; do sleep 0.05; done"),
        call("terminal/wait_for_exit", terminalId="terminal-2"),
    )
    pid = int((workspace / "pid").read_text())
    assert psutil.pid_exists(pid)
    await backend.close("k1")
    await gone(pid)


async def gone(pid: int) -> None:
    async with asyncio.timeout(120):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([["stop", "refusal"]], "its model refused to continue"),
        ([["say", "half"], ["stop", "max_tokens"]], "cut off at the most tokens"),
        ([["say", "half"], ["stop", "max_turn_requests"]], "used up all the requests"),
        ([["say", "half"], ["stop", "cancelled"]], "cancelled before it could reply"),
        ([], "its reply was empty"),
        ([["exit", 7]], "its process exited with 7: the end is near, before it could reply"),
        (
            [["fail", {"code": -32603, "message": "Internal error", "data": {"message": "429 Too Many"}}]],
            "no more",
        ),
        (
            [["fail", {"code": -32603, "message": "Internal error", "data": {"errorKind": "boom"}}]],
            r"error: \(boom\)",
        ),
        (
            [["fail", {"code": -32603, "message": "bad", "data": {"details": "ECONNREFUSED"}}]],
            "cannot be reached",
        ),
        (
            [["fail", {"code": -32000, "message": "no"}]],
            "wants a login first. Log in with the agent's own program",
        ),
    ],
)
async def test_a_turn_that_ends_badly_says_why(
    backend: AcpBackend, workspace: Path, steps: list[list[Any]], said: str
) -> None:
    with pytest.raises(BackendError, match=said):
        await work(backend, request(workspace), *steps)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (
            ["mute"],
            {"start_timeout": 0.5},
            r"did not answer initialize within 0.5 s.*raise \"start_timeout\"",
        ),
        (["old"], {}, "speaks version 99 of the Agent Client Protocol"),
        (["die", "no model is set"], {}, "did not start: its process exited with 1: no model is set"),
        (["login"], {}, "wants a login first"),
        ([], {"command": ["no-such-agent"]}, '"no-such-agent" of the agent no-such-agent is not on the PATH'),
        ([], {"command": ["./none"]}, "the program ./none does not exist"),
        ([], {"agent": "nobody"}, 'no agent is known as "nobody"; known are claude, codex'),
        ([], {"model": "big"}, "lets nobody choose its model"),
        ([], {"set_env": {"PATH": "/none"}, "command": ["goose"]}, "not on the PATH"),
    ],
)
async def test_a_session_that_cannot_be_opened_says_why_and_leaves_no_process(
    backend: AcpBackend, workspace: Path, arguments: list[str], options: dict[str, Any], said: str
) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(BackendUnavailable, match=said):
        await backend.open(request(workspace, *arguments, **options))
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


async def test_the_last_message_is_what_was_said_after_the_last_tool(
    backend: AcpBackend, workspace: Path
) -> None:
    begin = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "bash", "kind": "execute"}
    run = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "rawInput": {"command": ["sh", "-c", "make"]},
    }
    end = {**run, "status": "failed", "rawOutput": {"exit_code": 2, "stdout": "no rule"}}
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}
    unknown = {"sessionUpdate": "never_heard_of", "x": 1}
    steps: list[list[Any]] = [["noise", "not JSON"], ["say", "I begin."]]
    steps += [["update", told] for told in ({**begin, "status": "pending"}, run, end, thought, unknown)]
    assert await work(backend, request(workspace), *steps, ["say", "It "], ["say", "failed."]) == "It failed."
    used = [event for event in await events_of(backend) if isinstance(event, ToolUsed)]
    assert used == [
        ToolUsed(call_id="t", tool=Tool.SHELL, name="bash", state=ToolState.STARTED, target="make"),
        ToolUsed(
            call_id="t",
            tool=Tool.SHELL,
            name="bash",
            state=ToolState.FAILED,
            target="make",
            exit_code=2,
            output="no rule",
        ),
    ]


async def test_words_before_a_tool_are_the_reply_if_none_come_after(
    backend: AcpBackend, workspace: Path
) -> None:
    tool = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": "x",
        "kind": "think",
        "status": "completed",
    }
    assert await work(backend, request(workspace), ["say", "All done."], ["update", tool]) == "All done."


async def test_usage_is_told_as_it_comes(backend: AcpBackend, workspace: Path) -> None:
    told = {
        "sessionUpdate": "usage_update",
        "used": 50,
        "size": 200,
        "cost": {"amount": 0.5, "currency": "USD"},
    }
    await work(backend, request(workspace), ["update", told], ["say", "x"])
    usage = await backend.usage("k1")
    assert usage is not None
    assert (usage.context_tokens, usage.context_window, usage.cost) == (50, 200, 0.5)
    assert UsageReported(usage=usage) in await events_of(backend)


OPTIONS = [
    {"optionId": "1", "kind": "reject_always", "name": "n"},
    {"optionId": "2", "kind": "allow_always", "name": "n"},
    {"optionId": "3", "kind": "reject_once", "name": "n"},
    {"optionId": "4", "kind": "allow_once", "name": "n"},
]


def ask(workspace: Path, path: str) -> list[Any]:
    told = {"toolCallId": path, "kind": "edit", "title": f"write {path}", "locations": [{"path": path}]}
    return call("session/request_permission", toolCall=told, options=OPTIONS)


async def test_permissions_are_chosen_by_kind(backend: AcpBackend, workspace: Path) -> None:
    said = await work(
        backend, request(workspace), ask(workspace, str(workspace / "a")), ask(workspace, "/etc/passwd")
    )
    assert [one["result"]["outcome"]["optionId"] for one in json.loads(said)] == ["4", "3"]


async def test_a_turn_that_ends_at_a_refusal_says_so(backend: AcpBackend, workspace: Path) -> None:
    with pytest.raises(AgentFailed, match="it stopped when it was refused this: write /etc/passwd"):
        await work(backend, request(workspace), ask(workspace, "/etc/passwd"), ["stop", "cancelled"])


async def test_a_person_is_asked_and_a_cancel_answers_for_them(backend: AcpBackend, workspace: Path) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.EDIT, action=Ruling.ASK))
    asked = request(workspace, permissions=rules)
    session = await backend.open(asked)
    path = str(workspace / "a")
    steps = [ask(workspace, path), ask(workspace, path)]
    await backend.send(asked, session, Message(id="m1", text=json.dumps(steps)))
    answers = iter([True, False])
    async for event in backend.events(session, "m1"):
        if isinstance(event, PermissionAsked):
            assert event.access == Access(tool=Tool.EDIT, targets=(path,))
            assert event.title == f"write {path}"
            await backend.answer(session, event.id, allow=next(answers))
            await backend.answer(session, event.id, allow=True)
    outcome = json.loads((await backend.wait(session, "m1")).text)
    assert [one["result"]["outcome"]["optionId"] for one in outcome] == ["4", "3"]


async def test_abort_ends_an_agent_that_waits_for_a_person(patient: AcpBackend, workspace: Path) -> None:
    rules = (PermissionRule(action=Ruling.ASK),)
    asked = request(workspace, permissions=rules)
    session = await patient.open(asked)
    steps = [ask(workspace, "a"), ["stop", "cancelled"]]
    await patient.send(asked, session, Message(id="m1", text=json.dumps(steps)))
    waiting = asyncio.create_task(patient.wait(session, "m1"))
    async for event in patient.events(session, "m1"):
        if isinstance(event, PermissionAsked):
            break
    await patient.abort(session)
    with pytest.raises(AgentFailed, match="cancelled"):
        await waiting


async def test_abort_kills_an_agent_that_does_not_listen(
    backend: AcpBackend, workspace: Path, started: Started
) -> None:
    asked = request(workspace)
    session = await backend.open(asked)
    await backend.send(asked, session, Message(id="m1", text=json.dumps([["forever"]])))
    waiting = asyncio.create_task(backend.wait(session, "m1"))
    await asyncio.sleep(0.1)
    await backend.abort(session)
    await backend.abort(session)
    with pytest.raises(AgentFailed, match="aborted"):
        await waiting
    assert not started()


async def test_interrupt_leaves_a_session_that_answers_though_it_could_not_be_loaded(
    patient: AcpBackend, workspace: Path
) -> None:
    asked = request(workspace, "noload")
    session = await patient.open(asked)
    await patient.send(asked, session, Message(id="m1", text=json.dumps([["patiently"]])))
    waiting = asyncio.create_task(patient.wait(session, "m1"))
    await asyncio.sleep(0.1)
    await patient.interrupt(session)
    with pytest.raises(AgentFailed, match="cancelled"):
        await waiting
    assert await work(patient, asked, ["say", "Still here."], message="m2") == "Still here."


async def test_interrupt_kills_an_agent_that_does_not_listen(
    backend: AcpBackend, workspace: Path, started: Started
) -> None:
    asked = request(workspace)
    session = await backend.open(asked)
    await backend.send(asked, session, Message(id="m1", text=json.dumps([["forever"]])))
    waiting = asyncio.create_task(backend.wait(session, "m1"))
    await asyncio.sleep(0.1)
    await backend.interrupt(session)
    with pytest.raises(AgentFailed, match="aborted"):
        await waiting
    assert not started()
    assert await work(backend, asked, ["say", "Loaded."], message="m2") == "Loaded."


async def test_a_message_is_delivered_once_and_a_session_opened_once(
    backend: AcpBackend, workspace: Path, started: Started
) -> None:
    asked = request(workspace)
    assert await backend.open(asked) == await backend.open(asked)
    assert len(started()) == 1
    message = Message(id="m1", text=json.dumps([["say", "once"]]))
    for _ in range(3):
        await backend.send(asked, "k1", message)
        assert (await backend.wait("k1", "m1")).text == "once"
    assert len(await events_of(backend)) == 1


async def test_after_a_restart_a_reply_is_there_and_the_session_goes_on(
    backend: AcpBackend, start_acp: StartAcp, workspace: Path
) -> None:
    asked = request(workspace)
    told = {"sessionUpdate": "usage_update", "used": 7, "size": 10}
    await work(backend, asked, ["update", told], ["say", "first"])
    await backend.shutdown()
    later = start_acp(timeout=1)
    assert (await later.wait("k1", "m1")).text == "first"
    spent = await later.usage("k1")
    assert spent is not None
    assert spent.context_tokens == 7
    await later.resume(asked, "k1")
    assert await work(later, asked, ["say", "second"], message="m2") == "second"
    assert await later.usage("k1") == spent
    await later.close("k1")
    assert await later.leftovers() == []
    with pytest.raises(SessionLost, match="gone"):
        await later.resume(asked, "k1")


async def test_an_agent_that_cannot_load_has_lost_its_session(
    backend: AcpBackend, start_acp: StartAcp, workspace: Path
) -> None:
    asked = request(workspace, "noload")
    await work(backend, asked, ["say", "first"])
    await backend.shutdown()
    later = start_acp(timeout=1)
    with pytest.raises(SessionLost, match="cannot take up a session"):
        await later.resume(asked, "k1")


async def test_what_a_killed_segue_left_running_is_ended(
    start_acp: StartAcp, workspace: Path, tmp_path: Path
) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tests.agents.test_acp_rules import *\n"
        "async def main():\n"
        "    backend = AcpBackend(sessions_dir=Path(sys.argv[1]))\n"
        "    asked = request(Path(sys.argv[2]), 'keep')\n"
        "    await backend.open(asked)\n"
        "    await backend.send(asked, 'k1', Message(id='m1', text='[[\"forever\"]]'))\n"
        "    print('sent', flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "sessions"), str(workspace)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as segue:  # noqa: ASYNC220
        assert segue.stdout is not None
        assert await asyncio.to_thread(segue.stdout.readline) == b"sent\n"
        pid = json.loads((tmp_path / "sessions" / "acp" / "k1" / "state.json").read_text())["pid"]
        os.kill(segue.pid, signal.SIGKILL)
    await asyncio.sleep(0.5)
    assert psutil.pid_exists(pid)
    later = start_acp(timeout=1)
    assert await later.leftovers() == ["k1"]
    with pytest.raises(SessionLost, match="ended with the Segue that had started it"):
        await later.wait("k1", "m1")
    await later.close("k1")
    await gone(pid)
    assert await later.leftovers() == []


async def test_another_process_with_the_same_number_is_left_alone(
    backend: AcpBackend, workspace: Path, tmp_path: Path
) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:  # noqa: ASYNC220
        folder = tmp_path / "sessions" / "acp" / "k9"
        folder.mkdir(parents=True)
        state = {"acp_session": "x", "pid": stranger.pid, "started": 1.0, "sent": []}
        (folder / "state.json").write_text(json.dumps(state))
        await backend.close("k9")
        assert stranger.poll() is None
        stranger.kill()


async def test_the_environment_is_the_users_without_segues_part(
    backend: AcpBackend, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_DATABASE_URL", "secret")
    monkeypatch.setenv("DROPPED", "x")
    monkeypatch.setenv("KEPT", "y")
    asked = request(workspace, client_terminals=True, set_env={"DROPPED": "", "ADDED": "z"})
    found = json.loads(
        await work(
            backend,
            asked,
            call("terminal/create", command='echo "$SEGUE_DATABASE_URL-$DROPPED-$KEPT-$ADDED-$PWD"'),
            call("terminal/wait_for_exit", terminalId="$"),
            call("terminal/output", terminalId="$"),
        )
    )
    assert found[2]["result"]["output"] == f"--y-z-{workspace}\n"


async def test_a_probe_starts_the_agent_and_leaves_nothing(backend: AcpBackend, started: Started) -> None:
    good = await backend.probe({"command": [sys.executable, str(AGENT), "keep"]})
    assert (good.program, good.works) == (sys.executable, True)
    bad = await backend.probe({"command": [sys.executable, str(AGENT), "die", "no licence"]})
    assert not bad.works
    assert "exited with 1: no licence" in bad.said
    none = await backend.probe({"command": ["no-such-agent"]})
    assert (none.program, none.works) == (None, False)
    assert "not on the PATH" in none.said
    assert not started()
