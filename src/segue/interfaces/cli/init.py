"""`segue init`: a `.segue` folder to start from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from segue.domain.errors import SegueError, UnsafeProject
from segue.domain.trust import ProjectContent, is_configuration
from segue.interfaces.cli.checks import find_proposals, yaml_checks
from segue.interfaces.cli.parts import CliSettings, Parts, parts_of
from segue.interfaces.cli.schema import FILE_NAME, schema_text

_SETTINGS = """\
# Settings of Segue for this project. Each can also be set in the environment: SEGUE_BACKEND,
# SEGUE_STEP_TIMEOUT and so on.

# WHO DOES THE WORK of agents whose profile names no back end, such as the built-in ones (developer,
# senior_reviewer ...). By itself, the first that is found of OpenCode, Claude Code, Codex and agents that
# speak ACP: `segue agents doctor` shows which, `segue agents install opencode` installs one. Or name one:
# backend: opencode

# Or let any command be the agent: take away the # of the next line and of the one line below it that names
# your program. It sees only PATH, HOME and their like of the environment; pass_env names what else it is
# handed, such as a key.
# backend: command
# backend_options: {command: {command: "claude -p --permission-mode acceptEdits", \
pass_env: [ANTHROPIC_API_KEY]}}
# backend_options: {command: {command: "codex exec --sandbox workspace-write -", pass_env: [OPENAI_API_KEY]}}
# backend_options: {command: {command: "opencode run", pass_env: [ANTHROPIC_API_KEY, OPENAI_API_KEY]}}
# backend_options: {command: {command: "gemini --approval-mode auto_edit", pass_env: [GEMINI_API_KEY]}}

# Seconds a step may take before its agent is stopped.
step_timeout: 600

# CHECKS: commands that Segue itself runs after each step, in the folder where the agent worked. What an agent
# says of tests, linters and the outcome is held against them; without one, "tests pass" cannot be checked.
# Templates that name no checks have these; `segue run --check` replaces them for one run.
{checks}"""

_CATALOG = f"""\
# yaml-language-server: $schema={FILE_NAME}
# Agents and templates of this project. An entry with the name of a built-in one takes its place;
# `segue agents list` and `segue templates list` show what is on offer.

agents:
  sample:
    description: Calls no model and does no work; it shows the shape of an agent.
    # `command` runs any program: the briefing comes on its standard input, its reply is its standard output.
    # This one is a few lines of shell. Put your agent's own command in their place, for example
    # [claude, -p], [codex, exec, "-"], [opencode, run] or [gemini].
    backend: command
    options:
      command:
        - sh
        - -c
        - |
          cat >/dev/null
          cat <<'END'
          outcome: completed
          what_was_done:
            - Read the briefing. This agent is only a sample, so nothing else was done
          suggested_next_steps:
            - Put the command of a real agent into .segue/catalog.yaml
          END
    system_prompt_additions: |
      You know this project. Keep changes small, and run the tests.

templates:
  ask:
    description: One agent, one answer.
    steps:
      - agent: sample
        description: Do what the task says, and hand off what you did.
    # Commands that Segue runs after each step of this template, in place of those in segue.yaml:
    # checks: [pytest -q]
    # What happens if a claim is false: repair asks the same session to correct it, at most twice; note only
    # tells the next agent; fail ends the run.
    # on_refuted: repair
    # The same for a step without a handoff, or with a bad one:
    # on_bad_handoff: repair
"""


def init(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Argument(help="The project's folder.", file_okay=False, exists=True)
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write .segue/ with settings and a catalog to start from. They are trusted at once."""
    parts = parts_of(context)
    settings = parts.own_settings()
    folder = directory / ".segue"
    if folder.is_symlink():
        raise UnsafeProject(f"{folder} is a symbolic link: remove it, or make it a folder")
    if folder.exists():
        parts.project_content(directory)  # refuses what leads out of the project
    proposals = find_proposals(directory)
    written = _SETTINGS.replace("{checks}", yaml_checks(proposals))
    files = {
        folder / "segue.yaml": written,
        folder / "catalog.yaml": _CATALOG,
        folder / FILE_NAME: schema_text(parts),
    }
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
    _trust(parts, settings, directory, {path: text for path, text in files.items() if path.suffix == ".yaml"})
    for each in proposals:
        typer.echo(f"check: {each.command}   # found in {each.found_in}; runs after each step")
    typer.echo('next: segue run ask "Say hello"     # the sample agent of catalog.yaml, without a model')
    typer.echo("then: segue agents doctor           # which agents work here")
    typer.echo('and:  segue run quick_fix "..."     # the built-in agents, on the first that is found')


def _trust(parts: Parts, settings: CliSettings, directory: Path, written: Mapping[Path, str]) -> None:
    """Trust what was written, and nothing that was there before."""
    found = parts.project_content(directory)
    scripts = (
        {name: each for name, each in found.files.items() if not is_configuration(name)} if found else {}
    )
    ours = {
        f".segue/{path.name}": hashlib.sha256(text.encode()).hexdigest() for path, text in written.items()
    }
    content = ProjectContent(folder=str(directory.resolve()), files={**scripts, **ours})
    parts.trust(settings).trust(content)
