"""From a statement to the evidence that decides it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from segue.domain.text.paths import is_path
from segue.interfaces.xray.evidence import EvidenceBlocks
from segue.interfaces.xray.model import Reference

_CODE = re.compile(r"`([^`\n]{1,200})`")
_ABOUT_TESTS = re.compile(r"\btests?\b")
_NAME = re.compile(r"[\w.:-]*\w")
_MOST = 6


def references_of(
    entry: Mapping[str, Any], blocks: EvidenceBlocks, *, is_last: bool
) -> tuple[Reference, ...]:
    """What decides an entry of a ledger: where it points to, else what its reason speaks of.

    The lines of files and the output of checks are those of the end: for an earlier version no line is said
    to decide, and of its checks nothing is shown but the sentence.
    """
    names = _names(entry)
    pointed = list(_pointed(entry, blocks, names, is_last=is_last))
    return _apart(pointed or list(_spoken_of(entry, blocks, names, is_last=is_last)))


def references_of_file(path: str, blocks: EvidenceBlocks, line: int | None = None) -> tuple[Reference, ...]:
    """The changes of a file that Segue found something in."""
    block_id = blocks.file_id(path)
    if block_id is None:
        return ()
    lines = blocks.at_line(block_id, line) if line is not None else []
    return (Reference(evidence=block_id, lines=tuple(lines)),)


def references_of_definition(named: str, blocks: EvidenceBlocks) -> tuple[Reference, ...]:
    """The removed lines of a definition: `total in cart.py`."""
    name, _, path = named.replace("`", "").rpartition(" in ")
    block_id = blocks.file_id(path)
    if block_id is None:
        return ()
    lines = blocks.holding(block_id, blocks.changed(block_id), [name.rpartition(".")[2]])
    return (Reference(evidence=block_id, lines=tuple(lines[:_MOST])),)


def _pointed(
    entry: Mapping[str, Any], blocks: EvidenceBlocks, names: Sequence[str], *, is_last: bool
) -> Iterator[Reference]:
    for pointer in entry.get("evidence", ()):
        kind, path = pointer["kind"], pointer.get("path")
        if kind == "check" and pointer.get("check"):
            yield _check(pointer["check"], blocks, is_last=is_last)
        elif kind == "log" and (block_id := blocks.ids_of_log.get(pointer.get("activity_id"))):
            yield Reference(evidence=block_id, lines=tuple(blocks.summary_lines(block_id)))
        elif path and (block_id := blocks.file_id(path)):
            yield _file(block_id, pointer.get("hunk"), blocks, names, is_last=is_last)
        elif kind == "tree" and path:
            yield Reference(evidence=blocks.tree(path))


def _check(command: str, blocks: EvidenceBlocks, *, is_last: bool) -> Reference:
    block_id = blocks.ids_of_checks.get(command)
    if block_id is None or not is_last:
        return Reference(evidence=blocks.gone(command))
    return Reference(evidence=block_id, lines=tuple(blocks.summary_lines(block_id)))


def _file(
    block_id: str, hunk: int | None, blocks: EvidenceBlocks, names: Sequence[str], *, is_last: bool
) -> Reference:
    if not is_last:
        return Reference(evidence=block_id)
    around = blocks.changed(block_id) if hunk is None else blocks.run_of(block_id, hunk)
    named = blocks.after(block_id, blocks.holding(block_id, around, names))
    if hunk is None:
        named = named[:_MOST]
    return Reference(evidence=block_id, lines=tuple(named or ([] if hunk is None else around)))


def _spoken_of(
    entry: Mapping[str, Any], blocks: EvidenceBlocks, names: Sequence[str], *, is_last: bool
) -> Iterator[Reference]:
    """What the reason names, where the ledger itself points to no place."""
    reason = str(entry.get("reason", ""))
    for path, block_id in blocks.ids_of_files.items():
        if re.search(rf"(?<![\w/]){re.escape(path)}(?![\w/])", reason):
            found = _file(block_id, None, blocks, names, is_last=is_last)
            yield Reference(evidence=found.evidence, lines=found.lines, is_pointed=False)
    is_outcome = entry.get("field") == "outcome" and "check" in reason
    for command in blocks.ids_of_checks:
        if is_outcome or f"`{command}`" in reason:
            found = _check(command, blocks, is_last=is_last)
            yield Reference(evidence=found.evidence, lines=found.lines, is_pointed=False)
    if _ABOUT_TESTS.search(reason) and is_last:
        for block_id in blocks.ids_of_tests:
            yield Reference(evidence=block_id, is_pointed=False)


def _apart(found: Sequence[Reference]) -> tuple[Reference, ...]:
    """Each block once, with all its lines; those with lines that decide first."""
    joined: dict[str, Reference] = {}
    for each in found:
        before = joined.get(each.evidence)
        lines = tuple(sorted({*each.lines, *(before.lines if before else ())}))
        joined[each.evidence] = Reference(evidence=each.evidence, lines=lines, is_pointed=each.is_pointed)
    return tuple(joined.values())[: 2 * _MOST]


def _names(entry: Mapping[str, Any]) -> list[str]:
    """The names in code marks that a claim and its reason speak of."""
    said = f"{entry.get('text', '')} {entry.get('reason', '')}"
    found = [each.strip("()") for each in _CODE.findall(said) if not is_path(each)]
    return list(dict.fromkeys(each.rpartition(".")[2] for each in found if _NAME.fullmatch(each)))
