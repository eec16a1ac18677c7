"""Evidence becomes blocks, and a statement points to the lines that decide it."""

from __future__ import annotations

from typing import Any

from segue.domain.claims import ledger_as_dict, verify_claims
from segue.domain.evidence.model import Change, ChangeKind, CommandRun, Evidence, Hunk, LineRange
from segue.domain.evidence.record import evidence_as_dict
from segue.domain.evidence.sources import Observed, TextSources
from segue.domain.handoff import extract_handoff
from segue.interfaces.xray.evidence import MOST_LINES, EvidenceBlocks
from segue.interfaces.xray.hunks import hunks_observed
from segue.interfaces.xray.model import CommandEvidence, FileEvidence, Reference
from segue.interfaces.xray.references import references_of

AFTER = (
    "import os\n\n\ndef total(xs):\n    return sum(xs)\n\n\ndef mean(xs):\n    return total(xs) / len(xs)\n"
)


def change(first: int, text: str) -> Change:
    added = tuple(text.rstrip("\n").split("\n"))
    lines = LineRange(first, first + len(added) - 1)
    return Change(
        kind=ChangeKind.MODIFIED,
        additions=len(added),
        deletions=0,
        new_lines=(lines,),
        old_lines=(),
        hunks=(Hunk(old=None, new=lines, added=added),),
    )


CHANGES = {"stats.py": change(8, "def mean(xs):\n    return total(xs) / len(xs)")}
CHECK = CommandRun(command="make check", exit_code=1, output="building\n3 passed, 1 failed\nmake: error\n")


def blocks_of(evidence: Evidence, *, sources: TextSources | None = None) -> EvidenceBlocks:
    observed = Observed(evidence=evidence, sources=sources or TextSources(after={"stats.py": AFTER}))
    return EvidenceBlocks(evidence_as_dict(evidence), hunks_observed(observed))


def entry(**parts: Any) -> dict[str, Any]:
    pointer = {"kind": "diff", "path": None, "hunk": None, "activity_id": None, "check": None}
    pointers = [{**pointer, **each} for each in parts.pop("evidence", ())]
    return {"text": "", "reason": "", "field": "what_was_done[0]", "evidence": pointers, **parts}


def lines_of(blocks: EvidenceBlocks, found: Reference) -> list[str]:
    block = blocks.blocks[found.evidence]
    assert isinstance(block, FileEvidence)
    flat = [line for hunk in block.hunks for line in hunk.lines]
    return [flat[at].text for at in found.lines]


def test_the_name_in_the_claim_marks_the_line_that_decides() -> None:
    blocks = blocks_of(Evidence(changes=CHANGES))
    said = entry(text="Added `mean` to stats.py", evidence=[{"path": "stats.py", "hunk": 0}])
    (found,) = references_of(said, blocks, is_last=True)
    assert lines_of(blocks, found) == ["def mean(xs):"]


def test_a_hunk_without_a_name_decides_as_a_whole() -> None:
    blocks = blocks_of(Evidence(changes=CHANGES))
    (found,) = references_of(entry(evidence=[{"path": "stats.py", "hunk": 0}]), blocks, is_last=True)
    assert lines_of(blocks, found) == ["def mean(xs):", "    return total(xs) / len(xs)"]


def test_the_ending_of_a_path_is_not_a_name() -> None:
    blocks = blocks_of(Evidence(changes={"stats.py": change(8, "py = 1")}))
    said = entry(text="Changed `stats.py`", evidence=[{"path": "stats.py"}])
    (found,) = references_of(said, blocks, is_last=True)
    assert found.lines == ()


def test_a_check_points_to_the_lines_that_tell_how_it_ended() -> None:
    blocks = blocks_of(Evidence(checks=(CHECK,)))
    (found,) = references_of(entry(evidence=[{"kind": "check", "check": "make check"}]), blocks, is_last=True)
    block = blocks.blocks[found.evidence]
    assert isinstance(block, CommandEvidence)
    assert (block.exit_code, block.by) == (1, "segue")
    assert [block.output[at] for at in found.lines] == ["3 passed, 1 failed"]


