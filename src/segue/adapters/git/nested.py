"""What would be lost with a worktree: files that no commit holds, and repositories inside.

A repository inside is opened as any other is, with a snapshot of its configuration: nothing it names is run.
"""

from __future__ import annotations

import os
from pathlib import Path

from segue.adapters.git.index import look, own_index
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.states import head_of, mark_state
from segue.domain.errors import RepositoryError

_SECONDS = 30.0


def left_behind(repository: Repository) -> list[str]:
    """What is in the work tree, not ignored, and in no commit; folders have a slash at their end.

    These are files with names that git refuses, repositories that an agent made, and the folders of
    submodules with files in them, unless all of that was fetched and can be fetched again.
    """
    with own_index(repository) as index:
        found = look(repository, index)
    filled = [
        path for path in found.gitlinks if has_files(repository.top / path) and not _is_copy(repository, path)
    ]
    return sorted([*found.untracked, *found.repositories, *(f"{path}/" for path in filled)])


def has_files(folder: Path) -> bool:
    """True if there is something in a folder; a link is not followed."""
    try:
        return folder.is_dir() and not folder.is_symlink() and any(folder.iterdir())
    except OSError:
        return True


def _is_copy(repository: Repository, path: str) -> bool:
    """True if a submodule has no changes, and no commit that is not in a remote's branch."""
    folder = repository.top / path
    own = (os.path.realpath(repository.git_dir / "modules"), os.path.realpath(folder))
    try:
        inside = open_repository(folder, seconds=_SECONDS)
        if os.path.realpath(inside.top) != own[1] or inside.common_dir != inside.git_dir:
            return False
        if not any(Path(os.path.realpath(inside.git_dir)).is_relative_to(place) for place in own):
            return False
        asked = ("rev-list", "--max-count=1", "--all", "--reflog", "HEAD", "--not", "--remotes")
        is_fetched = not inside.run(*asked).text.strip()
        return is_fetched and mark_state(inside) == head_of(inside) and not left_behind(inside)
    except RepositoryError:
        return False
