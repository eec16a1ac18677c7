"""Collects what changed in a repository, from a revision to the work tree or to another revision.

The user's own index is never touched: a copy of it is worked on, in a folder that is thrown away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from segue.adapters.git.changes import read_changes, with_line_counts
from segue.adapters.git.index import MOST_IGNORED_BYTES, look, own_index
from segue.adapters.git.lfs import settle_filtered
from segue.adapters.git.nested import has_files
from segue.adapters.git.objects import read_blobs, read_commit
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.sources import LARGEST_FILE, GitSources
from segue.adapters.languages import languages_for
from segue.domain.claims.path_finder import EVERYWHERE
from segue.domain.errors import RepositoryError
from segue.domain.evidence.languages import Languages
from segue.domain.evidence.measure import measure, paths_to_read
from segue.domain.evidence.model import Change, ChangeKind, Evidence
from segue.domain.evidence.sources import Observed

MOST_COMMITS = 100_000
"""So many commits of a step are known at most."""
_MOST_OLD_BYTES = 256_000_000
"""So much of the files before is read to count their lines."""
_GITLINK, _SYMLINK, _FILE = "160000", "120000", "100644"


@dataclass(slots=True)
class _TreeState:
    """What is known of a tree while it is read."""

    head: str | None = None
    """Of a work tree, the commit that is checked out."""
    is_clean: bool = False
    """Of a work tree, whether all is as in that commit."""
    untracked: list[str] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    ids: dict[str, str] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    def add(self, mode: str, blob: str, path: str) -> None:
        self.paths.add(path)
        if mode not in (_GITLINK, _SYMLINK):
            self.ids[path] = blob
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
    found = _compare_with_work_tree(repository, base) if head is None else _compare(repository, base, head)
    before, after, tip = found.before, found.after, found.tip
    new = [] if tip is None or tip == found.start else [tip, *([f"^{found.start}"] if found.start else [])]
    commits, are_commits_whole = _commits(repository, new) if new else ((), True)
    is_tree_whole = before.is_whole and after.is_whole
    sources = GitSources(
        repository=repository,
        old_ids=before.ids,
        new_ids=None if head is None else after.ids,
        new_paths=after.paths,
        is_whole=is_tree_whole,
    )
    old_paths, new_paths = paths_to_read(found.changes)
    changes = with_line_counts(found.changes, _read_old(repository, sources, found, old_paths))
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
        roots=tuple(dict.fromkeys((top, os.path.realpath(top)))),
        prefix=repository.prefix,
        is_diff_whole=found.is_whole and after.is_whole,
        is_tree_whole=is_tree_whole,
        are_commits_whole=are_commits_whole,
    )
    return ObservedRepository(evidence=evidence, sources=sources)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Comparison:
    """Two states of a repository, and what differs."""

    start: str | None
    """The commit that the first one is of."""
    tip: str | None
    """The newest commit on the way to the second one."""
    before: _TreeState
    after: _TreeState
    changes: dict[str, Change]
    old_ids: dict[str, str]
    is_whole: bool = True


def _compare_with_work_tree(repository: Repository, base: str | None) -> _Comparison:
    with own_index(repository) as index:
        after = _read_work_tree(repository, index)
        is_head = after.head is not None and base in ("HEAD", after.head)
        start = after.head if is_head else _resolve(repository, base)
        if after.is_clean and start == after.head:
            before = _TreeState(paths=after.paths, ids=after.ids)
            return _Comparison(start=start, tip=start, before=before, after=after, changes={}, old_ids={})
        tree = start or repository.empty_id("tree")
        before = _read_tree(repository, tree)
        _add_to_index(repository, index, after.untracked)
        found = read_changes(repository, ("diff-index", tree), index)
        if found.is_whole:
            for path in set(after.untracked) - found.changes.keys() - before.paths:
                after.paths.discard(path)
                after.unseen[path] = "git refuses its name"
        changes = settle_filtered(repository, found.changes, found.old_ids, index)
    return _Comparison(
        start=start,
        tip=after.head,
        before=before,
        after=after,
        changes=changes,
        old_ids=found.old_ids,
        is_whole=found.is_whole,
    )


def _compare(repository: Repository, base: str | None, head: str) -> _Comparison:
    start, end = _resolve(repository, base), _resolve(repository, head)
    old, new = start or repository.empty_id("tree"), end or repository.empty_id("tree")
    found = read_changes(repository, ("diff-tree", "-r", old, new), {})
    return _Comparison(
        start=start,
        tip=end,
        before=_read_tree(repository, old),
        after=_read_tree(repository, new),
        changes=found.changes,
        old_ids=found.old_ids,
        is_whole=found.is_whole,
    )


def _read_old(
    repository: Repository, sources: GitSources, found: _Comparison, keep: Collection[str]
) -> dict[str, int]:
    """How many lines each changed file had, by its path now; the texts in `keep` are kept on the way."""
    kept = frozenset(keep)
    ids = {
        old: found.old_ids[path]
        for path, change in found.changes.items()
        if (old := change.old_path or path) in kept or _is_counted(change)
    }
    counts, left = {}, _MOST_OLD_BYTES
    for blob in read_blobs(repository, ids, largest=LARGEST_FILE):
        left -= blob.size
        if left < 0:
            break
        counts[blob.path] = blob.lines
        if blob.path in kept:
            sources.keep(blob.path, blob.content, before=True)
    return {
        path: counts[old]
        for path, change in found.changes.items()
        if (old := change.old_path or path) in counts
    }


def _is_counted(change: Change) -> bool:
    return change.kind not in (ChangeKind.ADDED, ChangeKind.DELETED) and change.additions is not None


def _resolve(repository: Repository, revision: str | None) -> str | None:
    """The id of a revision's commit; none for no revision, and for HEAD before the first commit."""
    if revision is None:
        return None
    found = read_commit(repository, revision)
    if found is not None:
        return found.id
    if revision == "HEAD":
        named = repository.run("rev-parse", "--verify", "--quiet", "HEAD", may_fail=True).text.strip()
        if not named:
            return None
        raise RepositoryError(
            f"HEAD of {repository.folder} names a commit that is not there; `git fsck` shows what is missing"
        )
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
        mode, _, blob = about.split(" ")
        state.add(mode, blob, path)
    return state


