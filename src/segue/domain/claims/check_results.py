"""Checks what is said of tests that ran: how many passed, failed, were skipped, or all of them."""

from __future__ import annotations

from dataclasses import replace

from segue.domain.claims.atoms import Atom, Case, by_words, contradicts, holds, unknown
from segue.domain.claims.check_commands import (
    PARTS,
    PLAIN,
    TESTS,
    TITLES,
    WHOLE,
    capped,
    commands_in,
    lows_of,
    ran_words,
)
from segue.domain.claims.counted import Counted, counted_in
from segue.domain.claims.lexicon import BAD, COUNT_NOUNS, FINE, GRAMMAR, NEGATIONS
from segue.domain.claims.runs import Tests, all_test_runs, is_whole_run, known_test_runs, may_have_run, shown
from segue.domain.claims.tokens import ENTITIES, WordKind, where
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import TestOutcome
from segue.domain.text.command_lines import purposes_of
from segue.domain.text.words import word_set


def check_results(case: Case) -> list[Atom]:
    """`12 passed`, `12 of 14 tests pass`, `none skipped`."""
    lows = lows_of(case)
    counted = [c for c in counted_in(case.tokens) if c.what in _COUNTED and c.start is None]
    is_result = any(low in FINE or low in BAD for low in lows)
    found = _plain_fraction(case, lows) if not counted else []
    for each in counted:
        what = each.what
        if what == "tests":
            is_told = is_result and _is_result_number(case, each)
            what = _what_follows(case, lows, each) if is_told else ""
        if what:
            found += _total(case, each) if each.is_total else [_count(case, each, what, lows)]
    return found


_COUNTED = frozenset({"passed", "failed", "skipped", "collected", "tests"})
_NOBODY_COUNTED = "no run of the tests is known that counted them"


def _counted_runs(case: Case, command: str | None = None) -> list[Tests]:
    return [run for run in known_test_runs(case.world.evidence, command) if run.passed is not None]


def _said_command(case: Case) -> str | None:
    """The command that a statement names, or the one that it is about."""
    commands = commands_in(case)
    return case.text(commands[0]) if commands else case.reading.statement.command


def _plain_fraction(case: Case, lows: list[str]) -> list[Atom]:
    """`Test results: 49/54`."""
    at = next(
        (n for n, t in enumerate(case.tokens) if t.total is not None and t.kind is WordKind.NUMBER), None
    )
    runs_tests = any("tests" in purposes_of(case.text(n)) for n in commands_in(case))
    if at is None or not (runs_tests or any(low in TESTS for low in lows)):
        return []
    each = Counted(at=at, noun=at, what="passed", value=case.tokens[at].value or 0)
    atom = _count(case, each, "passed", lows)
    return [replace(atom, covers=atom.covers | set(where(lows, PLAIN)))]


def _total(case: Case, each: Counted) -> list[Atom]:
    """The 14 of "of 14 tests 12 passed"."""
    runs = _counted_runs(case)
    for run in runs:
        if each.value in run.totals:
            lead = case.at(("of", "out"), (each.at - 1, each.at - 2))
            return [holds(run.told(), (each.at, each.noun, *lead), *run.pointers)]
    told = (f"{run.collected} tests were found; {run.told()}" for run in runs[-1:])
    return [contradicts(each, *runs[-1].pointers) for each in told]


_DENIED = word_set("no none nothing zero 0 neither without")
_OF_EXIT = word_set("exit-code exit-status code status exit exits rc exited ended returned")
_OF_TESTS = TESTS | word_set("nothing failures skips none skipped failed")


