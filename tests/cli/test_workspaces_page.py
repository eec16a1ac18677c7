"""The example on the page about workspaces runs, and commits look as it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Ran
from tests.git.repositories import commit, git
from tests.serving import write_catalog

PAGE = (Path(__file__).parents[2] / "docs" / "workspaces.md").read_text(encoding="utf-8")
CATALOG = """
agents:
  writer:
    backend: command
    options:
      command: [sh, -c, 'echo hello > greeting.txt; printf "## What Was Done\\\\n- Added greeting.txt.\\\\n"']
templates:
  write: {steps: [{agent: writer, description: Write.}]}
"""


def test_the_example_runs_and_commits_look_as_shown(repository: Path, segue: Callable[..., Ran]) -> None:
    write_catalog(repository, CATALOG)
    commit(repository)
    example = PAGE.partition("```sh\n")[2].partition("```")[0]
    lines = [line.partition("#")[0] for line in example.splitlines()]
    assert len(lines) == 6
    for line in lines:
        ran = segue(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran.err)
        if " diff " in line:
            assert "+++ b/greeting.txt" in ran.out
    assert (repository / "greeting.txt").read_text() == "hello\n"
    shown = PAGE.partition("```text\n")[2].partition("```")[0]
    message = git(repository, "log", "-1", "--format=%B", "segue/1-add-a-greeting")
    assert re.sub("sha256:[0-9a-f]{64}", "sha256:<of the handoff's record>", message) == shown.strip()
