"""An agent program that outlives Segue: its sessions, what it was sent and what it replied are files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from segue.application.ports.backend import (
    AgentBackend,
    Capabilities,
    Message,
    Reply,
    SessionEvent,
    SessionRequest,
    UsageReported,
)
from segue.domain.errors import AgentFailed, SessionLost
from segue.domain.usage import Usage

HANDOVER = """## Goal
Do the long work.

## Progress

### Done
- [x] Found the cause

## Key Decisions
- Change the handler: the page itself is right

## Next Steps
- Change the handler
"""
_UNDER_WAY = "This step is under way"
"""Stands in what the successor of a session is given."""
_HAND_OVER = "Stop here and hand over:"
"""How every Segue so far has begun to ask a session for its handoff."""
REPAIRS = 2
"""How often `careless` is asked again before its handoff is good."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A message and what came of it."""

    message_id: str
    text: str
    reply: str | None
    """None while the agent works on, for as long as anybody waits."""
    is_full: bool = False
    """The session reports that its context is nearly full."""
    error: str | None = None


def _hand_off(*files: str, outcome: str = "completed") -> str:
    record = {"what_was_done": ["Did the work"], "files_created": files, "outcome": outcome}
    return f"## Handoff\n\n```json\n{json.dumps(record)}\n```\n"


def _play(agent: str, before: int, text: str) -> Mapping[str, Any]:
    """What an agent makes of the next message, by its name."""
    if text.startswith(_HAND_OVER):
        return {"reply": HANDOVER}
    if agent == "careless" and before < REPAIRS:
        # It does not say what remains to be done.
        return {"reply": _hand_off(f"{agent}.txt", outcome="partial")}
    if agent == "long" and _UNDER_WAY not in text:
        return {"reply": None, "is_full": True}
    if agent == "silent":
        return {"reply": None}
    if agent == "broken":
        return {"reply": None, "error": "it has no key"}
    return {"reply": _hand_off(f"{agent}.txt")}


class OutsideBackend(AgentBackend):
    """Takes each message once, however often it is sent; loses nothing when Segue is killed."""

    capabilities = Capabilities(resume=True, once=True, conversation=True, usage=True, events=True)

    def __init__(self, folder: Path, at: Callable[[str], None] = lambda _act: None) -> None:
        super().__init__(sessions_dir=folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._at = at
        """Called after each act, with its name."""

    async def open(self, request: SessionRequest) -> str:
        """A file for the session, made once."""
        if not self._file(request.key).exists():
            self._replace(request.key, {"agent": request.agent_name, "turns": []})
        self._at("open")
        return request.key

    async def resume(self, request: SessionRequest, session: str) -> None:
        """It lives, unless its file is gone."""
        self._read(session)
        self._at("resume")

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        """Decide at once what will come of it."""
        turns = self.turns(session)
        if all(turn.message_id != message.id for turn in turns):
            played = _play(request.agent_name, len(turns), message.text)
            turn = Turn(message_id=message.id, text=message.text, **played)
            Path(request.working_dir, f"{request.agent_name}.txt").write_text(f"message {len(turns)}\n")
            self._write(session, [*turns, turn])
        self._at("send")

    async def wait(self, session: str, message_id: str) -> Reply:
        """The reply, if there ever is one."""
        turn = self._turn(session, message_id)
        if turn.error is not None:
            raise AgentFailed(turn.error)
        if turn.reply is None:
            await asyncio.Event().wait()
        self._at("wait")
        return Reply(text=turn.reply or "")

    async def events(self, session: str, message_id: str) -> AsyncIterator[SessionEvent]:
        """How full it is."""
        if self._turn(session, message_id).is_full:
            yield UsageReported(usage=_FULL)

    async def usage(self, session: str) -> Usage | None:
        """What was reported last."""
        turns = self.turns(session)
        return _FULL if turns and turns[-1].is_full else None

    async def abort(self, session: str) -> None:
        """Nothing runs between messages."""
        self._at("abort")

    async def close(self, session: str) -> None:
        """Its file stays, for the tests."""
        self._file(session).with_suffix(".closed").touch()
        self._at("close")

    def sessions(self) -> Mapping[str, str]:
        """Session -> its agent."""
        return {path.stem: self._read(path.stem)["agent"] for path in self.sessions_dir.glob("*.json")}

    def turns(self, session: str) -> list[Turn]:
        """All that a session was sent."""
        return [Turn(**turn) for turn in self._read(session)["turns"]]

    def _turn(self, session: str, message_id: str) -> Turn:
        return next(turn for turn in self.turns(session) if turn.message_id == message_id)

    def _file(self, session: str) -> Path:
        return self.sessions_dir / f"{session}.json"

    def _read(self, session: str) -> dict[str, Any]:
        if not self._file(session).exists():
            raise SessionLost("its session is gone")
        found: dict[str, Any] = json.loads(self._file(session).read_text())
        return found

    def _write(self, session: str, turns: Sequence[Turn]) -> None:
        self._replace(session, {**self._read(session), "turns": [asdict(turn) for turn in turns]})

    def _replace(self, session: str, whole: Mapping[str, Any]) -> None:
        part = self._file(session).with_suffix(".part")
        part.write_text(json.dumps(whole))
        part.replace(self._file(session))


_FULL = Usage(context_tokens=80, context_window=100, input_tokens=80)
