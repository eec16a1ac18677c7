"""Evidence as it is stored: bounded, fit for JSON, and read back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from segue.domain.evidence.model import (
    Change,
    ChangeKind,
    CommandRun,
    DefinitionChange,
    DefinitionFate,
    DefinitionKind,
    DependencyChange,
    Evidence,
    Hunk,
    LineRange,
    RunBy,
    Standing,
    TestComparison,
    TestOutcome,
    TestRun,
    WeakenedTest,
)
from segue.domain.evidence.record import MOST, evidence_as_dict, evidence_from_dict

EVERYTHING = Evidence(
    changes={
        "src/a.py": Change(
            kind=ChangeKind.RENAMED,
            old_path="src/b.py",
            additions=2,
            deletions=1,
            new_lines=(LineRange(3, 4),),
            old_lines=(LineRange(3, 3),),
            line_count=9,
        )
    },
    commands=(
        CommandRun(
            command="pytest -q",
            exit_code=1,
            output="1 failed",
            by=RunBy.AGENT,
            at=datetime(2026, 1, 2, tzinfo=UTC),
            activity_id=7,
        ),
    ),
    checks=(CommandRun(command="make test", exit_code=None, fault="ran out of time"),),
    definitions=(
        DefinitionChange(
            kind=DefinitionKind.METHOD,
            name="total",
            qualified="Cart.total",
            path="src/a.py",
            fate=DefinitionFate.MOVED,
            old_path="src/c.py",
            lines=LineRange(3, 4),
            parameters=("self", "xs"),
            body_changed=False,
        ),
    ),
    unparsed=frozenset({"a.kt"}),
    dependencies=(DependencyChange(manifest="go.mod", name="x", before=None, after="v1"),),
    tests=(
        TestComparison(
            after=TestRun(command="pytest -q", runner="pytest", exit_code=0, passed=3, skipped=1),
            before=TestRun(command="pytest -q", runner="pytest", exit_code=1, passed=2, failed=1),
        ),
    ),
    weakened=(
        WeakenedTest(
            way="skipped", path="t.py", reason="it is skipped", test="a", standing=Standing.DISCLOSED
        ),
    ),
    commits=("a" * 40,),
    is_log_whole=True,
    is_tree_whole=False,
)


def test_everything_that_is_kept_comes_back_as_it_was() -> None:
    assert evidence_from_dict(json.loads(json.dumps(evidence_as_dict(EVERYTHING)))) == EVERYTHING


def test_the_text_of_files_and_the_outcome_of_each_test_are_left_out_and_what_is_gone_is_named() -> None:
    hunk = Hunk(old=None, new=LineRange(1, 1), added=("secret text",))
    outcomes = {"t.py::a": TestOutcome.PASSED, "t.py::b": TestOutcome.PASSED}
    before = TestRun(command="pytest", runner="pytest", exit_code=0, passed=2, outcomes=outcomes)
    after = TestRun(
        command="pytest", runner="pytest", exit_code=0, passed=1, outcomes={"t.py::a": TestOutcome.PASSED}
    )
    evidence = Evidence(
        changes={"a.py": Change(kind=ChangeKind.ADDED, hunks=(hunk,))},
        tests=(TestComparison(after=after, before=before),),
    )
    written = evidence_as_dict(evidence)
    assert "secret text" not in json.dumps(written)
    assert written["tests"][0]["gone"] == ["t.py::b"]
    assert written["tests"][0]["after"]["outcomes"] == {}


def test_too_much_is_cut_and_told_and_makes_it_less_whole() -> None:
    evidence = Evidence(
        changes={f"f{n}": Change(kind=ChangeKind.ADDED) for n in range(MOST["files"] + 3)},
        commands=tuple(CommandRun(command=f"c{n}", exit_code=0) for n in range(MOST["commands"] + 2)),
        is_log_whole=True,
    )
    written = evidence_as_dict(evidence)
    assert written["left_out"] == {"files": 3, "commands": 2}
    assert written["commands"][-1]["command"] == f"c{MOST['commands'] + 1}", "the newest are kept"
    again = evidence_from_dict(json.loads(json.dumps(written)))
    assert not again.is_diff_whole
    assert not again.is_log_whole


def test_long_outputs_odd_names_and_secrets_do_no_harm() -> None:
    key = "sk-ant-api03-" + "a" * 80
    evidence = Evidence(
        changes={"odd\udcff\n\x1b[31mname": Change(kind=ChangeKind.ADDED)},
        commands=(CommandRun(command=f"KEY={key} run", exit_code=0, output="x" * 100_000 + "the end"),),
    )
    text = json.dumps(evidence_as_dict(evidence), ensure_ascii=False)
    text.encode("utf-8")
    assert len(text) < 5_000
    assert "the end" in text
    assert key not in text
    assert "\x1b" not in text
