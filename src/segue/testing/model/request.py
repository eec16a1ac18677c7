"""What an agent asked the model, the same for every API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

Api: TypeAlias = Literal["chat", "responses", "messages"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_MARKER = re.compile(r"\[\[([\w./-]+)\]\]")
_REMINDER = re.compile(
    r"<(system-reminder|environment_context|info-msg|turn_aborted|user_instructions)>.*?</\1>", re.DOTALL
)
_FOLDER = re.compile(
    r"<cwd>\s*(/[^<\n]+?)\s*</cwd>|(?:working|current) directory(?: is)?:?\**\s*[`'\"]?(/[^\n<`'\"]+)",
    re.IGNORECASE,
)
_TAG = re.compile(r"_([0-9a-f]{12})_\d+$")


@dataclass(frozen=True, slots=True)
class RequestMessage:
    """One message of the conversation; `tag` names the reply of ours that its tool calls came from."""

    role: Role
    text: str
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the agent offers."""

    name: str
    schema: Mapping[str, Any]
    namespace: str | None = None
    freeform: bool = False

    @property
    def full_name(self) -> str:
        """The name with its namespace before it."""
        return f"{self.namespace}__{self.name}" if self.namespace else self.name

    @property
    def properties(self) -> Mapping[str, Any]:
        """The arguments that it takes."""
        found: Mapping[str, Any] = self.schema.get("properties") or {}
        return found


@dataclass(frozen=True)
class ModelRequest:
    """A request to the model."""

    api: Api
    model: str
    stream: bool
    messages: tuple[RequestMessage, ...]
    tools: tuple[OfferedTool, ...]
    body: Mapping[str, Any] = field(repr=False)

    @property
    def text(self) -> str:
        """The newest text of the user: for an agent of Segue, the briefing."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")

    @property
    def results(self) -> tuple[str, ...]:
        """What the tools answered since the newest user text."""
        return tuple(message.text for message in self._since_user() if message.role == "tool")

    @cached_property
    def turn(self) -> int:
        """How many replies the model has given since the newest user text."""
        count, tag, before = 0, None, ""
        for message in self._since_user():
            if message.role == "assistant":
                known = message.tag is not None and message.tag == tag
                count += not known and before != "assistant"
                tag = message.tag or tag
            before = before if message.role == "system" else message.role
        return count

    @cached_property
    def markers(self) -> tuple[tuple[str, int], ...]:
        """The names in `[[ ]]`, newest first; the number tells how many user texts came after it."""
        return tuple((name, age) for age, text in self._instructions() for name in _names(text))

    @cached_property
    def cwd(self) -> str | None:
        """The working directory that the agent's own prompt tells."""
        for role in ("system", "user"):
            texts = [message.text for message in self.messages if message.role == role]
            for text in reversed(texts):
                if found := _FOLDER.findall(text):
                    return (found[-1][0] or found[-1][1]).strip().rstrip("./,") or "/"
        return None

    def _since_user(self) -> tuple[RequestMessage, ...]:
        newest = max((i for i, m in enumerate(self.messages) if m.role == "user"), default=-1)
        return self.messages[newest + 1 :]

    def _instructions(self) -> Iterator[tuple[int, str]]:
        users = [message.text for message in self.messages if message.role == "user"]
        yield from enumerate(reversed(users))
        yield from ((0, message.text) for message in reversed(self.messages) if message.role == "system")


def _names(text: str) -> list[str]:
    return _MARKER.findall(text)[::-1]


def is_reminder(text: str) -> bool:
    """Whether a text that stands under the user's name holds only what the agent itself put there."""
    return "<" in text and not _REMINDER.sub("", text).strip()


def read_tag(call_id: object) -> str | None:
    """The reply that a tool call came from, by the id that we gave it."""
    found = _TAG.search(str(call_id))
    return found.group(1) if found else None


def flatten(content: object) -> str:
    """The text of a content: a string, a part, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for text in map(flatten, content) if text)
    if isinstance(content, dict):
        return next((flatten(content[key]) for key in ("text", "content", "output") if key in content), "")
    return ""
