"""Writes the generated pages: the reference of the command line from its own `--help`.

./do docs
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import typer.main

from segue.__main__ import LazyParts
from segue.interfaces.cli.app import app, run_cli

PAGE = Path(__file__).parent / "cli.md"


def render_cli_page() -> str:
    """The page `cli.md`, as it must be now."""
    parts = [
        "# The command line",
        "Made from `--help` by `./do docs`; a test fails when it is out of date.",
        "Exit codes: 0 done, 1 failed, 2 misuse, 130 aborted by Ctrl-C. Errors are one sentence on stderr.",
        "`--debug` before the command adds the traceback; `--json` on a read gives the same shape as REST.",
    ]
    for path in _command_paths(typer.main.get_command(app), ()):
        parts.append(f"## {' '.join(('segue', *path))}")
        parts.append(f"```text\n{_help_of(path)}\n```")
    return "\n\n".join(parts) + "\n"


def _command_paths(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from _command_paths(child, (*path, name))


def _help_of(path: tuple[str, ...]) -> str:
    os.environ["COLUMNS"] = "100"
    printed = io.StringIO()
    with redirect_stdout(printed):
        run_cli(LazyParts(), [*path, "--help"])
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


if __name__ == "__main__":
    PAGE.write_text(render_cli_page(), encoding="utf-8")
