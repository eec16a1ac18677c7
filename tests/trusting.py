"""Projects of tests, written and then trusted, as a user does with `segue trust`."""

from __future__ import annotations

from pathlib import Path

from segue.settings import load_settings
from segue.testing import trust_project


def write_project(project: Path, text: str, name: str = "catalog.yaml") -> Path:
    """A file of the project's `.segue/`, trusted with all that is there."""
    path = project / ".segue" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    trust(project)
    return path


def trust(project: Path) -> None:
    """Trust a project in both data folders of tests: the environment's, and `data` next to the project."""
    for data_dir in (load_settings(with_project=False).data_dir, project.parent / "data"):
        trust_project(project, data_dir=data_dir)
