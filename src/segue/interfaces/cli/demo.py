"""`segue demo`: what Segue is, in half a minute, with nothing installed and nothing configured."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from segue.domain.errors import SegueError
from segue.interfaces.cli import demo_script
from segue.interfaces.cli.parts import CliSettings, Parts, parts_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.views import PipelineDetail, StepDetail


def demo(
    context: typer.Context,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="Make the demo project in this new folder, not in a temporary one."),
    ] = None,
) -> None:
    """Watch two offline agents mend a real bug and hand off. No model, no network, nothing to set up."""
    from segue.interfaces.cli.output import console

    parts = parts_of(context)
    folder = _make_folder(keep)
    project = folder / "project"
    _make_project(project)
    settings = parts.own_settings(
        data_dir=folder / "data", config_dir=folder / "config", database_url="", backend="scripted"
    )
    if content := parts.project_content(project):
        parts.trust(settings).trust(content)
    screen = console()
    _introduce(project, screen)
    played = asyncio.run(_play(parts, settings, project, screen))
    _explain(played, screen)
    _say_what_next(folder, screen)
    raise typer.Exit(0 if played.detail.status == "done" else 1)


class _Played(NamedTuple):
    """How the demo's run went."""

    detail: PipelineDetail
    work: StepDetail
    review: StepDetail
    patch: str


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


async def _play(parts: Parts, settings: CliSettings, project: Path, screen: Console) -> _Played:
    from segue.application.pipelines import Submission
    from segue.interfaces.cli.foreground import follow_or_abort

    async with parts.open(settings) as segue:
        await segue.start()
        wanted = Submission(template="quick_fix", prompt=demo_script.TASK, working_dir=str(project))
        pipeline = await segue.pipelines.submit(wanted)
        detail = await follow_or_abort(segue, pipeline.id, screen)
        steps = [await segue.views.step(pipeline.id, number) for number in (1, 2)]
        return _Played(detail, steps[0], steps[1], await segue.results.diff(pipeline.id))


def _introduce(project: Path, screen: Console) -> None:
    from segue.interfaces.cli.output import safe

    screen.print(
        "[bold]Segue[/] runs chains of coding agents and makes the handoff between them a checked thing.\n\n"
        f"A git repository with a real bug is in [cyan]{safe(str(project))}[/].\n"
        "Two agents work on it, one after the other: a developer, then a reviewer. One of them lies.\n"
        "[dim]They follow a script: no model is called and nothing leaves this machine. What they do to the\n"
        "files, and the tests they run, is real.[/]\n\n"
        f'[bold]$ segue run quick_fix "{demo_script.TASK}"[/]\n',
        soft_wrap=True,
    )


def _explain(played: _Played, screen: Console) -> None:
    from rich.panel import Panel
    from rich.syntax import Syntax

    from segue.interfaces.cli.ledgers import print_ledger
    from segue.interfaces.cli.output import safe
    from segue.interfaces.cli.records import print_handoff

    work, review = played.work.tries[-1:], played.review.tries[-1:]
    repairs = work[0].repairs if work else []
    if repairs:
        screen.print(
            "\n[bold]1. The developer claimed what was not so.[/] Segue ran the tests, looked into git,\n"
            "and asked the same session to mend it:\n"
        )
        screen.print(
            Panel(safe(_not_so(repairs[0].text)), title="repair turn", title_align="left", border_style="red")
        )
    screen.print(
        "\n[bold]2. It mended the code.[/] Its handoff is a typed record, each claim with a verdict:\n"
    )
    handoff = played.detail.steps[0].latest_handoff
    if handoff is not None:
        print_handoff(played.detail.steps[0].agent_name, handoff.metadata, handoff.content_md, screen)
        if handoff.ledger is not None:
            print_ledger(handoff.ledger, screen)
    if review:
        screen.print(
            "\n[bold]3. What is still not so never passes unmarked.[/] The reviewer's briefing corrects it:\n"
        )
        screen.print(
            Panel(safe(_heart_of(review[0].briefing)), title="briefing (excerpt)", title_align="left")
        )
    screen.print("\n[bold]4. The work is real,[/] on a branch of its own; your checkout was never touched:\n")
    screen.print(Syntax(played.patch, "diff", theme="ansi_dark", background_color="default"))


def _not_so(text: str) -> str:
    """The part of a repair turn that tells what is wrong."""
    return text.partition("\n\n")[2].partition("\n\nThen ")[0]


def _heart_of(briefing: str) -> str:
    """The part of a briefing that tells what came before."""
    start = briefing.find("<handoff-context>")
    end = briefing.find("## How to hand off")
    return briefing[start:end].strip() if start >= 0 else briefing


def program_name(called: str) -> str:
    """What to type to call this program again: `segue` if the PATH has it, else as it was called now."""
    this = Path(called)
    on_path = shutil.which("segue")
    if on_path is not None and this.exists() and os.path.samefile(on_path, this):  # noqa: PTH121  # two names
        return "segue"
    if this.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m segue"
    return shlex.quote(called) if os.sep in called else "segue"


def _say_what_next(folder: Path, screen: Console) -> None:
    from segue.interfaces.cli.output import safe

    segue = safe(program_name(sys.argv[0]))
    data = safe(shlex.quote(str(folder / "data")))
    screen.print(
        "\n[bold]Try next[/]\n"
        "  [dim]the exact briefing and reply:[/]\n"
        f"    SEGUE_DATA_DIR={data} {segue} pipelines show 1 --step 2\n"
        "  [dim]with real agents (OpenCode, Claude Code, Codex, any ACP agent), in your own project:[/]\n"
        f'    {segue} agents doctor\n    {segue} run quick_fix "..."\n'
        f"  [dim]agents and recipes of your own:[/]\n    {segue} init\n"
        f"  [dim]REST and live events on 127.0.0.1:8000:[/]\n    {segue} serve",
        soft_wrap=True,
    )


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
