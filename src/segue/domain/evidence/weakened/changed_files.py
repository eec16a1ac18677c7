"""The changed files with their text before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from segue.domain.evidence.model import Change, ChangeKind
from segue.domain.evidence.sources import Sources
from segue.domain.evidence.weakened.paths import (
    belongs_to_tests,
    is_ci_file,
    is_mixed_file,
    is_product,
    is_script,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedFile:
    """A file that changed."""

    path: str
    """Its name after the step."""
    old_path: str
    """Its name before."""
    kind: ChangeKind
    """What happened to it."""
    before: str | None
    """Its text before; none if it was not there, or is not text."""
    after: str | None
    """Its text after."""

    def added_lines(self) -> list[tuple[int, str]]:
        """The lines that are new, with their numbers; a line that was merely moved is not."""
        old = {line.strip() for line in (self.before or "").splitlines()}
        lines = enumerate((self.after or "").splitlines(), 1)
        return [(number, line) for number, line in lines if line.strip() and line.strip() not in old]


def changed_files(changes: Mapping[str, Change], sources: Sources) -> list[ChangedFile]:
    """The changed files that can weaken tests, with their text."""
    found = []
    for path, change in sorted(changes.items()):
        old_path = change.old_path or path
        if change.is_binary or not (_is_looked_at(path) or _is_looked_at(old_path)):
            continue
        before = None if change.kind is ChangeKind.ADDED else sources.text(old_path, before=True)
        after = None if change.kind is ChangeKind.DELETED else sources.text(path)
        found.append(ChangedFile(path=path, old_path=old_path, kind=change.kind, before=before, after=after))
    return found


def _is_looked_at(path: str) -> bool:
    return (
        belongs_to_tests(path)
        or is_mixed_file(path)
        or is_ci_file(path)
        or is_script(path)
        or is_product(path)
    )
