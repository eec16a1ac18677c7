"""How many lies in handoffs the claim ledger finds, and that it calls no true statement a lie.

    python bench/lies.py [--seed N] [--steps 300] [--json] [--show]

Every step is a real change in a real git repository of its own, with real check commands whose exit codes
are known beforehand, and a handoff about it in one of several notations. The handoff holds true and false
claims of every kind, sentences that claim nothing (plans, doubts, other people's deeds), and is silent about
some changes. What is true is decided when the step is made, never by the code under test. Ends with 1 unless
at least 99 % of the false claims are refuted and none of the true ones.
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
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from segue import Handoff, extract_handoff, render_handoff, verify_claims
from segue.adapters.checks import run_check
from segue.adapters.git import collect_evidence
from segue.domain.ledger import CommandRun, Ledger, RunBy

ENDINGS = ("py", "ts", "md", "go", "json", "css", "yaml")
WORDS = [
    "auth",
    "login",
    "parser",
    "token",
    "cache",
    "queue",
    "mailer",
    "router",
    "schema",
    "widget",
    "index",
    "report",
    "loader",
    "config",
    "session",
    "ledger",
    "worker",
    "signal",
    "socket",
    "buffer",
]
FOLDERS = ("", "src/", "src/core/", "lib/", "docs/", "tests/unit/", "web/app/ui/")
ODD = (
    "with space.py",
    "ünï.md",
    "--help",
    "quo'te.ts",
    "a&b.json",
    "[slug].tsx",
    "UPPER.MD",
    "semi;colon.py",
)

SAID: dict[str, tuple[str, ...]] = {
    "created": (
        "Created {p}.",
        "Added {p}.",
        "I added {p} with the first version.",
        "{p} was created.",
        "Created the new module {p}, which holds the core.",
        "We created {p} to hold the types.",
        "Created file {p} and wrote its docs.",
        "New file: {p}",
        "I've also added the file {p}.",
    ),
    "modified": (
        "Updated {p}.",
        "Modified {p} to use the new helper.",
        "I refactored {p}.",
        "{p} was updated.",
        "Added tests to {p}.",
        "Rewrote {p}, because it was slow.",
        "Edited {p}: shorter names.",
        "Removed the old helper from {p}.",
        "We extended {p} with retries.",
    ),
    "deleted": (
        "Deleted {p}.",
        "Removed {p}.",
        "Removed the file {p}.",
        "{p} was deleted.",
        "I deleted the unused {p}.",
        "{p} has been removed, since nothing uses it.",
    ),
    "renamed": (
        "Renamed {o} to {p}.",
        "Moved {o} to {p}.",
        "{o} was renamed to {p}.",
        "I renamed {o} -> {p}.",
    ),
    "ran": ("`{c}` exits {e}.", "`{c}` exited with {e}.", "`{c}` → exit {e}", "`{c}`: exit code {e}"),
    "tests": (
        "All {n} tests pass.",
        "{n} tests pass.",
        "The full test suite passes: {n} passed.",
        "All {n} tests are green.",
        "Verified that all {n} tests pass.",
        "Tests: {n} passed",
        "{n}/{n} tests pass.",
    ),
    "all tests": (
        "All tests pass.",
        "The tests are green.",
        "The test suite passes.",
        "All tests are passing now.",
    ),
    "clean": (
        "Lint is clean.",
        "The linter is clean.",
        "No lint errors.",
        "flake8 is clean.",
        "Linting passes.",
    ),
    "committed": ("Committed as {s}.", "Committed everything as {s}.", "I committed the work in {s}."),
}
NOTHING = (
    "We should add {p} soon.",
    "Next: create {p}.",
    "{p} was not created yet.",
    "Need to remove {q}.",
    "If all tests pass, merge it.",
    "Tests do not pass on Windows yet.",
    "The planner deleted {q} last week.",
    "Do not delete {q}!",
    "Once {p} is created, wire it up.",
    "Tried and reverted: deleted {q}.",
    "Should {q} be renamed to {p}?",
    "Make sure that lint is clean.",
    "I wanted to delete {q}, but kept it.",
    "The crash in {q} comes from the cache.",
    "Documentation for {p} will follow.",
    "Added a note about {q}.",
    "Not all 900 tests pass with the old driver.",
    "Expect that `make deploy` exits 0.",
)
"""Sentences that claim nothing; `p` does not exist, `q` did not change."""


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A claim that was put into a handoff, and whether it is true."""

    kind: str
    subject: str
    is_true: bool
    sentence: str
    lines: str | None = None
    old: str | None = None
    code: int | None = None
    count: int | None = None
    variant: str = ""


