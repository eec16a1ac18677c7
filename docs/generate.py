"""Writes what is generated: the command line from its own `--help`, the capabilities from the back ends.

./do docs
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer.main

from segue.__main__ import LazyParts
from segue.adapters.backends import BACKENDS, backend_class
from segue.application.ports.backend import Capabilities
from segue.interfaces.cli.app import app, run_cli

PAGE = Path(__file__).parent / "cli.md"
BACK_ENDS_PAGE = Path(__file__).parent / "back-ends.md"
_TABLE = re.compile(r"(?<=<!-- capabilities -->\n).*?(?=<!-- /capabilities -->)", re.DOTALL)


def render_cli_page() -> str:
    """The page `cli.md`, as it must be now."""
    parts = [
        "# The command line",
        "Made from `--help` by `./do docs`; a test fails when it is out of date.",
        "Exit codes: 0 done, 1 failed or [something false](checks.md#how-a-run-ends), 2 misuse, 130 aborted.",
        "Errors are one sentence on stderr.",
        "`--debug` before the command adds the traceback; `--json` on a read gives the same shape as REST.",
    ]
    for path in _command_paths(typer.main.get_command(app), ()):
        parts.append(f"## {' '.join(('segue', *path))}")
        parts.append(f"```text\n{_help_of(path)}\n```")
    return "\n\n".join(parts) + "\n"


def render_back_ends_page() -> str:
    """The page `back-ends.md`, with the table of capabilities as it must be now."""
    names = [field.name for field in fields(Capabilities)]
    classes = {name: backend_class(name).capabilities for name in sorted(BACKENDS)}
    used = [name for name in names if any(getattr(can, name) for can in classes.values())]
    rows = [["", *used], ["---"] * (len(used) + 1)]
    rows += [
        [f"`{name}`", *("yes" if getattr(can, each) else "" for each in used)]
        for name, can in classes.items()
    ]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return _TABLE.sub(lambda _found: table, BACK_ENDS_PAGE.read_text(encoding="utf-8"))


def _command_paths(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from _command_paths(child, (*path, name))


def _help_of(path: tuple[str, ...]) -> str:
    printed = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    try:
        with redirect_stdout(printed):
            run_cli(LazyParts(), [*path, "--help"])
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


if __name__ == "__main__":
    PAGE.write_text(render_cli_page(), encoding="utf-8")
    BACK_ENDS_PAGE.write_text(render_back_ends_page(), encoding="utf-8")
