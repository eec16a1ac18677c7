"""Looks into records that others wrote: what is missing or of another kind is nothing, and raises nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

_HALF_PAIRS = re.compile("[\ud800-\udfff]")
_LONGEST = 20_000
"""Characters that are kept of one text."""
_CUT = "\n[...]\n"


def mapping(value: Any) -> Mapping[str, Any]:
    """A record, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> Sequence[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else ()


def text(value: Any) -> str:
    """A text, or an empty one."""
    return _HALF_PAIRS.sub("\ufffd", value) if isinstance(value, str) else ""


def first_text(record: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that holds a text."""
    return next((found for name in names if (found := text(record.get(name)))), "")


def whole(value: Any) -> int | None:
    """A whole number, or none."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**53:
        return None
    return value


def count(value: Any) -> int:
    """A number of things, or 0."""
    return max(whole(value) or 0, 0)


def moment(value: Any) -> datetime | None:
    """A point in time, from ISO text or from seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def joined(content: Any, *kinds: str) -> str:
    """The text of a message: a string, or the texts of its blocks of these kinds."""
    if isinstance(content, str):
        return text(content)
    blocks = [mapping(block) for block in listed(content)]
    found = [text(block.get("text")) for block in blocks if text(block.get("type")) in (kinds or ("text",))]
    return "\n".join(each for each in found if each)


def clip(value: str, most: int = _LONGEST) -> str:
    """The beginning and the end of a long text, cut at white space."""
    if len(value) <= most:
        return value
    half = most // 2
    head, last = value[:half], value[-half:]
    return head[: _last_space(head)] + _CUT + last[_first_space(last) :]


def tail(value: str, most: int) -> str:
    """The end of a text, from a white space on, so that no word is cut."""
    value = value.rstrip()
    if len(value) <= most:
        return value
    last = value[-most:]
    return last[_first_space(last) :].lstrip()


def head(value: str, most: int) -> str:
    """The beginning of a text, with a mark where it was cut."""
    if len(value) <= most:
        return value
    start = value[:most]
    return start[: _last_space(start)].rstrip() + " [...]"


def _first_space(value: str) -> int:
    found = re.search(r"\s", value)
    return found.start() if found else 0


def _last_space(value: str) -> int:
    for at in range(len(value) - 1, max(len(value) - 400, 0), -1):
        if value[at].isspace():
            return at
    return len(value)
