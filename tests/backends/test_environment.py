"""What the programs of each back end really see of the environment: a stand-in writes it down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends import LoadedBackends
from segue.application.ports.backend import AgentBackend, Message, SessionRequest
from segue.domain.catalog import AgentProfile

SECRETS = ("AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN", "DATABASE_URL", "SEGUE_DATABASE_URL")
NEEDED = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HTTPS_PROXY", "JAVA_HOME", "NODE_EXTRA_CA_CERTS")
NATIVE = {"acp": "command", "claude_code": "program", "codex": "program", "opencode": "program"}
"""Back end -> the option that names its program."""

Look = Callable[..., Any]


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    program = tmp_path / "stand-in"
    program.write_text(
        f"#!/bin/sh\nenv > '{tmp_path}/half'; mv '{tmp_path}/half' '{tmp_path}/seen'\nexit 1\n"
    )
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*SECRETS, *NEEDED):
        monkeypatch.setenv(name, f"value-of-{name}")


def backend_of(name: str, tmp_path: Path) -> AgentBackend:
    return LoadedBackends(sessions_dir=tmp_path / "sessions").get(name, "")[1]


async def probe(name: str, stand_in: Path, **options: Any) -> dict[str, str]:
    """What the program of a back end sees when it is looked at."""
    backend = backend_of(name, stand_in.parent)
    try:
        found = await backend.probe({NATIVE[name]: str(stand_in), **options})
        assert not found.works
    finally:
        await backend.shutdown()
    return seen(stand_in)


async def work(name: str, stand_in: Path, **options: Any) -> dict[str, str]:
    """What the program of a back end sees when it is given a message."""
    backend = backend_of(name, stand_in.parent)
    profile = AgentProfile(backend=name, options={NATIVE.get(name, "command"): str(stand_in), **options})
    request = SessionRequest(
        key="k1",
        agent_name="developer",
        profile=profile,
        model=None,
        working_dir=str(stand_in.parent),
        title="a step",
    )
    session = await backend.open(request)
    try:
        await backend.send(request, session, Message(id="m1", text="Look."))
        async with asyncio.timeout(120):
            while not (stand_in.parent / "seen").exists():  # noqa: ASYNC110  # another process writes it
                await asyncio.sleep(0.01)
    finally:
        await backend.close(session)
    return seen(stand_in)


def seen(stand_in: Path) -> dict[str, str]:
    lines = (stand_in.parent / "seen").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


LOOKS = [(probe, name) for name in NATIVE] + [(work, name) for name in ("claude_code", "codex")]


@pytest.mark.parametrize(("look", "name"), LOOKS)
async def test_a_native_agent_sees_no_credentials_and_all_it_needs(
    look: Look, name: str, stand_in: Path
) -> None:
    found = await look(name, stand_in)
    assert not {*SECRETS} & {*found}
    assert {*NEEDED} <= {*found}


@pytest.mark.parametrize(("look", "name"), LOOKS)
async def test_a_native_agent_sees_what_pass_env_names(look: Look, name: str, stand_in: Path) -> None:
    found = await look(name, stand_in, pass_env=["aws_*", "GITHUB_TOKEN"], set_env={"DATABASE_URL": "mine"})
    assert found["AWS_SECRET_ACCESS_KEY"] == "value-of-AWS_SECRET_ACCESS_KEY"
    assert found["GITHUB_TOKEN"] == "value-of-GITHUB_TOKEN"  # none
    assert found["DATABASE_URL"] == "mine"
    assert "SSH_AUTH_SOCK" not in found


async def test_a_command_sees_the_basics_and_what_pass_env_names(stand_in: Path) -> None:
    found = await work("command", stand_in, pass_env=["github_*"])
    assert {*found} & {*SECRETS, *NEEDED} == {"GITHUB_TOKEN"}
    assert {"PATH", "HOME"} <= {*found}


@pytest.mark.parametrize("name", [*NATIVE, "command"])
async def test_what_is_no_name_is_refused(name: str, stand_in: Path) -> None:
    backend = backend_of(name, stand_in.parent)
    with pytest.raises(ValueError, match="is not the name of a variable"):
        backend.Options(**{NATIVE.get(name, "command"): str(stand_in), "pass_env": ["A=1"]})
