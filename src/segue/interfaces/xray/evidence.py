"""The evidence of a step as blocks that can be shown, and which of their lines decide a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from segue.domain.amounts import count
from segue.domain.briefing.fencing import clean
from segue.interfaces.xray.hunks import Hunks
from segue.interfaces.xray.model import (
    CommandEvidence,
    DiffHunk,
    DiffLine,
    Evidence,
    FileEvidence,
    TestCount,
    TreeEvidence,
)
from segue.interfaces.xray.text import cut, shown, shown_lines, visible

Facts = Mapping[str, Any]
"""Evidence as it is stored with a handoff: what `evidence_as_dict` gives."""

MOST_LINES = 20_000
"""So many lines of hunks one handoff shows, those of files that statements are about first."""
_WHEN = {
    "before": "before this step",
    "after": "after this step",
    "old_tests": "tests of before, on the new code",
}
_SUMMARY = re.compile(
    r"\b\d+ (?:passed|failed|skipped|errors?)\b|^Ran \d+ tests?\b|^(?:OK|FAILED)\b|^Tests:|^(?:ok|FAIL)\s|"
    r"^# (?:pass|fail) \d+|^test result:|^Found \d+ errors?",
    re.IGNORECASE,
)


class EvidenceBlocks:
    """The blocks of one handoff, and how to find those that a statement is about."""

    def __init__(self, facts: Facts, hunks: Hunks | None, no_hunks: str = "") -> None:
        self.no_hunks = no_hunks
        self.files = {each["path"]: each for each in facts.get("files", ())}
        # Evidence is stored without what cannot be seen in a path.
        hunks = None if hunks is None else {clean(path): found for path, found in hunks.items()}
        self.blocks: dict[str, Evidence] = {}
        for at, (path, each) in enumerate(self.files.items()):
            block = self._file(f"f{at}", path, each, hunks)
            self.blocks[block.id] = block
        runs = list(facts.get("tests", ()))
        for kind, by in (("checks", "segue"), ("commands", "agent")):
            for at, each in enumerate(facts.get(kind, ())):
                block_id = f"{kind[:2]}{at}"
                self.blocks[block_id] = _command(block_id, each, by, runs)
        self.ids_of_files = {path: f"f{at}" for at, path in enumerate(self.files)}
        self.ids_of_log = {
            each["activity_id"]: f"co{at}"
            for at, each in enumerate(facts.get("commands", ()))
            if each.get("activity_id") is not None
        }
        self.ids_of_checks = {each["command"]: f"ch{at}" for at, each in enumerate(facts.get("checks", ()))}
        self.ids_of_tests = self._tests_ids(runs)

    def file_id(self, path: str) -> str | None:
        """The id of the block of a changed file; none if it did not change."""
        return self.ids_of_files.get(clean(path))

    def _tests_ids(self, runs: Sequence[Facts]) -> list[str]:
        """The blocks that hold what tests were counted."""
        commands = {run["after"]["command"] for run in runs}
        return [
            block.id
            for block in self.blocks.values()
            if isinstance(block, CommandEvidence) and block.command in map(shown, commands) and block.tests
        ]

    def _file(self, block_id: str, path: str, facts: Facts, hunks: Hunks | None) -> FileEvidence:
        found = () if hunks is None else tuple(hunks.get(path, ()))
        return FileEvidence(
            id=block_id,
            path=shown(path),
            change=facts["kind"],
            old_path=shown(facts["old_path"]) if facts.get("old_path") else None,
            additions=facts.get("additions"),
            deletions=facts.get("deletions"),
            hunks=tuple(_shown_hunk(each) for each in found),
            note="" if found else self._why_no_lines(facts, hunks),
        )

    def _why_no_lines(self, facts: Facts, hunks: Hunks | None) -> str:
        if hunks is None:
            return self.no_hunks
        if facts.get("is_binary"):
            return "It is binary: there are no lines to show."
        if not facts.get("additions") and not facts.get("deletions"):
            return "No line of it changed."
        return "Its lines are too many, or too long, to be shown here; `git diff` shows them."

    def tree(self, path: str) -> str:
        """The block for a path that was looked for among the files after the step; gives its id."""
        block_id = f"t-{path}"
        if block_id not in self.blocks:
            self.blocks[block_id] = TreeEvidence(id=block_id, path=shown(path))
        return block_id

    def gone(self, command: str) -> str:
        """The block for a run of an earlier version, of which the output was not kept; gives its id."""
        block_id = f"e-{command}"
        self.blocks.setdefault(
            block_id,
            CommandEvidence(
                id=block_id,
                command=shown(command),
                by="segue",
                exit_code=None,
                output=(),
                is_cut=False,
                at=None,
                fault=None,
                note="Only the output of the last run is kept. The reason above says what this one showed.",
            ),
        )
        return block_id

    def run_of(self, block_id: str, number: int) -> list[int]:
        """The lines of the hunk that the ledger counts as this one: git's own, with no lines around it."""
        block = self.blocks[block_id]
        lines = _flat(block) if isinstance(block, FileEvidence) else []
        found: list[list[int]] = []
        before = " "
        at = 0
        for hunk in block.hunks if isinstance(block, FileEvidence) else ():
            before = " "
            for line in hunk.lines:
                if line.sign != " ":
                    if before == " ":
                        found.append([])
                    found[-1].append(at)
                before = line.sign
                at += 1
        assert at == len(lines)
        return found[number] if number < len(found) else []

    def changed(self, block_id: str) -> list[int]:
        """All lines of a file that came or went."""
        return [at for at, line in enumerate(_flat(self.blocks[block_id])) if line.sign != " "]

    def holding(self, block_id: str, lines: Sequence[int], names: Sequence[str]) -> list[int]:
        """Those of some lines that hold one of these names."""
        flat = _flat(self.blocks[block_id])
        sought = [re.compile(rf"(?<!\w){re.escape(visible(name))}(?!\w)") for name in names]
        return [at for at in lines if any(each.search(flat[at].text) for each in sought)]

    def after(self, block_id: str, lines: Sequence[int]) -> list[int]:
        """Those of some lines that are there after the step; all of them if none is."""
        flat = _flat(self.blocks[block_id])
        return [at for at in lines if flat[at].sign != "-"] or list(lines)

    def at_line(self, block_id: str, number: int) -> list[int]:
        """The line of a file that has this number after the step."""
        return [at for at, line in enumerate(_flat(self.blocks[block_id])) if line.new == number]

    def summary_lines(self, block_id: str) -> list[int]:
        """The last lines of an output that tell how it ended."""
        block = self.blocks[block_id]
        if not isinstance(block, CommandEvidence):
            return []
        return [at for at, line in enumerate(block.output) if _SUMMARY.search(line)][-3:]

    def kept(self, referred: Sequence[str]) -> tuple[Evidence, ...]:
        """All blocks; of hunks only as many lines as a page can bear, those that are referred to first."""
        left = MOST_LINES
        first = set(referred)
        order = sorted(self.blocks, key=lambda each: each not in first)
        fitting: dict[str, Evidence] = {}
        for block_id in order:
            block = self.blocks[block_id]
            size = len(_flat(block))
            if isinstance(block, FileEvidence) and size > left:
                note = f"Its {count(size, 'line')} are left out: this page would be too large."
                block = replace(block, hunks=(), note=note)
            else:
                left -= size
            fitting[block_id] = block
        return tuple(fitting[block_id] for block_id in self.blocks)


