"""Clones of this machine's own: of repositories whose folders are on another one.

A clone is made once and fetched into from then on. Its checkout stays empty: runs have worktrees of it.
Agents can write to it, so it is opened as any other repository is, with a snapshot of its settings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from segue.adapters.git.bundles import has_commit, take_bundle
from segue.adapters.git.processes import run_git
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.transport import fetch
from segue.domain.errors import RepositoryError
from segue.domain.repository_source import RepositorySource


def clone_folder(root: Path, source: RepositorySource) -> Path:
    """Where the clone of a repository is, or would be."""
    digest = hashlib.sha256(source.name.encode()).hexdigest()[:12]
    last = re.split(r"[/:]", source.name.rstrip("/").removesuffix(".git"))[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-.")[:40]
    return root / (f"{plain}-{digest}" if plain else digest)


def open_clone(root: Path, source: RepositorySource) -> Repository:
    """The clone, made if there is none; it has no commits yet then. The caller holds its lock."""
    folder = clone_folder(root, source)
    if not (folder / ".git" / "HEAD").is_file():
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise RepositoryError(f"cannot make {folder}: {error.strerror}") from error
        run_git(folder, "init", "--quiet", "--template=", f"--object-format={source.digest}")
        if source.url is not None:  # for agents, who may want to fetch
            run_git(folder, "config", "remote.origin.url", source.url)
            run_git(folder, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    return open_repository(folder)


def bring_commit(
    repository: Repository, source: RepositorySource, commit: str, bundles: Iterable[bytes]
) -> None:
    """Have a commit here: from the origin, from where steps are pushed, and from bundles, the oldest first.

    Only what is not here yet is looked for. The caller gives it a name.
    """
    if has_commit(repository, commit):
        return
    reasons = [
        *_fetch_unless_there(repository, source.base, source.url, "heads/*:refs/remotes/origin/*"),
        *_fetch_unless_there(repository, commit, source.push_to, "heads/segue/*:refs/remotes/segue/*"),
    ]
    if not has_commit(repository, commit):
        for content in bundles:
            take_bundle(repository, content, *reasons)
    if not has_commit(repository, commit):
        places = " and ".join(each for each in (source.url, source.push_to, "the database") if each)
        why = "; ".join(reasons)
        raise RepositoryError(
            f"the commit {commit} of {source.name} was looked for in {places}, and is in neither"
            + (f" ({why})" if why else "")
        )


def _fetch_unless_there(repository: Repository, commit: str, url: str | None, names: str) -> Iterator[str]:
    """Gives why it could not be fetched, if so: the commit may still come from elsewhere."""
    if url is None or has_commit(repository, commit):
        return
    try:
        fetch(repository, url, f"+refs/{names}")
        if not has_commit(repository, commit):  # no branch has it any more, but the other side may
            fetch(repository, url, commit)
    except RepositoryError as error:
        yield str(error)
