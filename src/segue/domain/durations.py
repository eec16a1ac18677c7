"""How long: `30m`, `12h`, `90d`, `52w`."""

from __future__ import annotations

import re
from datetime import timedelta

from segue.domain.errors import InvalidRequest

_DURATION = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_duration(text: str) -> timedelta | None:
    """A number with its unit; none if the text is something else."""
    found = _DURATION.fullmatch(text)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def read_duration(text: str) -> timedelta:
    """A number with its unit."""
    found = parse_duration(text)
    if found is None:
        raise InvalidRequest(f'"{text}" is not a duration: give 30m, 12h, 90d or 52w')
    return found
