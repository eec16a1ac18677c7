"""How many tokens a model sees at once, as Claude Code told when a message ended: for those under way."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from segue.adapters.backends.private_files import write_private
from segue.domain.errors import BackendUnavailable


class Windows:
    """Claude Code tells the window of a model only with its result; what it told once is remembered."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, model: str | None) -> int | None:
        """The window of a model; none if it was never told."""
        found = self._read().get(model or "")
        return found if isinstance(found, int) else None

    def learn(self, model: str | None, window: int | None) -> None:
        """Remember what was told."""
        if not model or not window or self.of(model) == window:
            return
        text = json.dumps(self._read() | {model: window})
        with suppress(BackendUnavailable):  # no reply is worth losing for it
            write_private(self._path, text)

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
