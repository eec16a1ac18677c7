"""One OpenCode server for many tests: a rig, a scripted model, and what a test does with them."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from segue.adapters.backends.opencode.backend import OpenCodeBackend
from segue.application.ports.backend import Message, Reply, SessionEvent, SessionRequest
from segue.testing import (
    Playable,
    ScriptedModel,
    call,
    cut,
    edit,
    empty,
    error,
    overflow,
    read,
    say,
    shell,
    turn,
    usage,
    write,
)
from tests.agents import rig_opencode
from tests.agents.rig import Rig

HANDOFF = "## What Was Done\nWrote hello.txt.\n\n## Next Agent Context\nRead it."
SLOW = " ".join(f"word{number}" for number in range(300))
OUTSIDE = Path(tempfile.gettempdir(), f"segue-test-outside-{os.getpid()}.txt")
NAP = f"321.{os.getpid()}"
"""Seconds that no other test process sleeps."""

SCENARIOS: dict[str, Playable | list[Playable]] = {
    "edit": [
        turn(say("I will write it."), write("hello.txt", "hello\n")),
        shell("cat hello.txt; exit 3"),
        turn(say(HANDOFF), usage=usage(input=100, output=10, cache_read=50), chunk=10),
    ],
    "fix": [read("a.txt"), edit("a.txt", "one", "two"), say("Fixed.")],
    "say": say("Said."),
    "slow": turn(say(SLOW), chunk=20, chunk_delay=0.05),
    "short": turn(say(SLOW[:400]), chunk=20, chunk_delay=0.15),
    "whole": turn(say(f"outcome: completed\nwhat_was_done: [{SLOW[:350]}]"), chunk=20, chunk_delay=0.15),
    "sleep": [shell(f"sleep {NAP}"), say("Slept.")],
    "outside": [write(str(OUTSIDE), "x"), say("Tried.")],
    "peek": [read(str(OUTSIDE)), shell(f"cat {OUTSIDE}"), say("Looked.")],
    "push": [
        shell("git push origin main"),
        turn(say("Pushed."), usage=usage(input=100_000, output=1)),
    ],
    "sub": [
        call("task", {"description": "sub", "prompt": "[[push]] now", "subagent_type": "general"}),
        say("Delegated."),
    ],
    "subecho": [
        call("task", {"description": "sub", "prompt": "[[echo]] now", "subagent_type": "general"}),
        say("Delegated."),
    ],
    "echo": [shell("echo there"), say("Echoed.")],
    "tool": [call("submit_handoff", {"done": "all"}), say("Handed over.")],
    "401": error(401),
    "429": error(429),
    "500": error(500),
    "overflow": overflow(),
    "cut": cut(after="half of it"),
    "length": turn(say("half of"), finish="length"),
    "filter": turn(say("half of"), finish="filter"),
    "empty": empty(),
    "flaky": turn(error(500), times=1, then=say("Recovered.")),
}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What the tests of a module share; a session that is never closed keeps the server alive."""

    rig: Rig
    model: ScriptedModel
    sessions_dir: Path

    def backend(self) -> OpenCodeBackend:
        """The back end as a process of its own would have it."""
        return OpenCodeBackend(sessions_dir=self.sessions_dir)

    def request(self, workspace: Path, **changes: Any) -> SessionRequest:
        """A request for a new session."""
        options = changes.pop("options", {})
        profile = self.rig.profile(options={**self.rig.options, **options})
        values = {"key": uuid4().hex, "profile": profile, **changes}
        return self.rig.request(str(workspace), **values)

    def state(self) -> dict[str, Any]:
        """What is known of the server that runs."""
        (file,) = [
            path
            for path in self.sessions_dir.glob("opencode/servers/*/state.json")
            if psutil.pid_exists(json.loads(path.read_text())["pid"])
        ]
        found: dict[str, Any] = json.loads(file.read_text())
        return found

    def asked(self, scenario: str) -> int:
        """How often the model was asked to play it."""
        return sum(record.scenario == scenario for record in self.model.requests)


@contextmanager
def running_bench(folder: Path) -> Iterator[Bench]:
    """A bench for a module; ends with nothing left behind."""
    with ScriptedModel(SCENARIOS) as model:
        bench = Bench(
            rig=rig_opencode.make(folder / "home", model.url), model=model, sessions_dir=folder / "sessions"
        )
        (folder / "keeper").mkdir()
        request = bench.request(folder / "keeper", key="keeper")
        asyncio.run(_open(bench, request))
        yield bench
        asyncio.run(_close(bench))


async def _open(bench: Bench, request: SessionRequest) -> None:
    backend = bench.backend()
    await backend.open(request)
    await backend.shutdown()


async def _close(bench: Bench) -> None:
    backend = bench.backend()
    for session in await backend.leftovers():
        await backend.close(session)
    await backend.shutdown()
    for session in await backend.leftovers():
        await backend.close(session)
    assert not list(bench.sessions_dir.glob("opencode/servers/*/state.json"))


async def ask(
    backend: OpenCodeBackend, request: SessionRequest, text: str, *, message_id: str = "m1"
) -> tuple[Reply, list[SessionEvent]]:
    """Open, send and wait; the reply and all that was told meanwhile."""
    session = await backend.open(request)
    await backend.send(request, session, Message(id=message_id, text=text))
    told = [event async for event in backend.events(session, message_id)]
    return await backend.wait(session, message_id), told