def none_of(case: Case) -> list[Atom]:
    """`no test was skipped`, `nothing failed`, `zero failures`."""
    lows = lows_of(case)
    kinds = {n: what for n, low in enumerate(lows) if (what := COUNT_NOUNS.get(low)) in ("skipped", "failed")}
    denied = [n for n in where(lows, _DENIED) if _OF_EXIT.isdisjoint(lows[max(n - 2, 0) : n])]
    deeds = [c for c in case.reading.clauses if c.relation not in (Relation.RAN, Relation.UNTOUCHED)]
    is_counted = any(t.value for t in case.tokens if t.low not in ("single", "one"))
    if not kinds or not denied or deeds or is_counted or _OF_TESTS.isdisjoint(lows):
        return []
    commands = commands_in(case)[:1]
    runs = _counted_runs(case, case.text(commands[0]) if commands else None)
    if not runs:
        return [unknown(_NOBODY_COUNTED)]
    run = runs[-1]
    if any(_value(run, what) != 0 for what in kinds.values()):
        return [contradicts(run.told(), *run.pointers)]
    if run.is_bad and any(low in FINE for low in lows):
        return []
    words = where(lows, PLAIN | FINE | {"single", "one", "last", "not"})
    return [holds(run.told(), (*commands, *kinds, *denied, *words), *run.pointers)]


_MAKES = (Relation.CREATED, Relation.ADDED, Relation.REMOVED, Relation.CHANGED)


def _is_result_number(case: Case, each: Counted) -> bool:
    """False for the 3 of "added 3 tests, all pass"."""
    around = (c for c in case.reading.clauses if c.first <= each.at <= c.last and c.relation in _MAKES)
    clause = next(around, None)
    return clause is None or not any(v < each.at for v in clause.verb)


def _has_labelled(case: Case, each: Counted) -> bool:
    """True if a later number has its label before it, and the label tells nothing of this one."""
    behind = range(max(each.noun, each.at) + 1, len(case.tokens))
    numbers = [n for n in behind if case.kind(n) is WordKind.NUMBER]
    return bool(numbers) and numbers[-1] not in {c.at for c in counted_in(case.tokens) if c.noun > c.at}


def _what_follows(case: Case, lows: list[str], each: Counted) -> str:
    """What a number of tests is said to have done; another number before that says it of a part."""
    has_total = case.tokens[each.at].total is not None
    if each.noun < each.at or _has_labelled(case, each):  # "Passing tests: 12", "59 tests; passing: 54"
        return "passed" if any(low in FINE for low in lows[: each.at]) else "collected"
    for n in range(each.noun + 1, min(each.noun + 8, len(lows))):
        low = lows[n]
        if low in NEGATIONS:
            return ""
        is_run = low in ("ran", "run") and lows[n + 1 : n + 2] and lows[n + 1] not in FINE
        if case.tokens[n].value is not None or ((low == "collected" or is_run) and not has_total):
            return "collected"
        if low == "skipped":
            return "skipped"
        if low in FINE or low in BAD:
            return "passed" if low in FINE else "failed"
    return "passed" if any(low in FINE for low in lows) else "collected"


def _count(case: Case, each: Counted, what: str, lows: list[str]) -> Atom:  # noqa: PLR0911
    token = case.tokens[each.at]
    if case.low(each.at - 1) in ("but", "except"):
        return unknown("it says how many are left out")
    command = _said_command(case)
    runs = _counted_runs(case, command)
    if not runs:
        return _number_without_run(case, command)
    every = [_value(r, what) for r in all_test_runs(case.world.evidence) if r.passed is not None]
    if any(case.low(n + 1) in ("run", "runs") for n in where(lows, _EARLIER)):
        return by_words(runs[-1].told()) if each.value in every else unknown("it tells of an earlier run")
    covers, glue = _around(case, each, what, lows)
    if part := _scope(case, each, lows):
        return _count_of_part(case, each, what, runs, part, covers)
    values = {_value(run, what) for run in runs} | {sum(_value(run, what) for run in runs)}
    run = runs[-1]
    if each.value not in values:
        if each.value in every:
            return by_words(run.told(), (), *run.pointers)
        is_part = case.is_rival or (case.reading.statement.follows and not glue)
        if is_part and each.value < max(values):
            return unknown(f"{run.told()}; the number may be that of a part")
        return contradicts(run.told(), *run.pointers)
    if token.total is not None and not any(token.total in r.totals for r in runs):
        return contradicts(f"{run.collected} tests were found; {run.told()}", *run.pointers)
    if glue and what == "passed" and run.is_bad:
        return contradicts(run.told(), *run.pointers)
    atom = holds(run.told(), covers, *run.pointers)
    return capped(case, atom) if what == "passed" else atom