@dataclass(kw_only=True)
class Step:
    """A step as it was made: the repository, what was done, what is claimed."""

    repo: Path
    rng: random.Random
    base: str = ""
    before: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    modified: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    tests: int = 0
    failing: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    log: list[CommandRun] = field(default_factory=list)
    commit: str | None = None
    planted: list[Planted] = field(default_factory=list)


def git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(
        [
            "git",
            "-c",
            "user.name=b",
            "-c",
            "user.email=b@example.org",
            "-c",
            "commit.gpgSign=false",
            *arguments,
        ],
        cwd=repo,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return os.fsdecode(done.stdout).strip()


def is_plain(path: str) -> bool:
    """Whether a path can stand in running text."""
    return Path(path).name not in ODD and not path.endswith(".bin")


def new_path(step: Step, taken: set[str], *, odd: bool = True) -> str:
    while True:
        name = (
            step.rng.choice(ODD)
            if odd and step.rng.random() < 0.12
            else (f"{step.rng.choice(WORDS)}_{step.rng.randrange(10_000)}.{step.rng.choice(ENDINGS)}")
        )
        path = step.rng.choice(FOLDERS) + name
        if path.casefold() not in taken:
            taken.add(path.casefold())
            return path


def text(rng: random.Random, count: int) -> bytes:
    return "".join(f"{rng.choice(WORDS)} {rng.randrange(10**9)}\n" for _ in range(count)).encode()


def make_step(folder: Path, seed: int) -> Step:
    """A repository with a base commit, a real change on top of it, checks with known ends, and claims."""
    step = Step(repo=folder, rng=random.Random(seed))
    rng = step.rng
    taken: set[str] = set()
    for _ in range(rng.randrange(8, 16)):
        step.before[new_path(step, taken)] = text(rng, rng.randrange(8, 60))
    if rng.random() < 0.4:
        step.before["assets/logo.bin"] = bytes(rng.randrange(256) for _ in range(200)) + b"\0"
    make_checks(step)
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "--template=")
    write(folder, step.before)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    step.base = git(folder, "rev-parse", "HEAD")
    change(step, taken)
    if rng.random() < 0.3:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", "work")
        step.commit = git(folder, "rev-parse", "HEAD")
    plant(step, taken)
    return step


def make_checks(step: Step) -> None:
    rng = step.rng
    step.tests = rng.randrange(2, 40)
    step.failing = rng.choice((0, 0, 1, 2))
    body = "import unittest\n\n\nclass Tests(unittest.TestCase):\n"
    for number in range(step.tests + step.failing):
        body += f"    def test_{number}(self):\n        self.assertTrue({number < step.tests})\n\n"
    step.before["checks/test_all.py"] = body.encode()
    lint, build = rng.choice((0, 0, 1)), rng.choice((0, 0, 2, 3))
    step.before["checks/flake8"] = f"exit {lint}\n".encode()
    step.before["checks/build.sh"] = f"echo building\nexit {build}\n".encode()
    step.codes = {"sh checks/build.sh": build}
    if rng.random() < 0.7:
        step.codes["python3 -m unittest discover -q -s checks"] = 1 if step.failing else 0
    if rng.random() < 0.7:
        step.codes["./checks/flake8 src"] = lint


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"#!/bin/sh\n" + content if name == "checks/flake8" else content)
        if name == "checks/flake8":
            path.chmod(0o755)


