"""The `acp` back end with real agents and the scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from segue.adapters.backends.acp.backend import AcpBackend
from segue.application.ports.backend import (
    Message,
    PermissionAsked,
    PermissionSettled,
    Said,
    SessionEvent,
    SessionRequest,
    ToolServer,
    ToolState,
    ToolUsed,
)
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool
from segue.testing import (
    Playable,
    ScriptedModel,
    call,
    cut,
    empty,
    error,
    overflow,
    say,
    shell,
    turn,
    usage,
    write,
)
from tests.agents.conftest import StartAcp
from tests.agents.rig import Rig
from tests.agents.rig_acp import make_claude, make_codex, make_goose, make_opencode

pytestmark = pytest.mark.thorough

MAKERS: Mapping[str, Callable[[Path, str], Rig]] = {
    "opencode": make_opencode,
    "goose": make_goose,
    "claude": make_claude,
    "codex": make_codex,
}
OTHERS = ("goose", "claude", "codex")

SCRIPT: Mapping[str, Playable | Sequence[Playable]] = {
    "edit": [
        turn(write("hello.txt", "hello\n"), usage=usage(1000, 20)),
        turn(shell("cat hello.txt; exit 3"), usage=usage(1100, 30)),
        turn(say("The file is there."), usage=usage(1200, 40)),
    ],
    "more": say(lambda request: f"I saw {len(request.messages)} messages."),
    "slow": turn(say("word " * 2000), chunk=10, chunk_delay=0.05),
    "shell": [shell("echo ran > ran.txt"), say("The command is done with.")],
    "submit": [call("submit", {"what": "the work"}), say("Handed over.")],
    "e401": error(401),
    "e404": error(404),
    "e429": error(429, retry_after=1),
    "e500": error(500),
    "overflow": overflow(),
    "cut": cut("half of a sentence that"),
    "empty": empty(),
}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(SCRIPT) as started:
        yield started


def of(*names: str) -> pytest.MarkDecorator:
    """The test with each of these agents."""
    return pytest.mark.parametrize("agent", names)


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by the tests: an agent's first start in a home takes longest."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture
def rig(agent: str, homes: Path, model: ScriptedModel) -> Rig:
    return MAKERS[agent](homes / agent, model.url)


@pytest.fixture
def backend(start_acp: StartAcp) -> AcpBackend:
    return start_acp()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def ask(backend: AcpBackend, request: SessionRequest, text: str, message: str = "m1") -> str:
    await backend.send(request, request.key, Message(id=message, text=text))
    async with asyncio.timeout(120):
        return (await backend.wait(request.key, message)).text


async def events_of(backend: AcpBackend, message: str = "m1") -> list[SessionEvent]:
    return [event async for event in backend.events("k1", message)]


def family(backend: AcpBackend) -> list[str]:
    """The processes that carry the mark of a session, wherever they have gone."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            mark = process.environ().get("SEGUE_SESSION", "")
            if mark.startswith(str(backend.sessions_dir)) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.name())
    return found


@of("opencode", *OTHERS)
async def test_an_agent_works_and_tells_what_it_does(
    backend: AcpBackend, rig: Rig, workspace: Path, model: ScriptedModel
) -> None:
    request = rig.request(str(workspace))
    assert await backend.open(request) == "k1"
    assert await backend.open(request) == "k1"
    assert await ask(backend, request, "[[edit]] please") == "The file is there."
    assert (workspace / "hello.txt").read_text() == "hello\n"

    told = await events_of(backend)
    said = "".join(event.text for event in told if isinstance(event, Said))
    assert said == "The file is there."
    used = [event for event in told if isinstance(event, ToolUsed)]
    assert {event.state for event in used} >= {ToolState.STARTED}
    begun = [event.call_id for event in used if event.state is ToolState.STARTED]
    ended = [event.call_id for event in used if event.state is not ToolState.STARTED]
    assert len(begun) == len(set(begun)) == 2
    assert sorted(begun) == sorted(ended)
    command = next(event for event in used if "cat hello.txt" in event.target and event.call_id == ended[-1])
    assert command.tool is Tool.SHELL
    if rig.name != "acp-claude":  # which tells no exit codes
        assert [event.exit_code for event in used][-1] == 3
    assert "hello" in used[-1].output
    assert [event.allowed for event in told if isinstance(event, PermissionSettled)] == [True, True]

    spent = await backend.usage("k1")
    assert spent is not None
    assert spent.context_tokens
    assert spent.context_tokens >= 1200
    assert spent.context_window
    if rig.name != "acp-codex":  # which tells how full the context is, and no more
        assert spent.input_tokens >= 1200
        assert spent.output_tokens >= 40

    asked = len(model.requests)
    await backend.send(request, "k1", Message(id="m1", text="[[edit]] please"))
    assert (await backend.wait("k1", "m1")).text == "The file is there."
    assert len(model.requests) == asked

    assert re.fullmatch(r"I saw \d+ messages\.", await ask(backend, request, "[[more]]", "m2"))
    await backend.close("k1")
    await backend.close("k1")
    assert not family(backend)
    assert await backend.leftovers() == []


