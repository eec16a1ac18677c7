"""What only a person does, refused in the session of an agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from segue.testing.pipelines import lay_out_database
from tests.cli.conftest import Ran

Segue = Callable[..., Ran]

FOR_PEOPLE = [
    "pipelines approve 1",
    "pipelines reject 1 --comment no",
    "pipelines answer 1 yes",
    "pipelines restart 1",
    "pipelines merge 1 --allow-refuted",
    "trust --yes",
    "trust --revoke",
    "token new me --role admin",
    "token revoke me",
    "token header",
    "token link",
]


@pytest.fixture
def in_session(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder, as an agent's own commands see it."""
    folder = tmp_path / "data"
    lay_out_database(folder)
    monkeypatch.setenv("SEGUE_DATA_DIR", str(folder))
    monkeypatch.setenv("SEGUE_SESSION", str(tmp_path / "session"))
    return folder


@pytest.mark.parametrize("command", FOR_PEOPLE)
def test_an_agent_does_not_decide_about_its_own_work(segue: Segue, in_session: Path, command: str) -> None:
    ran = segue(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert "only a person can " in ran.err
    assert "Say in your handoff what you need" in ran.err
    assert not (in_session / "credential").exists()
    assert not (in_session / "trust.json").exists()


@pytest.mark.parametrize("command", ["inbox", "pipelines list", "trust --list", "token list"])
def test_an_agent_may_look(segue: Segue, in_session: Path, command: str) -> None:
    ran = segue(*command.split())
    assert ran.code == 0, ran.err