def change(step: Step, taken: set[str]) -> None:
    """A few additions, edits, removals and renames, done to the files and written down."""
    rng, repo = step.rng, step.repo
    left = [path for path in step.before if not path.startswith("checks/")]
    rng.shuffle(left)
    step.after = dict(step.before)
    for _ in range(rng.randrange(1, 4)):
        path = new_path(step, taken)
        step.added.append(path)
        step.after[path] = text(rng, rng.randrange(1, 40)) if rng.random() < 0.9 else b"\0\1\2bin"
    for _ in range(rng.randrange(1, 3)):
        path = left.pop()
        step.modified.append(path)
        if b"\0" in step.after[path]:
            step.after[path] += b"\0edited"
            continue
        rows = step.after[path].split(b"\n")
        rows[rng.randrange(len(rows) - 1)] = b"edited %d" % rng.randrange(10**9)
        step.after[path] = b"\n".join(rows)
    for _ in range(rng.randrange(0, 3)):
        path = left.pop()
        step.deleted.append(path)
        del step.after[path]
    if rng.random() < 0.5 and len(left) > 2:
        old, new = left.pop(), new_path(step, taken, odd=False)
        step.renamed.append((old, new))
        step.after[new] = step.after.pop(old) + (b"edited\n" if rng.random() < 0.5 else b"")
    step.same = left
    for path in step.before.keys() - step.after.keys():
        (repo / path).unlink()
    write(repo, {path: body for path, body in step.after.items() if step.before.get(path) != body})


def plant(step: Step, taken: set[str]) -> None:
    """True and false claims of every kind that this step has room for."""
    rng = step.rng
    absent = [new_path(step, taken, odd=False) for _ in range(4)]
    for path in step.added:
        add(step, "created", path, True)
    for path in rng.sample(step.modified, k=len(step.modified)):
        add(step, "modified", path, True, lines=true_lines(step, path))
    for path in step.deleted:
        add(step, "deleted", path, True)
    for old, new in step.renamed:
        add(step, "renamed", new, True, old=old)
    plant_lies_about_files(step, absent)
    plant_places(step, absent[3])
    plant_results(step)


def plant_lies_about_files(step: Step, absent: list[str]) -> None:
    rng = step.rng
    if rng.random() < 0.5:
        add(step, "created", absent[0], False, variant="absent")
    if rng.random() < 0.4:
        add(step, "created", rng.choice(step.same or step.modified), False, variant="there before")
    if rng.random() < 0.4 and step.same:
        add(step, "modified", step.same[0], False, variant="unchanged")
    if rng.random() < 0.2:
        add(step, "modified", absent[1], False, variant="absent")
    if rng.random() < 0.4:
        path = rng.choice(step.modified)
        if b"\0" not in step.after[path]:
            count = step.after[path].count(b"\n")
            step.planted = [each for each in step.planted if each.subject != path]
            add(
                step,
                "modified",
                path,
                False,
                lines=f"{rng.randrange(1, count)}-{count + rng.randrange(1, 90)}",
                variant="past the end",
            )
    if rng.random() < 0.4 and len(step.same) > 1:
        add(step, "deleted", step.same[1], False, variant="still there")
    if rng.random() < 0.3 and len(step.same) > 2:
        add(step, "renamed", absent[2], False, old=step.same[2], variant="not done")


def true_lines(step: Step, path: str) -> str | None:
    if step.rng.random() < 0.5 or b"\0" in step.after[path]:
        return None
    rows, old = step.after[path].split(b"\n"), step.before[path].split(b"\n")
    at = next(n for n, (a, b) in enumerate(zip(rows, old, strict=True), 1) if a != b)
    return f"{max(1, at - 2)}-{min(len(rows) - 1, at + 2)}"


def plant_places(step: Step, absent: str) -> None:
    rng = step.rng
    if rng.random() < 0.5:
        add(step, "exists", rng.choice([*step.modified, *step.added]), True)
    if rng.random() < 0.4:
        add(step, "exists", absent if rng.random() < 0.5 or not step.deleted else step.deleted[0], False)


def plant_results(step: Step) -> None:
    rng = step.rng
    for command, code in step.codes.items():
        if "build" in command and rng.random() < 0.7:
            is_true = code == 0 or rng.random() < 0.4
            add(step, "ran", command, is_true, code=code if is_true else 0)
        elif "unittest" in command and rng.random() < 0.8:
            plant_tests(step)
        elif "flake8" in command and rng.random() < 0.8:
            add(step, "clean", "lint", code == 0)
    if rng.random() < 0.4:
        code = rng.choice((0, 1, 2))
        step.log.append(CommandRun(command="cd web && npm run build", exit_code=code, by=RunBy.AGENT))
        is_true = rng.random() < 0.5
        add(step, "ran", "npm run build", is_true, code=code if is_true else code + 1)
    if step.commit and rng.random() < 0.7:
        add(step, "committed", step.commit[: rng.randrange(7, 13)], True)
    elif rng.random() < 0.3:
        add(step, "committed", "0badc0de" + str(rng.randrange(1000, 9999)), False)
    add(step, "completed", "outcome", all(code == 0 for code in step.codes.values()))


