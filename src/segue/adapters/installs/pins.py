"""Which version of which npm package is an agent program, on which platform, and what it must hash to.

`pins.json` is the one table. A package without a hash in it is still checked against what its registry says.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from segue.domain.errors import BackendUnavailable, UnknownName

_HERE = Path(__file__).parent
_PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PinnedProgram:
    """One agent program on one platform."""

    name: str
    version: str
    package: str
    """The npm package that holds the program, as it is called in `node_modules`."""
    spec: str
    """The version of it that npm is asked for."""
    packages: Mapping[str, Mapping[str, Any]]
    """All that is installed, as in `packages` of a `package-lock.json`."""
    program: str
    """Where the program stands in its package; may hold `*`."""
    megabytes: int
    """What it takes on the disk."""
    command: str | None
    """What makes it read a briefing on its standard input; none for a program that speaks a protocol."""
    node: tuple[int, int] | None
    """The oldest Node that it runs on; most need none."""

    def manifest(self) -> dict[str, Any]:
        """Its `package.json`."""
        return {"private": True, "dependencies": {self.package: self.spec}}

    def lock(self) -> dict[str, Any]:
        """Its `package-lock.json`: hashes, and no addresses."""
        root = {"dependencies": {self.package: self.spec}}
        return {"lockfileVersion": 3, "requires": True, "packages": {"": root, **self.packages}}

    def find_in(self, folder: Path) -> Path | None:
        """The program in a folder where npm has installed it."""
        found = sorted((folder / "node_modules" / self.package).glob(self.program))
        return found[0] if found else None


def known_programs() -> list[str]:
    """The names of all agent programs that can be installed."""
    return sorted(_table())


def this_platform() -> str:
    """`linux-x64`, `linux-arm64-musl`, `darwin-arm64` and so on."""
    processor = platform.machine().lower()
    return f"{sys.platform}-{_PROCESSORS.get(processor, processor)}{_libc_suffix()}"


def pinned_program(name: str, on: str | None = None) -> PinnedProgram:
    """The program for a platform, this one if none is named; says so if there is none."""
    if name not in _table():
        raise UnknownName("agent program", name, _table())
    row, wanted = _table()[name], on or this_platform()
    packages = row["packages"]
    entry = packages.get(wanted) or packages.get("any")
    if entry is None:
        raise BackendUnavailable(
            f"{name} {row['version']} has no package for {wanted}, only for {', '.join(sorted(packages))}"
        )
    spec = entry.get("spec", row["version"])
    return PinnedProgram(
        name=name,
        version=row["version"],
        package=entry["package"],
        spec=spec,
        packages=_packages(entry, spec),
        program=row["program"],
        megabytes=row["megabytes"],
        command=row["command"],
        node=tuple(row["node"]) if "node" in row else None,
    )


def _packages(entry: Mapping[str, Any], spec: str) -> Mapping[str, Mapping[str, Any]]:
    if "lock" in entry:
        found: dict[str, dict[str, Any]] = json.loads((_HERE / entry["lock"]).read_text(encoding="utf-8"))
        return found
    name, _, version = spec.removeprefix("npm:").rpartition("@")
    locked = {"version": version} | ({"name": name} if name else {})
    return {f"node_modules/{entry['package']}": locked | {k: entry[k] for k in ("integrity",) if k in entry}}


def _libc_suffix() -> str:
    if sys.platform != "linux":
        return ""
    try:
        return "" if os.confstr("CS_GNU_LIBC_VERSION") else "-musl"
    except (ValueError, OSError):
        return "-musl"


@cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads((_HERE / "pins.json").read_text(encoding="utf-8"))
    return table
