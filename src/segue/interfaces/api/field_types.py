"""Kinds of value that requests may carry; whatever is none of them is a 422 that names the field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

LARGEST_ID = 2**31 - 1
"""Ids are 32-bit columns; what is larger names nothing."""


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which no text may")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half of a surrogate pair, which no text may")
    return text


def _reachable(text: str) -> str:
    try:
        Path(text).expanduser().resolve().is_dir()
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"cannot be looked at: {reason}") from error
    return text


def _not_an_option(text: str) -> str:
    if text.startswith("-"):
        raise ValueError("starts with a dash: the agent's program would take it for an option")
    return text


PlainText = Annotated[str, AfterValidator(_storable)]
"""Text that every database can keep."""

FolderName = Annotated[PlainText, AfterValidator(_reachable)]
"""The name of a folder, which need not exist."""

ModelName = Annotated[PlainText, AfterValidator(_not_an_option)]
"""The name of a model, which becomes an argument of an agent's program."""
