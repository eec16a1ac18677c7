"""Files that a back end keeps for itself: for this user's eyes only, each whole or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

from segue.domain.errors import BackendUnavailable


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, whole or not at all."""
    fresh = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        fresh.replace(path)
    except OSError as error:
        raise BackendUnavailable(f"cannot write {path}: {error.strerror}") from error
