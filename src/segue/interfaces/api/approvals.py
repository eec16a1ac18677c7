"""/approvals: what agents ask, and a person's answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from segue.domain.approvals import Approval
from segue.interfaces.api.dependencies import PipelineId, SegueDep
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.values import LARGEST_ID, PlainText

router = APIRouter(tags=["approvals"])


class DecisionRequest(BaseModel):
    """What a person has to say to it."""

    model_config = ConfigDict(extra="forbid")
    comment: PlainText | None = Field(default=None, max_length=10_000, description="Told to the agent.")
    decided_by: PlainText | None = Field(default=None, max_length=255, description="Who decided.")


Decision = Annotated[DecisionRequest | None, Body()]
ApprovalId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="The approval's id.")]


@router.get("/approvals")
async def list_approvals(
    segue: SegueDep,
    everything: Annotated[bool, Query(alias="all", description="Those that are settled too.")] = False,
) -> list[Approval]:
    """What waits for an answer, oldest first."""
    return await segue.views.approvals(everything=everything)


@router.post("/approvals/{approval_id}/approve", responses=PROBLEMS(404, 409))
async def approve(segue: SegueDep, approval_id: ApprovalId, said: Decision = None) -> Approval:
    """Let the agent do what it asks."""
    values = (said or DecisionRequest()).model_dump()
    return await segue.approvals.decide(approval_id, approve=True, **values)


@router.post("/approvals/{approval_id}/reject", responses=PROBLEMS(404, 409))
async def reject(segue: SegueDep, approval_id: ApprovalId, said: Decision = None) -> Approval:
    """Refuse what the agent asks; it is told so and goes on."""
    values = (said or DecisionRequest()).model_dump()
    return await segue.approvals.decide(approval_id, approve=False, **values)


@router.post("/pipelines/{pipeline_id}/approve", responses=PROBLEMS(404, 409))
async def approve_next(segue: SegueDep, pipeline_id: PipelineId, said: Decision = None) -> Approval:
    """Approve what this run has waited for longest."""
    values = (said or DecisionRequest()).model_dump()
    return await segue.approvals.decide_next(pipeline_id, approve=True, **values)


@router.post("/pipelines/{pipeline_id}/reject", responses=PROBLEMS(404, 409))
async def reject_next(segue: SegueDep, pipeline_id: PipelineId, said: Decision = None) -> Approval:
    """Reject what this run has waited for longest."""
    values = (said or DecisionRequest()).model_dump()
    return await segue.approvals.decide_next(pipeline_id, approve=False, **values)
