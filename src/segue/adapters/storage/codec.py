"""Rows of the drivers to values: times, booleans, enums and JSON, by the types of a value's fields."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from segue.domain.usage import Usage
from segue.domain.workspace import Workspace, WorkspaceKind

T = TypeVar("T")

Row = Mapping[str, Any]
"""Column -> what the driver gave."""


def decode(kind: type[T], row: Row, /, **given: Any) -> T:
    """A value of `kind` from a row; what the row does not hold is given."""
    values = {
        name: value if (value := row[column]) is None or read is None else read(value)
        for name, column, read in _plan(kind)
        if name not in given
    }
    return kind(**values, **given)


def columns(kind: type[Any], table: str, *, without: Collection[str] = ()) -> str:
    """The columns of a table that `decode` needs, named one by one.

    A statement that asks for all columns fails after another process has added one.
    """
    return ", ".join(f"{table}.{column}" for name, column, _ in _plan(kind) if name not in without)


def where(*conditions: tuple[str, str, object]) -> tuple[str, dict[str, object]]:
    """`WHERE` with the conditions whose value is not none, and what the names in them stand for.

    A condition is its SQL, the name in it, and the value of that name.
    """
    chosen = [condition for condition in conditions if condition[2] is not None]
    text = " AND ".join(sql for sql, _, _ in chosen)
    return f"WHERE {text}" if text else "", {name: value for _, name, value in chosen}


def read_time(stored: datetime | str) -> datetime:
    """A moment in UTC: SQLite keeps it as text without a zone."""
    if isinstance(stored, str):
        return datetime.fromisoformat(stored).replace(tzinfo=UTC)
    return stored.astimezone(UTC)


def read_workspace(text: str | None) -> Workspace | None:
    """Where agents work."""
    if text is None:
        return None
    values = json.loads(text)
    return Workspace(**{**values, "kind": WorkspaceKind(values["kind"]), "notes": tuple(values["notes"])})


def read_usage(text: str | None) -> Usage | None:
    """What a session has used."""
    return None if text is None else Usage(**json.loads(text))


_DOCUMENTS: Mapping[type[Any], Callable[[str], Any]] = {
    Workspace: read_workspace,
    Usage: read_usage,
    dict: json.loads,
    Mapping: json.loads,
}
"""Types that are kept as JSON, in a column whose name says so."""


_FieldPlan = tuple[str, str, Callable[[Any], Any] | None]
"""Field, column, and how the column is read; none if it is as it comes."""

_plans: dict[type[Any], tuple[_FieldPlan, ...]] = {}


def _plan(kind: type[Any]) -> tuple[_FieldPlan, ...]:
    if kind not in _plans:
        hints = get_type_hints(kind)
        _plans[kind] = tuple(_field_plan(field.name, hints[field.name]) for field in fields(kind))
    return _plans[kind]


def _field_plan(name: str, hint: Any) -> _FieldPlan:
    stored = _plain_type(hint)
    if stored in _DOCUMENTS:
        return name, f"{name}_json", _DOCUMENTS[stored]
    if stored is datetime:
        return name, name, read_time
    if isinstance(stored, type) and (stored is bool or issubclass(stored, Enum)):
        return name, name, stored
    return name, name, None


def _plain_type(hint: Any) -> Any:
    """The type without its `None` and its parameters."""
    if isinstance(hint, types.UnionType):
        (hint,) = (each for each in get_args(hint) if each is not types.NoneType)
    return get_origin(hint) or hint
