"""One message and the agent's work on it: what it says, does, asks and uses, kept for whoever listens."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from segue.adapters.backends.acp.tool_calls import AcpToolCall
from segue.application.ports.backend import Said, SessionEvent, ToolState


class AcpTurn:
    """What came for one message. Whoever listens gets all of it, from the beginning."""

    def __init__(self, *, servers: Sequence[str], noise: str) -> None:
        self._servers = servers
        self._noise = re.compile(noise, re.DOTALL) if noise else None
        self._events: list[SessionEvent] = []
        self._news = asyncio.Event()
        self._ended = False
        self._calls: dict[str, AcpToolCall] = {}
        self._all: list[str] = []
        self._since_tool: list[str] = []
        self.refused = ""
        """What it was last not allowed to do, in a line."""

    @property
    def text(self) -> str:
        """Its last message: what was said after the last tool call, or all of it if that is nothing."""
        last = "".join(self._since_tool)
        return last if last.strip() else "".join(self._all)

    @property
    def last_words(self) -> str:
        """The last piece of text that came."""
        return self._all[-1] if self._all else ""

    def tell(self, event: SessionEvent) -> None:
        """Keep an event and wake whoever listens."""
        self._events.append(event)
        self._news.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._news.set()

    async def events(self) -> AsyncIterator[SessionEvent]:
        """All events, as they come, until the turn ends."""
        told = 0
        while True:
            while told < len(self._events):
                yield self._events[told]
                told += 1
            if self._ended:
                return
            self._news = asyncio.Event() if self._news.is_set() else self._news
            await self._news.wait()

    def take_words(self, content: Any) -> None:
        """A piece of the agent's message."""
        text = content.get("text") if isinstance(content, Mapping) else None
        if not isinstance(text, str) or not text or (self._noise and self._noise.fullmatch(text)):
            return
        self._all.append(text)
        self._since_tool.append(text)
        self.tell(Said(text=text))

    def call(self, update: Mapping[str, Any]) -> AcpToolCall:
        """The call that something is told of. Its end may come after the agent's last words."""
        call_id = str(update.get("toolCallId"))
        if call_id not in self._calls:
            self._calls[call_id] = AcpToolCall(call_id)
            self._since_tool.clear()
        return self._calls[call_id]

    def take_call(self, update: Mapping[str, Any]) -> None:
        """Tell a call's begin, once it is clear what it does, and then its end: each once."""
        call = self.call(update)
        call.add(update)
        if call.told in (ToolState.DONE, ToolState.FAILED):
            return
        ended = call.state is not ToolState.STARTED
        begin = call.event(self._servers, ToolState.STARTED)
        if call.told is None and (ended or call.runs or begin.target):
            call.told = ToolState.STARTED
            self.tell(begin)
        if ended:
            call.told = call.state
            self.tell(call.event(self._servers, call.state))
