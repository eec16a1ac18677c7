"""Measures extraction on a folder of real handoffs: right answers, spans, speed.

    python bench/extraction.py --corpus FOLDER [--split dev] [--speed] [--per-document] [--out FOLDER]

FOLDER holds `documents/`, `labels/` and `split.json`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import pyromark
import yaml

from scoring import CORE, PATH_FIELDS, TEXT_FIELDS, Tally, score, total
from segue.domain.handoff.extract.blocks import parse_markdown
from segue.domain.handoff.extract.extraction import extract_handoff, read_source
from segue.domain.handoff.extract.ownership import Share
from segue.domain.handoff.extract.result import Extraction
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.text.items import split_items
from segue.domain.text.paths import paths_in

ALL = TEXT_FIELDS + PATH_FIELDS
LISTS = {
    "what_was_done": ("what_was_done",),
    "decisions": ("decisions_made",),
    "open_questions": ("open_questions",),
    "next_steps": ("suggested_next_steps",),
    "blockers": ("blockers",),
    "gotchas": ("gotchas", "failed_approaches"),
    "critical_context": ("critical_context", "constraints", "dependencies_for_next", "patterns_discovered"),
}
"""Label -> the fields of the record that it covers: the labels are coarser than the record."""


def project(source: str, found: Extraction) -> dict[str, Any]:
    """An extraction in the shape of the labels; items are cut out of the source by their spans."""
    result: dict[str, Any] = {name: [] for name in ALL}
    handoff = found.handoff
    if handoff is None:
        return result | {"outcome": None}
    for label, names in LISTS.items():
        for name in names:
            for at in range(len(getattr(handoff, name))):
                span = found.spans[f"{name}[{at}]"]
                result[label].append(source[span.start : span.end])
    brief = found.spans.get("next_agent_context")
    if (
        handoff.next_agent_context
        and brief
        and not any(
            name.startswith("suggested_next_steps") and brief.start <= span.start < brief.end
            for name, span in found.spans.items()
        )
    ):
        result["next_steps"] += [item.text for item in split_items(handoff.next_agent_context)]
    if handoff.goal:
        result["goal"] = [item.text for item in split_items(handoff.goal)]
    for section in handoff.other_sections:
        reading = read_heading(section.heading)
        if reading is None or reading.topic not in (Topic.ASIDE, Topic.CHECKS):
            items = [item.text for item in split_items(section.text)]
            result["critical_context"] += [text for text in items if len(text.split()) > 3]
    result["files_created"] = [item.path for item in handoff.files_created]
    result["files_modified"] = [item.path for item in handoff.files_modified]
    known = {*result["files_created"], *result["files_modified"]}
    result["files_mentioned"] = sorted({piece.text for piece in paths_in(source)} - known)
    return result | {"outcome": handoff.outcome}


def naive(source: str) -> dict[str, Any]:
    """The baseline: four names as headings, any heading ends a section, each section one item."""
    names = {"whatwasdone": "what_was_done", "decisionsmade": "decisions", "openquestions": "open_questions",
             "nextagentcontext": "next_steps"}  # fmt: skip
    result: dict[str, Any] = {name: [] for name in ALL} | {"outcome": None}
    for part in re.split(r"^#{1,6}[ \t]+", source, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        name = names.get(re.sub(r"[\W_]", "", heading).lower())
        if name and body.strip() and not result[name]:
            result[name] = [body.strip()]
    return result


def load(corpus: Path) -> dict[str, str]:
    """Id -> text of every document."""
    return {
        p.stem: p.read_bytes().decode("utf-8", "replace") for p in sorted((corpus / "documents").iterdir())
    }


def spans_broken(source: str, found: Extraction) -> list[str]:
    """The spans whose text is not the item's, up to list markers, white space and escapes."""
    if found.handoff is None:
        return []
    record = found.handoff.model_dump()
    broken = []
    for name, span in found.spans.items():
        value = _value_at(record, name)
        if isinstance(value, str) and name != "outcome" and not _tells(source[span.start : span.end], value):
            broken.append(name)
    return broken


def _value_at(record: dict[str, Any], name: str) -> Any:
    value: Any = record
    for key in re.findall(r"\w+", name):
        value = value[int(key)] if key.isdigit() else value[key]
    return value


def _tells(cut: str, text: str) -> bool:
    return any(_letters(text) == _letters(form) for form in (cut, *_unescaped(cut)))


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _unescaped(cut: str) -> list[str]:
    forms = [cut.replace("''", "'")]
    try:
        forms.append(str(json.loads(f'"{cut}"', strict=False)))
    except ValueError:
        with suppress(yaml.YAMLError):
            forms.append(str(yaml.safe_load(f'"{cut}"')))
    return forms