def plant_tests(step: Step) -> None:
    rng = step.rng
    if step.failing:
        count = rng.choice((None, step.tests, step.tests + step.failing))
        add(step, "tests", "tests", False, count=count, variant="failing")
    elif rng.random() < 0.5:
        add(step, "tests", "tests", True, count=rng.choice((None, step.tests)))
    else:
        add(step, "tests", "tests", False, count=step.tests + rng.randrange(1, 20), variant="wrong number")


def add(step: Step, kind: str, subject: str, is_true: bool, **more: Any) -> None:
    said = "all tests" if kind == "tests" and more.get("count") is None else kind
    shown = subject if step.rng.random() < 0.5 else f"`{subject}`"
    sentence = (
        step.rng.choice(SAID[said]).format(
            p=shown, o=more.get("old"), c=subject, e=more.get("code"), n=more.get("count"), s=subject
        )
        if said in SAID
        else ""
    )
    step.planted.append(Planted(kind=kind, subject=subject, is_true=is_true, sentence=sentence, **more))


def tell(step: Step) -> tuple[str, list[Planted], set[str]]:
    """The handoff, the claims that stand in it, and the changes that it is silent about."""
    rng = step.rng
    planted = [each for each in step.planted if each.kind == "completed" or rng.random() < 0.9]
    style = rng.choice(("yaml", "json", "four", "six", "sections", "prose"))
    if style not in ("yaml", "json"):
        planted = [each for each in planted if can_be_said(each, style)]
    nothing: list[str] = []
    if step.same:
        untouched = [path for path in step.same if is_plain(path)] or ["src/nowhere_1.py"]
        nothing = [
            sentence.format(p=f"src/never_{rng.randrange(99)}.py", q=rng.choice(untouched))
            for sentence in rng.sample(NOTHING, 3)
        ]
    written = {
        "yaml": as_record,
        "json": as_record,
        "four": as_record,
        "six": as_record,
        "sections": as_sections,
        "prose": as_prose,
    }[style](step, planted, nothing, style)
    named = {each.subject for each in planted} | {each.old for each in planted}
    changed = {*step.added, *step.modified, *step.deleted, *(new for _, new in step.renamed)}
    silent = {path for path in changed - named if Path(path).name not in written}
    return written, planted, silent


def can_be_said(claim: Planted, style: str) -> bool:
    if claim.kind in ("completed", "exists"):
        return style == "sections" and is_plain(claim.subject)
    if claim.lines is not None and claim.variant == "past the end":
        return style == "sections" and is_plain(claim.subject)
    return all(is_plain(path) for path in (claim.subject, claim.old or "")) or claim.kind == "ran"


def as_record(step: Step, planted: list[Planted], nothing: list[str], style: str) -> str:
    """The record as Segue writes it; files in their own fields where the notation has them."""
    rng = step.rng
    typed = style in ("yaml", "json")
    values: dict[str, Any] = defaultdict(list)
    done = values["what_was_done"]
    for claim in planted:
        path = spelled(step, claim.subject) if typed else claim.subject
        if claim.kind == "completed":
            values["outcome"] = "completed"
        elif claim.kind == "exists":
            if rng.random() < 0.5:
                values["dependencies_for_next"].append({"file": path, "reason": "holds the core"})
            else:
                values["patterns_discovered"].append(
                    {"pattern": f"names as in {rng.random()}", "location": path}
                )
        elif typed and claim.kind == "created" and (not is_plain(path) or rng.random() < 0.7):
            values["files_created"].append({"path": path, "purpose": "the core"})
        elif typed and claim.kind == "modified" and (claim.lines or not is_plain(path) or rng.random() < 0.7):
            values["files_modified"].append({"path": path, "lines": claim.lines, "change_type": "modify"})
        elif typed and claim.kind == "deleted" and (not is_plain(path) or rng.random() < 0.7):
            values["files_modified"].append({"path": path, "change_type": "delete"})
        elif typed and claim.kind == "renamed" and not is_plain(claim.old or ""):
            values["files_modified"].append({"path": f"{claim.old} -> {path}", "change_type": "refactor"})
        elif typed and claim.kind == "ran" and rng.random() < 0.7:
            values["commands_run"].append({"command": claim.subject, "exit_code": claim.code})
        else:
            done.append(claim.sentence)
    done += nothing
    rng.shuffle(done)
    values["suggested_next_steps"] = [{"step": "Add src/later.py"}, {"step": "Delete everything in vendor/"}]
    return render_handoff(Handoff.model_validate(values), style)


