"""`segue init`: a `.segue` folder to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segue.domain.errors import SegueError

_SETTINGS = """\
# Settings of Segue for this project. Each can also be set in the environment: SEGUE_BACKEND,
# SEGUE_STEP_TIMEOUT and so on.

# The program that runs agents whose profile names none, and its options.
# backend: command
# backend_options:
#   command:
#     command: claude -p --permission-mode acceptEdits

# Seconds a step may take before its agent is stopped.
step_timeout: 600
"""

_CATALOG = """\
# Agents and templates of this project. An entry with the name of a built-in one takes its place;
# `segue agents list` and `segue templates list` show what is on offer.

agents:
  helper:
    description: An agent of this project; it shows the shape of one.
    # `command` runs any program: the briefing comes on its standard input, its reply is its standard output.
    # Put your agent's own command here, for example [claude, -p] or [codex, exec, "-"].
    backend: command
    options:
      command: [cat]
    system_prompt_additions: |
      You know this project. Keep changes small, and run the tests.

templates:
  ask:
    description: One agent, one answer.
    steps:
      - agent: helper
        description: Do what the task says, and hand off what you did.
"""


def init(
    directory: Annotated[
        Path, typer.Argument(help="The project's folder.", file_okay=False, exists=True)
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write .segue/ with settings and a catalog to start from."""
    folder = directory / ".segue"
    files = {folder / "segue.yaml": _SETTINGS, folder / "catalog.yaml": _CATALOG}
    there = [path for path in files if path.exists()]
    if there and not force:
        names = " and ".join(str(path) for path in there)
        raise SegueError(
            f"{names} exist{'s' if len(there) == 1 else ''} already; nothing was written (--force overwrites)"
        )
    try:
        folder.mkdir(exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
            typer.echo(f"wrote {path}")
    except OSError as error:
        raise SegueError(f"cannot write {folder}: {error.strerror}") from error
    typer.echo('next: look at segue agents list, then try: segue run ask "Say hello"')