_EARLIER = word_set("first initial earlier previous")


def _around(case: Case, each: Counted, what: str, lows: list[str]) -> tuple[list[int], list[int]]:
    """The words that a number of tests stands for, and those among them that say that it is all of them."""
    stop = next((n for n in range(each.at, len(lows)) if lows[n] in _STOPS), len(lows))
    results = (BAD if what == "collected" else FINE | BAD) | {"skipped", "collected"}
    ends = [n for n in where(lows, results) if each.at < n < min(stop, each.noun + 8)]
    glue = case.at(WHOLE, range(each.at - 2, each.noun))
    labels = [n for n in where(lows, TESTS) if ":" in case.low(n + 1)]
    for clause in case.reading.clauses:
        labels += case.at(TESTS, clause.words) if clause.relation is Relation.RAN else []
    plain = [n for n in where(lows, PLAIN) if each.at <= n < max(ends, default=each.noun)]
    words = [*where(lows, TITLES), *ran_words(case), *_same_result(case, what, lows[:stop])]
    covers = [each.at, each.noun, *each.exact, *ends, *glue, *plain, *commands_in(case)[:1], *labels, *words]
    return covers, glue


def _same_result(case: Case, what: str, lows: list[str]) -> list[int]:
    """The other words for the tests and their result, where one number tells it: "46 passing tests"."""
    if what != "passed" or len(counted_in(case.tokens)) > 1:
        return []
    return [n for n, low in enumerate(lows) if low in TESTS or low in FINE]


_STOPS = frozenset(";.") | {"\u2014", "\u2013", "--"}
"""Behind these, another sentence begins."""


def _number_without_run(case: Case, command: str | None) -> Atom:
    """Nobody counted. That no test was run does not make a statement about tests false."""
    evidence = case.world.evidence
    is_known = evidence.is_log_whole and not may_have_run(evidence, command or "pytest")
    told = "no test was run, as far as the log of the agent shows" if is_known else ""
    return unknown(told or "no run of the tests is known that counted them")


def _value(run: Tests, what: str) -> int:
    counts = {"passed": run.passed, "failed": run.failed, "skipped": run.skipped}
    return counts.get(what, run.collected) or 0


def _scope(case: Case, each: Counted, lows: list[str]) -> list[int]:
    """The words that say that the tests are only some of all: `the new tests`, `tests in a.py`."""
    near = range(each.at, min(len(lows), max(each.noun + 9, each.at + 1)))
    parts = [n for n in near if lows[n] in PARTS and n < each.noun + 1]
    places = [n for n in (*range(each.at), *near) if case.kind(n) in (WordKind.PATH, WordKind.NAME)]
    others = [n for n in _words(lows, range(each.at + 1, each.noun)) if lows[n] not in PLAIN | FINE | BAD]
    topics = [
        n
        for n in case.at(("for", "in", "on", "of"), near)
        if each.noun < n < len(lows) - 1
        and lows[n + 1] not in ("total", "all", "them", "these", "those")
        and (TESTS | {"run"}).isdisjoint(lows[n + 1 : n + 4])
    ]
    is_labelled = ":" in case.low(each.at - 1)
    labels = [n for n in _words(lows, range(each.at)) if is_labelled and lows[n] not in _NO_LABELS]
    return parts + places + others + topics + labels


_NO_LABELS = PLAIN | GRAMMAR | FINE | frozenset(COUNT_NOUNS) | TITLES


def _words(lows: list[str], span: range) -> list[int]:
    return [n for n in span if lows[n].isalpha()]


