"""What can go wrong with an agent, as scenarios of the scripted model and as acts of violence."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from segue.application.segue import Segue
from segue.testing import ScriptedModel, cut, empty, error, hang, overflow, say, script, shell, turn
from tests.agents.rig import Rig

LONG = " ".join(f"word{number}" for number in range(100))
HANDOFF = "## What Was Done\n- Tried it.\n\n## Next Agent Context\nGo on."

PLAN = script(
    {
        "401": error(401),
        "429": error(429, retry_after=1),
        "500": error(500, retry_after=1),
        "missing": error(404),
        "overflow": overflow(),
        "cut": cut(after="half of it"),
        "empty": empty(),
        "push": [shell("git push origin main"), say(HANDOFF)],
        "endless": hang(LONG),
        "stuck": turn(hang(LONG), times=1, then=say(HANDOFF)),
    },
    default="endless",
)

Act = Callable[[Segue, int, Rig, ScriptedModel], Awaitable[None]]


async def nothing(segue: Segue, pipeline_id: int, rig: Rig, model: ScriptedModel) -> None:
    """The scenario is enough."""


async def speaking(segue: Segue, pipeline_id: int) -> None:
    """Wait until the agent works on its message."""
    async with asyncio.timeout(300):
        while True:
            entries = await segue.views.entries_after(0, pipeline_id=pipeline_id)
            if any(entry.event_type == "message_sent" for entry in entries):
                return
            await asyncio.sleep(0.1)


async def abort(segue: Segue, pipeline_id: int, rig: Rig, model: ScriptedModel) -> None:
    """A person stops the run while the agent speaks."""
    await speaking(segue, pipeline_id)
    await _until_asked(model, "endless")
    await segue.pipelines.abort(pipeline_id, "a person stopped it")


async def kill(segue: Segue, pipeline_id: int, rig: Rig, model: ScriptedModel) -> None:
    """kill -9 of the agent's own process, or of its server, while it speaks."""
    await speaking(segue, pipeline_id)
    await _until_asked(model, "stuck")
    kill_agent(rig)


async def _until_asked(model: ScriptedModel, scenario: str) -> None:
    await model.wait_for_async(lambda request: request.scenario == scenario, timeout=120)


def agent_processes(rig: Rig) -> list[psutil.Process]:
    """The processes of the rig's own home, which no other test shares."""
    home = dict(rig.options)["set_env"]["HOME"]
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == home and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def kill_agent(rig: Rig) -> None:
    """kill -9 of all that runs for the rig, as if at once.

    It is all stopped before the first is killed: a process that sees another one die may end by itself, or
    write down how that one ended.
    """
    stopped: set[psutil.Process] = set()
    while found := set(agent_processes(rig)) - stopped:
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        stopped |= found
    for process in stopped:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One row of the error table."""

    name: str
    scenario: str
    act: Act = nothing
    is_down: bool = False
    """The model's server does not listen."""
    is_tried_again: bool = False
    """For a minute, by some agents: such a fault is begun before the others."""
    model: Mapping[str, str] = field(default_factory=dict)
    """Back end -> a model that it does not have; others are sent to one that is not there."""


NO_SUCH_MODEL = {"opencode": "scripted/nope", "acp-opencode": "scripted/nope"}

FAULTS = (
    Fault(name="provider down", scenario="endless", is_down=True, is_tried_again=True),
    Fault(name="401, wrong key", scenario="401"),
    Fault(name="429, too many requests", scenario="429"),
    Fault(name="500, provider broken", scenario="500"),
    Fault(
        name="bad model",
        scenario="missing",
        model={"opencode": "scripted/nope", "acp-opencode": "scripted/nope"},
    ),
    Fault(name="context overflow", scenario="overflow"),
    Fault(name="connection cut in mid-stream", scenario="cut", is_tried_again=True),
    Fault(name="reply without text", scenario="empty"),
    Fault(name="permission denied", scenario="push"),
    Fault(name="abort in mid-stream", scenario="endless", act=abort),
    Fault(name="agent or server killed", scenario="stuck", act=kill),
)


def stem(sentence: str, rig: Rig) -> str:
    """A reason in our own words: what the agent, its provider or this machine added is left out."""
    text = re.sub(r"\((?:[^()]|\([^()]*\))*\)", "(…)", sentence)
    text = re.sub(r"(?<!\w)/\S+", "PATH", text)
    text = re.sub(r"\b\d+(\.\d+)?\b", "N", text)
    head, colon, _ = text.partition(": ")
    return f"{head}{colon and ': …'}"


def catalog_of(rig: Rig, down: Rig, profile: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """An agent and a template of one step for each fault."""
    agents, templates = {}, {}
    for number, fault in enumerate(FAULTS):
        base = down if fault.is_down else rig
        changes = {"model": fault.model[rig.name]} if rig.name in fault.model else {}
        agents[f"agent{number}"] = profile(base, **changes)
        templates[f"fault{number}"] = {
            "steps": [{"agent": f"agent{number}", "description": f"[[{fault.scenario}]]"}],
            "on_refuted": "note",
            "on_bad_handoff": "note",
        }
    return {"agents": agents, "templates": templates}
