"""A chat that a test sits at: it types, and reads what stands on the screen."""

from __future__ import annotations

import asyncio
import html
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual.events import Paste
from textual.pilot import Pilot, WaitForScreenTimeout

from segue.application.segue import Segue
from segue.interfaces.chat.app import ChatApp
from segue.interfaces.chat.widgets import Streamed
from segue.testing import ScriptedBackend, build_test_segue
from tests.sessions.scripts import write_catalog

GATE = {"run": ["sh", "-c", "until test -e ../go; do sleep 0.02; done"]}
"""An action that waits until the test lets the agent go on."""
_TEXT = re.compile(r'<text[^>]*? x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', re.DOTALL)
_CELL = 12.2
_PATIENCE = 120.0


def shown(app: ChatApp) -> str:
    """The text on the screen, line by line."""
    lines: dict[float, list[tuple[int, str]]] = {}
    for x, y, text in _TEXT.findall(app.export_screenshot()):
        plain = html.unescape(text).replace("\xa0", " ")
        lines.setdefault(float(y), []).append((round(float(x) / _CELL), plain))
    return "\n".join(_placed(lines[y]) for y in sorted(lines))


def _placed(pieces: list[tuple[int, str]]) -> str:
    line = ""
    for column, text in sorted(pieces):
        line = line.ljust(column) + text
    return line.rstrip()


class Desk:
    """The chat, its back end and its keys."""

    def __init__(self, app: ChatApp, pilot: Pilot[None], segue: Segue, backend: ScriptedBackend) -> None:
        self.app, self.pilot, self.segue, self.backend = app, pilot, segue, backend

    @property
    def screen(self) -> str:
        """What can be read now."""
        return shown(self.app)

    def let_go(self) -> None:
        """Open the gate."""
        Path(self.app.chat.working_dir, "..", "go").touch()

    async def paste(self, text: str) -> None:
        """Put a text where the cursor is, as terminals do."""
        target = self.app.focused
        assert target is not None
        target.post_message(Paste(text))
        await self._settle()

    async def send(self, text: str) -> None:
        """Type something, and press Enter."""
        await self.paste(text)
        await self.press("enter")

    async def press(self, *keys: str) -> None:
        """Press keys."""
        with suppress(WaitForScreenTimeout):
            await self.pilot.press(*keys)
        await self._settle()

    async def sees(self, *texts: str, times: int = 1) -> str:
        """Wait until all of these stand on the screen, at least so many times; gives the screen."""
        await self._until(lambda: all(self.screen.count(text) >= times for text in texts), str(texts))
        return self.screen

    async def rests(self, *texts: str, times: int = 1) -> str:
        """Wait until nothing is under way and all of these stand on the screen; gives the screen."""

        def is_at_rest() -> bool:
            return not self.app.chat.is_busy and all(each.is_shown for each in self.app.talk.query(Streamed))

        await self._until(is_at_rest, "an end of the work")
        await self._settle()
        return await self.sees(*texts, times=times)

    async def _until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"{what} did not come up on\n{self.screen}"
            await asyncio.sleep(0.02)

    async def _settle(self) -> None:
        """Wait until all that was sent to widgets is done; one that is removed meanwhile never says so."""
        with suppress(WaitForScreenTimeout):
            await self.pilot.pause()


@asynccontextmanager
async def at_desk(
    folder: Path,
    agents: Mapping[str, Any],
    *,
    who: str = "helper",
    backend: ScriptedBackend | None = None,
    size: tuple[int, int] = (100, 40),
    resume: int | None = None,
    **settings: Any,
) -> AsyncIterator[Desk]:
    """A chat in the project, with scripted agents."""
    project = folder / "project"
    write_catalog(project, agents)
    played = backend or ScriptedBackend()
    async with build_test_segue(folder, played, **settings) as segue:
        app = ChatApp(segue, who=who, working_dir=str(project), resume=resume)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield Desk(app, pilot, segue, played)
            await app.chat.close()
