"""Fixes what can be fixed without guessing: spelling of values, paths, line ranges and tags, repetitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from segue.domain.handoff.checking.rules_items import PATH_PARTS, are_lines, is_tag, path_fault
from segue.domain.handoff.checking.rules_text import statement_key
from segue.domain.handoff.checking.rules_values import ENUMERATIONS, fix_value
from segue.domain.handoff.model import Handoff, Identified

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W_]+")
_RANGE = re.compile(
    r"(?:lines?\s*)?L?([0-9]{1,9})(?:\s*(?:-|\u2013|\u2014|\.\.|:|to)\s*L?([0-9]{1,9}))?", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """One thing that was fixed."""

    code: str
    """The rule that it now keeps."""
    field: str
    """Where it stood before the fix: `gotchas[1].severity`."""
    before: str
    """What stood there."""
    after: str
    """What stands there now; empty if it was dropped."""


def fix_handoff(handoff: Handoff) -> tuple[Handoff, tuple[Fix, ...]]:
    """The handoff with every safe fix made, and what was fixed. Doing it twice changes nothing more."""
    fixes: list[Fix] = []
    values: dict[str, Any] = {}
    for name in type(handoff).model_fields:
        value = getattr(handoff, name)
        values[name] = _drop_repeated(name, _fix(name, name, value, fixes), fixes)
    return Handoff.model_validate(values), tuple(fixes)


def _fix(field: str, name: str, value: Any, fixes: list[Fix]) -> Any:
    if isinstance(value, str):
        return _fix_text(field, name, value, fixes)
    if isinstance(value, tuple):
        return tuple(_fix(f"{field}[{at}]", name, each, fixes) for at, each in enumerate(value))
    if not isinstance(value, BaseModel):
        return value
    parts = {
        part: _fix(f"{field}.{part}", part, getattr(value, part), fixes) for part in type(value).model_fields
    }
    return value if parts == dict(value) else type(value).model_validate(parts)


def _fix_text(field: str, name: str, text: str, fixes: list[Fix]) -> str:
    fixer = _FIXERS.get(name)
    if fixer is None or not text.strip():
        return text
    code, fix = fixer
    fixed = fix(text)
    if fixed is None or fixed == text:
        return text
    fixes.append(Fix(code=code, field=field, before=text, after=fixed))
    return fixed


def _fix_path(path: str) -> str | None:
    fixed = path.strip().strip("`'\"").strip()
    while fixed.startswith("./"):
        fixed = fixed[2:].lstrip("/")
    return None if path_fault(fixed) else fixed


def _fix_lines(text: str) -> str | None:
    bare = text.strip()
    if bare.casefold() in {"all", "whole file", "entire file"}:
        return "all"
    match = _RANGE.fullmatch(bare)
    if not match:
        return None
    fixed = f"{int(match[1])}-{int(match[2] or match[1])}"
    return fixed if are_lines(fixed) else None


def _fix_tag(tag: str) -> str | None:
    fixed = _NOT_WORD.sub("-", _CAMEL.sub("-", tag.strip())).strip("-").lower()
    return fixed if is_tag(fixed) else None


def _value_fixer(name: str) -> Callable[[str], str | None]:
    return lambda value: fix_value(name, value)


_FIXERS: dict[str, tuple[str, Callable[[str], str | None]]] = {
    **{name: ("H002", _value_fixer(name)) for name in ENUMERATIONS},
    **dict.fromkeys(PATH_PARTS, ("H020", _fix_path)),
    "lines": ("H021", _fix_lines),
    "applies_to": ("H022", _fix_tag),
}


def _drop_repeated(name: str, value: Any, fixes: list[Fix]) -> Any:
    """A repetition is dropped if it adds nothing to the first statement; else both stay for the writer."""
    if not isinstance(value, tuple):
        return value
    kept: dict[Any, Any] = {}
    items: list[Any] = []
    for at, item in enumerate(value):
        key = statement_key(item)
        if key and key in kept and _adds_nothing(item, kept[key]):
            fixes.append(Fix(code="H031", field=f"{name}[{at}]", before=_headline(item), after=""))
            continue
        kept.setdefault(key, item)
        items.append(item)
    return tuple(items)


def _adds_nothing(item: Any, first: Any) -> bool:
    if isinstance(item, str):
        return True
    return all(
        not getattr(item, part) or getattr(item, part) == getattr(first, part)
        for part in _telling_parts(item)
    )


def _telling_parts(item: Any) -> Iterator[str]:
    headline = getattr(item, "headline", None)
    for part in type(item).model_fields:
        if part != headline and not (part == "id" and isinstance(item, Identified)):
            yield part


def _headline(item: Any) -> str:
    return item if isinstance(item, str) else str(next(iter(statement_key(item)), ""))
