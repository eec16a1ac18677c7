"""Checks on the command line: what a project would be checked by, and the note where nothing is set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from segue.domain.check_proposals import LOOKED_AT, CheckProposal, propose_checks
from segue.interfaces.cli.lines import one_line, put
from segue.interfaces.cli.marks import Signs

if TYPE_CHECKING:
    from rich.console import Console

    from segue.domain.pipeline import Pipeline

_MOST_BYTES = 1_000_000


def find_proposals(folder: Path) -> tuple[CheckProposal, ...]:
    """What would check the project in a folder."""
    files = {name: text for name in LOOKED_AT if (text := _text_of(folder / name)) is not None}
    return propose_checks(files)


def print_check_note(pipeline: Pipeline, screen: Console) -> None:
    """That nothing is checked by running it, and which command was found and not run."""
    template = pipeline.plan.template
    if any(template.checks_of(index) for index in range(len(template.steps))):
        return
    folder = Path(pipeline.working_dir)
    if not (proposals := find_proposals(folder)):
        return
    first = proposals[0]
    keep = "`checks` in .segue/segue.yaml" if (folder / ".segue").exists() else "`segue init`"
    said = Signs(screen).quoted("tests pass")
    put(screen, f"note: no check is set, so {said} cannot be checked")
    put(screen, f"  found {one_line(first.runner)} in {first.found_in}; it was not run")
    put(screen, f'  hint: --check "{first.command}" for this run, or {keep} to keep it')
    put(screen)


def yaml_checks(proposals: tuple[CheckProposal, ...]) -> str:
    """The lines for `segue.yaml`: active if something was found, else an example."""
    if not proposals:
        return "# checks:\n#   - pytest -q\n"
    lines = [f"  - {each.command}" for each in proposals]
    where = ", ".join(dict.fromkeys(each.found_in for each in proposals))
    return "\n".join([f"# Found in {where}:", "checks:", *lines]) + "\n"


def _text_of(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace") if path.is_file() else None
    except OSError:
        return None
