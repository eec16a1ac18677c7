"""Rows to values and back; names are the same on both sides, so copying is plain."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, TypeVar

from sqlalchemy import Row

from segue.adapters.storage.codec import read_usage, read_workspace
from segue.adapters.storage.tables import AgentRow, ApprovalRow, AttemptRow, PipelineRow, RepairRow, StepRow
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.catalog import Plan
from segue.domain.pipeline import (
    Agent,
    Attempt,
    AttemptStatus,
    Pipeline,
    PipelineStatus,
    Repair,
    Step,
    StepStatus,
)
from segue.domain.sessions import Reason
from segue.domain.usage import Usage
from segue.domain.workspace import WorkspaceChoice

T = TypeVar("T")


_cached_names: dict[type[Any], tuple[str, ...]] = {}


def _names(kind: type[Any]) -> tuple[str, ...]:
    if kind not in _cached_names:
        _cached_names[kind] = tuple(f.name for f in fields(kind))
    return _cached_names[kind]


def read(kind: type[T], row: object, /, **changed: Any) -> T:
    """A value of `kind` from the columns of `row`."""
    return kind(**{name: getattr(row, name) for name in _names(kind) if name not in changed}, **changed)


def write(value: Any, row: object, *, without: tuple[str, ...] = ()) -> None:
    """The value's fields into the row; only what differs becomes an UPDATE."""
    for name in _names(type(value)):
        if name not in without and getattr(row, name) != (new := getattr(value, name)):
            setattr(row, name, new)


def read_pipeline(row: PipelineRow) -> Pipeline:
    """A run with its steps."""
    return read(
        Pipeline,
        row,
        plan=Plan.model_validate_json(row.plan_json),
        status=PipelineStatus(row.status),
        workspace=read_workspace(row.workspace_json),
        workspace_choice=WorkspaceChoice(row.workspace_choice),
        steps=tuple(read(Step, step, status=StepStatus(step.status)) for step in row.steps),
    )


def write_pipeline(pipeline: Pipeline, row: PipelineRow) -> None:
    """A run with its steps; the plan never changes."""
    write(pipeline, row, without=("plan", "steps", "workspace"))
    text = None if pipeline.workspace is None else json.dumps(asdict(pipeline.workspace))
    if text != row.workspace_json:
        row.workspace_json = text
    rows: dict[int, StepRow] = {step.id: step for step in row.steps}
    for step in pipeline.steps:
        write(step, rows[step.id])


def read_attempt(row: AttemptRow) -> tuple[Attempt, Agent]:
    """A try and the session it ran in."""
    reason = Reason(row.handover_reason) if row.handover_reason is not None else None
    attempt = read(Attempt, row, status=AttemptStatus(row.status), handover_reason=reason)
    return attempt, read_agent(row.agent)


def read_agent(row: AgentRow) -> Agent:
    """A session."""
    return read(Agent, row, usage=read_usage(row.usage_json))


def read_repair(row: RepairRow) -> Repair:
    """A repair turn."""
    return read(Repair, row, status=AttemptStatus(row.status))


def write_usage(usage: Usage | None) -> str | None:
    """The text that `read_usage` reads; what is nothing is left out."""
    return None if usage is None else json.dumps({k: v for k, v in asdict(usage).items() if v})


def read_approval(row: ApprovalRow | Row[Any]) -> Approval:
    """A question to a person."""
    return read(Approval, row, status=ApprovalStatus(row.status))
