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
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import SegueError
from segue.interfaces.cli.parts import CliSettings, Parts, parts_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.views import PipelineDetail, StepDetail

_TASK = "median([1, 2, 3, 4]) gives 3, but it must be 2.5. Find out why, mend it, and prove it."

_STATS = '''\
"""Small statistics."""


def median(numbers):
    """The middle value; the mean of the two middle ones if there is no single middle."""
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]
'''

_TEST = """\
import unittest

from stats import median


class MedianTest(unittest.TestCase):
    def test_odd_count(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_even_count(self):
        self.assertEqual(median([1, 2, 3, 4]), 2.5)


if __name__ == "__main__":
    unittest.main()
"""

_DEVELOPER = """\
I ran the tests first: exit code {exit_code}, so the bug is real. The cause is in stats.py.

## What Was Done
- Reproduced the bug: `python -m unittest` failed in test_even_count before the change
- Changed median in stats.py to take the mean of the two middle values for an even count

## Decisions Made
- Mended median itself instead of its callers, because every caller has the same bug

## Open Questions
- Should median([]) raise a clearer error than IndexError?

## Next Agent Context
Run the tests yourself and read the change in stats.py. Check the odd case too: it must not have changed."""

_REVIEWER = """\
I read the difference and ran `python -m unittest -v` myself. It ended with exit code {exit_code}:

```
{output}
```

## Handoff

```yaml
outcome: completed
what_was_done:
  - Read the change in stats.py; it does what the developer's handoff says
decisions_made:
  - decision: The change is safe to merge
    rationale: The odd case is untouched and covered by a test
commands_run:
  - command: python -m unittest -v
    exit_code: {exit_code}
gotchas:
  - issue: median([]) raises IndexError
    mitigation: Check for an empty list before the call
    severity: low
suggested_next_steps:
  - step: Decide what median([]) should do
    priority: low
```"""


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
    settings = parts.settings(
        project, data_dir=folder / "data", config_dir=folder / "config", database_url="", backend="scripted"
    )
    screen = console()
    _introduce(project, screen)
    detail, review = asyncio.run(_play(parts, settings, project, screen))
    _explain(project, detail, review, screen)
    _say_what_next(folder, screen)
    raise typer.Exit(0 if detail.status == "done" else 1)


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
    (project / "stats.py").write_text(_STATS, encoding="utf-8")
    (project / "test_stats.py").write_text(_TEST, encoding="utf-8")
    (project / ".gitignore").write_text(".segue/\n__pycache__/\n", encoding="utf-8")
    catalog.write_text(_catalog_text(), encoding="utf-8")
    _git(project, "init", "-q", "-b", "main")
    _git(project, "add", "-A")
    _git(project, "commit", "-q", "-m", "A project with a bug")


def _catalog_text() -> str:
    import yaml

    fixed = (
        "    middle = len(ordered) // 2\n"
        "    if len(ordered) % 2:\n"
        "        return ordered[middle]\n"
        "    return (ordered[middle - 1] + ordered[middle]) / 2\n"
    )
    tests = [sys.executable, "-m", "unittest", "-v"]
    developer = [
        {"delay": 0.8},
        {"run": tests},
        {"say": _DEVELOPER},
        {"edit": {"path": "stats.py", "find": "    return ordered[len(ordered) // 2]\n", "replace": fixed}},
        {"delay": 0.8},
    ]
    reviewer = [{"delay": 0.8}, {"run": tests}, {"say": _REVIEWER}, {"delay": 0.8}]
    agents = {
        name: {"backend": "scripted", "description": "Follows a script.", "options": {"actions": actions}}
        for name, actions in (("developer", developer), ("senior_reviewer", reviewer))
    }
    return yaml.safe_dump({"agents": agents}, sort_keys=False, allow_unicode=True)


async def _play(
    parts: Parts, settings: CliSettings, project: Path, screen: Console
) -> tuple[PipelineDetail, StepDetail]:
    from segue.application.pipelines import Submission
    from segue.interfaces.cli.foreground import follow_or_abort

    async with parts.open(settings) as segue:
        await segue.start()
        wanted = Submission(template="quick_fix", prompt=_TASK, working_dir=str(project))
        pipeline = await segue.pipelines.submit(wanted)
        detail = await follow_or_abort(segue, pipeline.id, screen)
        return detail, await segue.views.step(pipeline.id, 2)


def _introduce(project: Path, screen: Console) -> None:
    from segue.interfaces.cli.output import safe

    screen.print(
        "[bold]Segue[/] runs chains of coding agents and makes the handoff between them a checked thing.\n\n"
        f"A git repository with a real bug is in [cyan]{safe(str(project))}[/].\n"
        "Two agents work on it, one after the other: a developer, then a reviewer.\n"
        "[dim]They follow a script: no model is called and nothing leaves this machine. What they do to the\n"
        "files, and the tests they run, is real.[/]\n\n"
        f'[bold]$ segue run quick_fix "{_TASK}"[/]\n',
        soft_wrap=True,
    )


def _explain(project: Path, detail: PipelineDetail, review: StepDetail, screen: Console) -> None:
    from rich.panel import Panel
    from rich.syntax import Syntax

    from segue.interfaces.cli.output import safe
    from segue.interfaces.cli.records import print_handoff

    screen.print(
        "\n[bold]1. Each agent handed off,[/] one in Markdown, one in YAML. Segue made typed records of it:\n"
    )
    for step in detail.steps:
        if step.latest_handoff is not None:
            print_handoff(
                step.agent_name, step.latest_handoff.metadata, step.latest_handoff.content_md, screen
            )
    if review.tries:
        screen.print(
            "\n[bold]2. The reviewer saw no wall of text.[/] Of the developer's reply it was given this:\n"
        )
        screen.print(
            Panel(safe(_heart_of(review.tries[0].briefing)), title="briefing (excerpt)", title_align="left")
        )
    screen.print("\n[bold]3. The work is real.[/] What changed in the repository:\n")
    screen.print(
        Syntax(_git(project, "diff", "--", "stats.py"), "diff", theme="ansi_dark", background_color="default")
    )


def _heart_of(briefing: str) -> str:
    """The part of a briefing that tells what came before."""
    start = briefing.find("<handoff-context>")
    end = briefing.find("</handoff-context>")
    return briefing[start:end].strip() + "\n</handoff-context>" if start >= 0 else briefing


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
        f"  [dim]your own agents, in your own project:[/]\n    {segue} init\n"
        "  [dim]with any program that answers on its standard output:[/]\n"
        f'    {segue} run quick_fix "..." --command "claude -p"\n'
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
