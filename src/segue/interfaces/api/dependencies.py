"""What route functions ask for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request

from segue.application.app import Segue
from segue.domain.errors import PipelineNotFound
from segue.interfaces.api.values import LARGEST_ID


def _segue_of(request: Request) -> Segue:
    segue: Segue = request.app.state.segue
    return segue


SegueDep = Annotated[Segue, Depends(_segue_of)]
"""The running Segue."""


def _pipeline_id_of(pipeline_id: Annotated[int, Path(description="The pipeline's id.")]) -> int:
    if not 1 <= pipeline_id <= LARGEST_ID:
        raise PipelineNotFound(pipeline_id)
    return pipeline_id


PipelineId = Annotated[int, Depends(_pipeline_id_of)]
"""An id that a pipeline may have; any other names none, which is a 404."""
