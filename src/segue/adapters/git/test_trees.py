"""States of a repository as folders of their own, in which its tests can be run.

Files are written by git from a private index, with Segue's settings: no filter and no hook runs. The folders
lie outside of every work tree, can be read by this user alone, and are gone afterwards.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from segue.adapters.git.bytecode import forget_bytecode
from segue.adapters.git.index import own_index
from segue.adapters.git.objects import read_commit
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.states import write_tree
from segue.adapters.git.worktrees import make_repository
from segue.application.ports.checks import TestStates
from segue.domain.errors import RepositoryError
from segue.domain.evidence.weakened.paths import belongs_to_tests, is_mixed_file
from segue.domain.evidence.weakened.runner_settings import restore_runner_settings, runner_part

_ENVIRONMENTS = frozenset({"node_modules", ".venv", "venv"})
"""Folders with what tests need besides the repository."""
_LARGEST_COPY = 256_000
_MOST_COPIES = 200
_MOST_FILES_WITH_HISTORY = 20_000
_NOT_COPIED = (
    ".pyc",
    ".so",
    ".pyd",
    ".log",
    ".coverage",
    ".xml",
    ".db",
    ".sqlite",
    ".sqlite3",
    ".lock",
    ".pth",
)
_MOST_BYTES = 16_000_000


class GitTestTrees:
    """Makes these folders from a repository."""

    def forget_bytecode(self, folder: Path) -> bool:
        """Remove what Python compiled, but nothing that git tracks; true if some may be left."""
        return forget_bytecode(folder)

    def look(self, folder: Path, base: str) -> TestStates:
        """The states: a mark, and the files as they are now."""
        repository = open_repository(folder)
        start = read_commit(repository, base)
        if start is None:
            raise RepositoryError(f'there is no revision "{base}" in {folder}')
        before = start.tree
        with own_index(repository) as index:
            after = write_tree(repository, index, {start.id: start})
        return TestStates(
            top=repository.top,
            prefix=repository.prefix,
            before=before,
            after=after,
            checkouts=_other_checkouts(repository),
            edits_tests=any(_edited_tests(repository, before, after)),
        )

    def base(self, states: TestStates) -> AbstractContextManager[Path]:
        """A folder with the files of before, and the environment of the work folder."""
        return _tree(states, states.before)

    def after(self, states: TestStates) -> AbstractContextManager[Path]:
        """A folder with the files of after, and the environment of the work folder."""
        return _tree(states, states.after)

    @contextmanager
    def old_tests(self, states: TestStates) -> Iterator[Path]:
        """A folder with the files of after, but with the tests of before and what they are run with."""
        repository = open_repository(states.top)
        old, new = _entries(repository, states.before), _entries(repository, states.after)
        gone = [path for path in new if belongs_to_tests(path)]
        back = {path: entry for path, entry in old.items() if belongs_to_tests(path)}
        with _folder() as (folder, index):
            repository.run("read-tree", states.after, environment=index)
            lines = [
                b"0 " + repository.empty_id("blob").encode() + b"\t" + os.fsencode(path) for path in gone
            ]
            lines += [entry.encode("ascii") + b"\t" + os.fsencode(path) for path, entry in back.items()]
            asked = ("update-index", "--replace", "-z", "--index-info")
            repository.run(*asked, stdin=b"".join(line + b"\0" for line in lines), environment=index)
            _write_out(repository, folder, index)
            for path in old.keys() & new.keys():
                if is_mixed_file(path) and old[path] != new[path]:
                    _restore_settings(repository, states, folder, path)
            _add_environment(repository, folder, states)
            yield folder


@contextmanager
def _tree(states: TestStates, tree: str) -> Iterator[Path]:
    repository = open_repository(states.top)
    with _folder() as (folder, index):
        repository.run("read-tree", tree, environment=index)
        _write_out(repository, folder, index)
        _add_environment(repository, folder, states)
        yield folder


@contextmanager
def _folder() -> Iterator[tuple[Path, Mapping[str, str]]]:
    """A private folder for files, and one for the index from which they are written."""
    with TemporaryDirectory(prefix="segue-tests-", ignore_cleanup_errors=True) as name:
        private = Path(os.path.realpath(name))
        folder = private / "tree"
        folder.mkdir()
        yield folder, {"GIT_INDEX_FILE": str(private / "index")}


def _write_out(repository: Repository, folder: Path, index: Mapping[str, str]) -> None:
    repository.run(
        "checkout-index", "--all", "--quiet", f"--prefix={folder}/", environment=index, may_fail=True
    )
    # Tests may ask git about the project that they are in.
    count = sum(1 for _ in repository.each_field("ls-files", "-z", environment=index))
    if count <= _MOST_FILES_WITH_HISTORY:
        make_repository(folder)


def _entries(repository: Repository, tree: str) -> dict[str, str]:
    """Path -> mode and id, as an index takes them."""
    found = {}
    for entry in repository.each_field("ls-tree", "-r", "-z", "--full-tree", tree, environment={}):
        about, _, path = entry.partition("\t")
        mode, kind, content = about.split(" ")
        if kind == "blob":
            found[path] = f"{mode} {content} 0"
    return found


def _edited_tests(repository: Repository, before: str, after: str) -> Iterator[str]:
    """Changed files that the tests of before consist of, or that can change how they are run.

    A new test beside them is neither, unless it brings settings or hooks.
    """
    asked = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", before, after)
    fields = list(repository.each_field(*asked, environment={}))
    for letter, path in zip(fields[::2], fields[1::2], strict=False):
        if is_mixed_file(path):
            if letter != "M" or _settings_differ(repository, before, after, path):
                yield path
        elif belongs_to_tests(path) and (letter != "A" or not _is_plain_test(path)):
            yield path


def _is_plain_test(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith("test_") or ".test." in name or ".spec." in name


def _settings_differ(repository: Repository, before: str, after: str, path: str) -> bool:
    old, new = (_text(repository, tree, path) for tree in (before, after))
    return runner_part(path, old) != runner_part(path, new)


def _text(repository: Repository, tree: str, path: str) -> str:
    found = repository.run("cat-file", "blob", f"{tree}:{path}", may_fail=True, most_bytes=_MOST_BYTES)
    return found.text.decode("utf-8", "replace")


def _restore_settings(repository: Repository, states: TestStates, folder: Path, path: str) -> None:
    old, new = (_text(repository, tree, path) for tree in (states.before, states.after))
    place = folder / path
    if place.is_symlink() or not place.is_file() or not _is_inside(place, folder):
        return
    place.write_text(restore_runner_settings(path, old, new), encoding="utf-8")


def _is_inside(place: Path, folder: Path) -> bool:
    return Path(os.path.realpath(place)).is_relative_to(folder)


def _other_checkouts(repository: Repository) -> tuple[Path, ...]:
    """The user's own checkout, if the work is done in a worktree beside it."""
    main = repository.common_dir.parent
    is_other = os.path.realpath(main) != os.path.realpath(repository.top)
    return (main,) if is_other and repository.common_dir.name == ".git" else ()


