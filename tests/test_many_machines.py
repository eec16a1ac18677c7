"""docs/many-machines.md and its compose file: what they say to start can be started so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from segue.interfaces.cli.app import app
from segue.settings import Settings, load_settings

DOCS = Path(__file__).parents[1] / "docs"
COMPOSE = yaml.safe_load((DOCS / "many-machines.compose.yaml").read_text(encoding="utf-8"))


def commands() -> Iterator[list[str]]:
    for service in COMPOSE["services"].values():
        if "command" in service:
            yield [str(word) for word in service["command"]]
    for line in (DOCS / "many-machines.md").read_text(encoding="utf-8").splitlines():
        if found := re.search(r"(?:^| exec \S+ |`)(segue (?:serve|worker|clean|agents|token)\b[^`#]*)", line):
            yield shlex.split(found[1])


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_each_command_exists_and_takes_these_options(words: list[str]) -> None:
    assert words[0] == "segue"
    command: Any = typer.main.get_command(app)
    rest, parent = words[1:], None
    while hasattr(command, "commands"):
        parent = command.make_context(
            command.name or "segue", rest[:1], parent=parent, resilient_parsing=True
        )
        command, rest = command.get_command(parent, rest[0]), rest[1:]
        assert command is not None, words
    command.make_context(command.name, rest, parent=parent)


def test_every_service_has_what_it_refers_to() -> None:
    services, volumes = COMPOSE["services"], COMPOSE["volumes"]
    assert set(services) == {"database", "front", "worker-1", "worker-2"}
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        assert {volume.partition(":")[0] for volume in service["volumes"]} - {""} <= set(volumes)
    places = [service["volumes"][0].partition(":")[0] for service in services.values()]
    assert len(set(places)) == len(places), "each has a data folder of its own"


@pytest.mark.parametrize("name", ["front", "worker-1"])
def test_the_settings_of_a_service_are_settings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {key: value for key, value in COMPOSE["services"][name]["environment"].items() if "SEGUE_" in key}
    assert {key.removeprefix("SEGUE_").lower() for key in given} <= set(Settings.model_fields)
    for key, value in given.items():
        monkeypatch.setenv(key, re.sub(r"\$\{\w+:[?-]\}", "secret", value))
    settings = load_settings(with_project=False)
    assert settings.engine_database_url == "postgresql://segue:secret@database/segue"
    if name != "front":
        grace = COMPOSE["services"][name]["stop_grace_period"]
        assert int(grace.removesuffix("m")) * 60 > settings.drain_seconds
