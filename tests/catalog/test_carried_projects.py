"""A project that was trusted on one machine: what another machine runs of it is what was trusted there."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from segue.adapters.storage.codec import decode, encode
from segue.bootstrap import open_catalog
from segue.domain.errors import NotTrusted
from segue.domain.repository_source import RepositorySource
from segue.domain.trust import CarriedProject
from segue.settings import Settings
from tests.trusting import write_project

CATALOG = """
agents:
  own: {backend: command, options: {command: [./agent.sh]}}
"""


@dataclass(frozen=True, kw_only=True)
class _Run:
    source: RepositorySource | None


@pytest.fixture
def carried(project: Path) -> CarriedProject:
    """The project of this test, as its user trusts it."""
    (project / "agent.sh").write_text("#!/bin/sh\necho trusted\n")
    (project / "agent.sh").chmod(0o755)
    write_project(project, CATALOG)
    found = open_catalog(Settings()).carry(str(project))
    assert found is not None
    return found


def check(carried: CarriedProject, project: Path, copy: Path) -> None:
    """Check a copy on a machine that has never seen the project."""
    elsewhere = Settings(data_dir=copy.parent / "other data")
    open_catalog(elsewhere).check_carried(carried, str(project), str(copy), "a-branch")


def test_a_copy_with_the_same_scripts_may_run_them(carried: CarriedProject, project: Path) -> None:
    copy = Path(shutil.copytree(project, project.parent / "copy"))
    shutil.rmtree(project)
    check(carried, project, copy)


def test_a_copy_with_another_script_may_not(carried: CarriedProject, project: Path) -> None:
    copy = Path(shutil.copytree(project, project.parent / "copy"))
    (copy / "agent.sh").write_text("#!/bin/sh\necho worse\n")
    shutil.rmtree(project)
    with pytest.raises(NotTrusted, match=r"the branch a-branch has other scripts .*agent\.sh"):
        check(carried, project, copy)


def test_nor_one_that_has_a_script_where_there_was_none(project: Path) -> None:
    write_project(project, CATALOG)
    carried = open_catalog(Settings()).carry(str(project))
    assert carried is not None
    copy = Path(shutil.copytree(project, project.parent / "copy"))
    (copy / "agent.sh").write_text("#!/bin/sh\necho worse\n")
    (copy / "agent.sh").chmod(0o755)
    with pytest.raises(NotTrusted):
        check(carried, project, copy)


def test_a_project_that_is_not_trusted_is_not_carried(project: Path) -> None:
    write_project(project, CATALOG)
    (project / ".segue" / "catalog.yaml").write_text(CATALOG.replace("own", "other"))
    with pytest.raises(NotTrusted):
        open_catalog(Settings()).carry(str(project))


def test_a_folder_that_configures_nothing_has_nothing_to_carry(project: Path) -> None:
    assert open_catalog(Settings()).carry(str(project)) is None


def test_it_is_kept_with_the_run(carried: CarriedProject) -> None:
    source = RepositorySource(name="n", url=None, base="a" * 40, project=carried)
    kept = encode(_Run(source=source))
    assert decode(_Run, kept) == _Run(source=source)
