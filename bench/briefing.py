"""How much smaller a briefing is than its document, and how much of what matters is still in it.

    python bench/briefing.py --corpus DIR [--budgets 500,1000,2000] [--json]

DIR has `documents/` and `labels/*.json` (see the README). For every document with gold labels it prints the
tokens of the raw document, the tokens of what its briefing says about it, and the share of gold items that
are still in the briefing, for each budget and for none. The naive way, the document's own beginning cut to
the same number of tokens, stands beside it. The task and the instructions, the same for every document, are
counted in the budget but shown apart.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.adapters.tokens import VocabularyCounter, load_counter
from segue.domain.asking import reading_of
from segue.domain.briefing import Briefing, Predecessor, brief
from segue.domain.handoff import extract_handoff

_FIELDS = (
    "goal", "what_was_done", "decisions", "open_questions", "next_steps", "blockers", "gotchas",
    "critical_context", "files_created", "files_modified",
)  # fmt: skip
_CORE = frozenset({"what_was_done", "decisions", "open_questions", "next_steps", "blockers"})
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|\w+")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A document, and the items that a reader marked in it."""

    name: str
    text: str
    items: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Sums:
    """What one way of passing documents on costs and keeps."""

    tokens: int = 0
    largest: int = 0
    kept: int = 0
    kept_core: int = 0
    left_out: int = 0


