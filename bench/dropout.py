"""Estimates extraction on unseen texts: reads labelled documents without the phrases that few others use.

    python bench/dropout.py --corpus FOLDER [--per-document]

For each labelled document, `L` drops the phrases that no other repository uses, `K2` and `K3` keep only
those that two or three other repositories use. Phrases of other languages than English stay: too few
documents use each. FOLDER is that of `bench/extraction.py`; its `index.json` names the repositories.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from extraction import ALL, load, project
from scoring import CORE, Tally, score, total
from segue.domain.handoff.extract import headings, vocabulary
from segue.domain.handoff.extract.extraction import extract_handoff
from segue.domain.handoff.extract.vocabulary import Phrase

Keep = Callable[[Phrase], bool]


def _forget() -> None:
    """Empties what was remembered about phrases."""
    for cached in (
        *(vocabulary._tables, vocabulary.read_heading, vocabulary.read_label, vocabulary.read_introduction),
        *(headings.meaning_of, headings.heading_of),
    ):
        cached.cache_clear()


@contextmanager
def only(phrases: list[Phrase], keep: Keep) -> Iterator[None]:
    """Reads with a part of the vocabulary."""
    whole = vocabulary.load_phrases
    vocabulary.load_phrases = lambda: [phrase for phrase in phrases if keep(phrase)]
    _forget()
    try:
        yield
    finally:
        vocabulary.load_phrases = whole
        _forget()


def phrases_used(source: str) -> frozenset[str]:
    """The phrases that the reading of a document finds in its headings, without spaces."""
    found: set[str] = set()
    read = vocabulary._read

    def remember(heading: str) -> vocabulary.HeadingMeaning | None:
        reading = read(heading)
        if reading is not None:
            found.add(reading.phrase.replace(" ", ""))
        return reading

    vocabulary._read = remember
    _forget()
    try:
        extract_handoff(source)
    finally:
        vocabulary._read = read
    return frozenset(found)


def keepers(others: dict[str, int], own: frozenset[str]) -> dict[str, Keep]:
    """What each way to drop phrases keeps; `others` counts the other repositories that use a phrase."""

    def count(phrase: Phrase) -> int:
        return others.get(phrase.words.replace(" ", ""), 0)

    return {
        "dev": lambda _: True,
        "L": lambda phrase: count(phrase) > 0 or phrase.words.replace(" ", "") not in own,
        "K2": lambda phrase: phrase.language != "en" or count(phrase) >= 2,
        "K3": lambda phrase: phrase.language != "en" or count(phrase) >= 3,
    }


def measure(corpus: Path, split: str, per_document: bool) -> None:
    """Prints F1 and outcomes for each way to drop phrases."""
    documents = load(corpus)
    repositories = {each["id"]: each["repo"] for each in json.loads((corpus / "index.json").read_text())}
    phrases = vocabulary.load_phrases()
    used = {key: phrases_used(source) for key, source in documents.items()}
    sums: dict[str, dict[str, Tally]] = {}
    right: dict[str, int] = {}
    ids = json.loads((corpus / "split.json").read_text())[split]
    for key in ids:
        gold = json.loads((corpus / "labels" / f"{key}.json").read_text())
        users: dict[str, set[str]] = {}
        for other, found in used.items():
            if repositories[other] != repositories[key]:
                for phrase in found:
                    users.setdefault(phrase, set()).add(repositories[other])
        others = {phrase: len(found) for phrase, found in users.items()}
        line = []
        for name, keep in keepers(others, used[key]).items():
            with only(phrases, keep):
                answer = project(documents[key], extract_handoff(documents[key]))
            tallies = score(gold, answer)
            for field, tally in tallies.items():
                sums.setdefault(name, {each: Tally() for each in ALL})[field].add(tally)
            right[name] = right.get(name, 0) + (answer["outcome"] == gold["outcome"])
            line.append(f"{name} {total(tallies, CORE).f1:.3f}")
        if per_document:
            print(f"  {key} " + "  ".join(line))
    print(f"{len(ids)} labelled documents ({split}), {len(phrases)} phrases")
    for name, tallies in sums.items():
        core, every = total(tallies, CORE), total(tallies, ALL)
        parts = f"(P {core.precision:.3f}, R {core.recall:.3f})"
        outcomes = f"{right[name]}/{len(ids)}"
        print(f"{name:4} core4 {core.f1:.3f} {parts}   all fields {every.f1:.3f}   outcome {outcomes}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--per-document", action="store_true")
    options = parser.parse_args()
    measure(options.corpus, options.split, options.per_document)


if __name__ == "__main__":
    main()
