"""What a heading inside a section, or one that explains or asks, makes of the items below it."""

from __future__ import annotations

import pytest

from segue.domain.handoff import Handoff, Origin, extract_handoff


def read(source: str, origin: Origin = Origin.DOCUMENT) -> Handoff:
    found = extract_handoff(source, origin=origin).handoff
    assert found is not None
    return found


@pytest.mark.parametrize(
    "heading", ["How the cache was built", "Cómo está hecho", "How totals are rounded (summary)"]
)
def test_a_heading_that_explains_is_no_account_of_work(heading: str) -> None:
    handoff = read(f"# Report\n\n## Done\n- Wrote it\n\n## {heading}\n- One dictionary holds all rows\n")
    assert handoff.what_was_done == ("Wrote it",)


@pytest.mark.parametrize("heading", ["Requires a decision", "Needs decision", "Требует решения"])
def test_what_asks_for_a_decision_is_a_question(heading: str) -> None:
    handoff = read(f"# Report\n\n## Open questions\n\n### {heading}\n1. The storage of keys\n")
    assert [each.question for each in handoff.open_questions] == ["The storage of keys"]
    assert not handoff.decisions_made


def test_what_was_decided_on_is_a_part_of_the_decisions() -> None:
    handoff = read("# Report\n\n## Decisions\n\n### 1. Architecture\n- Rows are kept in one table\n")
    assert [each.decision for each in handoff.decisions_made] == ["Rows are kept in one table"]


@pytest.mark.parametrize("mark", ["✅", "✔️", "(✅)"])
def test_a_part_of_what_is_ahead_that_is_marked_as_done_lists_work(mark: str) -> None:
    handoff = read(
        f"# Report\n\n## Phase 2 (in progress)\n\n### 2a. Import {mark}\n- Rows in batches\n\n"
        "### 2b. Export\n- Rows in one file\n"
    )
    assert handoff.what_was_done == ("Rows in batches",)
    assert [each.step for each in handoff.suggested_next_steps] == ["Rows in one file"]


def test_in_a_reply_a_file_with_what_it_holds_is_work_as_well() -> None:
    handoff = read(
        "Implemented the import.\n\n### Files created\n\n"
        "1. **`src/rows.py`** - Reader of rows\n   - Reads batches\n2. `src/empty.py`\n",
        Origin.REPLY,
    )
    assert [file.path for file in handoff.files_created] == ["src/rows.py", "src/empty.py"]
    assert any("Reader of rows" in item for item in handoff.what_was_done)
    assert not any("empty.py" in item for item in handoff.what_was_done)


def test_before_and_after_is_no_plan() -> None:
    handoff = read(
        "# Report\n\n## What was fixed\n\n**Before**: two limits\n\n**After**:\n- One limit for all routes\n"
    )
    assert not handoff.suggested_next_steps


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("> **Date**: 2026-05-04\n> **Status**: in progress\n", "partial"),
        ("> **日期**: 2026-05-04\n> **状态**: 设计完成 待验证\n", "partial"),
        ("## Import (en cours 🔄)\n- Les lignes\n", "partial"),
        ('## Current status\nThe import is done. A row stays "pending" for a day.\n', "completed"),
        ("## Current status\nWe have successfully implemented the import.\n", "completed"),
        ("## Notes\nThe export fails on Windows, still unresolved.\n", "partial"),
    ],
)
def test_the_outcome_is_read_where_it_is_said(source: str, outcome: str) -> None:
    assert read(f"# Report\n\n{source}\n## Done\n- Wrote it\n").outcome == outcome
