"""What the ledger says of commit messages against their own diffs: hardly any statement may be refuted.

    python bench/messages.py [FOLDER ...] [--most 700] [--show] [--json]

Takes the git repositories in these folders (bare ones will not do). Without a folder, commits of eight public
repositories are rebuilt as in bench/lies.py; the words of their messages were replaced like all names.
Each message becomes a handoff, its statements the items of a list, and is held against what git shows of the
commit. People say what they did, so nearly all of it is true: every refuted statement is printed, to be read.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from open_world.facts import load_messages
from open_world.judging import build_repository, verdict_on
from open_world.trees import trees_of
from open_world.worlds import World
from segue.adapters.git import observe
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import Evidence
from segue.domain.evidence.sources import Sources

_TRAILER = re.compile(r"^[\w-]+-by: |^(?:closes|fixes|refs?|see)\b:? #?\d+", re.IGNORECASE)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was said of a statement of a message."""

    commit: str
    text: str
    verdict: str
    reasons: tuple[str, ...]


def statements_in(message: str) -> Iterator[str]:
    """The sentences of a message; not code, quotations or trailers."""
    for block in re.split(r"\n\s*\n", message.replace("\r\n", "\n")):
        lines = [each for each in block.splitlines() if each.strip()]
        if any(each.startswith(("    ", "\t", ">", "```", "|")) for each in lines):
            continue
        joined: list[str] = []
        for line in lines:
            if _TRAILER.match(line.strip()):
                continue
            if joined and not _BULLET.match(line):
                joined[-1] += " " + line.strip()
            else:
                joined.append(_BULLET.sub("", line).strip())
        for each in joined:
            for sentence in _ENDS.split(each):
                if len(sentence.split()) >= 2 and len(sentence) <= 150 and sentence.isascii():
                    yield sentence


def commits_of(folder: Path, seed: int) -> list[tuple[str, str, str]]:
    """Id, parent and message of the commits that have one parent, in any order."""
    asked = ["git", "-C", str(folder), "log", "--no-merges", "--min-parents=1", "-n", "3000"]
    said = subprocess.run([*asked, "--format=%H%x00%P%x00%B%x01"], capture_output=True, check=True).stdout
    rows = [each.strip().split("\0") for each in said.decode("utf-8", "replace").split("\1") if each.strip()]
    found = [(row[0], row[1], row[2]) for row in rows]
    random.Random(seed).shuffle(found)
    return found


def judge_message(folder: Path, commit: tuple[str, str, str]) -> Iterator[Verdict]:
    """A verdict on every statement of a message."""
    own, parent, message = commit
    said = list(dict.fromkeys(statements_in(message)))
    if not said:
        return
    try:
        found = observe(folder, parent, own)
    except RepositoryError:  # a clone may lack objects
        return
    if len(found.evidence.changes) > 300:
        return
    yield from judge_statements(said, found.evidence, found.sources, f"{folder.name} {own[:9]}")


def judge_statements(
    said: Sequence[str], evidence: Evidence, sources: Sources, commit: str
) -> Iterator[Verdict]:
    """A verdict on each statement of one message."""
    document, starts = "# Handoff\n\n## Outcome\n\ncompleted\n\n## What Was Done\n\n", []
    for each in said:
        starts.append(len(document) + 2)
        document += f"- {each}\n"
    spans = [(start, start + len(text)) for start, text in zip(starts, said, strict=True)]
    verdicts = verdict_on(document, spans, evidence, sources)
    for text, (verdict, _, reasons) in zip(said, verdicts, strict=True):
        yield Verdict(commit=commit, text=text, verdict=verdict, reasons=reasons)


def judge_rebuilt(most: int) -> Iterator[Verdict]:
    """Verdicts on the messages of the rebuilt commits."""
    worlds = []
    for commit in load_messages():
        before, after = trees_of(commit)
        worlds.append(World(commit=commit, before=before, after=after, runs=[]))
        most -= len(commit.said)
        if most <= 0:
            break
    with tempfile.TemporaryDirectory(prefix="segue-messages-") as name:
        folder = Path(name).resolve()
        build_repository(folder, worlds)
        for world in worlds:
            found = observe(folder, world.base, world.head)
            label = f"{world.commit.repository} {world.commit.number}"
            yield from judge_statements(world.commit.said, found.evidence, found.sources, label)


def main() -> None:
    """Prints how many ended how, and all that were refuted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", type=Path, help="git repositories")
    parser.add_argument("--most", type=int, default=700, help="statements of all repositories together")
    parser.add_argument("--seed", type=int, default=1, help="which commits")
    parser.add_argument("--show", action="store_true", help="print confirmed and partly ones, too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    began = time.monotonic()
    found: list[Verdict] = [] if options.folders else list(judge_rebuilt(options.most))
    for number, folder in enumerate(options.folders, 1):
        for commit in commits_of(folder, options.seed):
            if len(found) >= options.most * number / len(options.folders):
                break
            found += judge_message(folder, commit)
    counts = Counter(each.verdict for each in found)
    refuted = [each for each in found if each.verdict == "refuted"]
    if options.json:
        rows = [{"commit": each.commit, "text": each.text, "reasons": each.reasons} for each in refuted]
        print(json.dumps({"statements": len(found), "counts": counts, "refuted": rows}, indent=2))
        return
    for each in found:
        if each.verdict == "refuted" or (options.show and each.verdict in ("confirmed", "partly")):
            print(f"{each.verdict}: {each.commit}: {each.text}")
            for reason in each.reasons:
                print(f"      {reason}")
    print(f"{len(found)} statements in {time.monotonic() - began:.0f} s: {dict(counts)}")


if __name__ == "__main__":
    main()
