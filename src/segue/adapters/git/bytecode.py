"""Removes the bytecode that Python left in a work tree, so that a check runs what the files say.

Python takes bytecode for that of a file if its second and size are the same. So bytecode may be old, and
anyone who works in the folder can plant some that is of no source at all. Git ignores it, so no diff shows
it.
"""

from __future__ import annotations

import os
from pathlib import Path

from segue.adapters.git.repository import open_repository
from segue.domain.errors import RepositoryError

_CACHE = "__pycache__"
_ENDING = ".pyc"
_INSTALLED = frozenset({".git", "node_modules", "site-packages", "dist-packages"})
"""Folders with nothing of the project's own; to compile what is installed anew would cost seconds."""


def forget_bytecode(folder: Path) -> bool:
    """Remove it from the work tree of a folder, but nothing that git tracks; true if some may be left there.

    Bytecode without a source, outside of `__pycache__`, is left: the check does not import it.
    """
    try:
        if _is_in_a_repository(folder):
            return _forget_in_repository(folder)
        return _forget(folder, frozenset())
    except (OSError, RecursionError, RepositoryError):
        return True


def _is_in_a_repository(folder: Path) -> bool:
    real = Path(os.path.realpath(folder))
    return any(os.path.lexists(place / ".git") for place in (real, *real.parents))


def _forget_in_repository(folder: Path) -> bool:
    repository = open_repository(folder)
    listed = repository.each_field("ls-files", "-z", environment={})
    tracked = frozenset(path for path in listed if path.endswith(_ENDING))
    return _forget(repository.top, tracked) or bool(tracked)


def _forget(top: Path, tracked: frozenset[str]) -> bool:
    """True if a repository inside has some left. Links are not followed, whatever happens meanwhile."""
    is_left = False
    for name, folders, files, here in os.fwalk(top, onerror=_raise):
        below = os.path.relpath(name, top)
        if below != os.curdir and (".git" in folders or ".git" in files):
            folders.clear()
            is_left = _forget_in_repository(Path(name)) or is_left
            continue
        if Path(name).name == _CACHE:
            for file in files:
                if file.endswith(_ENDING) and os.path.normpath(f"{below}/{file}") not in tracked:
                    os.unlink(file, dir_fd=here)
        elif _CACHE in folders and os.path.islink(f"{name}/{_CACHE}"):  # noqa: PTH114 - beside a descriptor
            os.unlink(_CACHE, dir_fd=here)
            folders.remove(_CACHE)
        folders[:] = (each for each in folders if each not in _INSTALLED)
    return is_left


def _raise(error: OSError) -> None:
    raise error
