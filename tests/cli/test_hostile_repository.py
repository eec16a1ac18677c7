"""The commands that use git, on a repository that names programs everywhere: none of them runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import commit, git, write
from tests.git.traps import ATTRIBUTES, hostile_nested_repository, make_traps

WORK = "mkdir -p .segue .github/workflows .claude nested; cp -r {nested}/. nested; echo 1 > new.txt; "
WORK += "touch trap.md; for f in .segue/catalog.yaml .github/workflows/ci.yml .claude/settings.json; do "
WORK += "echo x > $f; done; cat {reply}"


@pytest.mark.thorough
def test_no_program_of_the_repository_runs_and_a_merge_names_the_files_that_run_some(
    repository: Path, segue: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traps = make_traps(tmp_path / "traps")
    write(repository, {".gitattributes": ATTRIBUTES, "trap.md": "trap\n"})
    commit(repository)
    hostile_nested_repository(tmp_path / "nested", traps)
    write(tmp_path, {"reply": "## What Was Done\n- Created new.txt.\n\n## Next Agent Context\nNothing.\n"})
    work = WORK.format(nested=tmp_path / "nested", reply=tmp_path / "reply")
    agent = f"{{backend: command, options: {{command: [sh, -c, '{work}']}}}}"
    catalog = f"agents:\n  one: {agent}\ntemplates:\n  work: {{steps: [{{agent: one}}]}}\n"
    write(tmp_path / "config", {"catalog.yaml": catalog})
    monkeypatch.setenv("SEGUE_CONFIG_DIR", str(tmp_path / "config"))
    traps.set_in(repository / ".git")
    traps.sprung()

    ran = segue("run", "work", "Work.")
    assert ran.code == 0, ran.err
    verified = segue("handoff", "verify", str(tmp_path / "reply"), "--base", "HEAD")
    assert verified.code == 1, "there is no new.txt in the checkout yet"
    shown = segue("pipelines", "diff", "1")
    assert "+++ b/new.txt" in shown.out
    merged = segue("pipelines", "merge", "1")
    assert merged.code == 0, merged.err
    named = ".claude/settings.json, .github/workflows/ci.yml, .segue/catalog.yaml"
    assert merged.out.splitlines()[:2] == [
        f"This changes files that run programs: {named}",
        "This leaves out what no commit of the worktree holds: nested/",
    ]
    assert (repository / "new.txt").exists()
    refused = segue("pipelines", "clean", "1")
    assert refused.code != 0
    assert "no commit of this repository holds nested/ in it" in refused.err
    assert traps.sprung() == []
    place = next(
        line[9:] for line in git(repository, "worktree", "list", "--porcelain").splitlines()[4:] if line
    )
    git(Path(place), "-c", "core.fsmonitor=false", "clean", "-qffd", "nested")
    traps.sprung()
    assert segue("pipelines", "clean", "1").code == 0
    assert traps.sprung() == []
