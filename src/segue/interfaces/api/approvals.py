"""/approvals: what waits for a person, and the decision."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.application.views import InboxEntry
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
    comment: PlainText | None = Field(
        default=None, max_length=10_000, description="Words for the agents that come after."
    )
    decided_by: PlainText | None = Field(
        default=None,
        max_length=255,
        description="Who decided: the name of the token. Another name needs the role admin.",
    )


class AnswerRequest(BaseModel):
    """What a person answers."""

    model_config = ConfigDict(extra="forbid")
    text: PlainText = Field(min_length=1, max_length=10_000, description="The answer, word for word.")


Decision = Annotated[DecisionRequest | None, Body()]
ApprovalId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="The approval's id.")]


def _decision(
    caller: Token, actor: str | None, said: DecisionRequest | None, *, approve: bool
) -> HumanDecision:
    """With the comment, and who decided: the name of the token, or the one that an admin token gives."""
    said = said or DecisionRequest()
    if said.decided_by not in (None, caller.name) and not caller.allows(TokenRole.ADMIN):
        raise Forbidden(
            f'this token decides as "{caller.name}", not as "{said.decided_by}": leave decided_by out, or '
            "use a token with the role admin"
        )
    who = said.decided_by or caller.name
    return HumanDecision(approve=approve, comment=said.comment, decided_by=who, actor=actor)


def _answer(caller: Token, actor: str | None, said: AnswerRequest) -> HumanDecision:
    return HumanDecision(approve=True, is_answer=True, comment=said.text, decided_by=caller.name, actor=actor)


@router.get("/approvals")
@needs(TokenRole.READ)
async def list_approvals(
    segue: SegueDep,
    everything: Annotated[bool, Query(alias="all", description="Those that are settled too.")] = False,
) -> list[Approval]:
    """What waits for an answer, oldest first."""
    return await segue.views.approvals(everything=everything)


@router.get("/inbox")
@needs(TokenRole.READ)
async def inbox(segue: SegueDep) -> list[InboxEntry]:
    """What waits for a person, with its pipeline and step, oldest first."""
    return await segue.views.inbox()


@router.post("/approvals/{approval_id}/answer", responses=PROBLEMS(403, 404, 409, 422))
@needs(TokenRole.APPROVE)
async def answer(
    segue: SegueDep, caller: Caller, actor: Actor, approval_id: ApprovalId, said: AnswerRequest
) -> Approval:
    """Give the agent an answer; it continues with it."""
    return await segue.approvals.decide(approval_id, _answer(caller, actor, said))


@router.post("/pipelines/{pipeline_id}/answer", responses=PROBLEMS(403, 404, 409, 422))
@needs(TokenRole.APPROVE)
async def answer_next(
    segue: SegueDep, caller: Caller, actor: Actor, pipeline_id: PipelineId, said: AnswerRequest
) -> Approval:
    """Answer what this run has waited for longest."""
    return await segue.approvals.decide_next(pipeline_id, _answer(caller, actor, said), is_answer=True)


@router.post("/approvals/{approval_id}/approve", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def approve(
    segue: SegueDep, caller: Caller, actor: Actor, approval_id: ApprovalId, said: Decision = None
) -> Approval:
    """Let an agent do what it asks, or a run continue."""
    return await segue.approvals.decide(approval_id, _decision(caller, actor, said, approve=True))


@router.post("/approvals/{approval_id}/reject", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def reject(
    segue: SegueDep, caller: Caller, actor: Actor, approval_id: ApprovalId, said: Decision = None
) -> Approval:
    """Refuse what an agent asks: it is told so and continues. A run that waits fails, or goes back."""
    return await segue.approvals.decide(approval_id, _decision(caller, actor, said, approve=False))


@router.post("/pipelines/{pipeline_id}/approve", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def approve_next(
    segue: SegueDep, caller: Caller, actor: Actor, pipeline_id: PipelineId, said: Decision = None
) -> Approval:
    """Approve what this run has waited for longest."""
    return await segue.approvals.decide_next(pipeline_id, _decision(caller, actor, said, approve=True))


@router.post("/pipelines/{pipeline_id}/reject", responses=PROBLEMS(403, 404, 409))
@needs(TokenRole.APPROVE)
async def reject_next(
    segue: SegueDep, caller: Caller, actor: Actor, pipeline_id: PipelineId, said: Decision = None
) -> Approval:
    """Reject what this run has waited for longest."""
    return await segue.approvals.decide_next(pipeline_id, _decision(caller, actor, said, approve=False))
