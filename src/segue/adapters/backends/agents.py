"""The agent programs that back ends drive: where they are, and which is the default, by a look at files."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.adapters.backends import BACKENDS, plugins
from segue.application.doctor import Candidate
from segue.application.ports.backend import ChosenBackend
from segue.domain.errors import InvalidRequest, UnknownName

Options = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentProgram:
    """A program that is an agent, and the back end that drives it."""

    backend: str
    program: str
    """Its name on the PATH."""
    agent: str | None = None
    """What the back end calls it, where the back end drives several."""
    install: str | None = None
    """What `segue agents install` calls it; none if that does not know it."""

    @property
    def name(self) -> str:
        """How people are told of it."""
        return f"{self.backend} {self.agent}" if self.agent else self.backend

    @property
    def hint(self) -> str:
        """What to do if it is not there."""
        if self.install:
            return f"segue agents install {self.install}"
        return f"install {self.program} and put it on the PATH"


AGENT_PROGRAMS = (
    AgentProgram(backend="opencode", program="opencode", install="opencode"),
    AgentProgram(backend="claude_code", program="claude", install="claude"),
    AgentProgram(backend="codex", program="codex", install="codex"),
    AgentProgram(backend="acp", agent="goose", program="goose", install="goose"),
    AgentProgram(backend="acp", agent="claude", program="claude-agent-acp", install="claude-agent-acp"),
    AgentProgram(backend="acp", agent="codex", program="codex-acp", install="codex-acp"),
    AgentProgram(backend="acp", agent="gemini", program="gemini"),
    AgentProgram(backend="acp", agent="qwen", program="qwen"),
    AgentProgram(backend="acp", agent="omp", program="omp"),
    AgentProgram(backend="acp", agent="pi", program="pi-acp"),
    AgentProgram(backend="acp", agent="opencode", program="opencode", install="opencode"),
)
"""The first that is there is the default."""
PLAIN = {
    "command": 'any program as an agent, for example --command "claude -p"',
    "scripted": "replays a script, for demonstrations and tests",
}
"""Back ends that are always ready and no agents themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundProgram:
    """Where an agent program is."""

    options: Options
    """The options with which its back end finds it."""
    why: str


class AgentPrograms:
    """Finds agent programs: those that the options name, those on the PATH, those that Segue installed."""

    def __init__(
        self, *, installed: Callable[[str], Path | None], options: Mapping[str, Options] | None = None
    ) -> None:
        self._installed = installed
        self._options = options or {}
        """Back end -> options from the settings."""

    def choose(self) -> ChosenBackend | None:
        """The back end of agents for whom none is named; none if no program is there."""
        for known in _known():
            if found := self._find(known, self._options.get(known.backend, {})):
                options = {"agent": known.agent} if known.agent else {}
                return ChosenBackend(name=known.backend, label=known.name, why=found.why, options=options)
        return None

    def complete(self, backend: str, options: Options) -> Options:
        """The options, with the place of the program where only Segue's own folder has it."""
        for known in AGENT_PROGRAMS:
            if known.backend == backend and known.agent in (None, options.get("agent")):
                found = self._find(known, options)
                return found.options if found else options
        return options

    def place_of(self, tool: str) -> str | None:
        """The program of a tool: the one that the settings name, else on the PATH, else Segue's own."""
        backend = next((known.backend for known in AGENT_PROGRAMS if known.program == tool), "")
        if named := self._options.get(backend, {}).get("program"):
            if found := shutil.which(os.path.expanduser(str(named))):  # noqa: PTH111
                return found
            raise InvalidRequest(
                f"{named}, which the settings name as the program of {backend}, is not there"
            )
        installed = None if (found := shutil.which(tool)) else self._installed(tool)
        return found or (str(installed) if installed else None)

    def candidates(self, wanted: Collection[str] = (), also: Collection[str] = ()) -> list[Candidate]:
        """The back ends for a look at each, in the order of the default: all, or those that are wanted.

        A dotted path may be wanted as well; `also` may hold some that are looked at with all the others.
        """
        agents = [self._candidate(known) for known in _known()]
        paths = [name for name in dict.fromkeys(wanted or also) if ":" in name]
        others = [*sorted(set(plugins()) - set(BACKENDS)), *paths, *PLAIN]
        every = [*agents, *map(self._other, others)]
        if not wanted:
            hidden = _hidden(agents)
            return [candidate for candidate in every if candidate not in hidden]
        for name in wanted:
            if not any(name in candidate.called for candidate in every):
                known = {each for one in every for each in (one.name, one.backend)}
                raise UnknownName("back end", name, known)
        return [candidate for candidate in every if not candidate.called.isdisjoint(wanted)]

    def _candidate(self, known: AgentProgram) -> Candidate:
        found = self._find(known, self._options.get(known.backend, {}))
        return Candidate(
            name=known.name,
            backend=known.backend,
            options=found.options if found else {},
            called=frozenset(filter(None, [known.name, known.backend, known.agent, known.program])),
            is_missing=found is None,
            hint=known.hint,
        )

    def _other(self, name: str) -> Candidate:
        return Candidate(
            name=name,
            backend=name,
            options=self._options.get(name, {}),
            called=frozenset({name}),
            is_agent=name not in PLAIN,
            purpose=PLAIN.get(name, ""),
        )

    def _find(self, known: AgentProgram, options: Options) -> FoundProgram | None:
        agent = options.get("agent", known.agent) if known.agent else None
        if agent != known.agent:
            return None
        named = {**options, "agent": agent} if agent else options
        if options.get("url"):
            return FoundProgram(options=named, why="its server is named in the options")
        if _names_one(options):
            return FoundProgram(options=named, why="named in the options") if _is_there(options) else None
        if shutil.which(known.program, path=_path_of(options)):
            return FoundProgram(options=named, why="found on the PATH")
        if known.install and (place := self._installed(known.install)):
            key = {"command": [str(place)]} if agent else {"program": str(place)}
            return FoundProgram(options={**named, **key}, why="installed by Segue")
        return None


def _known() -> Iterator[AgentProgram]:
    """The agent programs whose back end is there."""
    return (known for known in AGENT_PROGRAMS if known.backend in BACKENDS)


def _hidden(agents: list[Candidate]) -> list[Candidate]:
    """Other ways to an agent that are not told: those that are not there, as long as one is."""
    shared = [candidate for candidate in agents if candidate.name != candidate.backend]
    there = [candidate for candidate in shared if not candidate.is_missing]
    kept = [candidate for candidate in there if candidate.name != "acp opencode"] or shared[:1]
    return [candidate for candidate in shared if candidate not in kept]


def _names_one(options: Options) -> bool:
    return bool(options.get("program") or options.get("command") or options.get("url"))


def _is_there(options: Options) -> bool:
    command = options.get("program") or options.get("command") or ""
    words = shlex.split(command) if options.get("command") and isinstance(command, str) else command
    program = words if isinstance(words, str) else next(iter(words), "")
    return shutil.which(os.path.expanduser(str(program)), path=_path_of(options)) is not None  # noqa: PTH111


def _path_of(options: Options) -> str | None:
    set_env = options.get("set_env")
    return (set_env.get("PATH") or None) if isinstance(set_env, Mapping) else None
