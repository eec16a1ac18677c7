"""Makes cases from a world: what is true of it, and false siblings of every kind. Words come later."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

from open_world.case import ACT, Case, false_case, some_of, true_case
from open_world.facts import Dependency, File
from open_world.worlds import Run, Symbol, World


def cases_of(world: World, rng: random.Random) -> list[Case]:
    """Every kind of case that the world has room for."""
    return [case for make in _MAKERS for case in make(world, rng)]


def checked_cases_of(world: World, rng: random.Random) -> list[Case]:
    """What can be said of a world whose tests Segue runs itself."""
    run = world.runs[-1]
    shown: dict[str, str | int | list[str]] = {"c": run.command}
    exits = [
        true_case("exit", **shown, e=run.exit_code),
        false_case("exit", "wrong exit code", "e", **shown, e=1 - run.exit_code),
    ]
    return [*_results(world, rng), *exits]


def _files(world: World, rng: random.Random) -> Iterator[Case]:
    by = {status: [each.path for each in world.files(status)] for status in "AMD"}
    for kinds, status, wrong in (
        (
            ("created", "listed_created"),
            "A",
            (("changed, not new", by["M"], ACT), ("unchanged", world.untouched, "p")),
        ),
        (("modified", "listed_modified"), "M", (("unchanged", world.untouched, "p"),)),
        (
            ("deleted", "listed_deleted"),
            "D",
            (("still there", by["M"], ACT), ("unchanged", world.untouched, "p"), ("new", by["A"], ACT)),
        ),
    ):
        for kind in kinds:
            for path in some_of(rng, by[status], 2):
                yield true_case(kind, p=path)
            for variant, paths, false in wrong:
                for path in some_of(rng, paths):
                    # Either the act or the file is the false part of "created X" where X did not change.
                    yield false_case(kind, variant, false, ACT, p=path)
            yield false_case(kind, "no such file", "p", p=world.invented_path(rng))


def _renames(world: World, rng: random.Random) -> Iterator[Case]:
    for each in world.files("R"):
        assert each.old is not None
        yield true_case("renamed", o=each.old, p=each.path)
        yield false_case("renamed", "other way round", ACT, "o+p", o=each.path, p=each.old)
        yield false_case("renamed", "wrong target", "p", o=each.old, p=world.invented_path(rng))
    for path in some_of(rng, world.untouched):
        yield false_case("renamed", "not renamed", "o+p", "p", o=path, p=world.invented_path(rng))
    for gone, new in zip(some_of(rng, world.files("M")), some_of(rng, world.untouched), strict=False):
        yield false_case("renamed", "both are there", ACT, "o+p", o=gone.path, p=new)


def _sets(world: World, rng: random.Random) -> Iterator[Case]:
    changed = world.changed
    for path in some_of(rng, world.untouched, 2):
        yield true_case("untouched", p=path)
    for path in some_of(rng, changed, 2):
        yield false_case("untouched", "changed", "p", ACT, p=path)
    if world.files("R"):
        return
    count = len(changed)
    is_plain = not world.files("AD")  # whether a new or deleted file was "edited" can be argued about
    yield true_case("files_count", n=count)
    yield false_case("files_count", "wrong count", "n", n=count + rng.choice((1, 2, 5)))
    if count > 1:
        yield false_case("files_count", "too few", "n", n=count - 1)
        yield false_case("only", "others changed", ACT, "p", p=rng.choice(changed))
    elif is_plain:
        yield true_case("only", p=changed[0])
        for path in some_of(rng, world.untouched):
            yield false_case("only", "wrong file", "p", p=path)
    if 2 <= count <= 4 and is_plain:
        yield true_case("no_others", list=changed)
    if 3 <= count <= 5:
        yield false_case("no_others", "one left out", ACT, list=rng.sample(changed, k=count - 1))
    if 2 <= count <= 4 and world.untouched:
        wrong = rng.choice(world.untouched)
        yield false_case("no_others", "one did not change", "q", list=[*changed[1:], wrong], q=wrong)


def _pairs(world: World, rng: random.Random) -> Iterator[Case]:
    paths = [each.path for each in world.files("M")]
    if len(paths) > 1:
        first, second = rng.sample(paths, k=2)
        yield true_case("file_pair", p=first, q=second)
    for path in some_of(rng, paths):
        yield true_case("fixed_in", p=path)
        for other in some_of(rng, world.untouched):
            yield false_case("file_pair", "half true", "q", p=path, q=other)
            yield false_case("file_pair", "half true, the first", "p", p=other, q=path)
        yield false_case("file_pair", "half true, no such file", "q", p=path, q=world.invented_path(rng))
    for path in some_of(rng, world.untouched, 2):
        yield false_case("fixed_in", "unchanged", "p", p=path)
    yield false_case("fixed_in", "no such file", "p", p=world.invented_path(rng))


_CODE = ("function", "method", "class", "type")


def _shown(symbol: Symbol) -> dict[str, str | int | list[str]]:
    return {"s": symbol.name, "p": symbol.path, "kind": symbol.definition.kind}


def _symbols(world: World, rng: random.Random) -> Iterator[Case]:
    fates = {fate: world.symbols(fate, *_CODE) for fate in ("added", "removed", "changed", "same")}
    for kind, fate, wrong in (
        ("symbol_added", "added", ("removed", "changed", "same")),
        ("symbol_removed", "removed", ("added", "changed", "same")),
        ("symbol_changed", "changed", ("same",)),
    ):
        for each in some_of(rng, fates[fate], 2):
            yield true_case(kind, **_shown(each))
            for path in some_of(rng, [one for one in world.untouched if _is_source(world, one)]):
                yield false_case(kind, "wrong file", "p", "s", **{**_shown(each), "p": path})
        for other in wrong:
            for each in some_of(rng, fates[other]):
                yield false_case(kind, f"was {other}", "s", ACT, **_shown(each))
        for file in some_of(rng, [each for each in world.files("M") if each.language]):
            yield false_case(
                kind, "no such name", "s", s=world.invented_name(rng), p=file.path, kind="function"
            )
    for each in some_of(rng, [one for one in fates["removed"] if _is_gone(world, one.name)], 2):
        yield true_case("unused", s=each.name)
    for each in some_of(rng, [*fates["same"], *fates["changed"]], 2):
        yield false_case("unused", "still there", "s", ACT, s=each.name)


def _is_source(world: World, path: str) -> bool:
    return any(each.path == path and each.language for each in world.commit.context)


def _is_gone(world: World, name: str) -> bool:
    return not any(name in text for text in world.after.values())


def _renamed_symbols(world: World, rng: random.Random) -> Iterator[Case]:
    for each in world.symbols("renamed"):
        old = each.definition.old
        assert old is not None
        shown = {"p": each.path, "kind": each.definition.kind}
        yield true_case("symbol_renamed", s=old, t=each.name, **shown)
        yield false_case("symbol_renamed", "other way round", ACT, "s+t", s=each.name, t=old, **shown)
        yield false_case("symbol_renamed", "wrong target", "t", s=old, t=world.invented_name(rng), **shown)
    for each in some_of(rng, world.symbols("same", "function", "method", "class")):
        like = "class" if each.definition.kind == "class" else "function"
        yield false_case(
            "symbol_renamed", "not renamed", "s+t", "t", **_shown(each), t=world.invented_name(rng, like)
        )
    moved = {each.name: each for each in world.symbols("moved in")}
    for file in world.commit.files:
        for one in file.defs:
            if one.fate == "moved out" and one.name in moved:
                where: dict[str, str | int | list[str]] = {"s": one.name, "kind": one.kind}
                yield true_case("symbol_moved", **where, p=file.path, q=moved[one.name].path)
                yield false_case(
                    "symbol_moved", "other way round", "q", "p", **where, p=moved[one.name].path, q=file.path
                )
                for path in some_of(rng, [each for each in world.untouched if _is_source(world, each)]):
                    yield false_case("symbol_moved", "wrong target", "q", **where, p=file.path, q=path)
    for each in some_of(rng, world.symbols("same", "function")):
        for file in some_of(rng, [one for one in world.files("M") if one.language and one.path != each.path]):
            yield false_case("symbol_moved", "not moved", "s+q", "q", **_shown(each), q=file.path)


def _more_symbols(world: World, rng: random.Random) -> Iterator[Case]:
    by_file: dict[str, list[Symbol]] = {}
    for each in world.symbols("added", *_CODE):
        by_file.setdefault(each.path, []).append(each)
    for found in by_file.values():
        first = rng.choice(found)
        if len(found) > 1:
            first, second = rng.sample(found, k=2)
            yield true_case("pair", **_shown(first), t=second.name)
        yield false_case("pair", "half true", "t", **_shown(first), t=world.invented_name(rng))
        for same in some_of(rng, [one for one in world.symbols("same", *_CODE) if one.path == first.path]):
            yield false_case("pair", "half true, there before", "t", **_shown(first), t=same.name)
    for each in world.symbols("changed", "constant"):
        if each.definition.value is None:
            continue
        old, new = each.definition.value
        shown = {"k": each.name, "p": each.path}
        yield true_case("constant", **shown, x=new, y=old)
        yield false_case("constant", "wrong value", "x", **shown, x=new + rng.randrange(1, 90), y=old)
        yield false_case("constant", "other way round", "x", "y", **shown, x=old, y=new)
        yield false_case(
            "constant", "wrong value before", "y", **shown, x=new, y=old + rng.randrange(900, 990)
        )
    for each in world.symbols("same", "constant"):
        if each.definition.value is not None:
            value = each.definition.value[0]
            yield false_case(
                "constant", "unchanged", "x", "k", k=each.name, p=each.path, x=value + 1000, y=value
            )


def _tests(world: World, rng: random.Random) -> Iterator[Case]:
    added = world.symbols("added", "test")
    for each in some_of(rng, added, 2):
        yield true_case("test_added", s=each.name, p=each.path)
        for path in some_of(rng, [one for one in world.untouched if _is_source(world, one)]):
            yield false_case("test_added", "wrong file", "p", "s", s=each.name, p=path)
    for each in some_of(rng, world.symbols("same", "test")):
        yield false_case("test_added", "there before", "s", ACT, s=each.name, p=each.path)
    for each in some_of(rng, world.symbols("changed", "test")):
        yield false_case("test_added", "changed, not new", "s", ACT, s=each.name, p=each.path)
    files = [
        each for each in world.files("AM") if each.language and any(one.kind == "test" for one in each.defs)
    ]
    for file in files:
        yield false_case("test_added", "no such name", "s", s=world.invented_name(rng, "test"), p=file.path)
        count = _new_tests(file)
        if count and not all(world.is_clear(one.name) for one in file.defs if one.fate == "added"):
            continue
        if count:
            yield true_case("tests_count", n=count, p=file.path)
            yield false_case("tests_count", "wrong count", "n", n=count + rng.choice((1, 2, 4)), p=file.path)
        else:
            yield false_case("tests_count", "none", "n", ACT, n=rng.choice((1, 2, 3)), p=file.path)


def _new_tests(file: File) -> int:
    return sum(each.kind == "test" and each.fate == "added" for each in file.defs)


_NEVER = (
    "npm run e2e",
    "make release",
    "pytest tests/integration --slow",
    "tox -e py312",
    "cargo bench",
    "go test -race ./...",
)


def _commands(world: World, rng: random.Random) -> Iterator[Case]:
    last = {each.command: each for each in world.runs}
    for each in last.values():
        ends = {one.exit_code for one in world.runs if one.command == each.command}
        yield true_case("ran", c=each.command)
        yield true_case("exit", c=each.command, e=each.exit_code)
        wrong = [code for code in (0, 1, 2) if code not in ends]
        yield false_case(
            "exit", "wrong exit code", "e", c=each.command, e=0 if 0 in wrong else rng.choice(wrong)
        )
    for command in some_of(rng, [each for each in _NEVER if each not in last], 2):
        yield false_case("ran", "never run", "c", c=command)
    yield false_case("exit", "never run", "c", "e", c=rng.choice(_NEVER), e=0)


def _results(world: World, rng: random.Random) -> Iterator[Case]:
    run = world.tests
    if run is None or run.passed is None:
        return
    shown: dict[str, str | int | list[str]] = {"c": run.command}
    seen = {one.passed for one in world.runs}
    yield true_case("passed", **shown, n=run.passed)
    yield true_case("n_of_m", **shown, n=run.passed, m=run.collected)
    yield false_case("passed", "wrong count", "n", **shown, n=run.collected + rng.choice((1, 2, 7)))
    yield false_case(
        "n_of_m", "wrong total", "m", **shown, n=run.passed, m=run.collected + rng.choice((1, 2, 7))
    )
    if run.skipped and run.passed + run.skipped not in seen:
        yield false_case("passed", "skipped counted", "n", **shown, n=run.passed + run.skipped)
        yield false_case(
            "n_of_m", "skipped counted", "n", **shown, n=run.passed + run.skipped, m=run.collected
        )
        yield false_case("n_tests_pass", "skipped counted", "n", ACT, **shown, n=run.passed + run.skipped)
    if run.failed:
        yield false_case("n_of_m", "failed counted", "n", **shown, n=run.passed + run.failed, m=run.collected)
    yield from _all_pass(run, rng, shown)


def _all_pass(run: Run, rng: random.Random, shown: dict[str, str | int | list[str]]) -> Iterator[Case]:
    if run.skipped:
        yield false_case("none_skipped", "some were", ACT, **shown)
    else:
        yield true_case("none_skipped", **shown)
    if run.failed:
        yield false_case("tests_pass", "some fail", ACT, **shown)
        yield false_case("n_tests_pass", "some fail", "n", ACT, **shown, n=run.collected)
    elif not run.skipped:
        assert run.passed is not None
        yield true_case("tests_pass", **shown)
        yield true_case("n_tests_pass", **shown, n=run.passed)
        yield false_case("n_tests_pass", "wrong count", "n", **shown, n=run.passed + rng.choice((1, 2, 7)))


def _lines(world: World, rng: random.Random) -> Iterator[Case]:
    for path in some_of(
        rng, [each.path for each in world.files("M") if world.numstat.get(each.path, (0, 0))[0]], 2
    ):
        added, gone = world.numstat[path]
        yield true_case("lines", n=added, p=path)
        wrong = added * 3 + rng.randrange(20, 200)
        yield false_case("lines", "far too many", "n", n=wrong, p=path)
        close = added + rng.choice((3, 4, 5))
        if close not in (gone, added + gone, world.after[path].count("\n")):
            yield false_case("lines", "a few too many", "n", n=close, p=path)


def _others(world: World, rng: random.Random) -> Iterator[Case]:
    names = Counter(each.name for each in world.commit.dependencies)
    for each in world.commit.dependencies:
        if names[each.name] > 1:
            continue
        manifest: dict[str, str | int | list[str]] = {"d": each.name, "p": each.manifest}
        old, new = _bare(each.before), _bare(each.after)
        if each.before is None:
            yield true_case("dep_added", **manifest, v=new)
            yield false_case("dep_added", "wrong version", "v", **manifest, v=_other(new))
        elif each.after is None:
            yield false_case("dep_added", "was removed", "d", ACT, **manifest, v=old)
        elif _numbers(new) > _numbers(old):  # the phrasings say that it was raised
            yield from _bumps(each, manifest, old, new)
    for dependency in some_of(rng, list(world.commit.dependencies)):
        where = dependency.manifest
        yield false_case("dep_added", "no such dependency", "d", d="quickmerge", p=where, v="2.1.0")
        yield false_case(
            "dep_bumped", "no such dependency", "d", d="quickmerge", p=where, w="2.0.0", v="2.1.0"
        )
    short = rng.choice((7, 8, 12, 40))
    yield true_case("commit", h=world.head[:short])
    yield false_case("commit", "no such commit", "h", h=f"{rng.getrandbits(160):040x}"[:short])
    yield false_case("commit", "the one before", "h", ACT, h=world.base[:short])


def _bumps(
    each: Dependency, manifest: dict[str, str | int | list[str]], old: str, new: str
) -> Iterator[Case]:
    del each
    yield true_case("dep_bumped", **manifest, w=old, v=new)
    yield false_case("dep_bumped", "wrong version", "v", **manifest, w=old, v=_other(new))
    yield false_case("dep_bumped", "other way round", "v", ACT, **manifest, w=new, v=old)
    yield false_case("dep_added", "there before", "d", ACT, **manifest, v=new)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _bare(version: str | None) -> str:
    return (version or "").lstrip("^~=><v ")


def _other(version: str) -> str:
    head, _, last = version.rpartition(".")
    digits = last if last.isdigit() else "1"
    return f"{head or '3'}.{int(digits) + 4}"


def _unknown(world: World, rng: random.Random) -> Iterator[Case]:
    for path in some_of(rng, [each.path for each in world.files("M")]):
        yield Case(kind="unknown", truth=None, slots={"p": path}, variant="no record can tell")
        yield Case(kind="unknown", truth=None, slots={"p": path}, variant="no record can tell")


_MAKERS: tuple[Callable[[World, random.Random], Iterator[Case]], ...] = (
    _files, _renames, _sets, _pairs, _symbols, _renamed_symbols, _more_symbols, _tests, _commands, _results,
    _lines, _others, _unknown,
)  # fmt: skip
