"""What the verification of a large step costs, in time and processes, beside an earlier version of Segue.

    python bench/verify_cost.py [--files 900] [--changed 200] [--claims 100] [--against 308921f] [--rounds 3]

Makes a repository with Python files, changes many of them, and has a handoff with many claims verified: by
this code and by the code of a commit, each in a process of its own, in turns. Compare the ratio, in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OWN = Path(__file__).parents[1]
_CHILD = """
import json, sys, time
from pathlib import Path
processes = []
sys.addaudithook(lambda event, given: processes.append(given[1]) if event == "subprocess.Popen" else None)
import segue.adapters.git as git
from segue import extract_handoff, verify_claims
folder, base, document = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).read_text()
extraction = extract_handoff(document)
began = time.perf_counter()
if hasattr(git, "observe"):
    found = git.observe(folder, base)
    collected = time.perf_counter()
    try:
        ledger = verify_claims(extraction, found.evidence, source=document, sources=found.sources)
    except TypeError:
        ledger = verify_claims(extraction, found.evidence, source=document)
else:
    evidence = git.collect_evidence(folder, base)
    collected = time.perf_counter()
    ledger = verify_claims(extraction, evidence, source=document)
ended = time.perf_counter()
spent = {"collect": collected - began, "judge": ended - collected}
print(json.dumps({**spent, "processes": len(processes), "counts": ledger.counts}))
"""


def make_repository(folder: Path, files: int, changed: int, claims: int) -> tuple[str, str]:
    """A repository with changes in its work tree; its base, and a handoff about them."""
    rng = random.Random(1)
    paths = [f"src/part{number % 30}/module_{number}.py" for number in range(files)]
    for number, path in enumerate(paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        body = "".join(f"def work_{number}_{at}(value):\n    return value + {at}\n\n\n" for at in range(8))
        (folder / path).write_text(body)
    asked = ["git", "-C", str(folder), "-c", "user.name=b", "-c", "user.email=b@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*asked, *command], check=True)
    lines = []
    for number in rng.sample(range(files), k=changed):
        text = (folder / paths[number]).read_text()
        text = text.replace("value + 3", "value * 3") + f"def extra_{number}(value):\n    return value\n"
        (folder / paths[number]).write_text(text)
        lines += [
            f"Added `extra_{number}` to `{paths[number]}`.",
            f"Changed `work_{number}_3` in {paths[number]}.",
            f"Updated {paths[number]}.",
            f"Removed `work_{number}_5` from `{paths[number]}`.",
        ]
    said = "".join(f"- {each}\n" for each in rng.sample(lines, k=claims))
    return "HEAD", f"## Outcome\n\ncompleted\n\n## What Was Done\n\n{said}"


def source_of(commit: str, folder: Path) -> Path | None:
    """The code of a commit, unpacked; none if this clone does not have it."""
    packed = subprocess.run(
        ["git", "-C", str(OWN), "archive", commit, "src"], capture_output=True, check=False
    )
    if packed.returncode:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder / "src"


def measure(source: Path, folder: Path, base: str, document: Path) -> dict[str, float]:
    """One verification by the code in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(folder), base, str(document)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        check=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Prints both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=900)
    parser.add_argument("--changed", type=int, default=200)
    parser.add_argument("--claims", type=int, default=100)
    parser.add_argument("--against", default="308921f", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="segue-cost-") as name:
        top = Path(name).resolve()
        for part in ("repository", "earlier"):
            (top / part).mkdir()
        base, text = make_repository(top / "repository", options.files, options.changed, options.claims)
        (top / "handoff.md").write_text(text)
        earlier = source_of(options.against, top / "earlier")
        sources = {options.against: earlier, "now": OWN / "src"}
        runs: dict[str, list[dict[str, float]]] = {each: [] for each, source in sources.items() if source}
        began = time.monotonic()
        for _ in range(options.rounds):
            for each, found in runs.items():
                found.append(measure(Path(str(sources[each])), top / "repository", base, top / "handoff.md"))
        best = {
            each: min(found, key=lambda run: run["collect"] + run["judge"]) for each, found in runs.items()
        }
    if options.json:
        print(json.dumps(best, indent=2))
        return
    print(f"{options.changed} of {options.files} changed, {options.claims} claims; best of {options.rounds}")
    first = best.get(options.against, best["now"])
    for each, run in best.items():
        total = run["collect"] + run["judge"]
        ratio = total / (first["collect"] + first["judge"])
        print(
            f"{each:<10}{total:>7.2f} s ({run['collect']:.2f} s evidence, {run['judge']:.2f} s verdicts)"
            f"{run['processes']:>5} processes{ratio:>7.2f} times {options.against}\n          {run['counts']}"
        )
    print(f"in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
