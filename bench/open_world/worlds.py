"""A world: one commit rebuilt as trees, with what its agent ran, and all that is true of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from open_world.facts import Commit, Definition, File
from open_world.trees import trees_of

_FIRST = (
    "retry",
    "lease",
    "cursor",
    "digest",
    "socket",
    "upload",
    "quorum",
    "banner",
    "shard",
    "ledger",
    "packet",
    "tenant",
)
_LAST = ("limit", "window", "budget", "delay", "depth", "count", "level", "span")
_ACTS = (
    "flush",
    "merge",
    "split",
    "trim",
    "fold",
    "drain",
    "probe",
    "align",
    "rotate",
    "rewind",
    "expand",
    "settle",
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A command that the agent ran, as its log shows it."""

    command: str
    exit_code: int
    output: str = ""
    passed: int | None = None
    failed: int = 0
    skipped: int = 0
    is_check: bool = False
    """Whether Segue runs it after the step; then it is not in the agent's log, and is run for real."""

    @property
    def collected(self) -> int:
        """All tests of the run."""
        return (self.passed or 0) + self.failed + self.skipped


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A definition with the file it is in."""

    definition: Definition
    path: str

    @property
    def name(self) -> str:
        """Its own name."""
        return self.definition.name


@dataclass(kw_only=True)
class World:
    """What happened in one step, known to the one who made it."""

    commit: Commit
    before: dict[str, str]
    after: dict[str, str]
    runs: list[Run]
    base: str = ""
    head: str = ""
    numstat: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Path -> lines that came and went, counted by git."""

    def files(self, status: str) -> list[File]:
        """The changed files with one of these states."""
        return [each for each in self.commit.files if each.status in status]

    @cached_property
    def untouched(self) -> list[str]:
        """Files that did not change."""
        return [each.path for each in self.commit.context]

    @cached_property
    def changed(self) -> list[str]:
        """Every path that changed, by its new name."""
        return [each.path for each in self.commit.files]

    @cached_property
    def every_path(self) -> set[str]:
        """All paths, of before and after."""
        return {*self.before, *self.after}

    @cached_property
    def base_names(self) -> Counter[str]:
        """How many paths have a base name."""
        return Counter(each.rsplit("/", 1)[-1] for each in self.every_path)

    def is_clear(self, name: str) -> bool:
        """Whether only one definition has this name, before and after."""
        return self._names[name] == 1

    @cached_property
    def _names(self) -> Counter[str]:
        files = (*self.commit.files, *self.commit.context)
        counted = Counter(one.name for each in files for one in each.defs if one.fate != "moved out")
        counted.update(one.old for each in files for one in each.defs if one.old)
        return counted

    def symbols(self, fate: str, *kinds: str) -> list[Symbol]:
        """Definitions of this fate, if no other has their name."""
        return list(self._symbols(fate, kinds))

    def _symbols(self, fate: str, kinds: tuple[str, ...]) -> Iterator[Symbol]:
        for each in (*self.commit.files, *self.commit.context):
            # Of a renamed file, both names are right for what left it.
            if each.language is None or each.status == "R":
                continue
            moved = {one.qualified for one in each.defs if one.fate != "same"}
            for one in each.defs:
                if one.fate != fate or (kinds and one.kind not in kinds) or self._names[one.name] > 1:
                    continue
                if one.name.startswith("__"):
                    continue
                # A class whose parts came, went or changed has itself changed.
                if any(other != one.qualified and other.startswith(one.qualified + ".") for other in moved):
                    continue
                yield Symbol(definition=one, path=each.path)

    def invented_name(self, rng: random.Random, like: str = "function") -> str:
        """A name that is nowhere."""
        while True:
            first, last = rng.choice(_ACTS), rng.choice(_FIRST)
            name = f"{first}_{last}"
            if like == "class":
                name = first.capitalize() + last.capitalize()
            elif like == "test":
                name = f"test_{first}_{last}"
            elif like == "constant":
                name = f"{last}_{rng.choice(_LAST)}".upper()
            if not any(name in text for text in (*self.before.values(), *self.after.values())):
                return name

    def invented_path(self, rng: random.Random) -> str:
        """A path that is nowhere, in a folder that is there."""
        like = rng.choice(sorted(self.every_path))
        folder, _, base = like.rpartition("/")
        ending = base.rpartition(".")[2] if "." in base else "py"
        while True:
            path = f"{folder}/" * bool(folder) + f"{rng.choice(_ACTS)}_{rng.choice(_FIRST)}.{ending}"
            if path not in self.every_path:
                return path

    @cached_property
    def tests(self) -> Run | None:
        """The last run of the tests."""
        return next((each for each in reversed(self.runs) if each.passed is not None), None)


def make_world(commit: Commit, seed: int) -> World:
    """A commit as a world. What the data has too little of (constants, renamed and moved names) is added."""
    rng = random.Random(f"{seed} {commit.number}")
    richer = _enrich(commit, rng)
    before, after = trees_of(richer)
    return World(commit=richer, before=before, after=after, runs=_runs(richer, rng))


