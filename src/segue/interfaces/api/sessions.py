"""/sessions: conversations outside of pipelines, and the handoff from one to the next."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from segue.application.views import Lineage, SessionDetail, SessionPage
from segue.domain.errors import IllegalMove, SessionNotFound
from segue.domain.session import HandoffReason
from segue.domain.tokens import TokenRole
from segue.interfaces.api.dependencies import Actor, SegueDep, needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.field_types import LARGEST_ID, FolderName, ModelName, PlainText
from segue.interfaces.session_shapes import AnswerView, OutcomeView, answer_view, outcome_view

router = APIRouter(prefix="/sessions", tags=["sessions"])


async def _session_id_of(session_id: Annotated[int, Path(description="The session's id.")]) -> int:
    if not 1 <= session_id <= LARGEST_ID:
        raise SessionNotFound(session_id)
    return session_id


SessionId = Annotated[int, Depends(_session_id_of)]


class OpenSessionRequest(BaseModel):
    """Whom to talk with."""

    model_config = ConfigDict(extra="forbid")
    agent: PlainText = Field(description="Name of an agent profile, or of a back end.")
    working_dir: FolderName | None = Field(
        default=None, description="Folder to work in; the server's own if left out."
    )
    model: ModelName | None = Field(default=None, description="The profile's if left out.")
    title: PlainText = Field(default="", max_length=1000, description="A line to know it by.")


class MessageRequest(BaseModel):
    """What to say."""

    model_config = ConfigDict(extra="forbid")
    text: PlainText = Field(max_length=500_000)
    message_id: PlainText | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="The same id again says nothing, and gives the same reply.",
    )
    auto_handoff: bool | None = Field(
        default=None, description="Hand over at a limit; as the setting says if left out."
    )


class HandoffRequest(BaseModel):
    """Why to hand over, and to whom."""

    model_config = ConfigDict(extra="forbid")
    reason: HandoffReason
    focus: PlainText = Field(default="", max_length=10_000, description="What matters most; kept as it is.")
    to: PlainText | None = Field(default=None, description="Another agent or back end; the same if left out.")
    in_place: bool = Field(default=False, description="Compact the session itself, where that can be.")


@router.post("", status_code=201, responses=PROBLEMS(422, 502))
@needs(TokenRole.RUN)
async def start_session(
    segue: SegueDep, actor: Actor, body: OpenSessionRequest, response: Response
) -> SessionDetail:
    """Begin a session."""
    started = await segue.sessions.start(
        body.agent, working_dir=body.working_dir, model=body.model, title=body.title, actor=actor
    )
    response.headers["Location"] = f"/sessions/{started.id}"
    return started


@router.get("")
@needs(TokenRole.READ)
async def list_sessions(
    segue: SegueDep,
    before: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="The next_cursor of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SessionPage:
    """The sessions outside of pipelines, newest first."""
    return await segue.sessions.list(before=before, limit=limit)


@router.get("/{session_id}", responses=PROBLEMS(404))
@needs(TokenRole.READ)
async def get_session(segue: SegueDep, session_id: SessionId) -> SessionDetail:
    """One session with all that was said in it."""
    return await segue.sessions.show(session_id)


@router.delete("/{session_id}", responses=PROBLEMS(404))
@needs(TokenRole.RUN)
async def end_session(segue: SegueDep, actor: Actor, session_id: SessionId) -> SessionDetail:
    """Close a session for good; it stays readable."""
    return await segue.sessions.end(session_id, actor=actor)


@router.post("/{session_id}/messages", status_code=201, responses=PROBLEMS(404, 409, 502))
@needs(TokenRole.RUN)
async def say(segue: SegueDep, actor: Actor, session_id: SessionId, body: MessageRequest) -> AnswerView:
    """Say something; the answer comes with the agent's reply."""
    answer = await segue.sessions.say(
        session_id, body.text, message_id=body.message_id, auto_handoff=body.auto_handoff, actor=actor
    )
    return answer_view(answer)


@router.post("/{session_id}/handoff", responses=PROBLEMS(404, 409, 422))
@needs(TokenRole.RUN)
async def hand_off(segue: SegueDep, actor: Actor, session_id: SessionId, body: HandoffRequest) -> OutcomeView:
    """Hand over to a new session; the answer comes with its first reply, or says what came of it."""
    outcome = await segue.sessions.hand_off(
        session_id, reason=body.reason, focus=body.focus, to=body.to, in_place=body.in_place, actor=actor
    )
    return outcome_view(outcome)


@router.delete("/{session_id}/handoff", status_code=204, responses=PROBLEMS(404, 409))
@needs(TokenRole.RUN)
async def cancel_handoff(segue: SegueDep, session_id: SessionId) -> None:
    """Cancel a handoff that is under way; nothing of it is left."""
    await segue.sessions.show(session_id)
    if not await segue.sessions.cancel(session_id):
        raise IllegalMove(f"no handoff of session {session_id} is under way that could be cancelled")


@router.get("/{session_id}/lineage", responses=PROBLEMS(404))
@needs(TokenRole.READ)
async def get_lineage(segue: SegueDep, session_id: SessionId) -> Lineage:
    """Where a session came from, and what continues from it."""
    return await segue.sessions.lineage(session_id)
