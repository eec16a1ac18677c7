"""How many tokens a model sees at once, as Claude Code told when a message ended: for those under way."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile


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
        with suppress(OSError):  # no reply is worth losing for it
            with NamedTemporaryFile("w", dir=self._path.parent, delete=False, encoding="utf-8") as file:
                file.write(text)
            Path(file.name).replace(self._path)

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