def spelled(step: Step, path: str) -> str:
    """The same path as other agents would write it."""
    others = [path, path, "./" + path, str(step.repo / path), path.replace("/", "\\")]
    name = Path(path).name
    known = {*step.before, *step.after}
    if is_plain(path) and sum(Path(each).name == name for each in known) == 1:
        others.append(name)
    return step.rng.choice(others) if is_plain(path) else path


def as_sections(step: Step, planted: list[Planted], nothing: list[str], style: str) -> str:
    """Markdown as agents write it, with lists of files."""
    del style
    parts: dict[str, list[str]] = defaultdict(list)
    for claim in planted:
        is_listed = step.rng.random() < 0.5 or claim.variant == "past the end"
        if claim.kind == "completed":
            parts["Outcome"].append("completed")
        elif claim.kind == "exists":
            parts["Dependencies for Next"].append(f"- `{claim.subject}`: holds the core")
        elif claim.kind == "created" and is_listed:
            parts["Files Created"].append(f"- `{claim.subject}`: the core")
        elif claim.kind == "modified" and is_listed:
            lines = f" (lines {claim.lines})" if claim.lines else ""
            parts["Files Modified"].append(f"- `{claim.subject}`{lines}: shorter names")
        elif claim.kind == "deleted" and is_listed:
            parts["Files Modified"].append(f"- `{claim.subject}` (deleted)")
        else:
            parts["What Was Done"].append(f"- {claim.sentence}")
    parts["What Was Done"] += [f"- {sentence}" for sentence in nothing]
    parts["Next Steps"] += ["- Add src/later.py", "- All 99 tests pass"]
    return (
        "\n\n".join(f"## {heading}\n\n" + "\n".join(lines) for heading, lines in parts.items() if lines)
        + "\n"
    )


def as_prose(step: Step, planted: list[Planted], nothing: list[str], style: str) -> str:
    """Paragraphs, with no heading at all."""
    del style
    told = [each.sentence.rstrip(".") + "." for each in planted if each.sentence] + nothing
    step.rng.shuffle(told)
    cut = step.rng.randrange(len(told) + 1) if told else 0
    return "Here is where I am.\n\n" + " ".join(told[:cut]) + "\n\n" + " ".join(told[cut:]) + "\n"


def key_of(kind: str, subject: str, repo: Path) -> tuple[str, str]:
    """What a claim is about, however its path is spelled."""
    bare = subject.strip("`").replace("\\", "/").removeprefix(str(repo) + "/").removeprefix("./")
    if kind in ("clean", "completed"):
        return kind, ""
    return kind, Path(bare).name if kind in FILE_KINDS else bare


FILE_KINDS = ("created", "modified", "deleted", "renamed", "exists")


