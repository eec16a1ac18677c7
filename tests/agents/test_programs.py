"""Agent programs: pinned, installed whole or not at all, and found by tests without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from segue.adapters.installs import Installer, known_programs, pinned_program, this_platform
from segue.adapters.installs.node import find_npm
from segue.adapters.installs.places import filled_once
from segue.domain.errors import BackendUnavailable, UnknownName
from tests.agents import programs

ROOT = Path(__file__).parents[2]
INSTALLS = ROOT / "src" / "segue" / "adapters" / "installs"
TABLE = json.loads((INSTALLS / "pins.json").read_text(encoding="utf-8"))


def never(line: str) -> None:
    raise AssertionError(line)


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout


def test_opencode_is_the_pinned_version() -> None:
    assert run(programs.need("opencode"), "--version").strip() == pinned_program("opencode").version


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "said"), [("claude", "2.1.325"), ("codex", "0.166.0"), ("goose", "1.34.0")])
def test_every_agent_program_runs_without_node(name: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert said in run(programs.need(name), "--version")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["claude-agent-acp", "codex-acp"])
def test_every_protocol_program_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    with subprocess.Popen([programs.need(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        limit.cancel()
        process.kill()
    assert json.loads(answer)["result"]["protocolVersion"] == 1


def test_what_is_installed_is_found_again_without_a_word_or_a_network() -> None:
    program = programs.need("opencode")
    done = Installer(programs.CACHE / "agents", say=never).install("opencode")
    assert (done.program, done.fresh) == (str(program), False)
    assert done.command == f"{program} run"


def test_the_table_pins_every_program_on_every_platform() -> None:
    assert set(programs.ALL) == set(known_programs()) == set(TABLE)
    for name, row in TABLE.items():
        for on in row["packages"]:
            pinned = pinned_program(name, on)
            assert pinned.version == row["version"]
            locked = pinned.lock()["packages"]
            assert locked[""]["dependencies"] == pinned.manifest()["dependencies"]
            assert f"node_modules/{pinned.package}" in locked


@pytest.mark.parametrize("name", sorted(TABLE))
def test_what_this_platform_installs_is_hashed(name: str) -> None:
    for path, entry in pinned_program(name, "linux-x64").lock()["packages"].items():
        if path:
            assert entry["integrity"].startswith("sha512-"), path


def test_a_platform_without_a_package_is_told() -> None:
    with pytest.raises(
        BackendUnavailable, match=r"goose 0\.20\.1 has no package for sunos-x64, only for darwin-arm64"
    ):
        pinned_program("goose", "sunos-x64")


def test_a_test_of_a_program_that_the_platform_lacks_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "sunos")
    assert programs.find("opencode") is None
    with pytest.raises(pytest.skip.Exception, match="no package for sunos"):
        programs.need("opencode")
    assert programs.install(["opencode"]) == 0
    assert "its tests are skipped" in capsys.readouterr().err


def test_an_unknown_program_is_told_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r'no agent program "opncode".*Did you mean "opencode"'):
        pinned_program("opncode")


def test_this_platform_is_named_as_npm_names_it() -> None:
    assert this_platform().split("-")[0] in ("linux", "darwin")


def test_node_of_the_wheel_is_used_where_the_path_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    npm = find_npm(tmp_path, never)
    assert Path(npm[0]).name == "node"
    version = run(Path(npm[0]), npm[1], "--version")
    assert int(version.partition(".")[0]) >= 10


def test_an_old_node_on_the_path_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v18.20.0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert find_npm(tmp_path, never)[0] != str(tmp_path / "npm")


def test_the_wheel_of_node_is_that_of_the_lock() -> None:
    assert (INSTALLS / "node.lock").read_text().strip() in (ROOT / "dev.lock").read_text()


def test_a_folder_is_filled_once_though_two_want_it(tmp_path: Path) -> None:
    target, filled, said = tmp_path / "tool" / "1.0", [], list[str]()

    def fill(room: Path) -> None:
        while not said:
            time.sleep(0.01)
        (room / "program").write_text("x")
        filled.append(room)

    def want() -> None:
        filled_once(target, (target / "program").is_file, fill, said.append)

    both = [threading.Thread(target=want) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(filled) == 1
    assert said == ["another process is at it; waiting for it"]
    assert (target / "program").read_text() == "x"


def test_a_half_filled_folder_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "tool" / "1.0"
    left = tmp_path / "tool" / ".new-killed"
    left.mkdir(parents=True)

    def fill(room: Path) -> None:
        (room / "half").write_text("x")
        raise BackendUnavailable("the line was cut")

    with pytest.raises(BackendUnavailable, match="the line was cut"):
        filled_once(target, target.is_dir, fill, never)
    assert [path.name for path in target.parent.iterdir()] == [".lock"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BackendUnavailable, match=r"cannot be written .*SEGUE_DATA_DIR"):
        Installer(tmp_path / "file").install("opencode")
