"""/pipelines: submit, list, look at, abort."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Body, Header, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from segue.application.pipelines import submit
from segue.application.views import PipelineDetail, PipelineFilter, PipelinePage, PipelineView, StepDetail
from segue.domain.errors import Forbidden
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.domain.tokens import TokenRole
from segue.domain.workspace import WorkspaceChoice
from segue.interfaces.api.dependencies import Actor, Caller, PipelineId, SegueDep, needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.field_types import LARGEST_ID, FolderName, ModelName, PlainText

router = APIRouter(prefix="/pipelines", tags=["pipelines"])


class StepRequest(TemplateStep):
    """A step of your own."""

    agent: PlainText
    description: PlainText = ""
    model: ModelName | None = None


class SubmitRequest(BaseModel):
    """What is to be done, and by which recipe."""

    model_config = ConfigDict(extra="forbid")
    prompt: PlainText = Field(description="The task, in your own words.", max_length=500_000)
    title: PlainText = Field(
        default="", description="A line to know it by; made from the prompt if left out."
    )
    template: PlainText | None = Field(default=None, description="Name of a template; or give custom_steps.")
    custom_steps: list[StepRequest] | None = Field(default=None, description="Steps of your own.")
    branch: PlainText | None = Field(
        default=None, description="The branch to work on; one of Segue's own if left out."
    )
    workspace: WorkspaceChoice = Field(
        default=WorkspaceChoice.AUTO, description="A git worktree where that can be, or the folder itself."
    )
    working_dir: FolderName | None = Field(
        default=None, description="Folder to work in; the server's own if left out."
    )
    step_models: dict[PlainText, ModelName] = Field(
        default_factory=dict, description="Agent name -> model, for this run."
    )
    checks: list[PlainText] | None = Field(
        default=None,
        description="Commands that Segue runs after each step, in place of the template's; refused unless "
        "the setting allow_rest_commands is true.",
    )


class AbortRequest(BaseModel):
    """Why a run is to stop."""

    model_config = ConfigDict(extra="forbid")
    reason: PlainText = Field(default="aborted by the user", min_length=1, max_length=1000)


class RestartRequest(BaseModel):
    """How a run is to be restarted."""

    model_config = ConfigDict(extra="forbid")
    note: PlainText = Field(default="", max_length=10_000, description="Told to the agent that begins anew.")


class MergeRequest(BaseModel):
    """How a run is to be merged."""

    model_config = ConfigDict(extra="forbid")
    allow_refuted: bool = Field(
        default=False,
        description="Merge although claims are false or tests weakened; the audit trail has it.",
    )


class Merged(BaseModel):
    """What a merge gave."""

    commit: str = Field(description="The commit that is checked out now.")


@router.post("", status_code=201, responses=PROBLEMS(403, 422))
@needs(TokenRole.RUN)
async def submit_pipeline(
    segue: SegueDep,
    actor: Actor,
    body: SubmitRequest,
    request: Request,
    response: Response,
    idempotency_key: Annotated[PlainText | None, Header(max_length=255)] = None,
) -> PipelineDetail:
    """Submit a run; it begins at once, or as soon as there is room."""
    if not request.app.state.allow_commands:
        _refuse_commands(body)
    pipeline = await segue.pipelines.submit(
        submit.PipelineRequest(
            prompt=body.prompt,
            title=body.title,
            template=body.template,
            custom_steps=None if body.custom_steps is None else tuple(body.custom_steps),
            branch=body.branch,
            working_dir=body.working_dir,
            step_models=body.step_models,
            workspace=body.workspace,
            checks=None if body.checks is None else tuple(body.checks),
            idempotency_key=idempotency_key,
        ),
        actor=actor,
    )
    response.headers["Location"] = f"/pipelines/{pipeline.id}"
    return await segue.views.pipeline(pipeline.id)


def _refuse_commands(body: SubmitRequest) -> None:
    if body.checks:
        raise Forbidden(
            "checks: commands are not taken over REST. Put them into a template, or set allow_rest_commands "
            "to true in your own segue.yaml"
        )
    for index, step in enumerate(body.custom_steps or ()):
        if step.checks:
            raise Forbidden(
                f"custom_steps.{index}.checks: commands are not taken over REST. Put them into a template, "
                "or set allow_rest_commands to true in your own segue.yaml"
            )


@router.get("", responses=PROBLEMS(422))
@needs(TokenRole.READ)
async def list_pipelines(
    segue: SegueDep,
    status: PipelineStatus | None = None,
    template: PlainText | None = None,
    q: Annotated[PlainText | None, Query(description="Words in title or prompt.")] = None,
    before: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="The next_cursor of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> PipelinePage:
    """The runs, newest first."""
    criteria = PipelineFilter(status=status, template=template, text=q, before=before, limit=limit)
    return await segue.views.pipelines(criteria)


@router.get("/conflicts", responses=PROBLEMS(422))
@needs(TokenRole.READ)
async def list_conflicts(
    segue: SegueDep, working_dir: Annotated[FolderName, Query(description="The folder to look at.")]
) -> list[PipelineView]:
    """The unfinished runs that were submitted for a folder."""
    return await segue.views.conflicts(_resolved(working_dir))


def _resolved(folder: str) -> str:
    return str(Path(folder).expanduser().resolve())


@router.get("/{pipeline_id}", responses=PROBLEMS(404))
@needs(TokenRole.READ)
async def get_pipeline(segue: SegueDep, pipeline_id: PipelineId) -> PipelineDetail:
    """One run with its steps and their newest handoffs."""
    return await segue.views.pipeline(pipeline_id)


@router.get("/{pipeline_id}/steps/{number}", responses=PROBLEMS(404))
@needs(TokenRole.READ)
async def get_step(segue: SegueDep, pipeline_id: PipelineId, number: int) -> StepDetail:
    """One step with all its attempts: the exact briefing that was sent, and the reply."""
    return await segue.views.step(pipeline_id, number)


@router.get("/{pipeline_id}/diff", responses=PROBLEMS(404, 409), response_class=PlainTextResponse)
@needs(TokenRole.READ)
async def get_diff(
    segue: SegueDep,
    pipeline_id: PipelineId,
    step: Annotated[int | None, Query(ge=1, description="Only what this step changed.")] = None,
) -> str:
    """What a run, or one of its steps, has changed, as a patch."""
    return await segue.results.diff(pipeline_id, step)


@router.post("/{pipeline_id}/merge", responses=PROBLEMS(404, 409))
@needs(TokenRole.APPROVE)
async def merge_pipeline(
    segue: SegueDep,
    caller: Caller,
    actor: Actor,
    pipeline_id: PipelineId,
    body: Annotated[MergeRequest | None, Body()] = None,
) -> Merged:
    """Merge what a run made into what is checked out in its repository; a conflict changes nothing.

    Refused if claims of the run are still false at its end or tests still weakened, unless that is allowed.
    """
    allowed = (body or MergeRequest()).allow_refuted
    commit = await segue.results.merge(pipeline_id, allow_refuted=allowed, by=caller.name, actor=actor)
    return Merged(commit=commit)


@router.post("/{pipeline_id}/restart", responses=PROBLEMS(404, 409))
@needs(TokenRole.RUN)
async def restart_pipeline(
    segue: SegueDep,
    actor: Actor,
    pipeline_id: PipelineId,
    body: Annotated[RestartRequest | None, Body()] = None,
) -> PipelineDetail:
    """Continue a run that failed or was aborted, from the first step that is not done.

    No step that is done runs again; what is merely interrupted is offered as it is.
    """
    await segue.pipelines.restart(pipeline_id, (body or RestartRequest()).note, actor=actor)
    return await segue.views.pipeline(pipeline_id)


@router.post("/{pipeline_id}/abort", responses=PROBLEMS(404, 409))
@needs(TokenRole.RUN)
async def abort_pipeline(
    segue: SegueDep,
    actor: Actor,
    pipeline_id: PipelineId,
    body: Annotated[AbortRequest | None, Body()] = None,
) -> PipelineDetail:
    """Stop one run for good; its agent's session is aborted first.

    The answer says how the run ended: it may have been done, or have failed, before it could be stopped.
    """
    await segue.pipelines.abort(pipeline_id, (body or AbortRequest()).reason, actor=actor)
    return await segue.views.pipeline(pipeline_id)
