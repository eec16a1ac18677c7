"""Puts worlds into git, collects their evidence as a run does, and has each statement judged."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from open_world.statements import Statement
from open_world.worlds import Run, World
from segue import extract_handoff, verify_claims
from segue.adapters.checks.reported import CheckRunner
from segue.adapters.git import observe
from segue.adapters.git.test_trees import GitTestTrees
from segue.application.handoffs.review import HandoffReviewer
from segue.application.handoffs.test_comparison import TestComparer
from segue.application.ports.backend import Capabilities
from segue.application.ports.checks import CheckedTests
from segue.application.ports.views import Views
from segue.application.ports.workspace import Workspaces
from segue.domain.activity import Activity, ActivityKind
from segue.domain.claims import Evidence, LedgerEntry, Verdict
from segue.domain.evidence.sources import FileLine, Observed, Sources
from segue.domain.permissions import Tool

NOT_READ = "not read"
_WORD = re.compile(r"[\w./-]*\w")
_ACTS = re.compile(
    r"(?i)\b(add|creat|new|introduc|implement|defin|remov|delet|drop|gone|chang|modif|updat|edit|renam|mov|only"
    r"|no\b|not\b|none|nothing|all\b|every|untouch|unchang|left|pass|green|skip|commit|bump|instead|now\b|former"
    r"|else|other|apart|except|besid|limit|alone|ran\b|rewr|call|fail|succe|zero|wrote|writ|use[sd]?\b"
    r"|any ?more|nowhere|anywhere|longer)"
)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What the ledger said of a statement."""

    world: World
    statement: Statement
    document: str
    verdict: str
    reasons: tuple[str, ...]
    rest: tuple[str, ...]

    @property
    def is_caught(self) -> bool:
        """Whether the rest that it names has the false part."""
        rest = " ".join(self.rest)
        if any(names_word(rest, word) for word in self.statement.false_words):
            return True
        return self.statement.may_be_act and _ACTS.search(rest) is not None


def names_word(text: str, word: str) -> bool:
    """Whether a text has this word, or these words, on its own."""
    return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text) is not None


def build_repository(folder: Path, worlds: Sequence[World]) -> None:
    """Every world as two commits of one repository, without any history in common."""
    subprocess.run(["git", "init", "-q", "--template=", str(folder)], check=True)
    stream = bytearray()
    for number, world in enumerate(worlds):
        for side, tree in enumerate((world.before, world.after)):
            mark = number * 2 + side + 1
            stream += f"commit refs/heads/w{number}\nmark :{mark}\n".encode()
            stream += b"committer b <b@example.org> 1700000000 +0000\ndata 4\nwork\n"
            if side:
                stream += f"from :{mark - 1}\n".encode()
            stream += b"deleteall\n"
            for path, text in tree.items():
                data = text.encode()
                stream += f'M 100644 inline "{path}"\ndata {len(data)}\n'.encode() + data + b"\n"
    marks = folder / "marks"
    subprocess.run(
        ["git", "fast-import", "--quiet", f"--export-marks={marks}"],
        cwd=folder,
        input=bytes(stream),
        check=True,
    )
    ids = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    for number, world in enumerate(worlds):
        world.base, world.head = ids[f":{number * 2 + 1}"], ids[f":{number * 2 + 2}"]
        world.numstat = _numstat(folder, world)


