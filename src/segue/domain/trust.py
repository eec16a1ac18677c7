"""What a project's `.segue/` would configure and run, and what the user trusted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

PROJECT_FOLDER = ".segue"
OPENCODE_AGENTS = PurePath(".opencode/agents")
"""Agents that theAgency keeps there, one a file; they count where there is a `.segue/`."""
SETTINGS_FILE = "segue.yaml"
"""Holds settings; every other YAML file of the folder belongs to the catalog."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectContent:
    """What is trusted or not: the files of a project that configure or run something."""

    folder: str
    """The folder that holds `.segue/`, without symbolic links."""
    files: Mapping[str, str]
    """Path below the folder -> SHA-256: settings, catalog files, and the scripts that they name."""
    commands: tuple[str, ...] = ()
    """What the files would run or hand to a program, each with where it is written."""
    changes: tuple[str, ...] = ()
    """What they set or replace without naming a program: permissions, built-in entries, settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrustedProject:
    """A folder that the user trusted, with the content that it had then."""

    folder: str
    trusted_at: datetime
    files: Mapping[str, str]
    """Path below the folder -> SHA-256."""

    def changes(self, files: Mapping[str, str]) -> tuple[str, ...]:
        """The files that are new, different or gone. A script that is not there runs nothing: it may go."""
        differ = {name for name, content in files.items() if self.files.get(name) != content}
        gone = {name for name in self.files if is_configuration(name) and name not in files}
        return tuple(sorted(differ | gone))


@dataclass(frozen=True, kw_only=True, slots=True)
class CarriedProject:
    """A project as it was trusted where a run was submitted, for machines that do not have its folder."""

    folder: str
    """The folder that holds `.segue/` there."""
    files: Mapping[str, str]
    """Path below the folder -> SHA-256, as it was trusted."""
    documents: Mapping[str, str]
    """Path below the folder -> text, of the settings and catalog files: they name the scripts."""


def one_line(name: str) -> str:
    """A name as one line: one with control characters in it must not look like several."""
    return name if name.isprintable() else ascii(name)


def is_configuration(name: str) -> bool:
    """True for a settings or catalog file, false for a script that one of them names."""
    path = PurePath(name)
    return path.parent in (PurePath(PROJECT_FOLDER), OPENCODE_AGENTS) and path.suffix in (".yaml", ".yml")
