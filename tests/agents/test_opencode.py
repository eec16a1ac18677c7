"""OpenCode itself, with a scripted model: what it does, tells, may do, and what comes of each failure."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from segue.adapters.backends.opencode.backend import OpenCodeBackend
from segue.application.ports.backend import (
    Message,
    PermissionAsked,
    PermissionSettled,
    Retrying,
    Said,
    ToolServer,
    ToolState,
    ToolUsed,
    UsageReported,
)
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool, rules_for
from tests.agents.opencode_bench import HANDOFF, NAP, OUTSIDE, SLOW, Bench, ask, running_bench

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("opencode")) as made:
        yield made


@pytest_asyncio.fixture
async def backend(bench: Bench) -> AsyncIterator[OpenCodeBackend]:
    made = bench.backend()
    yield made
    await made.shutdown()


async def test_an_agent_edits_files_and_tells_what_it_does(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request = bench.request(workspace)
    reply, told = await ask(backend, request, "Please [[edit]].")
    assert reply.text == HANDOFF
    assert (workspace / "hello.txt").read_text() == "hello\n"
    assert "".join(e.text for e in told if isinstance(e, Said)) == f"I will write it.\n\n{HANDOFF}"
    assert sum(isinstance(e, Said) for e in told) > 3
    used = [(e.tool, e.state, e.exit_code) for e in told if isinstance(e, ToolUsed)]
    assert used == [
        (Tool.EDIT, ToolState.STARTED, None),
        (Tool.EDIT, ToolState.DONE, None),
        (Tool.SHELL, ToolState.STARTED, None),
        (Tool.SHELL, ToolState.DONE, 3),
    ]
    shown = [e for e in told if isinstance(e, ToolUsed)]
    assert shown[0].target == str(workspace / "hello.txt")
    assert shown[3].target == "cat hello.txt; exit 3"
    assert shown[3].output == "hello\n"
    usage = [e.usage for e in told if isinstance(e, UsageReported)][-1]
    assert usage == await backend.usage(request.key)
    assert usage.context_tokens == 150
    assert usage.context_window == 200_000
    assert usage.cache_read_tokens == 50
    assert usage.cost is not None
    assert usage.cost > 0


async def test_a_session_is_opened_once_and_a_message_sent_once(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request, before = bench.request(workspace), bench.asked("say")
    session = await backend.open(request)
    assert await backend.open(request) == session
    record = bench.sessions_dir / "opencode" / "sessions" / f"{session}.json"
    known = json.loads(record.read_text())["id"]
    record.unlink()  # a crash came before it was written
    again = bench.backend()
    assert await again.open(request) == session
    assert json.loads(record.read_text())["id"] == known
    for _ in range(2):
        await backend.send(request, session, Message(id="m1", text="[[say]]"))
    assert (await backend.wait(session, "m1")).text == "Said."
    await again.send(request, session, Message(id="m1", text="[[say]]"))
    assert (await again.wait(session, "m1")).text == "Said."
    await again.shutdown()
    assert bench.asked("say") == before + 1
    await backend.send(request, session, Message(id="m2", text="And [[fix]] this."))
    (workspace / "a.txt").write_text("one\n")
    assert (await backend.wait(session, "m2")).text == "Fixed."


async def test_an_abort_stops_the_model_and_leaves_the_session_usable(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request = bench.request(workspace)
    session = await backend.open(request)
    await backend.send(request, session, Message(id="m1", text="[[slow]]"))
    record = await bench.model.wait_for_async(lambda r: r.scenario == "slow" and not r.ended, 120)
    waiting = asyncio.create_task(backend.wait(session, "m1"))
    await asyncio.sleep(0.5)
    await backend.abort(session)
    await backend.abort(session)
    with pytest.raises(AgentFailed, match=r"^its session was aborted$"):
        await waiting
    await bench.model.wait_for_async(lambda r: r is record and r.ended, 120)
    assert record.client_closed
    await backend.send(request, session, Message(id="m2", text="[[say]]"))
    assert (await backend.wait(session, "m2")).text == "Said."
    await backend.close(session)
    await backend.close(session)
    with pytest.raises(SessionLost):
        await backend.wait(session, "m2")


async def test_an_abort_ends_the_command_that_runs(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request = bench.request(workspace)
    session = await backend.open(request)
    await backend.send(request, session, Message(id="m1", text="[[sleep]]"))
    await _until(lambda: _sleepers() != [])
    await backend.abort(session)
    await _until(lambda: _sleepers() == [])


async def test_what_the_rules_refuse_is_not_done(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    OUTSIDE.unlink(missing_ok=True)
    reply, told = await ask(backend, bench.request(workspace), "[[outside]]")
    assert reply.text == "Tried."
    assert not OUTSIDE.exists()
    refused = [e.access for e in told if isinstance(e, PermissionSettled) and not e.allowed]
    assert [(access.tool, access.targets) for access in refused] == [(Tool.EDIT, (str(OUTSIDE),))]
    assert ToolState.FAILED in [e.state for e in told if isinstance(e, ToolUsed)]
    reply, told = await ask(backend, bench.request(workspace), "[[push]]")
    refused = [e.access for e in told if isinstance(e, PermissionSettled) and not e.allowed]
    assert [access.targets for access in refused] == [("git push origin main",)]


async def test_the_rules_keep_it_from_the_credential_and_ask_about_no_other_read(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("one\n")
    rules = rules_for((), str(workspace), str(OUTSIDE))
    OUTSIDE.write_text("word of credential\n")
    try:
        _, told = await ask(backend, bench.request(workspace, permissions=rules), "[[peek]]")
    finally:
        OUTSIDE.unlink()
    settled = [e for e in told if isinstance(e, PermissionSettled)]
    assert [(e.access.tool, e.allowed) for e in settled] == [(Tool.READ, False), (Tool.SHELL, False)]
    assert "word of credential" not in json.dumps([each.body for each in bench.model.requests])
    _, told = await ask(backend, bench.request(workspace, permissions=rules), "[[fix]]")
    settled = [e for e in told if isinstance(e, PermissionSettled)]
    assert [(e.access.tool, e.allowed) for e in settled] == [(Tool.EDIT, True)]


async def test_what_is_refused_outright_is_not_even_offered(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.EDIT, action=Ruling.DENY))
    await ask(backend, bench.request(workspace, permissions=rules), "[[say]]")
    offered = {tool.name for tool in bench.model.turns[-1].request.tools}
    assert "bash" in offered
    assert not offered & {"write", "edit", "question"}


async def test_the_plan_agent_may_still_not_edit(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    await ask(backend, bench.request(workspace, options={"agent": "plan"}), "[[outside]]")
    _, told = await ask(backend, bench.request(workspace, options={"agent": "plan"}), "[[edit]]")
    assert not (workspace / "hello.txt").exists()
    assert not [e for e in told if isinstance(e, PermissionSettled) and e.access.tool is Tool.EDIT]


@pytest.mark.parametrize("allow", [True, False])
async def test_a_person_is_asked(
    bench: Bench, backend: OpenCodeBackend, workspace: Path, allow: bool
) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.EDIT, pattern="*.txt", action=Ruling.ASK))
    request = bench.request(workspace, permissions=rules)
    session = await backend.open(request)
    await backend.send(request, session, Message(id="m1", text="[[edit]]"))
    asked = None
    async for event in backend.events(session, "m1"):
        if isinstance(event, PermissionAsked):
            asked = event
            assert not (workspace / "hello.txt").exists()
            await backend.answer(session, event.id, allow=allow, comment="no")
            await backend.answer(session, event.id, allow=not allow)  # too late
    assert asked is not None
    assert asked.title == f"edit: {workspace / 'hello.txt'}"
    assert (workspace / "hello.txt").exists() is allow
    assert (await backend.wait(session, "m1")).text == HANDOFF


async def test_sub_agents_are_held_by_the_same_rules(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request = bench.request(workspace)
    reply, told = await ask(backend, request, "[[sub]]")
    assert reply.text == "Delegated."
    push = [e for e in told if isinstance(e, ToolUsed) and e.tool is Tool.SHELL]
    assert [e.state for e in push] == [ToolState.STARTED, ToolState.FAILED]
    total = await backend.usage(request.key)
    assert total is not None
    assert total.input_tokens > 100_000  # which the sub-agent used
    assert total.context_tokens is not None
    assert total.context_tokens < 100_000
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, pattern="echo *", action=Ruling.ASK))
    reply, told = await ask(backend, bench.request(workspace, permissions=rules), "[[subecho]]")
    assert reply.text == "Delegated."
    echo = [e for e in told if isinstance(e, ToolUsed) and e.tool is Tool.SHELL]
    assert [e.state for e in echo] == [ToolState.STARTED, ToolState.FAILED]  # nobody can be asked there


async def test_tools_of_ours_reach_their_own_session_alone(
    bench: Bench, backend: OpenCodeBackend, workspace: Path, tmp_path: Path
) -> None:
    async def hand_over(who: str) -> str:
        server = ToolServer(
            name="segue",
            command=(sys.executable, str(Path(__file__).with_name("noting_tool_server.py"))),
            environment={"WHO": who, "HANDOFF_FILE": str(tmp_path / "handed")},
        )
        request = bench.request(workspace, tools=server)
        reply, told = await ask(backend, request, f"[[tool]] by {who}")
        assert reply.text == "Handed over."
        used = [e for e in told if isinstance(e, ToolUsed)]
        assert {e.tool for e in used} == {Tool.MCP}
        assert used[-1].state is ToolState.DONE
        return used[0].name

    names = await asyncio.gather(*(hand_over(who) for who in ("one", "two", "three")))
    handed = [json.loads(line)["who"] for line in (tmp_path / "handed").read_text().splitlines()]
    assert sorted(handed) == ["one", "three", "two"]
    assert len(set(names)) == 3
    for record in bench.model.requests:
        if record.scenario == "tool":
            assert len([t for t in record.request.tools if t.name.endswith("_submit_handoff")]) == 1
    await ask(backend, bench.request(workspace), "[[say]]")
    assert not [t for t in bench.model.turns[-1].request.tools if t.name.endswith("_submit_handoff")]


async def test_a_tool_server_that_does_not_start_is_told(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request = bench.request(workspace, tools=ToolServer(name="segue", command=("/no/such/program",)))
    with pytest.raises(BackendUnavailable, match=r'could not start the tool server "segue": .*no such file'):
        await backend.open(request)


ERRORS = {
    "401": (AgentFailed, "its model provider refuses the key (HTTP 401): Incorrect API key provided"),
    "429": (AgentFailed, "its model gave an error and was asked again once, in vain: "),
    "500": (AgentFailed, "its model gave an error and was asked again once, in vain: "),
    "cut": (AgentFailed, "its model gave an error and was asked again once, in vain: "),
    "overflow": (AgentFailed, "the conversation is longer than its model can read: "),
    "length": (AgentFailed, "its reply was cut off, because it is longer than its model may write"),
    "filter": (AgentFailed, "its model provider refused the content: "),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_of_the_model_is_told_in_one_sentence(
    bench: Bench, backend: OpenCodeBackend, workspace: Path, name: str
) -> None:
    kind, sentence = ERRORS[name]
    request = bench.request(workspace)
    with pytest.raises(BackendError) as caught:
        await ask(backend, request, f"[[{name}]]")
    print(f"{name}: {type(caught.value).__name__}: {caught.value}")  # noqa: T201
    assert type(caught.value) is kind
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


async def test_a_provider_that_is_down_is_told(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    request = bench.request(workspace, model="down/scripted", options={"max_retries": 0})
    with pytest.raises(AgentFailed, match=r"is not asked again: .*onnect") as caught:
        await ask(backend, request, "[[say]]")
    print(caught.value)  # noqa: T201


async def test_a_model_that_recovers_is_told_and_used(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    reply, told = await ask(backend, bench.request(workspace), "[[flaky]]")
    assert reply.text == "Recovered."
    assert [type(e) for e in told].count(Retrying) == 1


async def test_a_reply_without_words_is_empty(
    bench: Bench, backend: OpenCodeBackend, workspace: Path
) -> None:
    reply, _ = await ask(backend, bench.request(workspace), "[[empty]]")
    assert reply.text == ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": "scripted/scriptd"}, 'does not have the model "scripted/scriptd"; did you mean scripted/'),
        ({"model": "scripted"}, 'the model "scripted" is wrong for OpenCode: write it as provider/model'),
        ({"options": {"agent": "biuld"}}, 'OpenCode has no agent "biuld". Known: .* Did you mean "build"'),
        ({"options": {"agnt": "x"}}, 'its options are wrong: "agnt": Extra inputs'),
        ({"options": {"program": "no-such"}}, '"no-such" is not on the PATH; run `segue agents install'),
        ({"working_dir": "/no/such"}, "the working directory /no/such is gone"),
    ],
)
async def test_a_wrong_profile_is_told_before_anything_is_sent(
    bench: Bench, backend: OpenCodeBackend, workspace: Path, changes: dict[str, str], sentence: str
) -> None:
    folder = Path(changes.pop("working_dir", str(workspace)))
    with pytest.raises(BackendUnavailable, match=sentence):
        await backend.open(bench.request(folder, **changes))


async def test_twenty_at_once(bench: Bench, backend: OpenCodeBackend, workspace: Path) -> None:
    replies = await asyncio.gather(
        *(ask(backend, bench.request(workspace), f"{number} [[edit]]") for number in range(20))
    )
    assert [reply.text for reply, _ in replies] == [HANDOFF] * 20
    assert len(SLOW) > 1000


def _sleepers() -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["cmdline"] == ["sleep", NAP]
    ]


async def _until(holds: object, seconds: float = 120) -> None:
    assert callable(holds)
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
