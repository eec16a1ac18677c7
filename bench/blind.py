"""Scores extraction on labelled texts that no rule was written for.

    python bench/blind.py --labels bench/labels/replies-a.jsonl --texts FOLDER [--all] [--per-text]

FOLDER holds the texts, which are not part of this repository; docs/blind-protocol.md says how to get them
and when which file may be read. Without --all only the texts of the blind round count.

With --asked, the writer of a text is asked where a pipeline would ask, and answers what the labels say: the
most that asking can give. It goes through the same code as a run, which keeps only what the text says.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from extraction import ALL, project
from labelled_texts import Label, find_texts, load_labels
from scoring import CORE, TEXT_FIELDS, Tally, score, total
from segue.adapters.tokens import counter_for
from segue.domain.asking import complete, reading_of, what_is_missing
from segue.domain.briefing.repair_prompt import question_for
from segue.domain.handoff import (
    Extraction,
    Handoff,
    Origin,
    OutputNotation,
    extract_handoff,
    render_handoff,
)

Pairs = list[tuple[Label, str]]


def extract(label: Label, text: str) -> Extraction:
    """What is read in a text, by a caller who knows whether it is a reply."""
    return extract_handoff(text, origin=Origin.REPLY if label.reply else Origin.DOCUMENT)


class Writers:
    """Answer what the labels say, and count what asking costs."""

    def __init__(self) -> None:
        self.asked = 0
        self.tokens = 0
        self._count = counter_for(None)

    def complete(self, label: Label, text: str, found: Extraction) -> Extraction:
        """The record with what its writer adds; as it was where a pipeline would not ask."""
        reading = reading_of(found)
        missing = what_is_missing(found.handoff, reading)
        if not missing:
            return found
        gold = label.gold(text)
        needs_all = missing.handoff or missing.statements
        answer = _as_handoff(gold) if needs_all else Handoff(outcome=gold["outcome"])
        done = complete(found, reading, answer, missing, text)
        self.asked += 1
        self.tokens += self._count(question_for(missing, OutputNotation.YAML))
        self.tokens += self._count(render_handoff(answer, OutputNotation.YAML))
        return replace(found, handoff=done.handoff, spans=done.spans)


def _as_handoff(gold: dict[str, Any]) -> Handoff:
    fields: dict[str, Any] = {"outcome": gold["outcome"]}
    for name, (field, part) in {
        "what_was_done": ("what_was_done", None),
        "decisions": ("decisions_made", "decision"),
        "open_questions": ("open_questions", "question"),
        "next_steps": ("suggested_next_steps", "step"),
        "blockers": ("blockers", "blocker"),
        "gotchas": ("gotchas", "issue"),
        "critical_context": ("critical_context", None),
        "files_created": ("files_created", "path"),
        "files_modified": ("files_modified", "path"),
    }.items():
        items = [" ".join(item.split()) for item in gold.get(name, ())]
        fields[field] = [{part: item} if part else item for item in items if item]
    if goal := gold.get("goal"):
        fields["goal"] = " ".join(goal)
    return Handoff.model_validate(fields)


def measure_fields(pairs: Pairs, per_text: bool, writers: Writers | None = None) -> None:
    """Prints how much of the labels is found, field by field, and how often the outcome is right."""
    sums = {name: Tally() for name in ALL}
    outcomes: Counter[tuple[str | None, str | None]] = Counter()
    for label, text in pairs:
        found = extract(label, text)
        if writers is not None:
            found = writers.complete(label, text, found)
        gold, answer = label.gold(text), project(text, found)
        tallies = score(gold, answer)
        for name in ALL:
            sums[name].add(tallies[name])
        outcomes[label.outcome, answer["outcome"]] += 1
        if per_text:
            print(f"  {label.id} core4 {total(tallies, CORE).f1:.3f} all {total(tallies, ALL).f1:.3f} "
                  f"outcome {label.outcome} -> {answer['outcome']}")  # fmt: skip
    print(f"{len(pairs)} texts, one-to-one matching")
    print(f"{'field':18}{'gold':>6}{'found':>7}{'P':>8}{'R':>8}{'F1':>8}")
    without_context = tuple(name for name in TEXT_FIELDS if name != "critical_context")
    groups = {"core4": CORE, "all fields": ALL, "without context": without_context}
    for name, names in {**{name: (name,) for name in ALL}, **groups}.items():
        tally = total(sums, names)
        rates = f"{tally.precision:8.3f}{tally.recall:8.3f}{tally.f1:8.3f}"
        print(f"{name:18}{tally.gold:6}{tally.predicted:7}{rates}")
    print_outcomes(outcomes)


def print_outcomes(outcomes: Counter[tuple[str | None, str | None]]) -> None:
    """Prints how often the outcome is right: over all texts, and over those that state one."""
    right = sum(count for (said, read), count in outcomes.items() if said == read)
    stated = sum(count for (said, _), count in outcomes.items() if said)
    found = sum(count for (said, read), count in outcomes.items() if said and said == read)
    print(f"outcome right {right}/{outcomes.total()}, where one is stated {found}/{stated}")
    wrong = {f"{said} -> {read}": count for (said, read), count in outcomes.items() if said != read}
    print(f"outcome wrong {wrong}")


def measure_refusals(pairs: Pairs, per_text: bool) -> None:
    """Prints how many of the texts that hand nothing over give a record."""
    taken = [label.id for label, text in pairs if extract(label, text).handoff is not None]
    print(f"{len(pairs)} texts that are not handoffs: {len(taken)} give a record")
    if per_text:
        print(f"  {' '.join(taken)}")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=Path, required=True, help="a file of bench/labels/")
    parser.add_argument("--texts", type=Path, required=True, help="a folder with the texts")
    parser.add_argument("--all", action="store_true", help="also the texts outside the blind round")
    parser.add_argument("--per-text", action="store_true", help="a line for each text")
    parser.add_argument(
        "--asked", action="store_true", help="ask the writers, who answer what the labels say"
    )
    options = parser.parse_args()
    labels = [label for label in load_labels(options.labels) if options.all or label.blind]
    pairs = list(find_texts(labels, options.texts))
    handoffs = [(label, text) for label, text in pairs if label.handoff]
    others = [(label, text) for label, text in pairs if not label.handoff]
    if handoffs:
        writers = Writers() if options.asked else None
        measure_fields(handoffs, options.per_text, writers)
        if writers is not None:
            each = writers.tokens / max(1, writers.asked)
            print(f"asked {writers.asked} of {len(handoffs)}: question and answer take {each:.0f} tokens")
    if others:
        measure_refusals(others, options.per_text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
