"""The tables of values, the statements for them, and what a connection must do for those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from segue.adapters.storage.codec import Row, changes, column_of, columns, decode, encode
from segue.domain.activity import Activity
from segue.domain.approvals import Approval
from segue.domain.attempt import Attempt
from segue.domain.errors import ApprovalNotFound, PipelineNotFound, SegueError, SessionNotFound
from segue.domain.gate_run import GateRun
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline, Step
from segue.domain.repository_source import Bundle
from segue.domain.session import Session, SessionMessage, Submission
from segue.domain.tokens import LinkCode, Token
from segue.domain.workers import Worker

R = TypeVar("R")


class ReadConnection(Protocol):
    """A connection in a transaction."""

    has_text_table: bool
    """True if `pipelines_text` finds texts; else the database finds its index of texts by the condition."""
    now_sql: str
    """The database's clock, as an expression."""

    def all(self, sql: str, /, **given: Any) -> list[Row]:
        """The rows that a statement gives; `:name` in it stands for what is given."""
        ...


class WriteConnection(ReadConnection, Protocol):
    """A connection in a transaction that may write."""

    is_shared: bool
    """True if others may write at the same time, so that rows must be locked and ids put in order."""

    def run(self, sql: str, /, **given: Any) -> int:
        """Carry out a statement; gives how many rows it changed."""
        ...

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]], /) -> None: ...
    def insert(self, sql: str, /, **given: Any) -> int:
        """Carry out an INSERT; gives the new id. `AlreadyThere` if a unique value is there already."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """Where values of a kind are kept."""

    name: str
    not_found: type[SegueError] | None = None
    without: tuple[tuple[str, Any], ...] = ()
    """Fields that are no columns, and what they are unless they are asked for."""
    has_own_ids: bool = True
    """False where the value brings its key."""


TABLES: Mapping[type[Any], Table] = {
    Pipeline: Table("pipelines", PipelineNotFound, without=(("steps", ()),)),
    Step: Table("steps"),
    Session: Table("agents", SessionNotFound),
    Attempt: Table("attempts"),
    SessionMessage: Table("messages"),
    Submission: Table("submissions"),
    GateRun: Table("gate_runs"),
    HandoffRecord: Table("handoffs"),
    Approval: Table("approvals", ApprovalNotFound),
    Activity: Table("activity"),
    Bundle: Table("bundles"),
    Worker: Table("workers", has_own_ids=False),
    Token: Table("tokens"),
    LinkCode: Table("link_codes", has_own_ids=False),
}


def row_of(value: Any) -> dict[str, Any]:
    """Column -> what it is given, without an id that the database makes."""
    kind: Any = type(value)
    return encode(value, without=_no_columns(kind))


def changed_row(old: Any, new: Any) -> dict[str, Any]:
    """Column -> what it is given, where two values of a kind differ."""
    kind: Any = type(new)
    return changes(old, new, without=_no_columns(kind))


@cache
def _no_columns(kind: Any) -> tuple[str, ...]:
    table = TABLES[kind]
    names = tuple(name for name, _ in table.without)
    return ("id", *names) if table.has_own_ids else names


def select_from(kind: type[Any]) -> str:
    """The columns of a table, as `t`."""
    key: Any = kind
    return _select_from(key)


@cache
def _select_from(kind: Any) -> str:
    table = TABLES[kind]
    return f"SELECT {columns(kind, 't', without=[name for name, _ in table.without])} FROM {table.name} t"


def where_equal(kind: type[Any], equal: Mapping[str, object]) -> str:
    """The condition that fields are like this; none is none."""
    key: Any = kind
    return _conditions(key, tuple((name, value is None) for name, value in equal.items()))


@cache
def _conditions(kind: Any, names: tuple[tuple[str, bool], ...]) -> str:
    conditions = [
        f"t.{column_of(kind, name)} IS NULL" if is_none else f"t.{column_of(kind, name)} = :{name}"
        for name, is_none in names
    ]
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


@cache
def insert_into(table: str, names: tuple[str, ...]) -> str:
    """A new row with these columns."""
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


@cache
def update_of(table: str, names: tuple[str, ...]) -> str:
    """These columns of the row with an id."""
    changes = ", ".join(f"{name} = :{name}" for name in names)
    return f"UPDATE {table} SET {changes} WHERE id = :id"


def read_row(kind: type[R], row: Row) -> R:
    """A value from a row of `select_from`."""
    return decode(kind, row, **dict(TABLES[kind].without))