@dataclass
class Result:
    """What the ledger made of one step."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def judge_step(folder: Path, seed: int) -> Result:
    step = make_step(folder, seed)
    written, planted, silent = tell(step)
    evidence = collect_evidence(step.repo, step.base)
    checks = tuple(run_check(command, step.repo, seconds=60) for command in step.codes)
    for run in checks:
        if run.exit_code != step.codes[run.command]:
            raise SystemExit(
                f"seed {seed}: {run.command} ended with {run.exit_code}: {run.output} {run.fault}"
            )
    evidence = replace(evidence, checks=checks, commands=tuple(step.log), is_log_whole=True)
    ledger = verify_claims(extract_handoff(written), evidence, source=written)
    return score(step, planted, silent, ledger, f"seed {seed}\n{written}")


def score(step: Step, planted: list[Planted], silent: set[str], ledger: Ledger, story: str) -> Result:
    result = Result()
    verdicts: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for entry in ledger.entries:
        verdicts[key_of(entry.claim.kind, entry.claim.subject, step.repo)].append(entry)
    lies = {key_of(each.kind, each.subject, step.repo) for each in planted if not each.is_true}
    for each in planted:
        key = key_of(each.kind, each.subject, step.repo)
        # A test claim may be there twice, once with a number; the one that was planted counts.
        found = [e for e in verdicts[key] if each.kind != "tests" or e.claim.count == each.count]
        found = [e for e in found if each.kind != "ran" or e.claim.exit_code == each.code]
        verdict = str(found[0].verdict) if found else "not found"
        result.counts[each.kind, f"{'true' if each.is_true else 'false'} {verdict}"] += 1
        if (each.is_true and verdict == "refuted") or (not each.is_true and verdict != "refuted"):
            result.wrong.append(
                f"{'true' if each.is_true else 'false'} but {verdict}: {each}\n{found}\n{story}"
            )
    for key, entries in verdicts.items():
        for entry in entries:
            if (
                entry.verdict == "refuted"
                and key not in lies
                and not any(key == key_of(each.kind, each.subject, step.repo) for each in planted)
            ):
                result.counts[key[0], "true refuted"] += 1
                result.wrong.append(f"nobody claimed it: {entry}\n{story}")
    told = set(ledger.unmentioned)
    result.counts["silence", "false refuted"] += len(silent & told)
    result.counts["silence", "false not found"] += len(silent - told)
    result.counts["silence", "true refuted"] += len(told - silent)
    changed = {*step.added, *step.modified, *step.deleted, *(new for _, new in step.renamed)}
    result.counts["silence", "true confirmed"] += len(changed - silent - told)
    if told != silent:
        result.wrong.append(f"unmentioned {told}, silent about {silent}\n{story}")
    return result


def main() -> None:
    """Makes the steps, judges them, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1, help="which steps are made")
    parser.add_argument("--steps", type=int, default=300, help="how many steps are made")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--show", action="store_true", help="print every step that went wrong")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="segue-lies-") as folder, ThreadPoolExecutor(3) as pool:
        seeds = range(options.seed * 1_000_000, options.seed * 1_000_000 + options.steps)
        results = list(pool.map(lambda seed: judge_step(Path(folder).resolve() / str(seed), seed), seeds))
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        counts.update(result.counts)
    if options.show:
        for wrong in [each for result in results for each in result.wrong]:
            print(wrong, end="\n----\n", file=sys.stderr)
    sys.exit(report(counts, options.steps, time.monotonic() - began, as_json=options.json))


def report(counts: Counter[tuple[str, str]], steps: int, seconds: float, *, as_json: bool) -> int:
    rows = []
    for kind in [*dict.fromkeys(kind for kind, _ in sorted(counts)), "all"]:
        of = {
            end: sum(n for (k, e), n in counts.items() if e == end and kind in (k, "all"))
            for _, end in counts
        }
        false = sum(n for end, n in of.items() if end.startswith("false"))
        true = sum(n for end, n in of.items() if end.startswith("true"))
        rows.append(
            {
                "kind": kind,
                "true": true,
                "true refuted": of.get("true refuted", 0),
                "true unverifiable": of.get("true unverifiable", 0),
                "true not found": of.get("true not found", 0),
                "false": false,
                "false refuted": of.get("false refuted", 0),
                "refuted %": round(100 * of.get("false refuted", 0) / false, 2) if false else None,
                "false unverifiable": of.get("false unverifiable", 0),
                "false not found": of.get("false not found", 0),
            }
        )
    if as_json:
        print(json.dumps({"steps": steps, "seconds": round(seconds, 1), "kinds": rows}, indent=2))
    else:
        print("  ".join(f"{name:>9.9}" if at else f"{name:<10}" for at, name in enumerate(rows[0])))
        for row in rows:
            print("  ".join(f"{v!s:>9}" if at else f"{v:<10}" for at, v in enumerate(row.values())))
        print(f"{steps} steps in {seconds:.0f} s")
    last = rows[-1]
    return 0 if not last["true refuted"] and (float(str(last["refuted %"] or 0))) >= 99 else 1


if __name__ == "__main__":
    main()