def describe_scope(facts: Facts | None) -> str:
    """What was looked at, in a few words: `3 changed files, 12 logged commands, 1 check`."""
    if facts is None:
        return ""
    left = facts.get("left_out") or {}
    numbers = {name: len(facts.get(name, ())) + left.get(name, 0) for name in ("files", "commands", "checks")}
    parts = [count(numbers["files"], "changed file")]
    if numbers["commands"] or facts.get("is_log_whole"):
        parts.append(count(numbers["commands"], "logged command"))
    if numbers["checks"]:
        parts.append(count(numbers["checks"], "check"))
    return ", ".join(parts)


def _flat(block: Evidence) -> list[DiffLine]:
    return [line for hunk in block.hunks for line in hunk.lines] if isinstance(block, FileEvidence) else []


def _shown_hunk(hunk: DiffHunk) -> DiffHunk:
    """A hunk without secrets, which may go over several lines."""
    texts = shown_lines("\n".join(line.text for line in hunk.lines))
    if len(texts) != len(hunk.lines):  # a secret of several lines is one line now
        texts = tuple(cut(shown(line.text)) for line in hunk.lines)
    lines = tuple(line._replace(text=text) for line, text in zip(hunk.lines, texts, strict=True))
    return DiffHunk(heading=visible(hunk.heading), lines=lines)


def _command(block_id: str, facts: Facts, by: Any, runs: Sequence[Facts]) -> CommandEvidence:
    output = shown_lines(str(facts.get("output") or "").strip("\n")) if facts.get("output") else ()
    counted = next((run for run in runs if _is_of(run, facts, by)), None)
    return CommandEvidence(
        id=block_id,
        command=shown(facts["command"]),
        by=by,
        exit_code=facts.get("exit_code"),
        output=output,
        is_cut=bool(facts.get("is_cut")),
        at=facts.get("at"),
        fault=shown(facts["fault"]) if facts.get("fault") else None,
        tests=tuple(_counts(counted)) if counted is not None else (),
        gone=tuple(shown(each) for each in counted.get("gone", ())) if counted is not None else (),
    )


def _is_of(run: Facts, facts: Facts, by: str) -> bool:
    after = run["after"]
    return bool(after["command"] == facts["command"] and after.get("by", "segue") == by)


def _counts(run: Facts) -> Iterator[TestCount]:
    for name in ("before", "after", "old_tests"):
        if found := run.get(name):
            numbers = {each: int(found.get(each) or 0) for each in ("passed", "failed", "skipped")}
            yield TestCount(when=_WHEN[name], **numbers)
