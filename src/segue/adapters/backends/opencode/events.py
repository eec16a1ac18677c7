"""OpenCode's events as ours: words, tool calls, usage; nothing is told twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from segue.adapters.backends.opencode.kinds import tool_used
from segue.application.ports.backend import Said, SessionEvent, ToolState, ToolUsed, UsageReported
from segue.domain.usage import Usage

Message = Mapping[str, Any]


class Narrator:
    """Tells what a session does while it works on one message."""

    def __init__(self, session: str, message: str) -> None:
        self._session = session
        self._users = {message}
        self._speaking: set[str] = set()
        self._words: dict[str, int] = {}
        self._closed: set[str] = set()
        self._states: dict[str, ToolState] = {}
        self.calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        """Tool call -> its name and what it was given."""
        self.model: tuple[str, str] | None = None
        """Provider and model of the newest turn."""
        self.window: int | None = None
        self._totals: dict[str, Usage] = {}
        self._context: int | None = None
        self._reported: Usage | None = None

    def take(self, event: Mapping[str, Any]) -> Iterator[SessionEvent]:
        """What an event tells that was not told before."""
        kind, properties = event["type"], event.get("properties") or {}
        if kind == "message.part.delta":
            yield from self._delta(properties)
        elif kind == "message.part.updated":
            yield from self._part(properties.get("part") or {})
        elif kind == "message.updated":
            self._message(properties.get("info") or {})
        elif kind in ("session.created", "session.updated"):
            yield from self._total(properties.get("info") or {})

    def catch_up(self, messages: Sequence[Message], *, missed: bool) -> Iterator[SessionEvent]:
        """What the messages of the session tell that was not told; `missed` if events may have been.

        OpenCode keeps a text only when it is complete: of one that is being said, the words that were missed
        come with its end.
        """
        for message in after(messages, next(iter(self._users))):
            self._message(message["info"])
            for part in message["parts"]:
                yield from self._part(part)
                if missed and part.get("type") == "text":
                    self._closed.add(part["id"])

    def _total(self, info: Mapping[str, Any]) -> Iterator[SessionEvent]:
        """The running totals of the session or of one that it started."""
        if info.get("id") and isinstance(info.get("tokens"), Mapping):
            self._totals[info["id"]] = usage_of(info)
            total = sum(self._totals.values(), Usage())
            yield from self.report(with_context(total, self._context, self.window))

    def _message(self, info: Mapping[str, Any]) -> None:
        if info.get("sessionID") != self._session:
            return
        if info.get("role") == "user" and self._speaking:
            self._users.add(info["id"])  # OpenCode's own, as after a compaction
        if info.get("role") != "assistant" or info.get("parentID") not in self._users or info.get("summary"):
            return
        self._speaking.add(info["id"])
        self.model = (str(info.get("providerID")), str(info.get("modelID")))
        self._context = context_tokens(info) or self._context

    def _delta(self, properties: Mapping[str, Any]) -> Iterator[SessionEvent]:
        part, words = properties.get("partID"), str(properties.get("delta", ""))
        if properties.get("field") == "text" and part in self._words and part not in self._closed and words:
            yield Said(text=self._gap(part) + words)
            self._words[part] += len(words)

    def _part(self, part: Mapping[str, Any]) -> Iterator[SessionEvent]:
        if part.get("type") == "tool":
            yield from self._tool(part)
        elif part.get("type") == "text" and part.get("messageID") in self._speaking and is_spoken(part):
            told = self._words.setdefault(part["id"], 0)
            if words := str(part.get("text", ""))[told:]:
                yield Said(text=self._gap(part["id"]) + words)
                self._words[part["id"]] += len(words)
            if (part.get("time") or {}).get("end"):
                self._closed.add(part["id"])

    def _gap(self, part: str) -> str:
        """An empty line between one text and the next."""
        return "\n\n" if not self._words[part] and any(self._words.values()) else ""

    def _tool(self, part: Mapping[str, Any]) -> Iterator[ToolUsed]:
        used = tool_used(part)
        if used is None:
            return
        self.calls[used.call_id] = (used.name, (part.get("state") or {}).get("input") or {})
        if self._states.get(used.call_id) in (used.state, ToolState.DONE, ToolState.FAILED):
            return
        self._states[used.call_id] = used.state
        yield used

    def report(self, usage: Usage) -> Iterator[UsageReported]:
        """The usage, if it is news."""
        if usage != self._reported and usage.total_tokens:
            self._reported = usage
            yield UsageReported(usage=usage)


def after(messages: Sequence[Message], user: str) -> Sequence[Message]:
    """What came after our message."""
    for place, message in enumerate(messages):
        if message["info"]["id"] == user:
            return messages[place + 1 :]
    return ()


def answer_to(messages: Sequence[Message], user: str) -> Message | None:
    """The assistant's message that answers ours, as far as it has come.

    OpenCode may compact in between and continue by itself. If the agent had finished before, what it said
    then is the answer, and not what it said when it was told to continue.
    """
    spoken = [
        message
        for message in after(messages, user)
        if message["info"].get("role") == "assistant" and not message["info"].get("summary")
    ]
    finished = [m for m in spoken if m["info"].get("parentID") == user and is_final(m)]
    best = finished or spoken
    return best[-1] if best else None


def is_final(message: Message) -> bool:
    """True if the agent had nothing more to do after it."""
    info = message["info"]
    return bool(info.get("time", {}).get("completed")) and info.get("finish") not in (
        None,
        "tool-calls",
        "unknown",
    )


def is_spoken(part: Mapping[str, Any]) -> bool:
    """True for words of the agent itself."""
    return not part.get("synthetic") and not part.get("ignored")


def text_of(message: Message) -> str:
    """The words of a message."""
    parts = (part for part in message["parts"] if part.get("type") == "text" and is_spoken(part))
    return "\n\n".join(text for part in parts if (text := str(part.get("text", ""))))


def usage_of(info: Mapping[str, Any]) -> Usage:
    """Tokens and cost as OpenCode counts them; reasoning is output."""
    tokens = info.get("tokens") or {}
    cache = tokens.get("cache") or {}
    return Usage(
        input_tokens=int(tokens.get("input") or 0),
        output_tokens=int(tokens.get("output") or 0) + int(tokens.get("reasoning") or 0),
        cache_read_tokens=int(cache.get("read") or 0),
        cache_write_tokens=int(cache.get("write") or 0),
        cost=float(info["cost"]) if isinstance(info.get("cost"), int | float) else None,
    )


def context_tokens(info: Mapping[str, Any]) -> int:
    """What a turn took of the model's window; after a summary, no more than that is left in it."""
    usage = usage_of(info)
    if info.get("summary"):
        return usage.output_tokens
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def with_context(usage: Usage, tokens: int | None, window: int | None) -> Usage:
    """The usage with how full the context is."""
    return usage + Usage(context_tokens=tokens, context_window=window)
