"""What a scripted model does: steps, turns and scenarios, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from segue.testing.model.request import ModelRequest

Text: TypeAlias = str | Callable[[ModelRequest], str]
"""A text, or a function that makes it from the request that is answered."""

Arguments: TypeAlias = Mapping[str, Any] | str | Callable[[ModelRequest], Mapping[str, Any] | str]
"""What a tool is called with: named values, or one text for a freeform tool."""


class Playable:
    """What may stand in a scenario: a turn, or a step or fault that is a turn of its own."""

    __slots__ = ()


class ScriptStep(Playable):
    """One thing that the model does in a turn."""

    __slots__ = ()


class Fault(Playable):
    """One way in which the model fails."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Say(ScriptStep):
    """Words of the reply."""

    text: Text


@dataclass(frozen=True, slots=True)
class Write(ScriptStep):
    """Write a file, with whatever tool the agent offers for it."""

    path: str
    content: Text


@dataclass(frozen=True, slots=True)
class Edit(ScriptStep):
    """Replace a text in a file."""

    path: str
    old: str
    new: Text


@dataclass(frozen=True, slots=True)
class Read(ScriptStep):
    """Read a file."""

    path: str


@dataclass(frozen=True, slots=True)
class Shell(ScriptStep):
    """Run a shell command."""

    command: Text


@dataclass(frozen=True, slots=True)
class Call(ScriptStep):
    """Call the tool of this name; agents that put a prefix before it are understood."""

    tool: str
    arguments: Arguments = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Empty(ScriptStep):
    """Reply without a word."""


@dataclass(frozen=True, slots=True)
class Error(Fault):
    """Refuse, in the shape that the API of the request has for it.

    `kind` is one of `segue.testing.model.faults.KINDS`; without it the status tells. With `after`, a stream
    first says that text and then fails.
    """

    status: int = 500
    kind: str | None = None
    message: str | None = None
    retry_after: float | None = None
    after: Text | None = None


@dataclass(frozen=True, slots=True)
class Cut(Fault):
    """Cut the connection after this text; before any answer when there is none."""

    after: Text | None = None


@dataclass(frozen=True, slots=True)
class Hang(Fault):
    """Send nothing more after this text, until the client goes away or the server stops."""

    after: Text | None = None


@dataclass(frozen=True, slots=True)
class ScriptedUsage:
    """Tokens that the reply reports; `input` counts those that no cache read or wrote."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Turn(Playable):
    """One reply of the model: any number of steps, or one fault, and how it is given."""

    steps: tuple[ScriptStep | Fault, ...]
    delay: float = 0
    """Seconds before the reply begins."""
    chunk_delay: float = 0
    """Seconds between the pieces of a stream."""
    chunk: int = 40
    """Characters of a piece of text."""
    usage: ScriptedUsage | None = None
    finish: str | None = None
    """Why the reply ended, when not for a plain reason: length, filter."""
    times: int | None = None
    """Only the first so many requests are answered so; then comes `then`, or else the next turn."""
    then: Turn | None = None

    def __post_init__(self) -> None:
        faults = [step for step in self.steps if isinstance(step, Fault)]
        if faults and len(self.steps) > 1:
            raise ValueError(f"a turn holds steps or one fault, not both: {self.steps}")
        if self.then is not None and self.times is None:
            raise ValueError("a turn with `then` also says how many `times` it comes before")


def turn(*steps: ScriptStep | Fault, then: Playable | None = None, **options: Any) -> Turn:
    """One reply that takes several steps, or has options: see `Turn`."""
    return Turn(steps, then=None if then is None else as_turn(then), **options)


def as_turn(value: Playable) -> Turn:
    """A turn; a single step is a turn of its own."""
    if isinstance(value, ScriptStep | Fault):
        return Turn((value,))
    if isinstance(value, Turn):
        return value
    raise TypeError(f"a scenario holds steps, faults and turns, not {value!r}")


def overflow(message: str | None = None) -> Error:
    """The request is too long for the model, said as each API says it."""
    return Error(400, "overflow", message)


_SIDE = Turn((Say("Scripted session"),))


@dataclass(frozen=True, slots=True)
class Script:
    """Scenarios by name, the one for requests that name none, and the reply to side calls."""

    scenarios: Mapping[str, tuple[Turn, ...]]
    default: str | None = None
    side: Turn | None = _SIDE
    """The reply to requests that offer no tools (titles, summaries); None treats them like all others."""

    def __post_init__(self) -> None:
        if self.default is not None and self.default not in self.scenarios:
            raise ValueError(f"the default scenario {self.default!r} is not among {sorted(self.scenarios)}")


def script(
    scenarios: Mapping[str, Playable | Sequence[Playable]],
    *,
    default: str | None = None,
    side: Playable | None = _SIDE,
) -> Script:
    """A script from steps and turns; the only scenario is also the default."""
    made = {name: _turns(value) for name, value in scenarios.items()}
    if default is None and len(made) == 1:
        default = next(iter(made))
    return Script(made, default, None if side is None else as_turn(side))


def _turns(value: Playable | Sequence[Playable]) -> tuple[Turn, ...]:
    return tuple(map(as_turn, value)) if isinstance(value, Sequence) else (as_turn(value),)


say = Say
write = Write
edit = Edit
read = Read
shell = Shell
call = Call
empty = Empty
error = Error
cut = Cut
hang = Hang
usage = ScriptedUsage
