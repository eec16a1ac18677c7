"""The port to the programs that run agents: what a back end must do, what it may do, what it tells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from segue.domain.catalog import AgentProfile
from segue.domain.errors import BackendUnavailable
from segue.domain.permissions import DEFAULT_RULES, Access, PermissionRule, Tool
from segue.domain.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Capabilities:
    """What a back end can do beyond opening, sending and waiting."""

    resume: bool = False
    """A session can be joined again after Segue was killed, while its agent works."""
    once: bool = False
    """A message id is taken once, whichever process with this data folder sends it. Else a session belongs to
    the process that opened it, and a step that another one takes over gets a new session."""
    conversation: bool = False
    """A second message continues from the first: the session remembers."""
    events: bool = False
    """Words and tool calls are told as they come."""
    usage: bool = False
    """Tokens are reported."""
    tool_log: bool = False
    """Commands are told with their exit codes, so that claims can be checked against them."""
    whole_log: bool = False
    """Every tool call is told, also after Segue was away: a command that is not in the log was not run."""
    asks: bool = False
    """The rule `ask` works: the agent waits for a person."""
    mcp: bool = False
    """Segue's own tools can be offered to the agent."""
    rerun: bool = False
    """Without a conversation, the agent can be run again to structure its own reply, in an empty folder."""
    compaction: bool = False
    """A session can be compacted in place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolServer:
    """An MCP server that the agent is to be given: a program that speaks on its standard streams."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRequest:
    """All that a back end needs to open a session."""

    key: str
    """Opening twice with the same key gives the same session."""
    agent_name: str
    profile: AgentProfile
    model: str | None
    working_dir: str
    title: str
    """For people who look into the back end itself."""
    permissions: Sequence[PermissionRule] = DEFAULT_RULES
    """What the agent may do; the last rule that fits decides."""
    tools: ToolServer | None = None
    """Segue's own tools for this session; none if it is to have none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What is said to an agent."""

    id: str
    """Sending twice with the same id delivers once."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the agent wrote: the words of its last message."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """The agent's next words; joined, they are what it said so far."""

    text: str


class ToolState(StrEnum):
    """How far a tool call has come."""

    STARTED = "started"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUsed:
    """A tool call began or ended; both carry the same id."""

    call_id: str
    tool: Tool
    name: str
    """The agent's own name of the tool."""
    state: ToolState
    target: str = ""
    """The path, command or address; empty if there is none."""
    exit_code: int | None = None
    """Of a command that ended, if it is known."""
    output: str = ""
    """The end of what it gave back, short."""

    def seen_from(self, folder: str) -> ToolUsed:
        """With a path inside the folder as it is seen from there; a command stays as it was run."""
        inside = f"{folder.rstrip('/')}/"
        within = self.target.removeprefix(inside)
        if self.tool is Tool.SHELL or len(inside) == 1 or not within or within.startswith("/"):
            return self
        return replace(self, target=within)


@dataclass(frozen=True, kw_only=True, slots=True)
class PermissionAsked:
    """The agent waits for an answer about this."""

    id: str
    access: Access
    title: str
    """What it wants, in a line, for the person who decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PermissionSettled:
    """A permission was given or refused by the rules, with nobody asked."""

    access: Access
    allowed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageReported:
    """What the session has used so far, in all."""

    usage: Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrying:
    """The agent's model gave an error and is asked again."""

    reason: str


SessionEvent = Said | ToolUsed | PermissionAsked | PermissionSettled | UsageReported | Retrying


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What a look at a back end found."""

    program: str | None
    """Where its program is; none if there is none, or it needs none."""
    version: str | None
    works: bool
    """It starts and answers."""
    said: str
    """One sentence: what was found, or what is wrong and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenBackend:
    """The back end of agents for whom none is named."""

    name: str
    label: str
    """How people are told of it: its name, and its agent where it drives several."""
    why: str
    """`found on the PATH` and the like."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What it needs to know, where it drives several agents."""


