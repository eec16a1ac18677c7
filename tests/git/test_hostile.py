"""Evidence from a hostile repository: what `test_traps.py` does not show of objects, variables and pipes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from segue.adapters.git import collect_evidence
from segue.domain.errors import RepositoryError
from tests.git.repositories import git, lines, new_repository, write


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What a program of the repository leaves behind when it is run."""
    return tmp_path / "ran"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> str:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\ncat 2>/dev/null\nexit 0\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repo", {"a.txt": lines(5), "b.txt": lines(5), "c.bin": b"\0\1"})


def plain_git(repo: Path, *arguments: str) -> None:
    """Git as a user runs it, whatever comes of it."""
    subprocess.run(["git", *arguments], cwd=repo, capture_output=True, timeout=120, check=False)


def change(repo: Path) -> None:
    write(repo, {"a.txt": lines(6), "c.bin": b"\0\2", "new.txt": "x\n"})
    for name in ("a.txt", "b.txt", "c.bin"):
        os.utime(repo / name, (1, 1))


def test_a_signed_commit_starts_no_signer(repo: Path, program: str, marker: Path) -> None:
    body = git(repo, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    signed = git(repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=(body + "\n").encode())
    git(repo, "update-ref", "HEAD", signed)
    git(repo, "config", "gpg.program", program)
    git(repo, "config", "log.showSignature", "true")
    assert collect_evidence(repo, None).commits == (signed,)
    assert not marker.exists()
    plain_git(repo, "log")
    assert marker.exists()


def test_a_missing_object_is_fetched_from_nowhere(
    repo: Path, program: str, marker: Path, tmp_path: Path
) -> None:
    """A partial clone may name any program as the other end of its transport."""
    other = new_repository(tmp_path / "other", {"a.txt": "x\n"})
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(other),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"{program} </dev/null; true",
        "protocol.file.allow": "always",
    }.items():
        git(repo, "config", key, value)
    blob = git(repo, "rev-parse", "HEAD:a.txt")
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    change(repo)
    with pytest.raises(RepositoryError):
        collect_evidence(repo, "HEAD")
    assert not marker.exists(), marker.read_text()
    plain_git(repo, "cat-file", "-p", blob)
    assert marker.exists()


def test_git_s_own_variables_are_not_handed_on(
    repo: Path, program: str, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other", {"elsewhere.txt": "x\n"})
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_EXTERNAL_DIFF": program,
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{program}'",
        "GIT_TRACE": str(tmp_path / "trace"),
    }.items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("GIT_"):
                patch.delenv(name)
        change(repo)
    assert set(collect_evidence(repo, "HEAD").changes) == {"a.txt", "c.bin", "new.txt"}
    assert not marker.exists()
    assert not (tmp_path / "trace").exists()


def test_a_repository_of_another_user_is_refused_with_the_remedy(repo: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in (repo, repo / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(RepositoryError, match=r"belongs to another user; if you do, run `git config"):
        collect_evidence(repo, "HEAD")


def test_a_git_that_hangs_is_ended(repo: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    git(repo, "config", "include.path", str(tmp_path / "pipe"))
    with pytest.raises(RepositoryError, match="took longer than 1 s and was ended"):
        collect_evidence(repo, "HEAD", seconds=1)


def test_the_lock_of_the_user_s_git_is_no_hindrance(repo: Path) -> None:
    (repo / ".git/index.lock").write_text("")
    change(repo)
    assert set(collect_evidence(repo, "HEAD").changes) == {"a.txt", "c.bin", "new.txt"}
    assert (repo / ".git/index.lock").exists()
