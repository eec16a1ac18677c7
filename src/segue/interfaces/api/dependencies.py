"""What route functions ask for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request

from segue.application.app import Segue


def _segue_of(request: Request) -> Segue:
    segue: Segue = request.app.state.segue
    return segue


SegueDep = Annotated[Segue, Depends(_segue_of)]
"""The running Segue."""

PipelineId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The pipeline's id.")]
