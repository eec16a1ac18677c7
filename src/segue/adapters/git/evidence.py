"""Collects what changed in a repository, from a revision to the work tree or to another revision.

The user's own index is never touched: a copy of it is worked on, in a folder that is thrown away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from segue.adapters.git.changes import read_changes
from segue.adapters.git.index import list_untracked, look_at_everything, own_index
from segue.adapters.git.lfs import settle_filtered
from segue.adapters.git.nested import has_files
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.sources import GitSources
from segue.adapters.languages import languages_for
from segue.domain.claims.path_finder import EVERYWHERE
from segue.domain.errors import RepositoryError
from segue.domain.evidence.languages import Languages
from segue.domain.evidence.measure import measure, paths_to_read
from segue.domain.evidence.model import Evidence
from segue.domain.evidence.sources import Observed

MOST_COMMITS = 100_000
"""So many commits are known at most."""
_IGNORED_BYTES = 16_000_000
_GITLINK, _SYMLINK = "160000", "120000"


@dataclass(slots=True)
class _TreeState:
    """What is known of a tree while it is read."""

    paths: set[str] = field(default_factory=set)
    ids: dict[str, str] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    def add(self, mode: str, path: str) -> None:
        self.paths.add(path)
        if mode == _GITLINK:
            self.unseen[path + "/"] = "it lies in a submodule"
        elif mode == _SYMLINK:
            self.unseen[path + "/"] = "it lies behind a symbolic link"


def collect_evidence(
    folder: Path, base: str | None, head: str | None = None, *, seconds: float = 120.0
) -> Evidence:
    """What changed from `base` to `head`; without a head, to the work tree with its untracked files.

    Without a base, or with HEAD where there is no commit yet, everything counts as new.
    """
    return observe(folder, base, head, seconds=seconds).evidence


def open_sources(folder: Path, base: str | None, head: str | None = None) -> GitSources:
    """The text of the files at `base`, and at `head` or in the work tree."""
    return observe(folder, base, head).sources


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservedRepository(Observed):
    """What happened in a repository, with its text."""

    sources: GitSources


def observe(
    folder: Path,
    base: str | None,
    head: str | None = None,
    *,
    languages: Callable[[Collection[str]], Languages] = languages_for,
    seconds: float = 120.0,
) -> ObservedRepository:
    """What changed, as `collect_evidence` tells it, with the text of both states.

    `languages` gives the parsers for the names of the changed files.
    """
    return observe_repository(open_repository(folder, seconds=seconds), base, head, languages=languages)


def observe_repository(
    repository: Repository,
    base: str | None,
    head: str | None = None,
    *,
    languages: Callable[[Collection[str]], Languages] = languages_for,
) -> ObservedRepository:
    """The same of a repository that is open."""
    start = _resolve(repository, base)
    tree = start or repository.empty_id("tree")
    before = _read_tree(repository, tree)
    new_ids: dict[str, str] | None = None
    if head is None:
        with own_index(repository) as index:
            after = _read_work_tree(repository, index)
            found = read_changes(repository, ("diff-index", tree), index)
            changes = settle_filtered(repository, found.changes, found.old_ids, index)
    else:
        end = _resolve(repository, head) or repository.empty_id("tree")
        after = _read_tree(repository, end)
        found = read_changes(repository, ("diff-tree", "-r", tree, end), {})
        changes, new_ids = found.changes, after.ids
    tip = start if head is None and base == "HEAD" else _resolve(repository, head or "HEAD")
    commits, _ = _commits(repository, [tip, f"^{start}"] if start else [tip]) if tip else ((), True)
    known, all_known = _known_commits(repository, [tip] if tip else [])
    is_tree_whole = before.is_whole and after.is_whole
    sources = GitSources(
        repository=repository,
        old_ids=before.ids,
        new_ids=new_ids,
        new_paths=after.paths,
        is_whole=is_tree_whole,
    )
    old_paths, new_paths = paths_to_read(changes)
    measured = measure(
        changes,
        sources.load(old_paths, before=True),
        sources.load(new_paths),
        languages=languages(changes),
    )
    top = str(repository.top)
    evidence = Evidence(
        changes=changes,
        before=frozenset(before.paths),
        after=frozenset(after.paths),
        unseen={**before.unseen, **after.unseen},
        definitions=measured.definitions,
        unparsed=measured.unparsed,
        dependencies=measured.dependencies,
        commits=commits,
        known_commits=frozenset(known),
        roots=tuple(dict.fromkeys((top, os.path.realpath(top)))),
        prefix=repository.prefix,
        is_diff_whole=found.is_whole and after.is_whole,
        is_tree_whole=is_tree_whole,
        are_commits_whole=all_known,
    )
    return ObservedRepository(evidence=evidence, sources=sources)


def _resolve(repository: Repository, revision: str | None) -> str | None:
    """The id of a revision's commit; none for no revision, and for HEAD before the first commit."""
    if revision is None:
        return None
    if not revision or revision.startswith("-") or "\0" in revision:
        raise RepositoryError(f'"{revision}" is not a revision')
    asked = ("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    found = repository.run(*asked, may_fail=True).text.decode("ascii", "replace").strip()
    if found:
        return found
    if revision == "HEAD":
        return None
    raise RepositoryError(
        f'there is no revision "{revision}" in {repository.folder}; `git log` shows those there are'
    )


def commit_before(folder: Path, moment: datetime) -> str | None:
    """The newest commit on the way to HEAD that is older than a moment; none if there is none."""
    repository = open_repository(folder)
    if _resolve(repository, "HEAD") is None:
        return None
    asked = ("rev-list", "-1", f"--before={moment.astimezone(UTC).isoformat()}", "HEAD")
    return repository.run(*asked).text.decode("ascii").strip() or None


def _read_tree(repository: Repository, revision: str) -> _TreeState:
    output = repository.run("ls-tree", "-r", "-z", "--full-tree", revision)
    state = _TreeState(is_whole=not output.is_cut)
    for entry in output.fields():
        about, _, path = entry.partition("\t")
        mode, kind, blob = about.split(" ")
        state.add(mode, path)
        if kind == "blob" and mode != _SYMLINK:
            state.ids[path] = blob
    return state


def _read_work_tree(repository: Repository, index: Mapping[str, str]) -> _TreeState:
    """The files in the work tree; on the way, the copied index learns of all that is not ignored."""
    state = _TreeState()
    for path in look_at_everything(repository, index):
        state.unseen[path] = "git is told to skip it (a sparse checkout)"
    repository.run("update-index", "-q", "--refresh", "--ignore-submodules", environment=index, may_fail=True)
    others = list_untracked(repository, index)
    for name in others.repositories:
        state.unseen[name] = "it lies in a repository of its own"
    _add_to_index(repository, index, others.files)
    tracked = repository.run("ls-files", "-z", "--stage", environment=index)
    for entry in tracked.fields():
        about, _, path = entry.partition("\t")
        state.add(about.partition(" ")[0], path)
        folder = repository.top / path
        if about.startswith(_GITLINK) and not os.path.lexists(folder / ".git") and has_files(folder):
            state.unseen[path + "/"] = "it lies in the folder of a submodule, and no commit holds it"
    if not tracked.is_cut:
        state.unseen.update(dict.fromkeys(set(others.files) - state.paths, "git refuses its name"))
    gone = repository.run("ls-files", "-z", "--deleted", environment=index)
    state.paths.difference_update(gone.fields())
    _note_ignored(repository, index, state)
    state.is_whole = others.is_whole and not (tracked.is_cut or gone.is_cut)
    return state


def _add_to_index(repository: Repository, index: Mapping[str, str], names: Iterable[str]) -> None:
    """Untracked files, with an id that fits none of them: git will look at the files themselves."""
    empty = repository.empty_id("blob").encode("ascii")
    lines = b"".join(
        (b"120000 " if Path(repository.top, name).is_symlink() else b"100644 ")
        + empty
        + b" 0\t"
        + os.fsencode(name)
        + b"\0"
        for name in names
    )
    if lines:
        repository.run("update-index", "-z", "--index-info", stdin=lines, environment=index)


def _note_ignored(repository: Repository, index: Mapping[str, str], state: _TreeState) -> None:
    asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    found = repository.run(*asked, environment=index, most_bytes=_IGNORED_BYTES)
    if found.is_cut:
        found = repository.run(*asked, "--directory", environment=index, most_bytes=_IGNORED_BYTES)
        state.unseen[EVERYWHERE] = "git ignores too many files to look at each"
    for name in found.fields():
        state.unseen.setdefault(name, "git ignores it")


def _known_commits(repository: Repository, tips: list[str]) -> tuple[tuple[str, ...], bool]:
    """The ids of all commits of a repository, and whether these are all."""
    try:
        return _commits(repository, ["--all", "--reflog", *tips])
    except RepositoryError:
        # Another worktree is being made or is broken: its HEAD names nothing. This one's own are enough.
        return _commits(repository, ["--single-worktree", "--all", "--reflog", *tips])[0], False


def _commits(repository: Repository, of: list[str]) -> tuple[tuple[str, ...], bool]:
    """The ids of commits, and whether these are all."""
    found = repository.run("rev-list", f"--max-count={MOST_COMMITS}", *of).text.decode("ascii").split()
    return tuple(found), len(found) < MOST_COMMITS
