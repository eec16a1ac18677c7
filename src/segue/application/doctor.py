"""A look at every back end, side by side: is it there, does it start, does it answer, what to do if not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from segue.application.ports.backend import Backends, Probe
from segue.domain.errors import SegueError

_GRACE_SECONDS = 10.0
"""What a probe may take to clean up after itself when its time is over, and all back ends to shut down."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A back end that is to be looked at, with the options it would be used with."""

    name: str
    backend: str
    options: Mapping[str, Any] = field(default_factory=dict)
    is_agent: bool = True
    """False for one that is no agent by itself."""
    is_missing: bool = False
    """Its program is known not to be there; nothing is started."""
    hint: str = ""
    """What to do if it is missing."""
    called: frozenset[str] = frozenset()
    """Other names that people have for it."""
    purpose: str = ""
    """What one is for that is no agent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BackendFinding:
    """What the look found."""

    name: str
    backend: str
    is_agent: bool
    works: bool
    """It starts and answers."""
    program: str | None
    version: str | None
    said: str
    """One sentence: what was found, or what is wrong."""
    hint: str | None
    """The command to run if its program is missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Default:
    """The back end that is used where none is named; without its options, which may hold keys."""

    name: str
    backend: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """All back ends, and the one that is used where none is named."""

    default: Default | None
    backends: Sequence[BackendFinding]
    withheld: Sequence[str] = ()
    """The names of environment variables that agents do not get."""

    @property
    def has_agent(self) -> bool:
        """At least one agent works."""
        return any(found.works for found in self.backends if found.is_agent)


async def examine(
    candidates: Sequence[Candidate], backends: Backends, *, seconds: float
) -> list[BackendFinding]:
    """Look at all at once; each has so many seconds. What goes wrong with one is told, and hurts no other."""
    looks = [asyncio.create_task(_look(candidate, backends)) for candidate in candidates]
    try:
        if looks:
            await asyncio.wait(looks, timeout=seconds)
        late = {look for look in looks if not look.done()}
        await _end(late)
        return [
            _finding(candidate, None if look in late else look, seconds)
            for candidate, look in zip(candidates, looks, strict=True)
        ]
    finally:
        await _end({look for look in looks if not look.done()})
        closing = asyncio.ensure_future(backends.shutdown())
        await asyncio.wait({closing}, timeout=_GRACE_SECONDS)
        await _end({closing})


async def _look(candidate: Candidate, backends: Backends) -> Probe:
    if candidate.is_missing:
        return Probe(program=None, version=None, works=False, said="not installed")
    try:
        _, backend = backends.get(candidate.backend, candidate.name)
        return await backend.probe(candidate.options)
    except SegueError as error:
        return Probe(program=None, version=None, works=False, said=str(error))


async def _end(tasks: set[asyncio.Task[Any]] | set[asyncio.Future[Any]]) -> None:
    """Cancel what still runs, give it time to clean up, and keep its errors to ourselves."""
    for task in tasks:
        task.cancel()
    if tasks:
        done, _ = await asyncio.wait(tasks, timeout=_GRACE_SECONDS)
        for task in done:
            if not task.cancelled():
                task.exception()


def _finding(candidate: Candidate, look: asyncio.Task[Probe] | None, seconds: float) -> BackendFinding:
    if look is None:
        probe = _failed(f"did not answer within {seconds:g} s")
    elif look.cancelled():
        probe = _failed("the look at it was given up")
    elif error := look.exception():
        probe = _failed(f"its probe is broken: {type(error).__name__}: {error}")
    else:
        probe = look.result()
    return BackendFinding(
        name=candidate.name,
        backend=candidate.backend,
        is_agent=candidate.is_agent,
        works=probe.works,
        program=probe.program,
        version=probe.version,
        said=(candidate.purpose if probe.works else "") or probe.said,
        hint=candidate.hint if candidate.is_missing else None,
    )


def _failed(said: str) -> Probe:
    return Probe(program=None, version=None, works=False, said=said)