def checked_worlds() -> list[World]:
    """Small suites, each with so many tests that pass, fail and are skipped, that a check runs for real."""
    made = []
    for number, (passed, failed, skipped) in enumerate(
        ((7, 0, 0), (12, 0, 0), (9, 2, 0), (5, 0, 3), (8, 1, 2))
    ):
        rows = ["import pytest", "", ""]
        for at in range(passed + failed + skipped):
            rows += ["@pytest.mark.skip"] * (at >= passed + failed)
            rows += [f"def test_part_{at}():", f"    assert {at} != {-1 if at < passed else at}", "", ""]
        after = {"app.py": "LEVEL = 2\n", "test_app.py": "\n".join(rows[:-1])}
        run = Run(
            command="python -m pytest -q -p no:cacheprovider",
            exit_code=1 if failed else 0,
            passed=passed,
            failed=failed,
            skipped=skipped,
            is_check=True,
        )
        commit = Commit(repository="checked", number=2000 + number, files=(), context=())
        made.append(World(commit=commit, before={**after, "app.py": "LEVEL = 1\n"}, after=after, runs=[run]))
    return made


def _enrich(commit: Commit, rng: random.Random) -> Commit:
    sources = [
        each for each in commit.files if each.language and each.status == "M" and "test" not in each.path
    ]
    extra: dict[str, list[Definition]] = {each.path: [] for each in sources}
    taken: set[str] = set()

    def name(first: tuple[str, ...], last: tuple[str, ...]) -> str:
        while True:
            made = f"{rng.choice(first)}_{rng.choice(last)}"
            if made not in taken:
                taken.add(made)
                return made

    for each in sources[:2]:
        values = rng.randrange(2, 60), rng.randrange(61, 900)
        same = rng.randrange(2, 900)
        extra[each.path] += [
            _extra("constant", name(_FIRST, _LAST).upper(), "changed", value=values),
            _extra("constant", name(_FIRST, _LAST).upper(), "same", value=(same, same)),
        ]
    if sources and rng.random() < 0.5:
        old, new = name(_ACTS, _FIRST), name(_ACTS, _LAST)
        extra[sources[0].path].append(_extra("function", new, "renamed", old=old))
    if len(sources) > 1 and sources[0].language == sources[1].language:
        moved = name(_ACTS, _LAST)
        extra[sources[0].path].append(_extra("function", moved, "moved out"))
        extra[sources[1].path].append(_extra("function", moved, "moved in"))
    files = tuple(replace(each, defs=(*each.defs, *extra.get(each.path, ()))) for each in commit.files)
    return replace(commit, files=files)


def _extra(
    kind: str, name: str, fate: str, *, old: str | None = None, value: tuple[int, int] | None = None
) -> Definition:
    return Definition(kind=kind, qualified=name, fate=fate, lines=9, old=old, value=value)


_TEST_COMMANDS = {
    "python": ("pytest -q", "python -m pytest", "pytest tests -x"),
    "javascript": ("npx jest", "npm test"),
    "typescript": ("npx vitest run", "npm test"),
    "go": ("go test -v ./...",),
    "rust": ("cargo test",),
}
_OTHERS = {
    "python": ("ruff check .", "mypy src", "python -m build"),
    "javascript": ("npx eslint .", "npm run build"),
    "typescript": ("npx tsc --noEmit", "npm run build"),
    "go": ("go vet ./...", "go build ./..."),
    "rust": ("cargo clippy", "cargo build --release"),
}


def _runs(commit: Commit, rng: random.Random) -> list[Run]:
    """What the agent ran: tests, sometimes twice with the last one counting, and other commands."""
    languages = [each.language for each in (*commit.files, *commit.context) if each.language]
    language = languages[0] if languages else "python"
    command = rng.choice(_TEST_COMMANDS[language])
    passed = rng.randrange(6, 90)
    failed = rng.choice((0, 0, 0, 1, 3))
    skipped = rng.choice((0, 0, 1, 2, 5))
    runs = []
    if rng.random() < 0.3:
        runs.append(_test_run(language, command, passed - 3, failed + 2, skipped))
    others = rng.sample(_OTHERS[language], k=rng.choice((1, 2)))
    runs += [Run(command=each, exit_code=rng.choice((0, 0, 1, 2))) for each in others]
    runs.insert(rng.randrange(1, len(runs) + 1), _test_run(language, command, passed, failed, skipped))
    return runs


def _test_run(language: str, command: str, passed: int, failed: int, skipped: int) -> Run:
    parts = [f"{n} {word}" for n, word in ((failed, "failed"), (passed, "passed"), (skipped, "skipped")) if n]
    total = passed + failed + skipped
    if language == "python":
        output = f"{', '.join(parts)} in 1.{passed:02}s\n"
    elif language == "go":
        rows = ["PASS"] * passed + ["FAIL"] * failed + ["SKIP"] * skipped
        output = "".join(f"--- {word}: TestPart{at} (0.00s)\n" for at, word in enumerate(rows))
    elif language == "rust":
        word = "FAILED" if failed else "ok"
        output = f"test result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured\n"
    else:
        output = f"Tests:       {', '.join(parts)}, {total} total\n"
    code = (101 if language == "rust" else 1) if failed else 0
    return Run(command=command, exit_code=code, output=output, passed=passed, failed=failed, skipped=skipped)
