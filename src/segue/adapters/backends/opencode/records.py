"""What is remembered of each session on this machine, so that any later process can continue it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from segue.adapters.backends.opencode.options import External, ServerSpec
from segue.adapters.backends.private_files import write_private
from segue.domain.permissions import PermissionRule

_TAKEN = ".taken"


class SessionRecord(BaseModel):
    """One session: written before it is opened on the server, so that nothing is ever opened twice."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    place: ServerSpec | External
    server: str
    """The name of its server's folder."""
    directory: str
    rules: tuple[PermissionRule, ...]
    max_retries: int | None
    id: str | None = None
    """OpenCode's own id; none until it has told it."""
    tools: str | None = None
    """The name of the MCP server that is there for this session alone."""
    server_mark: str = ""
    """The life of the server that took the newest message; another life knows nothing of the work."""


class Records:
    """A file for each session, for the user's eyes alone: it may hold a password."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> SessionRecord | None:
        """The record of a session; none if nothing is known of it."""
        try:
            return SessionRecord.model_validate_json(self._file(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, record: SessionRecord) -> SessionRecord:
        """Keep a record, whole or not at all."""
        write_private(self._file(record.key), record.model_dump_json())
        return record

    def take(self, key: str, message_id: str) -> bool:
        """True for the first process that is about to send a message, and for nobody after it."""
        mark = self._file(key).with_suffix(f".{Path(message_id).name}{_TAKEN}")
        try:
            mark.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            return False
        return True

    def remove(self, key: str) -> None:
        """Forget a session."""
        for path in (self._file(key), *self._folder.glob(f"{Path(key).name}.*{_TAKEN}")):
            with suppress(OSError):
                path.unlink()

    def keys(self) -> Collection[str]:
        """The sessions that are remembered."""
        return [path.stem for path in self._folder.glob("*.json")]

    def servers(self) -> Collection[str]:
        """The names of the servers that they need."""
        found = (self.read(key) for key in self.keys())
        return {record.server for record in found if record is not None}

    def _file(self, key: str) -> Path:
        return self._folder / f"{Path(key).name}.json"
