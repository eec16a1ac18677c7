"""Rows to values and back: times, booleans, enums and JSON, by the types of a value's fields."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from segue.domain.asking import HandoffReading, reading_as_dict, reading_from_dict
from segue.domain.briefing.model import LeftOut
from segue.domain.catalog import AgentProfile, Plan
from segue.domain.final_state import FinalState
from segue.domain.gate_run import GateCheck
from segue.domain.handoff.model import Handoff
from segue.domain.handoff_record import HandoffRecord
from segue.domain.repository_source import RepositorySource
from segue.domain.tokens import TokenRole
from segue.domain.trust import CarriedProject
from segue.domain.usage import Usage
from segue.domain.workspace import Workspace, WorkspaceKind

T = TypeVar("T")

Row = Mapping[str, Any]
"""Column -> what the driver gave."""


def decode(kind: type[T], row: Row, /, **given: Any) -> T:
    """A value of `kind` from a row; what the row does not hold is given."""
    values = {
        name: value if (value := row[column]) is None or read is None else read(value)
        for name, column, read, _ in _plan(kind)
        if name not in given
    }
    return kind(**values, **given)


def encode(value: object, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Column -> what the driver is given, for each field of a value."""
    row = {}
    for name, column, _, write in _plan(type(value)):
        if name not in without:
            found = getattr(value, name)
            row[column] = found if found is None or write is None else write(found)
    return row


def changes(old: object, new: object, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Column -> what the driver is given, for each field in which two values of a kind differ."""
    row = {}
    for name, column, _, write in _plan(type(new)):
        before, after = getattr(old, name), getattr(new, name)
        if name not in without and before is not after and before != after:
            row[column] = after if after is None or write is None else write(after)
    return row


def columns(kind: type[Any], table: str, *, without: Collection[str] = ()) -> str:
    """The columns of a table that `decode` needs, named one by one.

    A statement that asks for all columns fails after another process has added one.
    """
    return ", ".join(f"{table}.{column}" for name, column, _, _ in _plan(kind) if name not in without)


def column_of(kind: type[Any], field: str) -> str:
    """The column of a field; what is no field is a column that the value does not hold."""
    return next((column for name, column, _, _ in _plan(kind) if name == field), field)


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


def write_time(moment: datetime) -> str:
    """As SQLite keeps it: comparable as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def read_workspace(text: str) -> Workspace:
    """Where agents work."""
    values = json.loads(text)
    return Workspace(**{**values, "kind": WorkspaceKind(values["kind"]), "notes": tuple(values["notes"])})


def _read_source(text: str) -> RepositorySource:
    values = json.loads(text)
    project = values.pop("project", None)
    return RepositorySource(**values, project=None if project is None else CarriedProject(**project))


def read_usage(text: str) -> Usage:
    """What a session has used."""
    return Usage(**json.loads(text))


def read_left_out(text: str) -> tuple[LeftOut, ...]:
    """What a briefing did not say."""
    return tuple(LeftOut(**each) for each in json.loads(text))


def read_final_state(text: str | None) -> FinalState | None:
    """How the work was at the end of a run; none if it did not get there."""
    return None if text is None else _final_states().validate_json(text)


def _write_final_state(state: FinalState) -> str:
    return _final_states().dump_json(state, exclude_defaults=True).decode()


@cache
def _final_states() -> TypeAdapter[FinalState]:
    return TypeAdapter(FinalState)


def _write_usage(usage: Usage) -> str:
    return json.dumps({name: value for name, value in asdict(usage).items() if value})


def _write_left_out(left_out: tuple[LeftOut, ...]) -> str | None:
    return json.dumps([asdict(each) for each in left_out]) if left_out else None


@dataclass(frozen=True, slots=True)
class _Stored:
    """How values of a type are kept in one column."""

    read: Callable[[str], Any]
    write: Callable[[Any], str | None]
    suffix: str = "_json"
    """What the column's name has beyond that of the field."""


_STORED: Mapping[Any, _Stored] = {
    Workspace: _Stored(read_workspace, lambda value: json.dumps(asdict(value))),
    RepositorySource: _Stored(_read_source, lambda value: json.dumps(asdict(value))),
    Usage: _Stored(read_usage, _write_usage),
    Plan: _Stored(Plan.model_validate_json, lambda value: str(value.model_dump_json(exclude_defaults=True))),
    AgentProfile: _Stored(AgentProfile.model_validate_json, lambda value: str(value.model_dump_json())),
    tuple[LeftOut, ...]: _Stored(read_left_out, _write_left_out),
    tuple[GateCheck, ...]: _Stored(
        lambda text: tuple(GateCheck(**each) for each in json.loads(text)),
        lambda checks: json.dumps([asdict(each) for each in checks]),
    ),
    tuple[TokenRole, ...]: _Stored(lambda text: tuple(map(TokenRole, text.split())), " ".join, suffix=""),
    Handoff: _Stored(Handoff.model_validate_json, Handoff.to_json),
    HandoffReading: _Stored(
        lambda text: reading_from_dict(json.loads(text)), lambda value: json.dumps(reading_as_dict(value))
    ),
    FinalState: _Stored(read_final_state, _write_final_state),
    dict: _Stored(json.loads, json.dumps),
    Mapping: _Stored(json.loads, lambda value: json.dumps(dict(value))),
}
"""Types that take more than a cell of their own kind."""

_RENAMED: Mapping[tuple[type[Any], str], str] = {
    (HandoffRecord, "session_id"): "agent_id",
    (HandoffRecord, "handoff"): "metadata_json",
}
"""Columns of handoffs that have kept the names of the first tables."""

_FieldPlan = tuple[str, str, Callable[[Any], Any] | None, Callable[[Any], Any] | None]
"""Field, column, and how the column is read and written; none if it is as it comes."""

_plans: dict[type[Any], tuple[_FieldPlan, ...]] = {}


def _plan(kind: type[Any]) -> tuple[_FieldPlan, ...]:
    if kind not in _plans:
        hints = get_type_hints(kind)
        _plans[kind] = tuple(_field_plan(kind, field.name, hints[field.name]) for field in fields(kind))
    return _plans[kind]


def _field_plan(kind: type[Any], name: str, hint: Any) -> _FieldPlan:
    hint = _without_none(hint)
    plain = get_origin(hint) or hint
    stored = _STORED.get(hint) or _STORED.get(plain)
    if stored is not None:
        column = _RENAMED.get((kind, name), f"{name}{stored.suffix}")
        return name, column, stored.read, stored.write
    column = _RENAMED.get((kind, name), name)
    if plain is datetime:
        return name, column, read_time, None
    if isinstance(plain, type) and issubclass(plain, Enum):
        return name, column, plain, str
    return name, column, bool if plain is bool else None, None


def _without_none(hint: Any) -> Any:
    if isinstance(hint, types.UnionType):
        (hint,) = (each for each in get_args(hint) if each is not types.NoneType)
    return hint
