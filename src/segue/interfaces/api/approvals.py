"""/approvals: what agents ask, and a person's answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from segue.domain.approvals import Approval
from segue.domain.errors import Forbidden
from segue.domain.tokens import Token, TokenRole
from segue.interfaces.api.dependencies import Actor, Caller, PipelineId, SegueDep, needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.field_types import LARGEST_ID, PlainText

router = APIRouter(tags=["approvals"])


class DecisionRequest(BaseModel):
    """What a person has to say to it."""

    model_config = ConfigDict(extra="forbid")
    comment: PlainText | None = Field(default=None, max_length=10_000, description="Told to the agent.")
    decided_by: PlainText | None = Field(
        default=None,
        max_length=255,
        description="Who decided: the name of the token. Another name needs the role admin.",
    )


Decision = Annotated[DecisionRequest | None, Body()]
ApprovalId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="The approval's id.")]


def _decision(caller: Token, said: DecisionRequest | None) -> dict[str, str | None]:
    """The comment, and who decided: the name of the token, or the one that an admin token gives."""
    said = said or DecisionRequest()
    if said.decided_by not in (None, caller.name) and not caller.allows(TokenRole.ADMIN):
        raise Forbidden(
            f'this token decides as "{caller.name}", not as "{said.decided_by}": leave decided_by out, or '
            "use a token with the role admin"
        )
    return {"comment": said.comment, "decided_by": said.decided_by or caller.name}


@router.get("/approvals")
@needs(TokenRole.READ)
async def list_approvals(
    segue: SegueDep,
    everything: Annotated[bool, Query(alias="all", description="Those that are settled too.")] = False,
) -> list[Approval]:
    """What waits for an answer, oldest first."""
    return await segue.views.approvals(everything=everything)


@router.post("/approvals/{approval_id}/approve", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def approve(
    segue: SegueDep, caller: Caller, actor: Actor, approval_id: ApprovalId, said: Decision = None
) -> Approval:
    """Let the agent do what it asks."""
    return await segue.approvals.decide(approval_id, approve=True, actor=actor, **_decision(caller, said))


@router.post("/approvals/{approval_id}/reject", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def reject(
    segue: SegueDep, caller: Caller, actor: Actor, approval_id: ApprovalId, said: Decision = None
) -> Approval:
    """Refuse what the agent asks; it is told so and continues."""
    return await segue.approvals.decide(approval_id, approve=False, actor=actor, **_decision(caller, said))


@router.post("/pipelines/{pipeline_id}/approve", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def approve_next(
    segue: SegueDep, caller: Caller, actor: Actor, pipeline_id: PipelineId, said: Decision = None
) -> Approval:
    """Approve what this run has waited for longest."""
    return await segue.approvals.decide_next(
        pipeline_id, approve=True, actor=actor, **_decision(caller, said)
    )


@router.post("/pipelines/{pipeline_id}/reject", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def reject_next(
    segue: SegueDep, caller: Caller, actor: Actor, pipeline_id: PipelineId, said: Decision = None
) -> Approval:
    """Reject what this run has waited for longest."""
    return await segue.approvals.decide_next(
        pipeline_id, approve=False, actor=actor, **_decision(caller, said)
    )
