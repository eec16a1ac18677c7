"""Runs one pipeline in this process, shows it, and turns its end into an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from segue.domain.errors import IllegalMove
from segue.interfaces.cli.parts import CliSettings, Parts

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.segue import Segue
    from segue.application.views import PipelineDetail
    from segue.domain.pipeline import Pipeline
    from segue.interfaces.cli.closing import Closing

NOT_ENDED = 130
"""The exit code of a run that was left before its end."""


async def run_in_foreground(
    parts: Parts,
    settings: CliSettings,
    begin: Callable[[Segue], Awaitable[Pipeline]],
    *,
    as_json: bool,
    is_new: bool = False,
    no_input: bool = False,
) -> int:
    """Begin a pipeline, follow it to its end, print what came of it.

    Where it waits for a person, the terminal asks; without one it is left waiting.
    """
    from segue.interfaces.cli.checks import print_check_note
    from segue.interfaces.cli.closing import closing_of
    from segue.interfaces.cli.keyboard import Keyboard
    from segue.interfaces.cli.output import console, print_json, side_console
    from segue.interfaces.cli.waiting import WAITS, ask_and_decide, can_ask, print_waiting, waiting_of

    async with parts.open(settings) as segue:
        await segue.start()
        pipeline = await begin(segue)
        screen = side_console()
        if as_json:
            screen.quiet = True
        else:
            announce(segue, pipeline, screen, is_new=is_new)
            if is_new:
                print_check_note(pipeline, screen)
        is_asking, keyboard = not as_json and can_ask(no_input=no_input), Keyboard()
        detail = await follow_or_abort(segue, pipeline.id, screen)
        while waiting_of(detail) is not None:
            if not as_json:
                print_steps_so_far(detail, screen)
            if not is_asking or not await ask_and_decide(segue, detail, screen, keyboard):
                break
            with suppress(IllegalMove):  # another Segue was faster, or it has ended with the decision
                await segue.pipelines.resume(pipeline.id)
            detail = await follow_or_abort(segue, pipeline.id, screen)
        closing = None if as_json else await closing_of(segue, detail)
    if as_json:
        print_json(detail)
    elif waiting_of(detail) is not None:
        print_waiting(detail, console(), was_asked=is_asking)
    else:
        conclude(detail, closing, screen)
    if waiting_of(detail) is not None:
        return WAITS
    return detail.result.exit_code if detail.result is not None else NOT_ENDED


def announce(segue: Segue, pipeline: Pipeline, screen: Console, *, is_new: bool) -> None:
    """The first lines: which run, which recipe, where, on which back end."""
    from segue.interfaces.cli.output import safe

    title = f"[bold]{pipeline.id}  {safe(pipeline.title)}[/]"
    lines = [title, f"{safe(pipeline.template)} in {safe(pipeline.working_dir)}"]
    lines += [safe(line) for line in _who_works(segue, pipeline, is_new=is_new)]
    screen.print("\n".join([*lines, ""]), soft_wrap=True)


def _who_works(segue: Segue, pipeline: Pipeline, *, is_new: bool) -> list[str]:
    """A line for each back end and model of the run, with the agents on it where they differ."""
    groups: dict[str, list[str]] = {}
    for step in pipeline.steps:
        profile = pipeline.plan.agents.get(step.agent_name)
        if profile is None or profile.backend is None:
            continue
        agent = profile.options.get("agent") if profile.backend == "acp" else None
        words = [f"{profile.backend} {agent}" if agent else profile.backend]
        if is_new:  # of a run that is continued, the plan is what counts, and not what would be chosen now
            words.append(segue.catalog.why_backend(step.agent_name, pipeline.working_dir))
        words.append(f"model {step.model}" if step.model else "")
        agents = groups.setdefault(", ".join(filter(None, words)), [])
        agents += [step.agent_name] if step.agent_name not in agents else []
    if len(groups) == 1:
        return [f"on {line}" for line in groups]
    return [f"{', '.join(agents)} on {line}" for line, agents in groups.items()]


async def follow_or_abort(segue: Segue, pipeline_id: int, screen: Console) -> PipelineDetail:
    """Follow a run. Ctrl-C aborts it and keeps following until it has stopped; a second one leaves it."""
    from segue.interfaces.cli.live import follow, on_interrupt
    from segue.interfaces.cli.output import safe

    following = asyncio.ensure_future(follow(segue, pipeline_id, screen, is_left_waiting=True))
    aborting: list[asyncio.Task[None]] = []

    def report(abort: asyncio.Task[None]) -> None:
        # An abort that came too late is no error, but one that failed must be told.
        if not following.done() and not abort.cancelled() and (error := abort.exception()):
            screen.print(f"[red]it could not be aborted: {safe(str(error))}[/] (Ctrl-C again leaves it)")

    def interrupt() -> None:
        if aborting:
            following.cancel()
            return
        screen.print("Stopping the agent and saving its work. Ctrl-C again: leave it at once.")
        aborting.append(asyncio.ensure_future(segue.pipelines.abort(pipeline_id, "aborted by Ctrl-C")))
        aborting[0].add_done_callback(report)

    async with on_interrupt(interrupt):
        await asyncio.wait({following})
    if following.cancelled():
        for task in aborting:
            task.cancel()
    await asyncio.gather(*aborting, return_exceptions=True)
    return await segue.views.pipeline(pipeline_id) if following.cancelled() else following.result()


def print_steps_so_far(detail: PipelineDetail, screen: Console) -> None:
    """The steps, where the run was watched."""
    from segue.interfaces.cli.steps_block import print_steps

    if screen.is_terminal:
        print_steps(detail, screen)
        screen.print()


def conclude(detail: PipelineDetail, closing: Closing | None, screen: Console) -> None:
    """How it ended: the steps where it was watched, the result on standard output."""
    from segue.interfaces.cli.closing import print_closing
    from segue.interfaces.cli.output import console

    if closing is None:
        screen.print(f"pipeline {detail.id} is {detail.status}; `segue pipelines watch {detail.id}` shows it")
        return
    print_steps_so_far(detail, screen)
    print_closing(closing, console())
