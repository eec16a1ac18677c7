"""`segue agents install`: what it says when it worked, and when it could not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents import programs
from tests.cli.conftest import Ran

Segue = Callable[..., Ran]

NPM = """#!{python}
import pathlib, sys
assert pathlib.Path("package-lock.json").is_file()
assert sys.argv[1] == "ci" and "--ignore-scripts" in sys.argv
sys.stderr.write("npm error code {code}\\nnpm error more\\n")
sys.exit(1)
"""


@pytest.fixture
def failing_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts an npm first on the PATH that fails with a code, beside a Node that is new enough."""

    def make(code: str) -> None:
        for name, text in (
            ("npm", NPM.format(python=sys.executable, code=code)),
            ("node", "#!/bin/sh\necho v22.1.0\n"),
        ):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    return make


@pytest.fixture
def installed(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder in which OpenCode is."""
    program = programs.need("opencode")
    monkeypatch.setenv("SEGUE_DATA_DIR", str(programs.CACHE))
    return program


def test_it_ends_with_the_path_and_what_to_do_next(segue: Segue, installed: Path) -> None:
    ran = segue("agents", "install", "opencode")
    assert ran.code == 0
    assert ran.out.splitlines()[:2] == ["✔ opencode 1.18.33 was there already:", str(installed)]
    assert f'--command "{installed} run"' in ran.out
    assert ran.err == ""


def test_json_has_the_path(segue: Segue, installed: Path) -> None:
    shown = json.loads(segue("agents", "install", "opencode", "--json").out)
    assert (shown["name"], shown["program"], shown["fresh"]) == ("opencode", str(installed), False)


def test_an_unknown_name_is_told_with_the_known_ones(segue: Segue) -> None:
    ran = segue("agents", "install", "opncode")
    assert ran.code == 2
    assert ran.err == (
        'segue: no agent program "opncode". '
        "Known: claude, claude-agent-acp, codex, codex-acp, goose, opencode, pi. "
        'Did you mean "opencode"?\n'
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("EAI_AGAIN", "the npm registry cannot be reached (EAI_AGAIN); check the network, or set `registry`"),
        ("ETARGET", "your npm registry has no opencode-"),
        ("EINTEGRITY", "what the npm registry sent is not what Segue pins"),
        ("EWEIRD", "npm says: code EWEIRD"),
    ],
)
def test_a_failure_of_npm_is_one_sentence_with_a_remedy(
    segue: Segue, failing_npm: Callable[[str], None], own_home: Path, code: str, said: str
) -> None:
    failing_npm(code)
    ran = segue("agents", "install", "opencode")
    assert ran.code == 1
    progress, error = ran.err.splitlines()
    assert progress.startswith("installing opencode 1.18.33 (177 MB on the disk)")
    assert error.startswith("segue: opencode 1.18.33 was not installed: ")
    assert said in error
    kept = own_home / "data" / "segue" / "agents" / "opencode"
    assert [path.name for path in kept.iterdir()] == [".lock"]


@pytest.mark.thorough
def test_the_real_npm_without_a_registry_is_told_as_such(
    segue: Segue, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    ran = segue("agents", "install", "codex")
    assert ran.code == 1
    assert "the npm registry cannot be reached (ECONNREFUSED)" in ran.err
