"""Statements about real commits of nine public repositories, written without a look at the judge."""

from __future__ import annotations

from pathlib import Path

from open_world.awkward_held_out import Repository
from open_world.awkward_round5_commit import repository_of
from open_world.awkward_round5_python import PYTHON
from open_world.awkward_round5_systems import SYSTEMS
from open_world.awkward_round5_web import WEB

HALF = "awkward_round5"
COMMITS = (*PYTHON, *WEB, *SYSTEMS)


def repositories(folder: Path) -> tuple[Repository, ...]:
    """The commits, from the clones in this folder."""
    return tuple(repository_of(folder, each) for each in COMMITS)
