"""Twenty sessions at once on one OpenCode server: how long they take, and what they need.

python bench/agents.py [--sessions 20]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the rig that tests use

from tests.agents import rig_opencode
from tests.agents.rig import Rig

from segue.adapters.backends.opencode.backend import OpenCodeBackend
from segue.application.ports.backend import Message
from segue.testing import ScriptedModel, say, script, shell, write

PLAN = script({"work": [write("file.txt", "x\n"), shell("cat file.txt"), say("Done.")]})


async def one(backend: OpenCodeBackend, rig: Rig, folder: Path) -> float:
    """One session from its opening to its reply; gives the seconds it took."""
    began = time.monotonic()
    folder.mkdir()
    request = rig.request(str(folder), key=uuid4().hex)
    session = await backend.open(request)
    message = Message(id=uuid4().hex, text="[[work]] Write the file.")
    await backend.send(request, session, message)
    reply = await backend.wait(session, message.id)
    assert reply.text == "Done.", reply
    assert (folder / "file.txt").read_text() == "x\n"
    await backend.close(session)
    return time.monotonic() - began


def resident(rig: Rig) -> float:
    """Megabytes of all processes of the rig."""
    home = rig.options["set_env"]["HOME"]
    total = 0
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == home:
                total += process.memory_info().rss
        except psutil.Error:
            continue
    return total / 1e6


async def measure(sessions: int) -> None:
    """Run them one alone, then all at once."""
    with tempfile.TemporaryDirectory() as name, ScriptedModel(PLAN) as model:
        root = Path(name)
        rig = rig_opencode.make(root / "home", model.url)
        backend = OpenCodeBackend(sessions_dir=root / "sessions")
        began = time.monotonic()
        first = await one(backend, rig, root / "first")
        alone = await one(backend, rig, root / "alone")
        print(f"first session, with the start of the server: {first:.1f} s; one more, alone: {alone:.1f} s")
        print(f"memory of the server after them: {resident(rig):.0f} MB")
        began = time.monotonic()
        running = [asyncio.create_task(one(backend, rig, root / f"s{n}")) for n in range(sessions)]
        most = 0.0
        while not all(task.done() for task in running):
            most = max(most, resident(rig))
            await asyncio.sleep(0.2)
        each = [task.result() for task in running]
        wall = time.monotonic() - began
        print(
            f"{sessions} at once: all ended, {wall:.1f} s in all ({wall / alone:.1f} times one alone), ",
            end="",
        )
        print(f"slowest {max(each):.1f} s, at most {most:.0f} MB")
        await backend.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    asyncio.run(measure(parser.parse_args().sessions))
