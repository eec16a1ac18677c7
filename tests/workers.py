"""The workers of pytest-xdist, forked off a process that has imported the tests and what they test.

Each worker would import all of it for itself, and in a new clone rewrite every assertion, too.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import execnet
import pytest

from tests import forks, warm

_END_SECONDS = 120.0


class ForkedWorkers:
    """A plugin that has workers forked off a process of its own."""

    def __init__(self) -> None:
        self._folder = ""
        self._server: subprocess.Popen[bytes] | None = None

    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: list[execnet.XSpec]) -> None:
        """Start that process, and let execnet start what asks it for a worker instead of Python."""
        self._folder = tempfile.mkdtemp(prefix="segue-workers-")
        me = [sys.executable, "-m", "tests.workers"]
        self._server = subprocess.Popen([*me, "serve", self._folder, *config.args], stdin=subprocess.PIPE)
        ask = shlex.join([*me, "ask", self._folder])
        specs[:] = [execnet.XSpec(f"popen//python={ask}") for _ in specs]

    def pytest_unconfigure(self) -> None:
        """End it."""
        if self._server is not None:
            assert self._server.stdin is not None
            self._server.stdin.close()
            self._server.wait(timeout=_END_SECONDS)
            shutil.rmtree(self._folder)


class _Nothing:
    """A plugin that has the files of tests imported and finds no tests in them."""

    def pytest_pycollect_makeitem(self) -> list[pytest.Item]:
        return []


def _serve(folder: str, paths: Sequence[str]) -> None:
    """Fork off workers until standard input ends."""
    warm.start_server(f"{folder}/segue")
    forks.serve(f"{folder}/workers", _become, prepare=lambda: _import_tests(paths), bound=True)


def _import_tests(paths: Sequence[str]) -> None:
    """A file that cannot be imported is left to the workers, who say why."""
    files = dict.fromkeys(path.partition("::")[0] for path in paths)  # its tests are not looked for
    kept = os.dup(1)
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123  # a handle is wanted
        os.dup2(nothing.fileno(), 1)
    # with the plugin of tests.run: if a test imported it, its assertions would not be rewritten
    pytest.main(["--collect-only", "-p", "no:cacheprovider", "-p", "tests.outcomes", *files], [_Nothing()])
    os.dup2(kept, 1)
    os.close(kept)


def _become(asked: forks.Asked) -> NoReturn:
    """Be a worker: a Python that reads its program from standard input."""
    sys.argv = ["-c"]
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
    sys.exit(0)


def _ask(folder: str) -> int:
    """Stand for the worker; its exit code."""
    asked = {"env": dict(os.environ), "cwd": str(Path.cwd())}
    _, answers = forks.ask_for(f"{folder}/workers", asked, [0, 1, 2])
    os.close(0)
    os.close(1)
    answers.readline()
    code = int(answers.readline() or 1)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    word, place, *rest = sys.argv[1:]
    if word == "serve":
        _serve(place, rest)
    else:
        sys.exit(_ask(place))