@of("opencode", *OTHERS)
async def test_a_turn_is_stopped_in_mid_stream(
    backend: AcpBackend, rig: Rig, workspace: Path, model: ScriptedModel
) -> None:
    request = rig.request(str(workspace))
    await backend.open(request)
    before = len(model.requests)
    await backend.send(request, "k1", Message(id="m1", text="[[slow]]"))
    waiting = asyncio.create_task(backend.wait("k1", "m1"))
    async for event in backend.events("k1", "m1"):
        if isinstance(event, Said):
            break
    async with asyncio.timeout(120):
        await backend.abort("k1")
    with pytest.raises(AgentFailed, match=r"cancelled|aborted"):
        await waiting
    assert not family(backend)
    stopped = [one for one in model.requests[before:] if one.scenario == "slow"]
    assert stopped
    await model.wait_for_async(lambda record: record is stopped[-1] and record.client_closed)


@of("opencode", *OTHERS)
async def test_the_rules_refuse_a_command(backend: AcpBackend, agent: str, rig: Rig, workspace: Path) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, pattern="*ran.txt*", action=Ruling.DENY))
    request = rig.request(str(workspace), permissions=rules)
    await backend.open(request)
    if agent in ("opencode", "codex"):  # which end their turn at a refusal
        with pytest.raises(AgentFailed, match=r"it stopped when it was refused this: echo ran > ran\.txt"):
            await ask(backend, request, "[[shell]]")
    else:
        assert await ask(backend, request, "[[shell]]") == "The command is done with."
    settled = [event for event in await events_of(backend) if isinstance(event, PermissionSettled)]
    assert [(one.access.tool, one.allowed) for one in settled] == [(Tool.SHELL, False)]
    assert settled[0].access.targets == ("echo ran > ran.txt",)
    assert not (workspace / "ran.txt").exists()


@of("opencode", *OTHERS)
async def test_a_person_is_asked(backend: AcpBackend, rig: Rig, workspace: Path) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, action=Ruling.ASK))
    request = rig.request(str(workspace), permissions=rules)
    await backend.open(request)
    await backend.send(request, "k1", Message(id="m1", text="[[shell]]"))
    async for event in backend.events("k1", "m1"):
        if isinstance(event, PermissionAsked):
            assert event.access.targets == ("echo ran > ran.txt",)
            assert not (workspace / "ran.txt").exists()
            await backend.answer("k1", event.id, allow=True)
    assert (await backend.wait("k1", "m1")).text == "The command is done with."
    assert (workspace / "ran.txt").read_text() == "ran\n"


