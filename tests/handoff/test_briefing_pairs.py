"""Pairs of handoffs under five budgets: no dangerous order, the newer one first, nothing lost in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

from segue.adapters.tokens import counter_for
from segue.domain.briefing import Briefing, Predecessor, brief
from segue.domain.handoff import Handoff

BUDGETS = (250, 400, 600, 900, 1500)
COUNT = counter_for(None)
LABELS = ("**", "### Other Notes", "### Next", "### Critical", "### Files", "### Warnings", "### Blocking")
"""Lines that the briefing adds to what agents wrote."""


def many(text: str, number: int) -> list[str]:
    return [f"{text} {at}" for at in range(1, number + 1)]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two handoffs, the older first."""

    name: str
    older: dict[str, Any]
    newer: dict[str, Any]


PAIRS = (
    Pair(
        "migration",
        {"decisions_made": many("Keep the old column until release", 20)},
        {
            "suggested_next_steps": [
                "Take a full backup of the orders database" + ", and restore it on the spare host" * 4,
                "Drop the old table",
                "Start the workers",
            ]
        },
    ),
    Pair(
        "long newer, short older",
        {"what_was_done": many("Did", 80)},
        {"what_was_done": ["Rewrote the importer: " + "it handles one more odd line ending, " * 30]},
    ),
    Pair(
        "context only",
        {"decisions_made": many("Decided to use approach", 60), "goal": "A faster import"},
        {"critical_context": many("The sandbox resets every night at 02:00 UTC, run", 30)},
    ),
    Pair(
        "a raw reply that is newer",
        {"suggested_next_steps": many("Check the caller", 60)},
        {},
    ),
    Pair(
        "both long",
        {"what_was_done": many("Moved the module to its new package and fixed the imports of caller", 40)},
        {"what_was_done": many("Renamed the class and every use of it in the tests of module", 40)},
    ),
    Pair(
        "questions",
        {"open_questions": many("Who owns job", 30)},
        {
            "open_questions": [
                {"question": "Which region?", "blocking": True},
                *many("Is it fine to change", 30),
            ]
        },
    ),
    Pair(
        "files",
        {"files_modified": [{"path": f"src/a{at}.py"} for at in range(60)]},
        {
            "files_created": [
                {"path": f"src/b{at}.py", "purpose": "a part of the new parser"} for at in range(60)
            ]
        },
    ),
    Pair(
        "warnings",
        {"gotchas": many("The fixture is slow", 20)},
        {"gotchas": [{"issue": "Never run the script twice", "severity": "high"}, *many("Odd name", 20)]},
    ),
    Pair(
        "blocked",
        {"what_was_done": many("Prepared the branch", 20)},
        {
            "outcome": "blocked",
            "blockers": [{"blocker": "No access to staging", "blocking_tasks": ["task-3"]}],
            "suggested_next_steps": many("Ask the owner", 20),
        },
    ),
    Pair(
        "other notes",
        {"other_sections": [{"heading": "", "text": "It rained. " * 200}]},
        {
            "what_was_done": many("Wrote the chapter", 5),
            "other_sections": [{"heading": "Timing", "text": "2 h"}],
        },
    ),
)


def brief_pair(pair: Pair, budget: int | None) -> Briefing:
    replies = ("", "It is late. " * 150)
    both = zip(("first", "second"), (pair.older, pair.newer), replies, strict=True)
    return brief(
        prompt="Continue.",
        agent_name="third",
        job="Go.",
        predecessors=[
            Predecessor(
                agent_name=name, handoff=Handoff.model_validate(fields) if fields else None, reply=reply
            )
            for name, fields, reply in both
        ],
        budget=budget,
        count_tokens=COUNT,
    )


def numbers_of(left: tuple[str, ...], field: str) -> list[int]:
    found = (re.fullmatch(rf"{field}\[(\d+)\]", each) for each in left)
    return [int(match[1]) for match in found if match]


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
class TestPair:
    def test_every_list_is_cut_from_its_end(self, pair: Pair, budget: int) -> None:
        briefing = brief_pair(pair, budget)
        for name, fields in (("first", pair.older), ("second", pair.newer)):
            left = tuple(each.field for each in briefing.left_out if each.agent_name == name)
            for field, items in fields.items():
                if not isinstance(items, list) or field in ("gotchas", "open_questions"):
                    continue  # lists of two ranks: those are cut each from its end
                gone = numbers_of(left, field)
                assert gone == list(range(len(items) - len(gone), len(items)))

    def test_a_budget_is_kept_or_reported(self, pair: Pair, budget: int) -> None:
        briefing = brief_pair(pair, budget)
        assert briefing.over_budget == max(0, briefing.tokens - budget)

    def test_what_is_not_in_the_text_is_in_the_list(self, pair: Pair, budget: int) -> None:
        whole, briefing = brief_pair(pair, None), brief_pair(pair, budget)
        told = briefing.text + "\n".join(each.text for each in briefing.left_out)
        for line in whole.text.splitlines():
            words = [] if line.startswith(LABELS) else line.strip("-|# ").split()
            assert all(word in told for word in words), line


def test_the_newer_handoff_keeps_its_first_items_when_both_are_too_long() -> None:
    for pair in PAIRS:
        least = brief_pair(pair, 0)
        briefing = brief_pair(pair, least.tokens + 150)
        inside = briefing.text.partition("(second)")[2].partition("</handoff-context>")[0]
        assert inside.strip(), pair.name
