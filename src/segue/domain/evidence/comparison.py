"""Compares definitions before and after a step: what came, went, changed, moved or was renamed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from segue.domain.evidence.languages import Definition, Language
from segue.domain.evidence.model import DefinitionChange, DefinitionFate, DefinitionKind, LineRange

_ALIKE = 0.6
"""A definition of the same name in another file was moved there if so much of its text is the same."""
_LONGEST_COMPARED = 400
"""Lines of a definition that are compared for likeness."""
_SHORTEST_CONSTANT = 16
"""Characters of the text of a constant by which it is recognised under another name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDefinitions:
    """The definitions of one changed file, before and after."""

    path: str
    """Its name after; of a deleted one, before."""
    language: Language
    """How it was read."""
    before: Sequence[Definition] = ()
    """None if the file is new."""
    after: Sequence[Definition] = ()
    """None if it is gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """A definition on one side, where it was found."""

    path: str
    language: Language
    definition: Definition

    @property
    def scope(self) -> str:
        return self.definition.qualified.removesuffix(self.definition.name)

    def code(self) -> str:
        return self.language.code(self.definition)

    def nameless_code(self) -> str:
        return re.sub(rf"\b{re.escape(self.definition.name)}\b", "\0", self.code())


def compare_definitions(files: Iterable[FileDefinitions]) -> tuple[DefinitionChange, ...]:
    """What happened to the definitions of all changed files, in the order of files and lines."""
    changes: list[DefinitionChange] = []
    added: list[_Found] = []
    removed: list[_Found] = []
    for file in files:
        before, after = _by_name(file.before), _by_name(file.after)
        changes += _changed(file, before, after)
        added += [_found(file, each) for name, each in after.items() if name not in before]
        removed += [_found(file, each) for name, each in before.items() if name not in after]
    changes += _renamed(added, removed)
    changes += _moved(added, removed)
    changes += [_change(each, DefinitionFate.ADDED) for each in added]
    changes += [_change(each, DefinitionFate.REMOVED) for each in removed]
    return tuple(sorted(changes, key=lambda each: (each.path, each.lines or (0, 0), each.qualified)))


def _by_name(definitions: Sequence[Definition]) -> dict[str, Definition]:
    """One for each name: overloads, and a property with its setter, count as one."""
    found: dict[str, Definition] = {}
    for each in definitions:
        other = found.get(each.qualified)
        if other is not None:
            lines = LineRange(
                min(other.lines.first, each.lines.first), max(other.lines.last, each.lines.last)
            )
            text = f"{other.text}\n{each.text}"
            each = replace(each, text=text, lines=lines, tree=None)  # noqa: PLW2901 (joined)
        found[each.qualified] = each
    return found


def _found(file: FileDefinitions, definition: Definition) -> _Found:
    # Without its tree: those of all files together would be too large to keep.
    return _Found(path=file.path, language=file.language, definition=replace(definition, tree=None))


def _changed(
    file: FileDefinitions, before: dict[str, Definition], after: dict[str, Definition]
) -> Iterator[DefinitionChange]:
    for name, new in after.items():
        old = before.get(name)
        if old is None or old.text == new.text:
            continue
        yield replace(
            _change(_found(file, new), DefinitionFate.CHANGED),
            old_parameters=old.parameters,
            body_changed=not _do_the_same(file.language, old, new),
        )


def _do_the_same(language: Language, old: Definition, new: Definition) -> bool:
    if language.is_same is not None and old.tree is not None and new.tree is not None:
        return language.is_same(old, new)
    return language.code(old) == language.code(new)


def _renamed(added: list[_Found], removed: list[_Found]) -> list[DefinitionChange]:
    """Pairs in the same scope of the same file whose code differs in the name alone; no others have it."""

    def place(each: _Found) -> object:
        definition = each.definition
        if definition.kind is DefinitionKind.CONSTANT and len(definition.text) < _SHORTEST_CONSTANT:
            return None
        return each.path, each.scope, definition.kind, definition.parameters

    changes = []
    for new, old in _pairs(added, removed, place, _Found.nameless_code):
        if new not in added or old not in removed:
            continue  # it is inside a class that was renamed
        changes.append(
            replace(
                _change(new, DefinitionFate.RENAMED),
                old_name=old.definition.name,
                old_parameters=old.definition.parameters,
                body_changed=False,
            )
        )
        _forget_members(added, removed, new, old)
        added.remove(new)
        removed.remove(old)
    return changes


def _forget_members(added: list[_Found], removed: list[_Found], new: _Found, old: _Found) -> None:
    """What is inside a renamed class is as it was, though its full name is another."""
    within_new, within_old = new.definition.qualified + ".", old.definition.qualified + "."
    kept = {
        each.definition.qualified.removeprefix(within_new)
        for each in added
        if each.path == new.path and each.definition.qualified.startswith(within_new)
    }
    for side, within in ((added, within_new), (removed, within_old)):
        side[:] = [
            each
            for each in side
            if each.path != new.path
            or not each.definition.qualified.startswith(within)
            or each.definition.qualified.removeprefix(within) not in kept
        ]


def _moved(added: list[_Found], removed: list[_Found]) -> list[DefinitionChange]:
    """Pairs of the same name in two files, with the same code, or alike and without a rival."""
    changes = []
    same_code = _pairs(added, removed, lambda each: each.definition.name, _Found.code)
    for pairs in (same_code, None):
        # What has the same code is moved first: it has no rival then.
        for new, old in pairs or _pairs(added, removed, lambda each: each.definition.qualified):
            if new.path == old.path or not _are_alike(new, old) or new not in added or old not in removed:
                continue
            changes.append(
                replace(
                    _change(new, DefinitionFate.MOVED),
                    old_path=old.path,
                    old_parameters=old.definition.parameters,
                    body_changed=new.code() != old.code(),
                )
            )
            added.remove(new)
            removed.remove(old)
    return changes


def _are_alike(new: _Found, old: _Found) -> bool:
    if new.definition.kind is not old.definition.kind:
        return False
    after, before = (each.definition.text.split("\n")[:_LONGEST_COMPARED] for each in (new, old))
    matcher = SequenceMatcher(
        None, [line.strip() for line in after], [line.strip() for line in before], autojunk=False
    )
    return matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE


def _pairs(
    added: list[_Found],
    removed: list[_Found],
    rough: Callable[[_Found], object],
    exact: Callable[[_Found], object] = lambda _: None,
) -> list[tuple[_Found, _Found]]:
    """An added and a removed one with the same keys, where each side has just one; what is outer first.

    The exact key, which costs more, is made only for those whose rough one is on both sides.
    """
    on_both = {rough(each) for each in added} & {rough(each) for each in removed} - {None}
    sides: dict[object, tuple[list[_Found], list[_Found]]] = defaultdict(lambda: ([], []))
    for at, side in enumerate((added, removed)):
        for each in side:
            if (found := rough(each)) in on_both:
                sides[found, exact(each)][at].append(each)
    pairs = [(new[0], old[0]) for new, old in sides.values() if len(new) == len(old) == 1]
    return sorted(pairs, key=lambda pair: pair[0].definition.qualified.count("."))


def _change(found: _Found, fate: DefinitionFate) -> DefinitionChange:
    definition = found.definition
    is_gone = fate is DefinitionFate.REMOVED
    return DefinitionChange(
        kind=definition.kind,
        name=definition.name,
        qualified=definition.qualified,
        path=found.path,
        fate=fate,
        lines=definition.lines,
        parameters=() if is_gone else definition.parameters,
        old_parameters=definition.parameters if is_gone else (),
        by_words=found.language.by_words,
    )