@of("opencode", *OTHERS)
async def test_an_agent_that_is_killed_says_so_and_its_session_can_be_loaded(
    start_acp: StartAcp, rig: Rig, workspace: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    backend = start_acp()
    request = rig.request(str(workspace))
    await backend.open(request)
    await ask(backend, request, "[[more]] first words")
    assert family(backend)
    await backend.send(request, "k1", Message(id="m2", text="[[slow]]"))
    async for event in backend.events("k1", "m2"):
        if isinstance(event, Said):
            break
    pid = json.loads((tmp_path / "sessions" / "acp" / "k1" / "state.json").read_text())["pid"]
    os.killpg(pid, signal.SIGKILL)
    with pytest.raises(AgentFailed, match="killed by signal SIGKILL"):
        await backend.wait("k1", "m2")
    await backend.shutdown()

    later = start_acp()
    await later.resume(request, "k1")
    assert re.fullmatch(r"I saw \d+ messages\.", await ask(later, request, "[[more]] last words", "m3"))
    assert "first words" in json.dumps(model.turns[-1].body)
    await later.close("k1")
    assert not family(backend)


@of("opencode", *OTHERS)
async def test_segues_own_tools_are_offered(
    backend: AcpBackend, rig: Rig, workspace: Path, tmp_path: Path
) -> None:
    server = ToolServer(
        name="segue",
        command=(sys.executable, str(Path(__file__).with_name("little_mcp_server.py"))),
        environment={"SUBMITTED": str(tmp_path / "submitted")},
    )
    request = rig.request(str(workspace), tools=server)
    await backend.open(request)
    assert await ask(backend, request, "[[submit]]") == "Handed over."
    assert (tmp_path / "submitted").read_text() == "the work"
    used = [event for event in await events_of(backend) if isinstance(event, ToolUsed)]
    assert {event.tool for event in used} == {Tool.MCP}


QUICK = {
    "e401": "its model refused the key or login|wants a login first",
    "e404": "its model is not on offer",
    "e429": "its model takes no more requests for now",
    "empty": "its reply was empty",
    "overflow": "outgrown the context window",
}
TRIED_AGAIN = {"e500": "the server of its model failed", "cut": "the connection to its model broke off"}


@of("claude", "codex")  # the error table has the others
async def test_an_error_of_the_model_is_one_sentence(backend: AcpBackend, rig: Rig, workspace: Path) -> None:
    await all_fail(backend, rig, workspace, QUICK)


@of("claude", "codex")  # the error table has the others
async def test_an_error_that_is_tried_again_for_a_minute_is_one_sentence(
    backend: AcpBackend, rig: Rig, workspace: Path
) -> None:
    await all_fail(backend, rig, workspace, TRIED_AGAIN)


@of("claude", "codex")  # the error table has the others
async def test_a_model_that_is_not_there_is_one_sentence(
    backend: AcpBackend, agent: str, workspace: Path, tmp_path: Path
) -> None:
    with ScriptedModel(SCRIPT) as closed:
        pass
    rig = MAKERS[agent](tmp_path / "home", closed.url)
    await all_fail(backend, rig, workspace, {"edit": "its model cannot be reached"})


async def all_fail(backend: AcpBackend, rig: Rig, workspace: Path, faults: Mapping[str, str]) -> None:
    """One after the other in one session, which is usable after each."""
    request = rig.request(str(workspace))
    await backend.open(request)
    found = {}
    for scenario in faults:
        try:
            found[scenario] = f"a reply: {await ask(backend, request, f'[[{scenario}]]', scenario)}"
        except BackendError as failure:
            found[scenario] = str(failure)
    assert {name: said for name, said in found.items() if not re.search(faults[name], said)} == {}
    assert not [said for said in found.values() if "\n" in said]


@of("opencode", "codex")
async def test_a_model_that_is_not_on_offer_is_refused_with_those_that_are(
    backend: AcpBackend, rig: Rig, workspace: Path
) -> None:
    with pytest.raises(BackendUnavailable, match=r'offers no model "nope"; on offer: .*scripted'):
        await backend.open(rig.request(str(workspace), model="nope"))
    assert not family(backend)


@of("opencode")
async def test_another_model_is_chosen_by_the_agents_own_option(
    backend: AcpBackend, rig: Rig, workspace: Path, model: ScriptedModel
) -> None:
    request = rig.request(str(workspace), model="scripted/other")
    await backend.open(request)
    await ask(backend, request, "[[more]]")
    # not the last one: OpenCode may ask its usual model for a title meanwhile
    assert "other" in {each.body["model"] for each in model.requests}


@of("opencode", "goose")
async def test_files_go_through_segue_if_that_is_wanted(
    backend: AcpBackend, rig: Rig, workspace: Path
) -> None:
    options = {**rig.options, "client_files": True, "client_terminals": True}
    request = rig.request(str(workspace), profile=rig.profile(options=options))
    await backend.open(request)
    assert await ask(backend, request, "[[edit]]") == "The file is there."
    assert (workspace / "hello.txt").read_text() == "hello\n"


@of("opencode", *OTHERS)
async def test_a_probe_finds_the_agent(backend: AcpBackend, rig: Rig) -> None:
    found = await backend.probe(rig.options)
    assert found.works, found.said
    assert found.program == rig.options["command"][0]
    assert found.version or rig.name == "acp-goose"
    assert not family(backend)