def _count_of_part(
    case: Case, each: Counted, what: str, runs: list[Tests], part: list[int], covers: list[int]
) -> Atom:
    paths = [n for n in part if case.kind(n) is WordKind.PATH]
    for run in runs:
        if paths and run.outcomes is not None:
            text = case.tokens[paths[0]].text
            inside = [
                o
                for test, o in run.outcomes.items()
                if text in test or text.rpartition("/")[2].rpartition(".")[0] in test
            ]
            value = sum(o is TestOutcome(what) for o in inside) if what != "collected" else len(inside)
            if inside:
                told = f"{value} tests of {text} {what}, {len(inside)} were found"
                if value == each.value:
                    return holds(told, (*covers, *paths), *run.pointers)
                return contradicts(told, *run.pointers)
    every = (run for run in all_test_runs(case.world.evidence) if run.passed is not None)
    if each.value > max(_value(run, what) for run in every):
        return contradicts(runs[-1].told(), *runs[-1].pointers)
    return unknown(f"{runs[-1].told()}; the statement speaks of a part of the tests")


def all_tests(case: Case) -> list[Atom]:
    """`all tests pass`, `the suite is green`, `no failing tests`."""
    lows = lows_of(case)
    fine = where(lows, FINE)
    heads = where(lows, TESTS) or _implied_suite(case, lows, fine)
    if not heads or not fine or fine[-1] < heads[0] or any(low in NEGATIONS for low in lows):
        return []
    span = range(heads[0], fine[-1] + 1)
    if any(lows[n] in BAD for n in span):
        return []
    between = [n for n in _words(lows, span) if lows[n] not in PLAIN | FINE | TITLES | {"in", "of"}]
    lead = [n for n in range(heads[0]) if lows[n] in PARTS]
    described = [n for n in _words(lows, range(max(0, heads[0] - 1), heads[0])) if lows[n] not in PLAIN]
    things = [n for n in range(fine[-1] + 1) if case.kind(n) in (WordKind.NAME, WordKind.PATH)]
    after = case.at(_BUT, range(fine[-1] + 1, len(lows)))
    whole = [n for n in range(fine[-1]) if lows[n] in WHOLE]
    runs = known_test_runs(case.world.evidence, _said_command(case))
    words = [*where(lows, ("across", "board", "everywhere")), *(n for n in span if lows[n] in PLAIN)]
    covers = [*heads, *fine, *words, *commands_in(case)[:1], *ran_words(case)]
    is_part = bool(between or lead or described or things or after)
    return [_judge_all(case, runs, covers, whole, is_part=is_part)]


_BUT = word_set("except besides only on if in with when locally")
_ALL_OVER = word_set("everything all green across board it is 's are still now again over everywhere the and")


def _implied_suite(case: Case, lows: list[str], fine: list[int]) -> list[int]:
    """`all green`, `everything is green`: nothing but the tests can be meant."""
    is_plain = all(low in _ALL_OVER or low in FINE or not low.isalpha() for low in lows)
    is_all = bool({"everything", "all", "board"} & set(lows))
    things = any(token.kind in ENTITIES or token.value is not None for token in case.tokens)
    return [0] if fine and is_plain and is_all and not things else []


def _judge_all(case: Case, runs: list[Tests], covers: list[int], whole: list[int], *, is_part: bool) -> Atom:
    if not runs:
        return _number_without_run(case, None)
    bad = [run for run in runs if run.is_bad]
    run = (bad or runs)[-1]
    if bad:
        if is_part:
            return unknown(f"{run.told()}; the statement speaks of a part of the tests")
        return contradicts(run.told(), *run.pointers)
    if run.exit_code is None and run.passed is None:
        return unknown(f"the log does not tell how {shown(run.command)} ended")
    is_all = is_whole_run(run.command) and not any(each.skipped for each in runs)
    if is_part:
        return by_words(run.told(), (), *run.pointers)
    return capped(case, holds(run.told(), (*covers, *(whole if is_all else ())), *run.pointers))