def _numstat(folder: Path, world: World) -> dict[str, tuple[int, int]]:
    said = subprocess.run(
        ["git", "diff-tree", "-r", "--numstat", world.base, world.head],
        cwd=folder,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    return {path: (int(came), int(went)) for came, went, path in rows if came != "-"}


@dataclass(slots=True)
class AskedOnce:
    """Sources that are asked once for all names of many documents, as each asking starts a process."""

    sources: Sources
    _found: dict[tuple[str, bool], tuple[FileLine, ...]] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """What the sources say."""
        return self.sources.is_whole

    def has_commit(self, name: str) -> bool | None:
        """True if the id of some commit begins so."""
        return self.sources.has_commit(name)

    def text(self, path: str, *, before: bool = False) -> str | None:
        """The text of a file."""
        return self.sources.text(path, before=before)

    def find(self, names: Collection[str], *, before: bool = False) -> Mapping[str, tuple[FileLine, ...]]:
        """Where names are."""
        new = [each for each in names if (each, before) not in self._found]
        if new:
            for name, places in self.sources.find(new, before=before).items():
                self._found[name, before] = tuple(places)
        return {each: self._found[each, before] for each in names}


@dataclass(frozen=True, kw_only=True)
class Step:
    """A world as a run sees it."""

    world: World
    evidence: Evidence
    sources: AskedOnce


def step_of(folder: Path, world: World, texts: Iterable[str]) -> Step:
    """What a run would know of this step, of an agent whose back end tells every tool call."""
    if any(run.is_check for run in world.runs):
        place = str(_place_of(folder, world))
        subprocess.run(["git", "worktree", "add", "-q", place, world.head], cwd=folder, check=True)
    found = asyncio.run(_observe(folder, world))
    sources = AskedOnce(found.sources)
    words = {word for text in texts for word in _WORD.findall(text)}
    for before in (False, True):
        sources.find(words, before=before)
    return Step(world=world, evidence=found.evidence, sources=sources)


def _place_of(folder: Path, world: World) -> Path:
    return folder / f"checked-{world.head[:12]}"


async def _observe(folder: Path, world: World) -> Observed:
    """The evidence as the application joins it; only the places that it is asked of are the world's."""
    places = _Places(folder, world)
    reviewer = HandoffReviewer(
        workspaces=cast("Workspaces", places), views=cast("Views", places), run_check=_run_check
    )
    checks = [run.command for run in world.runs if run.is_check]
    place = _place_of(folder, world)
    plan = SimpleNamespace(template=SimpleNamespace(checks_of=lambda _: checks))
    ids = cast(
        "Any",
        SimpleNamespace(
            id=1,
            step_id=1,
            token="",
            prompt="",
            description="",
            order_index=0,
            workspace=SimpleNamespace(path=str(place)),
            base_mark=world.base,
            plan=plan,
        ),
    )
    found = await reviewer.measure(ids, ids, ids, Capabilities(tool_log=True, whole_log=True))
    assert found is not None
    return found


async def _run_check(folder: str, base: str | None, command: str) -> CheckedTests:
    """As a run does; only the programs of the benchmark's own Python are found first."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    comparer = TestComparer(trees=GitTestTrees(), run=CheckRunner())
    return await comparer.compare_alongside(Path(folder), base, command, seconds=120)


@dataclass(frozen=True)
class _Places:
    folder: Path
    world: World

    async def observe(self, _: object, since: str) -> Observed:
        return observe(self.folder, since, self.world.head)

    async def activity_in_step(self, *_: int) -> list[Activity]:
        return activity_of(self.world.runs)


def activity_of(runs: Sequence[Run]) -> list[Activity]:
    """The runs as a back end reports them."""
    return [
        Activity(
            id=number,
            kind=ActivityKind.TOOL_USED,
            pipeline_id=1,
            step_id=1,
            session_id=1,
            payload={
                "tool": Tool.SHELL,
                "call_id": f"call-{number}",
                "state": "completed",
                "target": run.command,
                "exit_code": run.exit_code,
                "output": run.output,
            },
            created_at=datetime(2026, 1, 1, 12, 0, number, tzinfo=UTC),
        )
        for number, run in enumerate(runs, 1)
        if not run.is_check
    ]


_TOP = "# Handoff\n\n## Outcome\n\ncompleted\n\n"
_DONE = "## What Was Done\n\n"


def document_of(statement: Statement, number: int) -> tuple[str, int]:
    """A handoff with this one statement, in one of several notations, and where the statement begins."""
    text = statement.text
    if text.startswith(("## ", "```")):
        before, after = _TOP, "\n"
    elif "\n" in text or text.startswith(("- ", "| ", "**")):
        before, after = _TOP + _DONE, "\n"
    else:
        before, after = (
            (_TOP + _DONE + "- ", "\n"),
            (_TOP + _DONE, "\n"),
            (_TOP + _DONE + "- Looked at the code first.\n- ", "\n- That is it.\n"),
            ("Here is where the work is.\n\n", "\n"),
            (_TOP + _DONE + "1. ", "\n"),
        )[number % 5]
    return before + text + after, len(before)


def judge(step: Step, statement: Statement, number: int) -> Judged:
    """The ledger's verdict on one statement."""
    document, start = document_of(statement, number)
    span = start, start + len(statement.text)
    verdict, rest, reasons = verdict_on(document, [span], step.evidence, step.sources)[0]
    return Judged(
        world=step.world, statement=statement, document=document, verdict=verdict, reasons=reasons, rest=rest
    )


def verdict_on(
    document: str, spans: Sequence[tuple[int, int]], evidence: Evidence, sources: Sources
) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Verdict, rest and reasons for each of these parts of a handoff: a sure one must show its evidence."""
    ledger = verify_claims(extract_handoff(document), evidence, source=document, sources=sources)
    sure = (each for each in ledger.entries if each.verdict in (Verdict.CONFIRMED, Verdict.REFUTED))
    if bare := [each for each in sure if not each.evidence]:
        raise ValueError(f"{bare[0].verdict} without a pointer to its evidence: {bare[0].statement.text!r}")
    out = []
    for start, end in spans:
        mine = [each for each in ledger.entries if _is_of(each, document, start, end)]
        verdict, rest = _joined(mine)
        reasons = (
            f"{each.verdict}: {each.statement.text!r}: {each.reason} rest={list(each.rest)}" for each in mine
        )
        out.append((verdict, rest, tuple(reasons)))
    return out


def _is_of(entry: LedgerEntry, document: str, start: int, end: int) -> bool:
    span = entry.statement.span
    if span is None:
        return entry.statement.text.strip() in document[start:end]
    return span.start < end and start < span.end


def _joined(entries: Sequence[LedgerEntry]) -> tuple[str, tuple[str, ...]]:
    """One verdict of all entries of a statement: the worst counts, and what some left open is a rest."""
    verdicts = {each.verdict for each in entries}
    rest = tuple(word for each in entries for word in each.rest)
    if not verdicts:
        return NOT_READ, ()
    if Verdict.REFUTED in verdicts:
        return str(Verdict.REFUTED), rest
    if len(verdicts) == 1 and Verdict.PARTLY not in verdicts:
        return str(verdicts.pop()), rest
    open_ones = (each.statement.text for each in entries if each.verdict is Verdict.UNVERIFIABLE)
    return str(Verdict.PARTLY), (*rest, *open_ones)