def main() -> None:
    """Reads the corpus, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, required=True, help="a folder with documents/ and labels/")
    parser.add_argument("--budgets", default="500,1000,2000", help="tokens, joined by commas")
    parser.add_argument("--json", action="store_true", help="figures for a program")
    arguments = parser.parse_args()
    documents = list(read_corpus(arguments.corpus))
    if not documents:
        parser.error(f"no labelled documents in {arguments.corpus}")
    budgets: list[int | None] = [*(int(each) for each in arguments.budgets.split(",") if each), None]
    figures = measure(documents, budgets, load_counter())
    print(json.dumps(figures, indent=2) if arguments.json else as_table(figures))


def read_corpus(folder: Path) -> Iterator[Labelled]:
    """The documents that have gold labels."""
    files = {path.stem: path for path in sorted((folder / "documents").iterdir())}
    for path in sorted((folder / "labels").glob("*.json")):
        label = json.loads(path.read_text(encoding="utf-8"))
        if path.stem in files:
            text = files[path.stem].read_text(encoding="utf-8", errors="replace")
            yield Labelled(path.stem, text, tuple(_items(label)))


def _items(label: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in _FIELDS:
        value = label.get(field) or []
        for item in [value] if isinstance(value, dict) else value:
            yield field, item["text"]
            yield from (
                (field, more["text"] if isinstance(more, dict) else more) for more in item.get("more", ())
            )


def measure(documents: list[Labelled], budgets: list[int | None], count: VocabularyCounter) -> dict[str, Any]:
    """The figures of all budgets over all documents."""
    gold = sum(len(document.items) for document in documents)
    core = sum(field in _CORE for document in documents for field, _ in document.items)
    overhead = count(_brief([], None, count).text)
    raw = [count(document.text) for document in documents]
    rows = []
    for budget in budgets:
        ours, naive = Sums(), Sums()
        begin = time.perf_counter()
        briefings = [_brief_document(document, budget, count) for document in documents]
        seconds = time.perf_counter() - begin
        for document, briefing in zip(documents, briefings, strict=True):
            _add(ours, document, _reported(briefing.text), count)
            ours.largest = max(ours.largest, briefing.tokens)
            ours.left_out += len(briefing.left_out)
            room = (budget or 10**9) - overhead
            _add(naive, document, _beginning(document.text, room, count), count)
        rows.append(
            {
                "budget": budget,
                "briefing_tokens": ours.tokens,
                "share_of_raw": ours.tokens / sum(raw),
                "largest_with_instructions": ours.largest,
                "items_kept": ours.kept / gold,
                "core_items_kept": ours.kept_core / core,
                "left_out": ours.left_out,
                "naive_tokens": naive.tokens,
                "naive_items_kept": naive.kept / gold,
                "naive_core_items_kept": naive.kept_core / core,
                "milliseconds_a_document": 1000 * seconds / len(documents),
            }
        )
    return {
        "documents": len(documents),
        "gold_items": gold,
        "core_items": core,
        "raw_tokens": sum(raw),
        "instructions_tokens": overhead,
        "counter": count.label,
        "rows": rows,
    }


def _brief_document(document: Labelled, budget: int | None, count: Callable[[str], int]) -> Briefing:
    extraction = extract_handoff(document.text)
    reading = reading_of(extraction)
    before = Predecessor(
        agent_name="previous",
        handoff=extraction.handoff,
        reply=document.text,
        coverage=reading.coverage,
        places=reading.places,
    )
    return _brief([before], budget, count)


def _brief(before: list[Predecessor], budget: int | None, count: Callable[[str], int]) -> Briefing:
    return brief(
        prompt="Go on with the work.",
        agent_name="next",
        job="Read what was handed over and go on.",
        predecessors=before,
        budget=budget,
        count_tokens=count,
    )


def _reported(text: str) -> str:
    """What the briefing says about the document: the text inside the fence."""
    inside = text.partition("<handoff-context>")[2]
    return inside.partition("</handoff-context>")[0]


def _beginning(text: str, room: int, count: Callable[[str], int]) -> str:
    """The longest beginning of a text, in whole lines, that is no more than `room` tokens."""
    lines = text.splitlines(keepends=True)
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if count("".join(lines[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return "".join(lines[:low])


def _add(sums: Sums, document: Labelled, text: str, count: Callable[[str], int]) -> None:
    sums.tokens += count(text)
    for field in _kept_fields(document, text):
        sums.kept += 1
        sums.kept_core += field in _CORE


def _kept_fields(document: Labelled, text: str) -> Iterator[str]:
    """The field of every item that is still there: its words in a row, or a line of its own much like it."""
    whole = _normalise(text)
    lines = [_normalise(line) for line in text.splitlines() if line.strip()]
    changed = []
    for field, item in document.items:
        words = _normalise(item)
        if not words.strip() or words in whole:
            yield field
            lines = [line for line in lines if line != words]
        else:
            changed.append((field, frozenset(words.split())))
    free = [frozenset(line.split()) for line in lines]
    for field, own in changed:
        alike = next((line for line in free if 2 * len(own & line) >= len(own | line)), None)
        if alike is not None:
            free.remove(alike)
            yield field


def _normalise(text: str) -> str:
    return f" {' '.join(_WORDS.findall(unicodedata.normalize('NFKC', text).lower()))} "


def as_table(figures: dict[str, Any]) -> str:
    """The figures for people."""
    head = (
        f"{figures['documents']} documents, {figures['gold_items']} gold items "
        f"({figures['core_items']} core), {figures['raw_tokens']} tokens raw ({figures['counter']}); "
        f"task and instructions {figures['instructions_tokens']} tokens each\n\n"
    )
    columns = (
        f"{'budget':>7} {'tokens':>8} {'of raw':>7} {'items':>7} {'core':>7} {'left out':>9} {'largest':>8}"
        f" {'ms/doc':>7}   document cut instead: {'tokens':>7} {'items':>7} {'core':>7}\n"
    )
    return head + columns + "\n".join(_row(row) for row in figures["rows"])


def _row(row: dict[str, Any]) -> str:
    return (
        f"{row['budget'] or 'none':>7} {row['briefing_tokens']:>8} {row['share_of_raw']:>7.1%} "
        f"{row['items_kept']:>7.1%} {row['core_items_kept']:>7.1%} {row['left_out']:>9} "
        f"{row['largest_with_instructions']:>8} {row['milliseconds_a_document']:>7.1f}"
        f"   {'':21} {row['naive_tokens']:>7} {row['naive_items_kept']:>7.1%} "
        f"{row['naive_core_items_kept']:>7.1%}"
    )


if __name__ == "__main__":
    main()