class NoOptions(BaseModel):
    """A back end that has no options."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentBackend(ABC):
    """A program that runs agent sessions. Every failure is a `BackendError` with one clear sentence.

    A session belongs to one worker at a time. `wait` and `events` are used side by side, for one message.
    """

    Options: ClassVar[type[BaseModel]] = NoOptions
    """What may stand under `options` in the profile of an agent."""
    capabilities: ClassVar[Capabilities] = Capabilities()
    local_sessions: ClassVar[bool] = True
    """True if a session can be reached from this machine alone."""

    def __init__(self, *, sessions_dir: Path) -> None:
        self.sessions_dir = sessions_dir
        """Where a back end may keep files: in a folder there that has its own name."""

    @abstractmethod
    async def open(self, request: SessionRequest) -> str:
        """Open a session, or find the one that this request opened before; gives its reference."""

    @abstractmethod
    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Deliver a message unless it was delivered before; returns before the reply."""

    @abstractmethod
    async def wait(self, session: str, message_id: str) -> Reply:
        """The reply to a message; `SessionLost` if nobody is there to give it."""

    @abstractmethod
    async def abort(self, session: str) -> None:
        """Stop whatever the session is doing, with every process it started; safe to repeat."""

    async def interrupt(self, session: str) -> None:
        """Stop the turn that is under way, so that the session can be spoken to again; safe to repeat."""
        await self.abort(session)

    @abstractmethod
    async def close(self, session: str) -> None:
        """Forget the session; safe to repeat."""

    async def converses(self, request: SessionRequest) -> bool:  # noqa: ARG002
        """Whether this session would understand a second message."""
        return self.capabilities.conversation

    async def answers(self, request: SessionRequest, text: str) -> bool:  # noqa: ARG002
        """Whether this session would answer such a second message."""
        return await self.converses(request)

    async def resume(self, request: SessionRequest, session: str) -> None:  # noqa: B027  # may do nothing
        """Segue was restarted: make a session usable that an earlier process opened."""

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:  # noqa: ARG002
        """What the agent does while it works on a message; ends with the reply or before."""
        nothing: tuple[SessionEvent, ...] = ()
        for event in nothing:
            yield event

    async def usage(self, session: str) -> Usage | None:  # noqa: ARG002
        """What the session has used so far; none if the back end does not say."""
        return None

    async def answer(self, session: str, permission_id: str, *, allow: bool, comment: str = "") -> None:  # noqa: ARG002
        """Answer what `PermissionAsked` asked; an answer to what is settled already is ignored."""
        raise BackendUnavailable("this back end asks nobody for permission")

    async def compact(self, request: SessionRequest, session: str) -> None:  # noqa: ARG002
        """Shorten what the session remembers, in place; only where `capabilities.compaction` says so."""
        raise BackendUnavailable("this back end cannot compact a session in place")

    async def leftovers(self) -> Collection[str]:
        """Sessions that left something on this machine, by reference; empty if it keeps nothing here."""
        return ()

    async def rest(self) -> None:  # noqa: B027  # may do nothing
        """Nobody speaks here for a while: end what only waits. Sessions stay, and are joined again."""

    async def shutdown(self) -> None:  # noqa: B027  # may do nothing
        """Segue stops: let go of what lives in this process, leave what can live on."""

    async def probe(self, options: Mapping[str, Any]) -> Probe:  # noqa: ARG002
        """Whether it could run an agent here and now. For people: takes seconds, changes nothing."""
        return Probe(program=None, version=None, works=True, said="ready")


class Backends(ABC):
    """The back ends by name, made when first used."""

    @abstractmethod
    def get(self, name: str | None, agent_name: str) -> tuple[str, AgentBackend]:
        """The back end with this name; gives the name too. `BackendUnavailable` if there is none."""

    @abstractmethod
    def with_leftovers(self) -> Collection[AgentBackend]:
        """The back ends that have left something on this machine."""

    @abstractmethod
    def states(self) -> Mapping[str, str]:
        """Back end -> `ready` or `in use`."""

    @abstractmethod
    async def rest(self) -> None:
        """Let every back end that was used end what only waits."""

    @abstractmethod
    async def shutdown(self) -> None:
        """Shut down every back end that was used."""
