"""The facts of real commits: which files and definitions came, went and changed, with other names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "commits.json"
"""Shapes of commits of requests, httpx, click, rich, express, zod, cobra and ripgrep (MIT, BSD, Apache).
Every word of a path or a name was replaced by another; no line of their text is in it."""

MESSAGES = DATA.with_name("messages.json")
"""The same for commits with their messages; the words of a statement were replaced as names were."""

SOURCE = {
    "py": "python",
    "js": "javascript",
    "mjs": "javascript",
    "ts": "typescript",
    "go": "go",
    "rs": "rust",
}
"""The ending of a file -> the language that it is rebuilt in."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A function, class, method, test, type or constant of a file."""

    kind: str
    qualified: str
    fate: str
    """`added`, `removed`, `changed` or `same`."""
    lines: int
    old: str | None = None
    """Its name before, if it was renamed; then its fate is `renamed`."""
    value: tuple[int, int] | None = None
    """Of a constant: its values before and after."""

    @property
    def name(self) -> str:
        """Without what it is in."""
        return (
            self.qualified
            if self.kind == "test" and " " in self.qualified
            else self.qualified.rsplit(".")[-1]
        )


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of a commit, or of the tree beside it."""

    path: str
    status: str = "="
    """`A`, `M`, `D`, `R`, or `=` for one that did not change."""
    old: str | None = None
    add: int = 0
    sub: int = 0
    lines: int = 20
    defs: tuple[Definition, ...] = ()
    came: tuple[str, ...] = ()
    """Words that are in lines that came, as far as the commit's message names them."""
    went: tuple[str, ...] = ()
    """The same of lines that went."""

    @property
    def language(self) -> str | None:
        """What it is written in, if it is source code."""
        return SOURCE.get(self.path.rsplit(".", 1)[-1])


@dataclass(frozen=True, kw_only=True)
class Dependency:
    """A dependency that changed."""

    manifest: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class Commit:
    """What one commit did."""

    repository: str
    number: int
    files: tuple[File, ...]
    context: tuple[File, ...]
    dependencies: tuple[Dependency, ...] = ()
    said: tuple[str, ...] = ()
    """The statements of its message."""
    kept: tuple[str, ...] = ()
    """Words of these that are in files before and after."""


def load_commits() -> list[Commit]:
    """All commits of the data."""
    return _load(DATA)


def load_messages() -> list[Commit]:
    """Commits with the statements of their messages."""
    return _load(MESSAGES)


def _load(path: Path) -> list[Commit]:
    return [_commit(number, each) for number, each in enumerate(json.loads(path.read_text(encoding="utf-8")))]


def _commit(number: int, facts: dict[str, Any]) -> Commit:
    return Commit(
        repository=facts["repo"],
        said=tuple(facts.get("said", ())),
        kept=tuple(facts.get("kept", ())),
        number=number,
        files=tuple(
            File(**{**each, "defs": tuple(_definition(*one) for one in each["defs"])})
            for each in facts["files"]
        ),
        context=tuple(
            File(path=each["path"], defs=tuple(_definition(*one) for one in each["defs"]))
            for each in facts["context"]
        ),
        dependencies=tuple(
            Dependency(manifest=manifest, name=name, before=before, after=after)
            for manifest, name, before, after in facts["deps"]
            if any(each["path"] == manifest and each["status"] != "R" for each in facts["files"])
        ),
    )


def _definition(kind: str, qualified: str, fate: str, lines: int) -> Definition:
    return Definition(kind=kind, qualified=qualified, fate=fate, lines=lines)
