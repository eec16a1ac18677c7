"""Puts an agent program into a folder of ours with npm, so that it runs without a Node of the system's."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from segue.adapters.installs.node import find_node, find_npm
from segue.adapters.installs.pins import PinnedProgram, pinned_program
from segue.adapters.installs.places import filled_once
from segue.domain.errors import BackendUnavailable

_SECONDS = 1800
_OPTIONS = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
)
_UNREACHABLE = {
    "EAI_AGAIN",
    "ENOTFOUND",
    "ECONNREFUSED",
    "ECONNRESET",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "ETIMEDOUT",
}
_STARTER = "start"
"""Starts a program that needs Node."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """An agent program that is there."""

    name: str
    version: str
    program: str
    """The path of the program."""
    command: str | None
    """What to give as an agent's command; none for a program that speaks a protocol."""
    fresh: bool
    """False if it was there already."""


class Installer:
    """Installs into `FOLDER/NAME/VERSION`; two at once are safe, and a half-done one leaves nothing."""

    def __init__(self, folder: Path, *, say: Callable[[str], None] = lambda _line: None) -> None:
        self._folder = folder
        self._say = say

    def find(self, name: str) -> Path | None:
        """The program, if its pinned version is installed here."""
        pinned = pinned_program(name)
        folder = self._place(pinned)
        program = pinned.find_in(folder)
        if program is None or pinned.node is None:
            return program
        return folder / _STARTER if (folder / _STARTER).is_file() else None

    def install(self, name: str) -> Installed:
        """Make sure that it is there."""
        pinned = pinned_program(name)
        fresh = filled_once(
            self._place(pinned),
            lambda: self.find(name) is not None,
            lambda room: self._fill(room, pinned),
            self._say,
        )
        program = str(self.find(name))
        command = pinned.command.format(program=shlex.quote(program)) if pinned.command else None
        return Installed(name=name, version=pinned.version, program=program, command=command, fresh=fresh)

    def _place(self, pinned: PinnedProgram) -> Path:
        return self._folder / pinned.name / pinned.version

    def _fill(self, room: Path, pinned: PinnedProgram) -> None:
        (room / "package.json").write_text(json.dumps(pinned.manifest()), encoding="utf-8")
        (room / "package-lock.json").write_text(json.dumps(pinned.lock()), encoding="utf-8")
        npm = find_npm(self._folder, self._say)
        self._say(f"installing {pinned.name} {pinned.version} ({pinned.megabytes} MB on the disk)")
        _run_npm([*npm, "ci", *_OPTIONS], room, pinned)
        program = pinned.find_in(room)
        if program is None:
            raise BackendUnavailable(
                f"{pinned.package} {pinned.spec} came without {pinned.program}; install {pinned.name} "
                "yourself and name its path"
            )
        if pinned.node:
            self._write_starter(room, program, pinned.node)

    def _write_starter(self, room: Path, program: Path, oldest: tuple[int, int]) -> None:
        node = find_node(self._folder, oldest, self._say)
        script = f'exec {shlex.quote(str(node))} "$(dirname "$0")"/{program.relative_to(room)} "$@"'
        starter = room / _STARTER
        starter.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        starter.chmod(0o755)


def _run_npm(command: list[str], room: Path, pinned: PinnedProgram) -> None:
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", os.defpath)])
    try:
        done = subprocess.run(
            command,
            cwd=room,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BackendUnavailable(_explain("ETIMEDOUT", "", pinned)) from None
    if done.returncode:
        found = re.search(r"^npm error code (\S+)", done.stderr, re.MULTILINE)
        raise BackendUnavailable(_explain(found[1] if found else "", done.stderr, pinned))


def _explain(code: str, said: str, pinned: PinnedProgram) -> str:
    what = f"{pinned.name} {pinned.version} was not installed"
    if code in _UNREACHABLE:
        return (
            f"{what}: the npm registry cannot be reached ({code}); check the network, or set `registry` or "
            "`proxy` in your .npmrc, then try again"
        )
    if code in ("E404", "ETARGET"):
        return (
            f"{what}: your npm registry has no {pinned.package} {pinned.spec}; set another `registry` in "
            "your .npmrc, or install it yourself"
        )
    if code == "EINTEGRITY":
        return (
            f"{what}: what the npm registry sent is not what Segue pins; check `registry` in your "
            ".npmrc before you try again"
        )
    lines = [line.removeprefix("npm error ").strip() for line in said.splitlines() if line.strip()]
    return f"{what}: npm says: {lines[0] if lines else 'nothing'}"
