"""Chooses the turn that answers a request, and makes the answer that an API then words."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from segue.testing.model.request import ModelRequest
from segue.testing.model.script import (
    Call,
    Cut,
    Edit,
    Error,
    Hang,
    Read,
    Say,
    Script,
    ScriptedUsage,
    Shell,
    Turn,
    Write,
)
from segue.testing.model.tools import NoTool, ScriptedToolCall, call_tool, make_text

SIDE = "side"
"""The scenario of a request outside the script, such as one for a title."""

_AFTER_THE_END = Turn((Say("Done."),))
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """The place in the script that answers a request."""

    scenario: str
    turn: Turn
    seen: tuple[str, int, int] | None = None
    """What to count, for a turn that comes only some times."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model replies, before an API words it."""

    tag: str
    text: str
    calls: tuple[ScriptedToolCall, ...]
    usage: ScriptedUsage
    finish: str | None
    chunk: int
    fault: Error | Cut | Hang | None = None

    @property
    def pieces(self) -> Iterator[str]:
        """The text as a stream gives it."""
        for start in range(0, len(self.text), self.chunk):
            yield self.text[start : start + self.chunk]

    def call_id(self, number: int, prefix: str = "call") -> str:
        """The id of one tool call; it tells the reply that it came from."""
        return f"{prefix}_{self.tag}_{number}"


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    name: str | None
    data: Mapping[str, Any] | str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """How one API words a request, a reply, and the events of a stream."""

    parse: Callable[[Mapping[str, Any]], ModelRequest]
    reply: Callable[[ModelAnswer, ModelRequest], dict[str, Any]]
    events: Callable[[ModelAnswer, ModelRequest], Iterator[Event]]
    failure: Callable[[Error], Iterator[Event]]


def choose_turn(script: Script, request: ModelRequest, seen: Mapping[tuple[str, int, int], int]) -> Choice:
    """The turn of the script for a request; `seen` counts the turns that come only some times."""
    if not request.tools and script.side is not None:
        return Choice(SIDE, script.side)
    name = _find_scenario(script, request)
    if name is None:
        known = ", ".join(script.scenarios) or "none"
        message = f"The script has no scenario for this request; write [[name]] of one of: {known}."
        return Choice("", Turn((Error(400, "invalid", message),)))
    places = _group(script.scenarios[name])
    if request.turn >= len(places):
        return Choice(name, _AFTER_THE_END)
    for number, turn in enumerate(places[request.turn]):
        key = (name, request.turn, number)
        if turn.times is None:
            return Choice(name, turn)
        if seen.get(key, 0) < turn.times:
            return Choice(name, turn, key)
    return Choice(name, _AFTER_THE_END)


def _find_scenario(script: Script, request: ModelRequest) -> str | None:
    for name, age in request.markers:
        if name in script.scenarios:
            later = (f"{name}/{number}" for number in range(age + 1, 1, -1))
            return next((one for one in later if one in script.scenarios), name)
    named = request.model.rpartition(":")[2]
    return named if named in script.scenarios else script.default


def _group(turns: tuple[Turn, ...]) -> list[list[Turn]]:
    """The turns by place: those that come only some times stand before the one they give way to."""
    places: list[list[Turn]] = []
    waiting: list[Turn] = []
    for turn in turns:
        chain = list(_chain(turn))
        waiting += chain
        if chain[-1].times is None:
            places.append(waiting)
            waiting = []
    return [*places, waiting] if waiting else places


def _chain(turn: Turn | None) -> Iterator[Turn]:
    while turn is not None:
        yield turn
        turn = turn.then


def make_answer(turn: Turn, request: ModelRequest) -> ModelAnswer:
    """The answer that a turn gives to a request."""
    fault = next((step for step in turn.steps if isinstance(step, Error | Cut | Hang)), None)
    if fault is not None:
        text = "" if fault.after is None else make_text(fault.after, request)
        return _finished(turn, request, text, (), fault)
    texts = [make_text(step.text, request) for step in turn.steps if isinstance(step, Say)]
    try:
        calls = tuple(
            call_tool(step, request)
            for step in turn.steps
            if isinstance(step, Write | Edit | Read | Shell | Call)
        )
    except NoTool as missing:
        return _finished(turn, request, "", (), Error(400, "invalid", str(missing)))
    return _finished(turn, request, "\n".join(texts), calls, None)


def _finished(
    turn: Turn,
    request: ModelRequest,
    text: str,
    calls: tuple[ScriptedToolCall, ...],
    fault: Error | Cut | Hang | None,
) -> ModelAnswer:
    usage = turn.usage
    if usage is None:
        written = text + "".join(json.dumps(call.arguments) for call in calls)
        usage = ScriptedUsage(count_tokens(json.dumps(request.body)), count_tokens(written))
    return ModelAnswer(secrets.token_hex(6), text, calls, usage, turn.finish, max(1, turn.chunk), fault)


def count_tokens(text: str) -> int:
    """About so many tokens are in a text."""
    return max(1, len(text) // _CHARACTERS_PER_TOKEN)


Seen = Counter[tuple[str, int, int]]
