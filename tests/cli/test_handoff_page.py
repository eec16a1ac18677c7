"""The session on the page about `segue handoff` is what the commands really print."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from segue.__main__ import LazyParts
from segue.interfaces.cli.app import run_cli

PAGE = Path(__file__).parents[2] / "docs" / "handoff-cli.md"
_BLOCK = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w-]+\.(?:md|txt))`:\n\n\Z")


def replay(page: str) -> Iterator[tuple[str, str]]:
    """Each block of the session as the page has it, and as it comes out now, in an empty folder."""
    code = 0
    for found in _BLOCK.finditer(page):
        _, word, text = found.groups()
        if name := _NAMED.search(page[: found.start()]):
            Path(name[1]).write_text(text, encoding="utf-8")
        if word != "console":
            continue
        printed = io.StringIO()
        for line in re.findall(r"^\$ .*$", text, re.MULTILINE):
            printed.write(f"{line}\n")
            match shlex.split(line):
                case ["$", "segue", *arguments, "2>/dev/null", "|", "head", "-n", count]:
                    whole = io.StringIO()
                    code = run_in(whole, io.StringIO(), arguments)
                    printed.writelines(whole.getvalue().splitlines(keepends=True)[: int(count)])
                case ["$", "segue", *arguments]:
                    code = run_in(printed, printed, arguments)
                case ["$", "cat", file]:
                    printed.write(Path(file).read_text(encoding="utf-8"))
                case ["$", "echo", "$?"]:
                    printed.write(f"{code}\n")
                case _:
                    pytest.fail(f"the session holds an unknown command: {line}")
        shown = "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
        yield text, shown


def run_in(out: io.StringIO, err: io.StringIO, arguments: list[str]) -> int:
    """Run a command; a terminal shows both of its outputs in one place, in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        return run_cli(LazyParts(), arguments)


def test_the_session_is_what_is_printed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    blocks = list(replay(PAGE.read_text(encoding="utf-8")))
    assert len(blocks) > 5
    for written, printed in blocks:
        assert written == printed
