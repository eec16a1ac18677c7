"""Takes the pictures of the X-ray with a Chromium that is on the PATH.

.venv/bin/python -m docs.xray_pictures
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.xray.story import lay_out, run_story

from segue.__main__ import LazyParts
from segue.interfaces.cli.app import run_cli

IMAGES = Path(__file__).parent / "images"
_SELECTED = "#h2-v3-s4"
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def take(browser: str, page: Path, theme: str) -> None:
    """A picture of the page in one theme; the theme is set as its button sets it."""
    html = page.read_text(encoding="utf-8").replace("<html ", f'<html data-theme="{theme}" ', 1)
    shown = page.with_name(f"{theme}.html")
    shown.write_text(html, encoding="utf-8")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--window-size=1280,900",
        "--virtual-time-budget=2000",
        f"--screenshot={IMAGES / f'xray-{theme}.png'}",
        f"{shown.as_uri()}{_SELECTED}",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> None:
    """The story of the tests, exported and looked at."""
    browser = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no Chromium on the PATH; looked for {', '.join(_PROGRAMS)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update(XDG_CONFIG_HOME=f"{name}/config", XDG_DATA_HOME=f"{name}/own")
        os.environ["SEGUE_DATA_DIR"] = str(folder / "data")
        (folder / "project").mkdir()
        detail = asyncio.run(run_story(folder, lay_out(folder / "project")))
        out = folder / "out.html"
        run_cli(LazyParts(), ["pipelines", "export", str(detail.id), "--html", str(out)])
        for theme in ("light", "dark"):
            take(browser, out, theme)


if __name__ == "__main__":
    main()
