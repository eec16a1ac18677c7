"""/audit: what happened and who did it, and whether the trail was altered."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import AwareDatetime

from segue.application.views import AuditFilter, AuditPage
from segue.domain.audit import AuditKind
from segue.domain.audit_chain import AuditReport, write_export
from segue.domain.tokens import TokenRole
from segue.interfaces.api.dependencies import SegueDep, needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.field_types import LARGEST_ID
from segue.interfaces.audit_export import render_markdown

router = APIRouter(prefix="/audit", tags=["audit"])

OfPipeline = Annotated[
    int | None,
    Query(ge=0, le=LARGEST_ID, description="Only this pipeline; 0 for what happened outside of pipelines."),
]


class ExportFormat(StrEnum):
    """How an export is written."""

    JSON = "json"
    """Lines of JSON, which `segue audit verify FILE` verifies."""
    MARKDOWN = "markdown"


@router.get("", responses=PROBLEMS(422))
@needs(TokenRole.READ)
async def list_entries(
    segue: SegueDep,
    pipeline_id: OfPipeline = None,
    kind: AuditKind | None = None,
    since: Annotated[AwareDatetime | None, Query(description="Only what happened from then on.")] = None,
    before: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="The next_cursor of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> AuditPage:
    """Audit entries, newest first."""
    moment: datetime | None = since
    criteria = AuditFilter(pipeline_id=pipeline_id, kind=kind, since=moment, before=before, limit=limit)
    return await segue.views.audit(criteria)


@router.get("/export", responses=PROBLEMS(422), response_class=Response)
@needs(TokenRole.READ)
async def export_audit(
    segue: SegueDep, pipeline_id: OfPipeline = None, export_format: ExportFormat = ExportFormat.JSON
) -> Response:
    """The heads and all entries of one chain, or of all."""
    if export_format is ExportFormat.MARKDOWN:
        text = await segue.views.read_audit(render_markdown, pipeline_id=pipeline_id)
        return Response(text, media_type="text/markdown")
    lines = await segue.views.read_audit(
        lambda found: "".join(f"{line}\n" for line in write_export(found)), pipeline_id=pipeline_id
    )
    return Response(lines, media_type="application/x-ndjson")


@router.get("/verify", responses=PROBLEMS(422))
@needs(TokenRole.READ)
async def verify_audit(segue: SegueDep, pipeline_id: OfPipeline = None) -> AuditReport:
    """Whether the trail is whole: each entry in its place and as it was written, up to its head."""
    return await segue.views.verify_audit(pipeline_id=pipeline_id)