def _read_work_tree(repository: Repository, index: Mapping[str, str]) -> _TreeState:
    """The files in the work tree that are not ignored."""
    found = look(repository, index, ignored=True)
    state = _TreeState(
        head=found.head, is_clean=found.is_clean, untracked=found.untracked, is_whole=found.is_whole
    )
    for entry in found.entries:
        state.add(*entry)
    for path in found.untracked:
        state.add(_SYMLINK if Path(repository.top, path).is_symlink() else _FILE, "", path)
    state.paths -= found.gone
    for path in found.gitlinks:
        folder = repository.top / path
        if not os.path.lexists(folder / ".git") and has_files(folder):
            state.unseen[path + "/"] = "it lies in the folder of a submodule, and no commit holds it"
    state.unseen.update(dict.fromkeys(found.skipped, "git is told to skip it (a sparse checkout)"))
    state.unseen.update(dict.fromkeys(found.repositories, "it lies in a repository of its own"))
    ignored = found.ignored
    if not found.are_ignored_whole:
        asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        ignored = repository.run(*asked, environment=index, most_bytes=MOST_IGNORED_BYTES).fields()
        state.unseen[EVERYWHERE] = "git ignores too many files to look at each"
    for name in ignored:
        state.unseen.setdefault(name, "git ignores it")
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


def _commits(repository: Repository, of: list[str]) -> tuple[tuple[str, ...], bool]:
    """The ids of commits, and whether these are all."""
    found = repository.run("rev-list", f"--max-count={MOST_COMMITS}", *of).text.decode("ascii").split()
    return tuple(found), len(found) < MOST_COMMITS
