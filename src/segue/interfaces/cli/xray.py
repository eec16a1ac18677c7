"""The X-ray as a file: for `segue handoff verify --html`, and `segue pipelines export`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import IllegalMove, InvalidRequest, RepositoryError, SegueError
from segue.interfaces.cli.handoff_files import shown_name, write_text
from segue.interfaces.cli.parts import Parts, parts_of
from segue.interfaces.cli.pipelines import Id

if TYPE_CHECKING:
    from segue.application.segue import Segue
    from segue.application.views import PipelineDetail, StepDetail
    from segue.interfaces.xray.hunks import Hunks
    from segue.interfaces.xray.model import HandoffXray
    from segue.interfaces.xray.of_document import VerifiedDocument


def export(
    context: typer.Context,
    pipeline_id: Id,
    html: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The file to write. It holds everything, and opens anywhere."),
    ],
    step: Annotated[
        int | None,
        typer.Option("--step", "-s", help="Only the handoff of this step.", min=1, show_default=False),
    ] = None,
) -> None:
    """Write a pipeline's handoffs as one HTML file, the X-ray.

    Each handoff is shown word for word, with the verdict on each claim and the lines that decide it,
    before and after its repairs, and as the next agent reads it.
    """

    async def read() -> tuple[PipelineDetail, list[HandoffXray]]:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            await segue.workers.reap()
            detail = await segue.views.pipeline(pipeline_id)
            return detail, await _xrays(segue, detail, step)

    from segue.interfaces.xray.of_step import title_of

    detail, found = asyncio.run(read())
    sentence = detail.result.sentence if detail.result is not None else f"It is {detail.status}."
    subtitle = f"pipeline {detail.id}, {detail.template}"
    _write(html, parts_of(context), found, (title_of(detail), subtitle, sentence))


def write_xray(path: Path, document: VerifiedDocument, parts: Parts, compared: str) -> None:
    """Write what became of a document as a page; `compared` names the two states."""
    from segue.interfaces.xray.of_document import xray_of_document

    found = xray_of_document(document, parts.token_counter(None))
    _write(path, parts, [found], (document.name, compared, ""))


async def _xrays(segue: Segue, detail: PipelineDetail, only: int | None) -> list[HandoffXray]:
    from segue.interfaces.xray.of_step import xray_of_step

    numbers = range(1, len(detail.steps) + 1) if only is None else [only]
    found: list[HandoffXray] = []
    for number in numbers:
        step = await segue.views.step(detail.id, number)
        if step.latest_handoff is None:
            continue
        after = await segue.views.step(detail.id, number + 1) if number < len(detail.steps) else None
        hunks, fault = await _hunks(segue, detail, step)
        found.append(xray_of_step(step, after, hunks, no_hunks=fault))
    if not found:
        which = f"pipeline {detail.id}" if only is None else f"step {only} of pipeline {detail.id}"
        raise SegueError(f"{which} has left no handoff yet, so there is nothing to show")
    return found


async def _hunks(segue: Segue, detail: PipelineDetail, step: StepDetail) -> tuple[Hunks | None, str]:
    """The lines that a step changed; or why they are not known."""
    from segue.interfaces.xray.hunks import hunks_of_patch

    if step.base_mark is None:
        return None, "It is not in a git repository, so there are no lines to show."
    try:
        return hunks_of_patch(await segue.results.diff(detail.id, step.order_index + 1)), ""
    except (IllegalMove, RepositoryError) as error:
        return None, f"Its lines cannot be read any more: {error}."


def _write(path: Path, parts: Parts, found: Sequence[HandoffXray], titles: tuple[str, str, str]) -> None:
    from segue.interfaces.xray.html import render_html
    from segue.interfaces.xray.model import XrayPage
    from segue.interfaces.xray.text import shown

    if path.is_dir():
        raise InvalidRequest(f"{shown_name(str(path))} is a folder; name the file to write")
    title, subtitle, sentence = map(shown, titles)
    page = XrayPage(
        title=title,
        subtitle=subtitle,
        sentence=sentence,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        segue=parts.version,
        handoffs=tuple(found),
    )
    write_text(path, render_html(page))
    typer.echo(f"wrote {shown_name(str(path))}", err=True)
