"""/handoffs: read and check a handoff; nothing is stored."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from segue.domain.errors import InvalidRequest
from segue.domain.handoff import Extraction, Handoff, Notation, Origin, extract_handoff
from segue.domain.handoff.checking.against_source import check_extraction
from segue.domain.handoff.checking.lint import select_rules
from segue.domain.tokens import TokenRole
from segue.interfaces.api.dependencies import needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.handoff_views import (
    CheckView,
    ExtractionView,
    view_extraction,
    view_problems,
)

router = APIRouter(prefix="/handoffs", tags=["handoffs"])

MAX_CHARACTERS = 1_000_000
"""How long a text may be; the size of the whole request is limited at the door."""

Text = Annotated[str, Field(max_length=MAX_CHARACTERS, description="A reply or document in any notation.")]
Code = Annotated[str, Field(max_length=20, description="A rule's code, or the beginning of codes.")]


ORIGIN = Field(
    default=Origin.DOCUMENT,
    description="`document` may be no handoff at all; `reply` is what an agent answered in the end.",
)


class ExtractRequest(BaseModel):
    """A text that may hold a handoff."""

    model_config = ConfigDict(extra="forbid")
    text: Text
    origin: Origin = ORIGIN


class CheckRequest(BaseModel):
    """What to check, and by which rules."""

    model_config = ConfigDict(extra="forbid")
    text: Text | None = Field(default=None, description="A reply or document; or give handoff.")
    handoff: Handoff | None = Field(default=None, description="A record; or give text.")
    origin: Origin = ORIGIN
    select: list[Code] = Field(default=[], max_length=100, description="Only these rules; all if left out.")
    ignore: list[Code] = Field(default=[], max_length=100, description="Not these rules.")


# These are plain functions, so that a long text is read on a thread and holds up no other request.


@router.post("/extract", responses=PROBLEMS(413, 422))
@needs(TokenRole.READ)
def extract(body: ExtractRequest) -> ExtractionView:
    """The handoff in a text, with the place of each statement; `handoff` is null if there is none."""
    return view_extraction(extract_handoff(body.text, origin=body.origin))


@router.post("/check", responses=PROBLEMS(413, 422))
@needs(TokenRole.READ)
def check(body: CheckRequest) -> CheckView:
    """What is wrong with a handoff; a text without one is checked as an empty handoff."""
    if (body.text is None) == (body.handoff is None):
        raise InvalidRequest("give either text or handoff, and not both")
    if body.text is not None:
        found = extract_handoff(body.text, origin=body.origin)
    else:
        found = Extraction(handoff=body.handoff, notation=Notation.NONE, is_own_schema=True)
    problems = check_extraction(found, select_rules(body.select, body.ignore))
    return view_problems(problems, found.coverage)