def test_of_an_earlier_version_no_output_and_no_line_is_shown() -> None:
    blocks = blocks_of(Evidence(changes=CHANGES, checks=(CHECK,)))
    pointers = [{"kind": "check", "check": "make check"}, {"path": "stats.py", "hunk": 0}]
    run, file = references_of(entry(evidence=pointers), blocks, is_last=False)
    block = blocks.blocks[run.evidence]
    assert isinstance(block, CommandEvidence)
    assert (block.output, block.exit_code) == ((), None)
    assert "Only the output of the last run is kept" in block.note
    assert file.lines == ()


def test_a_log_entry_is_found_by_its_id() -> None:
    runs = tuple(CommandRun(command="pytest", exit_code=at, activity_id=40 + at) for at in range(3))
    blocks = blocks_of(Evidence(commands=runs))
    (found,) = references_of(entry(evidence=[{"kind": "log", "activity_id": 41}]), blocks, is_last=True)
    block = blocks.blocks[found.evidence]
    assert isinstance(block, CommandEvidence)
    assert (block.exit_code, block.by) == (1, "agent")


def test_where_the_ledger_names_no_place_the_reason_does() -> None:
    blocks = blocks_of(Evidence(changes=CHANGES, checks=(CHECK,)))
    said = entry(reason="stats.py changed; `make check` ended with 1")
    found = references_of(said, blocks, is_last=True)
    assert [(each.evidence, each.is_pointed) for each in found] == [("f0", False), ("ch0", False)]
    assert references_of(entry(reason="otherstats.py changed"), blocks, is_last=True) == ()


def test_every_pointer_of_a_real_ledger_leads_to_a_block() -> None:
    evidence = Evidence(
        changes=CHANGES, before=frozenset({"stats.py"}), after=frozenset({"stats.py"}), checks=(CHECK,)
    )
    sources = TextSources(before={"stats.py": AFTER[: AFTER.index("def mean")]}, after={"stats.py": AFTER})
    reply = "## What Was Done\n- Added `mean` to stats.py\n- Created docs/a.md\n- `make check` passes\n"
    ledger = verify_claims(extract_handoff(reply), evidence, source=reply, sources=sources)
    facts = ledger_as_dict(ledger, reply)
    blocks = blocks_of(evidence, sources=sources)
    pointed = [each for each in facts["entries"] if each["evidence"]]
    assert pointed
    for each in pointed:
        found = references_of(each, blocks, is_last=True)
        assert found
        assert all(ref.is_pointed and ref.evidence in blocks.blocks for ref in found)


def test_of_a_huge_diff_the_files_that_statements_are_about_are_kept() -> None:
    size = MOST_LINES * 2 // 3
    text = "\n".join(f"x = {number}" for number in range(size))
    changes = {name: change(1, text) for name in ("a.py", "b.py", "c.py")}
    blocks = blocks_of(Evidence(changes=changes), sources=TextSources())
    kept = {each.path: each for each in blocks.kept(["f1"]) if isinstance(each, FileEvidence)}
    assert [len(kept[path].hunks) for path in ("a.py", "b.py", "c.py")] == [0, 1, 0]
    assert kept["a.py"].note == f"Its {size} lines are left out: this page would be too large."


def test_secrets_and_unseen_characters_of_a_diff_are_not_shown() -> None:
    secret = "AKIA" + "Q7RT2WXY3ZAB4CDE"
    changes = {"stats.py": change(1, f'KEY = "{secret}"\nx = "\u202e"\nkeep = 1')}
    (block,) = blocks_of(Evidence(changes=changes), sources=TextSources()).kept([])
    assert isinstance(block, FileEvidence)
    assert [line.text for line in block.hunks[0].lines] == [
        'KEY = "[redacted: AWS access key id]"',
        'x = "\u27e8U+202E\u27e9"',
        "keep = 1",
    ]
