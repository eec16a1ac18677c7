"""A program's stream of JSON lines: how it is followed while it grows, and what a reader makes of it."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from segue.application.ports.backend import Reply, SessionEvent
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable
from segue.domain.usage import Usage

SHORT = 1000
"""Characters of a tool's output that are told."""

Line = Mapping[str, Any]

_TOO_LONG = re.compile(
    r"context_length_exceeded|context (window|length)|prompt is too long|maximum context", re.IGNORECASE
)
_NO_LOGIN = re.compile(
    r"not logged in|failed to authenticate|missing environment variable|invalid api key", re.IGNORECASE
)
_NOT_REACHED = re.compile(
    r"unable to connect|connection (failed|refused|error)|error sending request|dns error", re.IGNORECASE
)
_NO_MODEL = re.compile(r"\bmodel\b.{0,80}\bdoes not exist", re.IGNORECASE)
_CUT_OFF = re.compile(
    r"stream disconnected|connection (closed|reset)|was lost|econnreset|terminated", re.IGNORECASE
)


class StreamReader(ABC):
    """Reads the stream of one message from its beginning."""

    conversation: str | None = None
    """The program's own id of the conversation, once it was told."""

    @abstractmethod
    def feed(self, line: Line) -> Iterator[SessionEvent]:
        """Take the next line in; gives what it tells."""

    @abstractmethod
    def usage(self) -> Usage | None:
        """What this message has used so far, if that was told."""

    @abstractmethod
    def reply(self) -> Reply | None:
        """The reply; none while the stream has no end; `BackendError` if it says that the turn failed."""


class Tail:
    """A file of JSON lines that another process writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""

    def read(self, *, ended: bool = False) -> list[dict[str, Any]]:
        """The lines that came since the last look; what is no JSON object is left out."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if ended:
            lines.append(self._rest)
            self._rest = b""
        return [line for line in map(_parsed, lines) if line is not None]


def _parsed(line: bytes) -> dict[str, Any] | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def flat(content: Any) -> str:
    """The text in a tool's result, whatever its form."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for text in map(flat, content) if text)
    if isinstance(content, dict):
        return flat(content.get("text") or content.get("content") or "")
    return ""


def short(text: str) -> str:
    """The end of a text."""
    return text.strip()[-SHORT:]


def model_error(text: str, *, status: int | None, model: str | None, login: str) -> BackendError:
    """What the model's provider said, as an error with one clear sentence. `login` is how to log in."""
    said = " ".join(text.split()).rstrip(" .")[:300]
    if status in (401, 403) or _NO_LOGIN.search(text):
        return BackendUnavailable(f"it is not logged in, or its key is wrong ({said}): {login}")
    which = f'its model "{model}"' if model else "its model"
    if status == 404 or _NO_MODEL.search(text):
        return AgentFailed(f'{which} does not exist or may not be used ({said}): set "model" in its profile')
    reasons = (
        (_TOO_LONG.search(text), "the context of its model is full"),
        (status == 429, "the provider of its model takes no more requests for now"),
        (_NOT_REACHED.search(text), "the provider of its model cannot be reached"),
        (status is not None and status >= 500, "the provider of its model had an error"),
        (_CUT_OFF.search(text), "the connection to its model was cut"),
    )
    what = next((sentence for fits, sentence in reasons if fits), "its model gave an error")
    return AgentFailed(f"{what} ({said})")
