"""From the changed files and their text to what happened in them: definitions and dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from segue.domain.evidence.by_words import BY_WORDS
from segue.domain.evidence.comparison import FileDefinitions, compare_definitions
from segue.domain.evidence.definitions import PYTHON
from segue.domain.evidence.dependencies import compare_dependencies, is_manifest
from segue.domain.evidence.languages import Definition, Language, Languages, ending_of, is_source
from segue.domain.evidence.model import Change, ChangeKind, DefinitionChange, DependencyChange

LANGUAGES: Languages = {".py": PYTHON, ".pyi": PYTHON, ".pyw": PYTHON}
"""What can be parsed without anything installed."""
MOST_SOURCE = 16_000_000
"""Characters that are read for definitions, of all files together and of one side."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What the text of the changed files shows."""

    definitions: tuple[DefinitionChange, ...] = ()
    """What happened to functions, classes, methods and tests."""
    unparsed: frozenset[str] = frozenset()
    """Changed files of source code that no parser has read."""
    dependencies: tuple[DependencyChange, ...] = ()
    """What happened to dependencies."""


def paths_to_read(changes: Mapping[str, Change]) -> tuple[list[str], list[str]]:
    """The files whose text `measure` looks at: before the step, and after it."""
    read = [
        (path, change)
        for path, change in changes.items()
        if not change.is_binary and (_is_read(path) or _is_read(change.old_path or path))
    ]
    before = [change.old_path or path for path, change in read if change.kind is not ChangeKind.ADDED]
    return before, [path for path, change in read if change.kind is not ChangeKind.DELETED]


def measure(
    changes: Mapping[str, Change],
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    languages: Languages = LANGUAGES,
) -> Measured:
    """Compare the text of files before and after; what is missing there was too large or is not text.

    Nothing in a file makes this fail: one that cannot be parsed is looked at by its words.
    """
    unparsed: set[str] = set()
    return Measured(
        # One file after the other: what a parser makes of all of them would be too large to keep.
        definitions=compare_definitions(_files(changes, before, after, languages, unparsed)),
        unparsed=frozenset(unparsed),
        dependencies=compare_dependencies(changes, before, after),
    )


def _files(
    changes: Mapping[str, Change],
    before: Mapping[str, str],
    after: Mapping[str, str],
    languages: Languages,
    unparsed: set[str],
) -> Iterator[FileDefinitions]:
    """Each changed file with its definitions; those that no parser could read are added to `unparsed`."""
    left = MOST_SOURCE
    for path, change in sorted(changes.items()):
        if change.is_binary or not (is_source(path) or is_source(change.old_path or path)):
            continue
        old = "" if change.kind is ChangeKind.ADDED else before.get(change.old_path or path)
        new = "" if change.kind is ChangeKind.DELETED else after.get(path)
        left -= len(old or "") + len(new or "")
        if old is None or new is None or left < 0:
            unparsed.add(path)
            continue
        found = _read(path, old, new, languages)
        if found is None or found.language.by_words:
            unparsed.add(path)
        if found is not None:
            yield found


def _is_read(path: str) -> bool:
    return is_source(path) or is_manifest(path)


def _read(path: str, old: str, new: str, languages: Languages) -> FileDefinitions | None:
    """Both sides by the same language, so that a file that does not parse now is not taken for emptied."""
    parser = languages.get(ending_of(path))
    for language in (parser, BY_WORDS) if parser is not None else (BY_WORDS,):
        before, after = _side(language, old), _side(language, new)
        if before is not None and after is not None:
            return FileDefinitions(path=path, language=language, before=before, after=after)
    return None


def _side(language: Language, text: str) -> tuple[Definition, ...] | None:
    return language.read(text) if text.strip() else ()
