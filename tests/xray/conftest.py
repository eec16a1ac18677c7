"""A whole run, made once for each test process that needs it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from segue.application.views import PipelineDetail
from tests.cli.conftest import segue
from tests.xray.story import lay_out, run_story

__all__ = ["segue"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """The run of `story.py`."""

    detail: PipelineDetail
    data_dir: Path
    project: Path


@pytest.fixture(scope="session")
def made_story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("story")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SEGUE_")]:
            patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("XDG_DATA_HOME", str(folder / "own-data"))
        (folder / "project").mkdir()
        project = lay_out(folder / "project")
        detail = asyncio.run(run_story(folder, project))
    return Story(detail=detail, data_dir=folder / "data", project=project)


@pytest.fixture
def story(made_story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The run, with its database as the one that commands use."""
    monkeypatch.setenv("SEGUE_DATA_DIR", str(made_story.data_dir))
    return made_story
