"""Takes the pictures of `segue chat`, with agents that follow a script, in a project made for it.

.venv/bin/python docs/chat_pictures.py
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from picture import without_fonts
from textual.pilot import Pilot

from segue.domain.briefing.handover_prompt import QUESTION
from segue.interfaces.chat.app import ChatApp
from segue.testing import ScriptedBackend, build_test_segue, trust_project

IMAGES = Path(__file__).parent / "images"
SIZE = (100, 28)
_CELL = 12.2
_BLANKS = re.compile(r'(<text[^>]*? x=")([\d.]+)("[^>]*? textLength=")([\d.]+)("[^>]*>)((?:&#160;)+)')

CART = """def total(prices):
    return sum(prices[1:])


assert total([2, 3]) == 5, "the first price is lost"
"""
FOUND = """The total is wrong because the slice drops the first price:

```python
return sum(prices[1:])
```

I would fix it in two steps:

1. sum **all** prices in `cart.py`
2. add a test for the empty cart, which nobody has looked at yet"""
HANDOFF = (
    """## Goal
Let the total of the cart be right, for the empty cart too.

## Constraints & Preferences
- Keep the change small; no new dependency

## Progress

### Done
- [x] Found the cause: the slice in `cart.py` drops the first price
""",
    """
## Key Decisions
- Sum all prices: the slice was left over from a header row that is gone

## Critical Context
- `python3 cart.py` shows the bug: "the first price is lost"

## Next Steps
- Fix `total` in `cart.py`
- Add a test for the empty cart
""",
)
FIXED = """I took it up where it was left: the slice is gone, and `python3 cart.py` passes.

The empty cart gives **0**, as it should; I continue with its test."""


def _agents() -> dict[str, Any]:
    usage = {"input_tokens": 121_400, "output_tokens": 6_300, "cost": 0.47, "context_window": 200_000}
    look = [
        {"run": ["grep", "-n", "prices", "cart.py"]},
        {"run": ["python3", "cart.py"]},
        {"say": FOUND},
        {"usage": usage | {"context_tokens": 118_000}},
    ]
    hand_over = [{"say": HANDOFF[0]}, {"delay": 3}, {"say": HANDOFF[1]}]
    go_on = [
        {"edit": {"path": "cart.py", "find": "prices[1:]", "replace": "prices"}},
        {"run": ["python3", "cart.py"]},
        {"say": FIXED},
        {"usage": {"input_tokens": 9_800, "output_tokens": 700, "cost": 0.04, "context_window": 200_000}},
        {
            "usage": usage
            | {"input_tokens": 9_800, "output_tokens": 700, "cost": 0.04, "context_tokens": 9_900}
        },
    ]
    options = {"actions": look, "when": {QUESTION[:20]: hand_over, "<handoff-context>": go_on}}
    return {"developer": {"backend": "scripted", "options": options}}


def _make_project(home: Path) -> Path:
    project = home / "shop"
    (project / ".segue").mkdir(parents=True)
    (project / ".segue" / "catalog.yaml").write_text(json.dumps({"agents": _agents()}))
    (project / ".gitignore").write_text(".segue/\n")
    (project / "cart.py").write_text(CART)
    identity = ["-c", "user.name=Shop", "-c", "user.email=shop@example.org"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True)  # noqa: S607
    return project


class Photographer:
    """Types into the chat, and takes a picture when something has come up."""

    def __init__(self, app: ChatApp, pilot: Pilot[None]) -> None:
        self._app, self._pilot = app, pilot

    async def type(self, text: str) -> None:
        """Type a line."""
        await self._pilot.press(*("space" if letter == " " else letter for letter in text), "enter")

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self._pilot.press(*keys)

    async def take(self, name: str, when: str) -> None:
        """Wait for a word on the screen, and save what is there."""
        async with asyncio.timeout(60):
            while when not in _plain(self._app.export_screenshot()):
                await self._pilot.pause(0.1)
        await self._pilot.pause(0.3)
        picture = self._app.export_screenshot(title="segue chat")
        path = IMAGES / f"chat-{name}.svg"
        path.write_text(_BLANKS.sub(_moved, without_fonts(picture)), encoding="utf-8")


def _plain(picture: str) -> str:
    return re.sub(r"<[^>]*>", "", picture).replace("&#160;", " ")


def _moved(found: re.Match[str]) -> str:
    """Viewers trim blanks from the start of a text: let it begin after them."""
    blank = found[6].count("&#160;") * _CELL
    x, length = float(found[2]) + blank, max(0.0, float(found[4]) - blank)
    return f"{found[1]}{x:.1f}{found[3]}{length:.1f}{found[5]}"


async def take_all(home: Path) -> None:
    """The story of a handoff, picture by picture."""
    project = _make_project(home)
    data = home / ".local" / "share" / "segue"
    trust_project(project, data_dir=data)
    places: dict[str, Any] = {"data_dir": data, "database_url": f"sqlite:///{data / 'segue.db'}"}
    async with build_test_segue(home, ScriptedBackend(), **places) as segue:
        app = ChatApp(segue, who="developer", working_dir=str(project))
        async with app.run_test(size=SIZE) as pilot:
            desk = Photographer(app, pilot)
            await desk.type("Why is the total of the cart too small?")
            await desk.take("conversation", "nobody has looked at yet")
            await desk.press("ctrl+t")
            await desk.take("light", "nobody has looked at yet")
            await desk.press("ctrl+t")
            await desk.type("/handoff the empty cart")
            await desk.take("writing", "drops the first price")
            await desk.take("draft", "Ctrl+S")
            await desk.press("ctrl+s")
            await desk.take("successor", "kept in")
            trust_project(project, data_dir=data)  # the script of its agent runs cart.py, which has changed
            await desk.type("/new")
            await desk.type("Which files belong to the cart?")
            await desk.take("again", "session 3")
            await pilot.pause(1)
            await desk.type("/sessions")
            await desk.take("sessions", "goes back")
            await app.chat.close()
    (IMAGES / "chat-again.svg").unlink()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        asyncio.run(take_all(Path(folder)))
