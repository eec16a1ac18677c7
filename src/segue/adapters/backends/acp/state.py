"""What a session leaves on disk, so that a later Segue can end its process or take it up again."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil

from segue.domain.usage import Usage

_FILE = "state.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionState:
    """The file of one session."""

    acp_session: str = ""
    """The agent's own name of the session; empty before it was opened."""
    pid: int | None = None
    started: float | None = None
    """When that process started, by the machine's own clock: tells it from a later one with the same pid."""
    sent: tuple[str, ...] = ()
    """Ids of the messages that were delivered, or were about to be."""
    usage: Usage | None = None
    """What was used up to the end of the last turn."""

    def with_process(self, pid: int) -> SessionState:
        """The same session, in a new process."""
        try:
            started = psutil.Process(pid).create_time()
        except psutil.Error:
            started = None
        return replace(self, pid=pid, started=started)

    def leaders(self) -> tuple[int, ...]:
        """The process, if it lives or has left a group behind; never one that only has the same number."""
        if self.pid is None:
            return ()
        try:
            same = psutil.Process(self.pid).create_time() == self.started
        except psutil.NoSuchProcess:
            same = True  # its number is not given out again while members of its group live
        except psutil.Error:
            same = False
        return (self.pid,) if same else ()


def read_state(folder: Path) -> SessionState | None:
    """The state of a session; none if there is none that can be read."""
    try:
        values = json.loads((folder / _FILE).read_bytes())
        usage = Usage(**values["usage"]) if values.get("usage") else None
        return SessionState(**(values | {"sent": tuple(values["sent"]), "usage": usage}))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_state(folder: Path, state: SessionState) -> None:
    """Replace the state of a session in one go."""
    draft = folder / f"{_FILE}.new"
    draft.write_text(json.dumps(asdict(state)), encoding="utf-8")
    os.replace(draft, folder / _FILE)  # noqa: PTH105  # in one go


def take(folder: Path, message_id: str) -> bool:
    """True for the first process that is about to send a message, and for nobody after it."""
    try:
        (folder / f"{message_id}.taken").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def read_reply(folder: Path, message_id: str) -> str | None:
    """The reply to a message, if it came."""
    try:
        return (folder / f"{message_id}.reply").read_text(encoding="utf-8")
    except OSError:
        return None


def write_reply(folder: Path, message_id: str, text: str) -> None:
    """Keep a reply until the session is closed: Segue may be killed before it has recorded it."""
    draft = folder / f"{message_id}.new"
    draft.write_text(text, encoding="utf-8", errors="replace")
    os.replace(draft, folder / f"{message_id}.reply")  # noqa: PTH105  # in one go