def _add_environment(repository: Repository, folder: Path, states: TestStates) -> None:
    """What git ignores and tests need: installed packages as links, small generated files as copies.

    Nothing that tests or their runner are made of is taken: an agent could hide it behind `.gitignore`.
    """
    asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    found = repository.run(*asked, most_bytes=_MOST_BYTES, may_fail=True).fields()
    copies = 0
    for name in found:
        path = name.rstrip("/")
        source, target = states.top / path, folder / path
        if os.path.lexists(target) or not _is_inside(target.parent, folder):
            continue
        if PurePosixPath(path).name in _ENVIRONMENTS:
            _link(source, target)
        elif not name.endswith("/") and copies < _MOST_COPIES and _is_generated(source, path):
            copies += 1
            with suppress(OSError):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target, follow_symlinks=False)
    for checkout in states.checkouts:
        for below in {"", states.prefix}:
            for name in _ENVIRONMENTS:
                source, target = checkout / below / name, folder / below / name
                if source.is_dir() and not os.path.lexists(target) and _is_inside(target.parent, folder):
                    _link(source, target)


def _link(source: Path, target: Path) -> None:
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.path.realpath(source), target_is_directory=True)


def _is_generated(source: Path, path: str) -> bool:
    """A small file that a build may have made: `_version.py`, `.env`."""
    if belongs_to_tests(path) or is_mixed_file(path) or path.endswith(_NOT_COPIED):
        return False
    if PurePosixPath(path).name in ("sitecustomize.py", "usercustomize.py"):
        return False
    try:
        return source.is_file() and not source.is_symlink() and source.stat().st_size <= _LARGEST_COPY
    except OSError:
        return False