def measure(corpus: Path, split: str, per_document: bool, out: Path | None) -> None:
    """Prints how much of the labels is found, by us and by the baseline."""
    documents = load(corpus)
    ids = json.loads((corpus / "split.json").read_text())[split]
    sums = {who: {name: Tally() for name in ALL} for who in ("segue", "naive")}
    right: Counter[str] = Counter()
    confusion: Counter[str] = Counter()
    for key in ids:
        gold = json.loads((corpus / "labels" / f"{key}.json").read_text())
        source = documents[key]
        answers = {"segue": project(source, extract_handoff(source)), "naive": naive(source)}
        if out:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{key}.json").write_text(json.dumps(answers["segue"], ensure_ascii=False, indent=1))
        for who, answer in answers.items():
            tallies = score(gold, answer)
            for name in ALL:
                sums[who][name].add(tallies[name])
            right[who] += answer["outcome"] == gold["outcome"]
            if who == "segue":
                confusion[f"{gold['outcome']} -> {answer['outcome']}"] += answer["outcome"] != gold["outcome"]
                if per_document:
                    print(f"  {key} core4 {total(tallies, CORE).f1:.3f} all {total(tallies, ALL).f1:.3f} "
                          f"outcome {gold['outcome']} -> {answer['outcome']}")  # fmt: skip
    print(f"{len(ids)} labelled documents ({split}), one-to-one matching")
    print(f"{'field':18}{'gold':>6}{'found':>7}{'P':>8}{'R':>8}{'F1':>8}")
    for name in ALL:
        tally = sums["segue"][name]
        print(
            f"{name:18}{tally.gold:6}{tally.predicted:7}{tally.precision:8.3f}{tally.recall:8.3f}{tally.f1:8.3f}"
        )
    for label, names in (
        ("core4", CORE),
        ("all fields", ALL),
        ("without context", tuple(n for n in TEXT_FIELDS if n != "critical_context")),
    ):
        ours, base = total(sums["segue"], names), total(sums["naive"], names)
        print(f"{label:18} micro F1 {ours.f1:.3f}   (naive baseline: seed 000's algorithm {base.f1:.3f})")
    wrong = {case: n for case, n in confusion.items() if n}
    share = {who: right[who] / len(ids) for who in sums}
    print(
        f"outcome accuracy {right['segue']}/{len(ids)} = {share['segue']:.3f} (naive {share['naive']:.3f})",
        wrong,
    )


def check_spans(corpus: Path) -> int:
    """Runs every document; prints how many spans are not their item's text."""
    documents, spans, bad = load(corpus), 0, 0
    notations: Counter[str] = Counter()
    for key, source in documents.items():
        found = extract_handoff(source)
        notations[found.notation] += 1
        broken = spans_broken(source, found)
        spans += len(found.spans)
        bad += len(broken)
        for name in broken[:3]:
            span = found.spans[name]
            print(f"  {key} {name}: {source[span.start : span.end][:80]!r}")
    print(f"{len(documents)} documents without an exception, {spans} spans, {bad} broken")
    print("notations: " + ", ".join(f"{name} {count}" for name, count in notations.most_common()))
    return bad


def measure_loss(corpus: Path) -> None:
    """Prints where the letters and digits of all documents end; those outside of all units are lost."""
    shares: Counter[str] = Counter()
    for source in load(corpus).values():
        reading = read_source(source)
        whole = reading.outline.source
        held = bytearray(len(whole))
        for unit in reading.outline.units:
            start, end = unit.reach
            held[start:end] = b"1" * (end - start)
            share = reading.assembled.owners[unit.id].share
            shares[share] += sum(map(str.isalnum, whole[start:end]))
        for start, end in reading.outline.markup:
            held[start:end] = b"1" * (end - start)
        for comment in re.finditer(r"<!--.*?(?:-->|\Z)", whole, re.DOTALL):
            held[comment.start() : comment.end()] = b"1" * len(comment[0])
        shares["all"] += sum(map(str.isalnum, whole))
        shares["lost"] += sum(c.isalnum() and not held[at] for at, c in enumerate(whole))
    parts = ", ".join(f"{name} {shares[name] / shares['all']:.3f}" for name in [*Share, "lost"])
    print(f"letters and digits of all documents, by where they are kept: {parts}")


def measure_speed(corpus: Path, rounds: int = 25) -> None:
    """Prints megabytes a second beside the bare Markdown parser.

    The rounds take turns, and the best one counts for each document by itself: what disturbs a machine
    for a moment hits the longer work more often, so a best round of all documents would tell of the
    machine. The baseline makes every event of the parser, with its range, a Python object and does
    nothing with it. Its ranges count bytes; the blocks that extraction works on have offsets of characters.
    """
    documents = list(load(corpus).values())
    size = sum(len(source.encode()) for source in documents) / 1e6
    options = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_TASKLISTS
    cold = sum(_timed(extract_handoff, source) for source in documents)
    works: dict[str, Any] = {
        "bare Markdown parser, all events with their ranges": lambda s: list(
            pyromark.events_with_range(s, options=options)
        ),
        "its blocks as a tree with offsets of characters": parse_markdown,
        "extraction": extract_handoff,
    }
    fastest = {name: [float("inf")] * len(documents) for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            took = [_timed(work, source) for source in documents]
            fastest[name] = list(map(min, fastest[name], took))
    best = {name: sum(times) for name, times in fastest.items()}
    print(f"{size:.2f} MB in {len(documents)} documents, best of {rounds} rounds")
    for name, seconds in best.items():
        print(f"{name:52}{size / seconds:7.2f} MB/s")
    bare, blocks, ours = best.values()
    print(
        f"extraction runs at {bare / ours:.2f} of the bare parser's speed, {blocks / ours:.2f} of the tree's"
    )
    print(f"the first time, when no heading has been looked up before: {size / cold:.2f} MB/s", flush=True)


def _timed(work: Any, source: str) -> float:
    begin = time.perf_counter()
    work(source)
    return time.perf_counter() - begin


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--per-document", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.speed:
        measure_speed(options.corpus)
        return 0
    measure(options.corpus, options.split, options.per_document, options.out)
    measure_loss(options.corpus)
    return 1 if check_spans(options.corpus) else 0


if __name__ == "__main__":
    sys.exit(main())
