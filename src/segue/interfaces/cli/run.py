"""`segue run`: a pipeline from here to its end, without a server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.catalog import AUTO
from segue.domain.environment import checked_name
from segue.domain.errors import InvalidRequest
from segue.domain.workspace import WorkspaceChoice
from segue.interfaces.cli.foreground import run_in_foreground
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.application.segue import Segue
    from segue.domain.pipeline import Pipeline

_WITH_PASS_ENV = ("acp", "claude_code", "codex", "command", "opencode")
"""The back ends whose agents are programs with an environment."""


def run(
    context: typer.Context,
    template: Annotated[str, typer.Argument(help="Name of a template; `segue templates list` shows them.")],
    prompt: Annotated[
        str, typer.Argument(help="The task, in your own words; - reads it from standard input.")
    ],
    title: Annotated[str, typer.Option(help="A line to know the run by.")] = "",
    directory: Annotated[
        Path, typer.Option("--dir", "-C", help="Folder to work in.", file_okay=False, exists=True)
    ] = Path(),
    branch: Annotated[
        str | None, typer.Option(help="The branch to work on; one of Segue's own if left out.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Work in the folder itself, not in a git worktree.")
    ] = False,
    init_git: Annotated[
        bool, typer.Option("--init-git", help="Make the folder a git repository first, if it is none.")
    ] = False,
    backend: Annotated[str | None, typer.Option(help="Back end of agents whose profile names none.")] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help='Use this command as every such agent, for example "claude -p"; sets --backend command.'
        ),
    ] = None,
    pass_env: Annotated[
        list[str] | None,
        typer.Option(
            "--pass-env",
            metavar="NAME",
            help="Hand this environment variable on to agents that do not get it by themselves, for example "
            "AWS_PROFILE or AWS_*; repeatable.",
        ),
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check",
            metavar="COMMAND",
            help='Run this after each step, for example "pytest -q", and hold claims against it; in place of '
            "the template's checks, repeatable.",
        ),
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds a step may take.")] = None,
    no_input: Annotated[
        bool,
        typer.Option("--no-input", help="Ask nothing: a run that waits for you is left waiting, exit 3."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the ended run as JSON, and nothing else.")
    ] = False,
) -> None:
    """Run a pipeline here and now, and watch it. Ctrl-C aborts it and its agent."""
    parts = parts_of(context)
    options = _options_of(command, backend, pass_env or [])
    settings = parts.settings(
        directory,
        backend=backend or ("command" if command else None),
        backend_options=options,
        step_timeout=timeout,
    )
    text = _read_prompt() if prompt == "-" else prompt

    async def submit(segue: Segue) -> Pipeline:
        from segue.application.pipelines.submit import PipelineRequest

        request = PipelineRequest(
            template=template,
            prompt=text,
            title=title,
            branch=branch,
            working_dir=str(directory),
            workspace=_choice_of(in_place=in_place, init_git=init_git),
            checks=tuple(check) if check else None,
        )
        return await segue.pipelines.submit(request)

    running = run_in_foreground(parts, settings, submit, as_json=as_json, is_new=True, no_input=no_input)
    raise typer.Exit(asyncio.run(running))


def _choice_of(*, in_place: bool, init_git: bool) -> WorkspaceChoice:
    if in_place and init_git:
        raise InvalidRequest("--in-place and --init-git exclude each other")
    if in_place:
        return WorkspaceChoice.IN_PLACE
    return WorkspaceChoice.INIT_GIT if init_git else WorkspaceChoice.AUTO


def _options_of(
    command: str | None, backend: str | None, pass_env: list[str]
) -> dict[str, dict[str, str | list[str]]] | None:
    """Options of back ends that the command line names; none if it names none."""
    options: dict[str, dict[str, str | list[str]]] = {}
    if pass_env:
        try:
            names = [checked_name(name) for name in pass_env]
        except ValueError as error:
            raise InvalidRequest(f"--pass-env is wrong: {error}") from error
        if backend is not None and backend not in (AUTO, *_WITH_PASS_ENV):
            raise InvalidRequest(
                f'--pass-env: the back end "{backend}" has no option "pass_env"; those that have are '
                f"{', '.join(_WITH_PASS_ENV)}"
            )
        options = {name: {"pass_env": names} for name in _WITH_PASS_ENV}
    if command is not None:
        options["command"] = {"command": command, **options.get("command", {})}
    return options or None


def _read_prompt() -> str:
    given = typer.get_binary_stream("stdin").read()
    try:
        text = given.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the task on standard input is not UTF-8 text (byte {error.start})") from error
    if "\0" in text:
        raise InvalidRequest("the task on standard input holds a NUL character, which no text may")
    return text
