"""Scores extraction on labelled texts that no rule was written for.

    python bench/blind.py --labels bench/labels/replies-a.jsonl --texts FOLDER [--all] [--per-text]

FOLDER holds the texts, which are not part of this repository; docs/blind-protocol.md says how to get them
and when which file may be read. Without --all only the texts of the blind round count.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from extraction import ALL, project
from labelled_texts import Label, find_texts, load_labels
from scoring import CORE, TEXT_FIELDS, Tally, score, total
from segue.domain.handoff import extract_handoff

Pairs = list[tuple[Label, str]]


def measure_fields(pairs: Pairs, per_text: bool) -> None:
    """Prints how much of the labels is found, field by field, and how often the outcome is right."""
    sums = {name: Tally() for name in ALL}
    outcomes: Counter[tuple[str | None, str | None]] = Counter()
    for label, text in pairs:
        gold, answer = label.gold(text), project(text, extract_handoff(text))
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
    taken = [label.id for label, text in pairs if extract_handoff(text).handoff is not None]
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
    options = parser.parse_args()
    labels = [label for label in load_labels(options.labels) if options.all or label.blind]
    pairs = list(find_texts(labels, options.texts))
    handoffs = [(label, text) for label, text in pairs if label.handoff]
    others = [(label, text) for label, text in pairs if not label.handoff]
    if handoffs:
        measure_fields(handoffs, options.per_text)
    if others:
        measure_refusals(others, options.per_text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
