"""Counts the git processes that are started: the `git` on the PATH notes its words, and is git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


class Count:
    """The commands since it was asked last."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._log = folder / "commands"
        self._log.touch()
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        program = bin_folder / "git"
        program.write_text(f'#!/bin/sh\necho "$2" >>"{self._log}"\nexec "{shutil.which("git")}" "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")

    def started(self) -> list[str]:
        """The name of each command of Segue's git."""
        found = self._log.read_text().split()
        self._log.write_text("")
        return found
