"""`segue demo`: a false claim is caught, in ten seconds, with nothing installed and nothing configured."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import SegueError
from segue.interfaces.cli import demo_script
from segue.interfaces.cli.parts import CliSettings, Parts, parts_of

if TYPE_CHECKING:
    from segue.interfaces.cli.demo_screen import DemoScreen

_SHOWN = frozenset({"repair_asked", "step_done", "pipeline_done", "pipeline_failed", "pipeline_aborted"})
"""The events of a run that the demo shows."""


def demo(
    context: typer.Context,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="Make the demo project in this new folder, and keep it."),
    ] = None,
) -> None:
    """See a false claim caught: offline, 10 seconds.

    Two scripted agents work on a real bug: no model, no network, nothing to set up."""
    from segue.interfaces.cli.demo_screen import DemoScreen
    from segue.interfaces.cli.output import console

    parts = parts_of(context)
    folder = _make_folder(keep)
    project = folder / "project"
    try:
        _make_project(project)
        settings = parts.own_settings(
            data_dir=folder / "data", config_dir=folder / "config", database_url="", backend="scripted"
        )
        if content := parts.project_content(project):
            parts.trust(settings).trust(content)
        screen = DemoScreen(console())
        screen.introduce()
        status = asyncio.run(_play(parts, settings, project, screen))
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    screen.say_what_next(program_name(sys.argv[0]), folder if keep is not None else None)
    raise typer.Exit(0 if status == "done" else 1)


def _make_folder(keep: Path | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="segue-demo-"))
    try:
        keep.mkdir(parents=True)
    except FileExistsError:
        raise SegueError(f"{keep} is there already; --keep makes a new folder") from None
    except OSError as error:
        raise SegueError(f"cannot make {keep}: {error.strerror}") from error
    return keep.resolve()


def _make_project(project: Path) -> None:
    """A git repository with a small real bug, and two agents that follow a script."""
    catalog = project / ".segue" / "catalog.yaml"
    catalog.parent.mkdir(parents=True)
    (project / "stats.py").write_text(demo_script.STATS, encoding="utf-8")
    (project / "test_stats.py").write_text(demo_script.TEST, encoding="utf-8")
    (project / ".gitignore").write_text(".segue/\n__pycache__/\n", encoding="utf-8")
    catalog.write_text(_catalog_text(), encoding="utf-8")
    _git(project, "init", "-q", "-b", "main")
    _git(project, "add", "-A")
    _git(project, "commit", "-q", "-m", "A project with a bug")


def _catalog_text() -> str:
    import yaml

    return yaml.safe_dump(demo_script.catalog(), sort_keys=False, allow_unicode=True)


async def _play(parts: Parts, settings: CliSettings, project: Path, screen: DemoScreen) -> str:
    """Run the pipeline, and show each verdict when it was measured; gives the status of the end."""
    from segue.application.event_stream import follow
    from segue.application.pipelines.submit import PipelineRequest
    from segue.domain.audit import FINAL_KINDS, AuditEntry, AuditKind

    async with parts.open(settings) as segue:
        await segue.start()
        request = PipelineRequest(template="quick_fix", prompt=demo_script.TASK, working_dir=str(project))
        number = (await segue.pipelines.submit(request)).id
        async with aclosing(follow(segue, pipeline_id=number)) as events:
            async for _, event in events:
                if not isinstance(event, AuditEntry) or event.event_type not in _SHOWN:
                    continue
                detail = await segue.views.pipeline(number)
                if event.event_type in FINAL_KINDS:
                    break
                at = next(step.order_index + 1 for step in detail.steps if step.id == event.step_id)
                step = await segue.views.step(number, at)
                if event.event_type is AuditKind.REPAIR_ASKED:
                    screen.show_repair(step)
                else:
                    screen.show_step(step)
        if detail.result is not None:
            screen.conclude(detail.result, await segue.results.diff(number))
        return detail.status


def program_name(called: str) -> str:
    """What to type to call this program again: `segue` if the PATH has it, else as it was called now."""
    this = Path(called)
    on_path = shutil.which("segue")
    if on_path is not None and this.exists() and os.path.samefile(on_path, this):  # noqa: PTH121  # two names
        return "segue"
    if this.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m segue"
    return shlex.quote(called) if os.sep in called else "segue"


def _git(project: Path, *arguments: str) -> str:
    """Run git with an identity of its own; the user's configuration plays no part."""
    identity = [
        "-c",
        "user.name=Segue demo",
        "-c",
        "user.email=demo@segue.invalid",
        "-c",
        "commit.gpgsign=false",
    ]
    try:
        done = subprocess.run(
            ["git", *identity, *arguments],  # noqa: S607  # the git that the user has
            cwd=project,
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
    except FileNotFoundError:
        raise SegueError("the demo needs git on the PATH") from None
    except subprocess.CalledProcessError as error:
        raise SegueError(f"git {arguments[0]} failed: {error.stderr.strip()}") from error
    return done.stdout
