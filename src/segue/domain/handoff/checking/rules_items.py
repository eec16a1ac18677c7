"""Rules about the parts of items: values, paths, line ranges, tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from segue.domain.handoff.checking.rules_values import (
    ENUMERATIONS,
    RuleFinding,
    fix_value,
    items_of,
    places_of,
    quoted,
)
from segue.domain.handoff.model import Handoff, Part, Section

PATH_PARTS = frozenset({"path", "file"})
"""Parts that hold a path from the project root."""

LINES = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
TAG = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z0-9+.-]*://|\$\{?[A-Z]|%[A-Z]+%")


def unknown_value(handoff: Handoff) -> Iterator[RuleFinding]:
    """H002"""
    for place in places_of(handoff):
        known = ENUMERATIONS.get(place.name)
        if known and place.text.strip() and place.text not in known:
            meant = fix_value(place.name, place.text)
            yield RuleFinding(
                field=place.field,
                message=f"{place.name} is {quoted(place.text)}, which is none of {', '.join(known)}",
                hint=f"write `{meant}`" if meant else f"choose one of {', '.join(known)}",
            )


def part_missing(handoff: Handoff) -> Iterator[RuleFinding]:
    """H003"""
    for field, item in items_of(handoff):
        if isinstance(item, Part):
            name = item.headline
        elif isinstance(item, Section):
            name = "text"
        else:
            continue
        if not str(getattr(item, name)).strip():
            kind = field.partition("[")[0]
            yield RuleFinding(
                field=f"{field}.{name}",
                message=f"an item of {kind} has no {name}",
                hint=f"fill in `{name}`, or drop the item",
            )


def path_outside(handoff: Handoff) -> Iterator[RuleFinding]:
    """H020"""
    for place in places_of(handoff):
        path = place.text.strip()
        if place.name not in PATH_PARTS or not path:
            continue
        wrong = path_fault(path)
        if wrong:
            yield RuleFinding(
                field=place.field,
                message=f"path {quoted(path)} {wrong}",
                hint="write the path from the project root, such as `src/auth/jwt.ts`",
            )


def path_fault(path: str) -> str | None:
    """What is wrong with a path, or none."""
    if _ABSOLUTE.match(path):
        return "is absolute"
    depth = 0
    parts = [part for part in re.split(r"[/\\]", path.strip("`'\"")) if part not in {"", "."}]
    for part in parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return "leaves the project"
    return None if depth > 0 else "names no file"


def bad_lines(handoff: Handoff) -> Iterator[RuleFinding]:
    """H021"""
    for place in places_of(handoff):
        if place.name == "lines" and place.text.strip() and not are_lines(place.text):
            yield RuleFinding(
                field=place.field,
                message=f"lines is {quoted(place.text)}, neither `N-M` nor `all`",
                hint="write the first and the last line, such as `45-67`, or `all`",
            )


def are_lines(text: str) -> bool:
    """Whether `text` is a range of lines as the schema wants it."""
    match = LINES.fullmatch(text)
    return text == "all" or bool(match and int(match[1]) <= int(match[2]))


def bad_tag(handoff: Handoff) -> Iterator[RuleFinding]:
    """H022"""
    for place in places_of(handoff):
        if place.name == "applies_to" and not is_tag(place.text):
            yield RuleFinding(
                field=place.field,
                message=f"tag {quoted(place.text)} is not in lower case with hyphens",
                hint="write it like `user-state`",
            )


def is_tag(text: str) -> bool:
    """Whether `text` is lower case, with hyphens between words."""
    return text == text.lower() and TAG.fullmatch(text) is not None
