"""Chains of no-op steps in Segue on SQLite: python segue_chain.py FOLDER STEPS CHAINS [git].

Each step has what a step of a user has: session, messages, handoff, ledger, evidence, audit trail. With `git`
the agents work in worktrees of a repository, and the processor time of the git processes is counted.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.domain.pipeline import PipelineStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def make_repository(folder: Path) -> Path:
    """A git repository with one commit."""
    folder.mkdir()
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(folder), *person, *words], check=True)
    return folder


def count_git() -> list[str]:
    """The commands of git that this process starts from now on."""
    started: list[str] = []

    def hear(event: str, given: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and Path(str(given[0])).name == "git":
            started.append(str(given[1][2]))

    sys.addaudithook(hear)
    return started


async def run(folder: Path, steps: int, chains: int, *, with_git: bool) -> dict[str, float]:
    """Milliseconds a step, by the clock and of processor."""
    repository = make_repository(folder / "repository") if with_git else None
    backend = ScriptedBackend({"developer": [say_handoff("Did nothing.", next="Do nothing.")]})
    async with build_test_segue(folder, backend, policy=WorkerPolicy(room=50)) as segue:

        async def one(name: str, count: int) -> None:
            place = repository or folder / name  # two pipelines do not work in one folder without git
            place.mkdir(exist_ok=True)
            request = PipelineRequest(
                prompt="Do nothing.",
                custom_steps=(TemplateStep(agent="developer", description="Do nothing."),) * count,
                working_dir=str(place),
            )
            ended = await follow_to_end(segue, (await segue.pipelines.submit(request)).id)
            assert ended.status is PipelineStatus.DONE

        await one("warm", 1)
        started = count_git()
        wall, cpu = time.perf_counter(), processor_seconds()
        await asyncio.gather(*(one(str(number), steps) for number in range(chains)))
        each = 1000 / (steps * chains)
        took = {"wall": (time.perf_counter() - wall) * each, "processor": (processor_seconds() - cpu) * each}
        return took | ({"git processes": len(started) * each / 1000} if with_git else {})


def main(words: Sequence[str]) -> None:
    """Measure and print."""
    place, steps, chains, *more = words
    took = asyncio.run(run(Path(place), int(steps), int(chains), with_git=more == ["git"]))
    print(json.dumps(took))


if __name__ == "__main__":
    main(sys.argv[1:])
