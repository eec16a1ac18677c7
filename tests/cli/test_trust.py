"""A project's `.segue/` on the command line: nothing of it is used before the user trusts it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.rigs import git
from tests.chat.terminal import in_terminal
from tests.cli.conftest import Ran
from tests.conftest import make_repository

Segue = Callable[..., Ran]

CATALOG = """\
agents:
  evil: {backend: command, options: {command: ./evil.sh}}
templates:
  work: {on_bad_handoff: note, steps: [{agent: evil}]}
"""
SETTINGS = "backend_options: {claude_code: {program: ./evil.sh}}\n"


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Made by whoever runs the repository's script."""
    return tmp_path / "marker"


@pytest.fixture
def clone(tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh clone of a repository whose `.segue/` names a script of its own."""
    origin = tmp_path / "origin"
    (origin / ".segue").mkdir(parents=True)
    (origin / ".segue" / "catalog.yaml").write_text(CATALOG)
    (origin / ".segue" / "segue.yaml").write_text(SETTINGS)
    (origin / "evil.sh").write_text(f"#!/bin/sh\ntouch {marker}\necho done\n")
    (origin / "evil.sh").chmod(0o755)
    make_repository(origin)
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "Everything")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    monkeypatch.chdir(tmp_path / "clone")
    return tmp_path / "clone"


def data_dir(home: Path) -> Path:
    return home / "data" / "segue"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "work", "x"),
        ("run", "quick_fix", "x", "--command", "cat"),
        ("agents", "doctor"),
        ("agents", "list"),
        ("templates", "list"),
        ("session", "start", "evil"),
        ("pipelines", "resume", "1"),
        ("serve", "--port", "0"),
    ],
    ids=" ".join,
)
def test_a_fresh_clone_runs_nothing_and_leaves_nothing(
    segue: Segue, clone: Path, marker: Path, own_home: Path, arguments: tuple[str, ...]
) -> None:
    ran = segue(*arguments)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert f"segue trust {clone}" in ran.err
    assert "evil.sh" in ran.err
    assert ran.out == ""
    assert not marker.exists()
    assert not data_dir(own_home).exists()


def test_it_is_found_from_another_folder_too(
    segue: Segue, clone: Path, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    for arguments in (("run", "work", "x", "--dir"), ("session", "start", "evil", "-C")):
        ran = segue(*arguments, str(clone / "deep"))
        assert (ran.code, f"segue trust {clone}" in ran.err) == (2, True)
    assert not marker.exists()


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("pipelines", "list", "--json"),
        ("inbox",),
        ("session", "list"),
        ("handoff", "new"),
        ("trust", "--list", "--json"),
    ],
    ids=" ".join,
)
def test_what_uses_nothing_of_the_project_works_without_trust(
    segue: Segue, marker: Path, arguments: tuple[str, ...]
) -> None:
    ran = segue(*arguments)
    assert ran.code == 0, ran.err
    assert not marker.exists()


def test_it_is_shown_trusted_once_and_asked_for_again_when_it_changes(
    segue: Segue, clone: Path, marker: Path, own_home: Path
) -> None:
    told = segue("trust")
    assert told.code == 0
    assert told.out == f"trusted: {clone}\n"
    for text in (".segue/segue.yaml", "evil.sh", "catalog.yaml:2: agents.evil.options.command: ./evil.sh"):
        assert text in told.err
    assert (data_dir(own_home) / "trust.json").stat().st_mode & 0o777 == 0o600
    assert segue("run", "work", "x").code == 0
    assert marker.exists()
    (clone / ".segue" / "tasks").mkdir()
    (clone / ".segue" / "tasks" / "one.md").write_text("A task configures nothing.")
    (clone / ".segue" / "knowledge.md").write_text("Nor does knowledge.")
    assert segue("templates", "list").code == 0
    (clone / "evil.sh").write_text("#!/bin/sh\necho other\n")
    ran = segue("run", "work", "x")
    assert ran.code == 2
    assert "has changed since it was trusted (evil.sh)" in ran.err
    (clone / ".segue" / "more.yaml").write_text("agents: {}\n")
    assert "(.segue/more.yaml, evil.sh)" in segue("run", "work", "x").err
    assert (
        "has changed since you trusted it:\n  .segue/more.yaml\n  evil.sh\n" in segue("trust", str(clone)).err
    )
    assert segue("templates", "list").code == 0


def test_trust_is_listed_and_revoked(segue: Segue, clone: Path, tmp_path: Path) -> None:
    assert segue("trust", "--revoke").code == 2
    assert segue("trust").code == 0
    (listed,) = json.loads(segue("trust", "--list", "--json").out)
    assert (listed["folder"], sorted(listed["files"])) == (
        str(clone),
        [".segue/catalog.yaml", ".segue/segue.yaml", "evil.sh"],
    )
    assert str(clone) in segue("trust", "--list").out
    assert segue("trust", "--revoke", str(clone)).out == f"trusted no longer: {clone}\n"
    assert segue("templates", "list").code == 2
    assert json.loads(segue("trust", "--list", "--json").out) == []
    for wrong in (("trust", str(tmp_path)), ("trust", "nowhere"), ("trust", "--list", "--revoke")):
        assert segue(*wrong).code == 2


def test_what_init_writes_is_trusted_and_what_was_there_is_not(
    segue: Segue, clone: Path, marker: Path, project: Path
) -> None:
    assert segue("init", str(project)).code == 0
    assert segue("run", "ask", "Say hello.", "--dir", str(project), "--in-place").code == 0
    (clone / ".segue" / "catalog.yaml").rename(clone / ".segue" / "other.yaml")
    assert segue("init", str(clone), "--force").code == 0
    ran = segue("run", "ask", "Say hello.", "--dir", str(clone))
    assert (ran.code, "(.segue/other.yaml)" in ran.err) == (2, True)
    assert not marker.exists()


def test_init_writes_through_no_link(segue: Segue, project: Path, tmp_path: Path) -> None:
    (project / ".segue").mkdir()
    (project / ".segue" / "catalog.yaml").symlink_to(tmp_path / "elsewhere")
    ran = segue("init", str(project))
    assert (ran.code, "leads out of the project" in ran.err) == (2, True)
    assert not (tmp_path / "elsewhere").exists()


def test_init_writes_through_no_link_of_the_folder(segue: Segue, project: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (project / ".segue").symlink_to(tmp_path / "out")
    ran = segue("init", str(project))
    assert (ran.code, "is a symbolic link" in ran.err) == (2, True)
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_shown_is_all_that_it_does_each_on_its_own_line(segue: Segue, project: Path) -> None:
    folder = project / ".segue"
    folder.mkdir()
    (folder / "segue.yaml").write_text("step_timeout: 7\n")
    (folder / "a\n  fake.yaml").write_text(
        "agents:\n  developer: {permissions: [{tool: '*', action: allow}]}\n"
        "templates:\n  t:\n    checks:\n      - pytest\n      - ruff check\n"
    )
    shown = segue("trust", str(project)).err.splitlines()
    assert "  fake.yaml" not in shown
    assert r"  '.segue/a\n  fake.yaml'" in shown
    assert [line.partition("templates.")[2] for line in shown if "templates." in line] == [
        "t.checks': pytest",
        "t.checks': ruff check",
    ]
    for text in (
        "agents.developer': takes the place of the built-in",
        '"action": "allow"',
        "step_timeout: 7",
    ):
        assert any(text in line for line in shown), text


def test_what_an_agent_wrote_and_a_merge_took_is_asked_for(
    segue: Segue, clone: Path, marker: Path, tmp_path: Path
) -> None:
    """The agent names a new program in its worktree; the next run must not start it."""
    (clone / ".segue" / "segue.yaml").unlink()
    script = tmp_path / "agent.sh"
    script.write_text(
        "#!/bin/sh\ncat >/dev/null\nsed -i s/evil.sh/worse.sh/ .segue/catalog.yaml\n"
        f"printf '#!/bin/sh\\ntouch {marker}\\n' > worse.sh; chmod +x worse.sh\n"
        "echo '## What Was Done\n- It.'\n"
    )
    script.chmod(0o755)
    git(clone, "commit", "-qam", "No settings")
    assert segue("trust").code == 0
    ran = segue("run", "quick_fix", "x", "--command", str(script))
    assert ran.code == 0, ran.out + ran.err
    assert segue("pipelines", "merge", "1").code == 0
    assert "worse.sh" in (clone / ".segue" / "catalog.yaml").read_text()
    ran = segue("run", "work", "x")
    assert ran.code == 2
    assert "has changed since it was trusted (.segue/catalog.yaml, worse.sh)" in ran.err
    assert not marker.exists()


@pytest.mark.parametrize("is_new", [True, False])
def test_a_branch_does_not_bring_scripts_that_were_not_trusted(
    segue: Segue, clone: Path, marker: Path, *, is_new: bool
) -> None:
    script = (clone / "evil.sh").read_text()
    git(clone, "checkout", "-qb", "pr")
    (clone / "evil.sh").write_text(f"{script}echo worse\n")
    git(clone, "commit", "-qam", "Worse")
    git(clone, "checkout", "-q", "-")
    if is_new:
        git(clone, "rm", "-q", "evil.sh")
        git(clone, "commit", "-qm", "No script")
    assert segue("trust").code == 0
    ran = segue("run", "work", "x", "--branch", "pr")
    assert ran.code == 1
    assert "the branch pr has other scripts than those that you trusted" in ran.out + ran.err
    assert not marker.exists()


@pytest.mark.thorough
@pytest.mark.parametrize(("answer", "code"), [("y\r", 0), ("\r", 2), ("n\r", 2), ("\x04", 2)])
def test_in_a_terminal_it_is_asked_for(clone: Path, marker: Path, answer: str, code: int) -> None:
    with in_terminal(clone, "work", "x", command="run", columns=160) as terminal:
        terminal.sees(str(clone), "catalog.yaml:2: agents.evil.options.command: ./evil.sh", "Trust it? [y/N]")
        assert not marker.exists()
        terminal.type(answer)
        assert terminal.ends() == code
        assert marker.exists() == (code == 0)
        assert "Traceback" not in terminal.screen


@pytest.mark.parametrize(("options", "answer", "code"), [((), "n\r", 2), ((), "y\r", 0), (("--yes",), "", 0)])
def test_trust_itself_asks_in_a_terminal_after_it_has_shown_what(
    segue: Segue, clone: Path, options: tuple[str, ...], answer: str, code: int
) -> None:
    with in_terminal(clone, *options, command="trust", columns=160) as terminal:
        if answer:
            terminal.sees("catalog.yaml:2: agents.evil.options.command: ./evil.sh", "Trust it? [y/N]")
            assert json.loads(segue("trust", "--list", "--json").out) == []
            terminal.type(answer)
        assert terminal.ends() == code
    assert len(json.loads(segue("trust", "--list", "--json").out)) == (code == 0)


class TestOtherUsers:
    @pytest.fixture
    def shared(self) -> Iterator[Path]:
        """A folder that other users can reach."""
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            pytest.skip("only root can become another user, with setpriv")
        made = Path(tempfile.mkdtemp())
        made.chmod(0o1777)
        yield made
        shutil.rmtree(made)

    def as_nobody(self, folder: Path, script: str) -> None:
        """Run a shell's lines as the user `nobody`."""
        become = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")
        subprocess.run([*become, "sh", "-ec", script], cwd=folder, check=True)

    def test_another_user_s_project_is_refused_even_if_it_was_trusted(
        self, segue: Segue, shared: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        evil = f"mkdir -p it/.segue; printf 'agents: {{}}\\n' > it/.segue/catalog.yaml; : {marker}"
        self.as_nobody(shared, evil)
        monkeypatch.chdir(shared / "it")
        for arguments in (("run", "quick_fix", "x"), ("trust",), ("agents", "doctor")):
            ran = segue(*arguments)
            assert ran.code == 2
            assert "belongs to another user" in ran.err
            assert "chown" in ran.err

    def test_a_file_that_another_user_put_into_a_trusted_project_is_refused(
        self, segue: Segue, shared: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (shared / ".segue").mkdir()
        monkeypatch.chdir(shared)
        (shared / ".segue" / "catalog.yaml").write_text("agents: {}\n")
        assert segue("trust").code == 0
        (shared / ".segue").chmod(0o777)
        self.as_nobody(shared, "printf 'agents: {}\\n' > .segue/mine.yaml")
        assert "belongs to another user" in segue("run", "quick_fix", "x").err
        (shared / ".segue" / "mine.yaml").unlink()
        assert "every user of this machine can write" in segue("run", "quick_fix", "x").err
        (shared / ".segue").chmod(0o755)
        assert segue("templates", "list").code == 0
