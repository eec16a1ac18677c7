"""Scripted agents that hold a conversation, and what tests do with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from segue.application.handoffs.outcomes import HandedOff, HandoffFailed, Outcome
from segue.application.segue import Segue
from segue.domain.briefing.handover_prompt import QUESTION
from tests.trusting import write_project

ASKED = QUESTION[:20]
FIX = "Your handoff was checked."
GIVEN = "<handoff-context>"

HANDOFF = """I was nearly there.

## Goal
Let the button work again.

## Constraints & Preferences
- Keep the change small

## Progress

### Done
- [x] Found the cause of the dead button

## Key Decisions
- Fix the handler: the page itself is right

## Critical Context
- The handler is bound twice

## Next Steps
- Fix the handler
"""


def agent(*first: Mapping[str, Any], **when: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An agent that says a thing, hands off when asked, and goes on from a handoff."""
    known = {"asked": ASKED, "fix": FIX, "given": GIVEN}
    script = {"asked": [{"say": HANDOFF}], "given": [{"say": "I go on from there."}]} | when
    return {
        "backend": "scripted",
        "options": {
            "actions": list(first) or [{"say": "Hello."}],
            "when": {known.get(words, words): list(actions) for words, actions in script.items()},
        },
    }


AGENTS: dict[str, Any] = {"helper": agent()}


def write_catalog(folder: Path, agents: Mapping[str, Any]) -> None:
    """Agents for a project, trusted; git does not look at them."""
    write_project(folder, json.dumps({"agents": agents}))
    exclude = folder / ".git" / "info" / "exclude"
    if exclude.parent.is_dir():
        exclude.write_text(".segue/\n")


async def talked(segue: Segue, who: str = "helper") -> int:
    """A session in which something was said."""
    session = await segue.sessions.start(who, title="The button")
    await segue.sessions.say(session.id, "Fix the button.")
    return session.id


def handed(outcome: Outcome) -> HandedOff:
    """The outcome, which must be a handoff."""
    assert isinstance(outcome, HandedOff), outcome
    return outcome


def failed(outcome: Outcome) -> str:
    """Why it failed, which it must have."""
    assert isinstance(outcome, HandoffFailed), outcome
    return outcome.why


def documents(folder: Path) -> list[Path]:
    """All files that handoffs have left."""
    return sorted(path for path in (folder / "data" / "personas").rglob("*") if path.is_file())


async def until(holds: Callable[[], object], seconds: float = 120) -> None:
    """Wait until something has happened that nobody announces."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
