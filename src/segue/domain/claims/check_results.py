"""Checks what is said of tests that ran: how many passed, failed, were skipped, or all of them."""

from __future__ import annotations

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
from segue.domain.claims.check_counts import Counted, counted_in
from segue.domain.claims.ledger import Pointer
from segue.domain.claims.lexicon import BAD, COUNT_NOUNS, FINE, GRAMMAR, NEGATIONS
from segue.domain.claims.runs import Tests, all_test_runs, is_whole_run, known_test_runs, may_have_run, shown
from segue.domain.claims.tokens import ENTITIES, Kind
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import TestOutcome
from segue.domain.handoff.reading.words import word_set
from segue.domain.text.command_lines import purposes_of


def check_results(case: Case) -> list[Atom]:
    """`12 passed`, `12 of 14 tests pass`, `none skipped`."""
    lows = lows_of(case)
    counted = [
        c for c in counted_in(case.tokens) if c.what in ("passed", "failed", "skipped", "collected", "tests")
    ]
    is_result = any(low in FINE or low in BAD for low in lows)
    found = _plain_fraction(case, lows) if not counted else []
    for each in counted:
        what = each.what
        if what == "tests":
            if not is_result or (case.reading.clauses and not _is_result_number(case, each)):
                continue
            what = _what_follows(case, lows, each)
            if not what:
                continue
        atom = _total(case, each) if each.is_total else _count(case, each, what, lows)
        if atom is not None:
            found.append(atom)
    return found


def _plain_fraction(case: Case, lows: list[str]) -> list[Atom]:
    """`Test results: 49/54`."""
    at = next((n for n, t in enumerate(case.tokens) if t.total is not None and t.kind is Kind.NUMBER), None)
    runs_tests = any("tests" in purposes_of(case.tokens[n].text) for n in commands_in(case))
    if at is None or not (runs_tests or any(low in TESTS for low in lows)):
        return []
    each = Counted(
        at=at,
        noun=at,
        what="passed",
        value=case.tokens[at].value or 0,
        is_rough=False,
        is_total=False,
        between=(),
    )
    atom = _count(case, each, "passed", lows)
    words = [n for n, low in enumerate(lows) if low in PLAIN]
    return (
        []
        if atom is None
        else [
            Atom(
                status=atom.status,
                reason=atom.reason,
                covers=atom.covers | frozenset(words),
                evidence=atom.evidence,
            )
        ]
    )


def _total(case: Case, each: Counted) -> Atom | None:
    """The 14 of "of 14 tests 12 passed"."""
    runs = [run for run in known_test_runs(case.world.evidence) if run.passed is not None]
    lead = [n for n in (each.at - 1, each.at - 2) if n >= 0 and case.tokens[n].low in ("of", "out")]
    for run in runs:
        if each.value in (run.collected, (run.collected or 0) - run.skipped):
            return holds(run.told(), (each.at, each.noun, *lead), *([run.pointer] if run.pointer else []))
    return contradicts(f"{runs[-1].collected} tests were found; {runs[-1].told()}") if runs else None


_DENIED = frozenset({"no", "none", "nothing", "zero", "0", "neither", "without"})


def none_of(case: Case) -> list[Atom]:
    """`no test was skipped`, `nothing failed`, `zero failures`."""
    lows = lows_of(case)
    kinds = {
        n: COUNT_NOUNS[low] for n, low in enumerate(lows) if COUNT_NOUNS.get(low) in ("skipped", "failed")
    }
    denied = [
        n
        for n, low in enumerate(lows)
        if low in _DENIED or (low in ("not", "n't") and lows[n + 1 : n + 3][:1] in (["a"], ["one"]))
    ]
    deeds = [c for c in case.reading.clauses if c.relation not in (Relation.RAN, Relation.UNTOUCHED)]
    if (
        not kinds
        or not denied
        or deeds
        or any(t.value for t in case.tokens if t.low not in ("single", "one"))
    ):
        return []
    if not any(
        lows[n] in TESTS
        or lows[n] in ("nothing", "failures", "skips", "none", "skipped", "failed", "failures")
        for n in range(len(lows))
    ):
        return []
    commands = commands_in(case)[:1]
    command = case.tokens[commands[0]].text if commands else None
    runs = [run for run in known_test_runs(case.world.evidence, command) if run.passed is not None]
    if not runs:
        return [unknown("no run of the tests is known that counted them")]
    run = runs[-1]
    pointers = [run.pointer] if run.pointer else []
    covers = [
        n
        for n, low in enumerate(lows)
        if n in commands
        or n in kinds
        or n in denied
        or low in PLAIN
        or low in ("single", "one", "last", "not")
    ]
    for what in dict.fromkeys(kinds.values()):
        if _value(run, what) != 0:
            return [contradicts(run.told(), (), *pointers)]
    if any(low in FINE for low in lows):
        return (
            [holds(run.told(), (*covers, *(n for n, low in enumerate(lows) if low in FINE)), *pointers)]
            if not run.is_bad
            else []
        )
    return [holds(run.told(), covers, *pointers)]


def _is_result_number(case: Case, each: Counted) -> bool:
    """False for the 3 of "added 3 tests, all pass"."""
    for clause in case.reading.clauses:
        if clause.first <= each.at <= clause.last and clause.relation in (
            Relation.CREATED,
            Relation.ADDED,
            Relation.REMOVED,
            Relation.CHANGED,
        ):
            return not any(v < each.at for v in clause.verb)
    return True


def _has_labelled(case: Case, each: Counted) -> bool:
    """True if a later number has its label before it, and the label tells nothing of this one."""
    behind = range(max(each.noun, each.at) + 1, len(case.tokens))
    numbers = [n for n in behind if case.tokens[n].kind is Kind.NUMBER]
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


def _count(case: Case, each: Counted, what: str, lows: list[str]) -> Atom | None:  # noqa: PLR0911
    token = case.tokens[each.at]
    if each.at and lows[each.at - 1] in ("but", "except"):
        return unknown("it says how many are left out")
    command = case.tokens[commands_in(case)[0]].text if commands_in(case) else case.reading.statement.command
    runs = [run for run in known_test_runs(case.world.evidence, command) if run.passed is not None]
    stop = next((n for n in range(each.at, len(lows)) if lows[n] in _STOPS), len(lows))
    ends = {
        n
        for n, low in enumerate(lows)
        if each.at < n < stop
        and (low in FINE or low in BAD or low in ("skipped", "collected"))
        and n - each.noun < 8
        and not (what == "collected" and low in FINE)
    }
    glue = [n for n in range(max(0, each.at - 2), each.noun) if lows[n] in WHOLE]
    commands = commands_in(case)[:1]
    labels = [n for n, low in enumerate(lows) if low in TESTS and (n + 1 < len(lows) and ":" in lows[n + 1])]
    labels += [
        n for c in case.reading.clauses if c.relation is Relation.RAN for n in c.words if lows[n] in TESTS
    ]
    covers = [
        each.at,
        each.noun,
        *each.exact,
        *ends,
        *glue,
        *[n for n in range(each.at, max(ends, default=each.noun)) if lows[n] in PLAIN],
        *commands,
        *labels,
        *[n for n, low in enumerate(lows) if low in TITLES],
        *ran_words(case),
        *_same_result(case, what, lows[:stop]),
    ]
    if not runs:
        return _number_without_run(case, command)
    if part := _scope(case, each, lows):
        return _count_of_part(case, each, what, runs, part, covers)
    values = {_value(run, what) for run in runs} | {sum(_value(run, what) or 0 for run in runs)}
    run = runs[-1]
    pointers = [run.pointer] if run.pointer else []
    if each.value not in values:
        if any(_value(other, what) == each.value for other in all_test_runs(case.world.evidence)):
            return by_words(run.told(), (), *pointers)
        is_part = case.is_rival or (case.reading.statement.follows and not glue)
        if is_part and each.value < max(v or 0 for v in values):
            return unknown(f"{run.told()}; the number may be that of a part")
        return contradicts(run.told(), (), *pointers)
    if token.total is not None and not any(
        token.total in (r.collected, (r.collected or 0) - r.skipped) for r in runs
    ):
        return contradicts(f"{run.collected} tests were found; {run.told()}", (), *pointers)
    if glue and what == "passed" and run.is_bad:
        return contradicts(run.told(), (), *pointers)
    return (
        capped(case, holds(run.told(), covers, *pointers))
        if what == "passed"
        else holds(run.told(), covers, *pointers)
    )


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


def _value(run: Tests, what: str) -> int | None:
    return {"passed": run.passed, "failed": run.failed, "skipped": run.skipped, "collected": run.collected}[
        what
    ]


def _scope(case: Case, each: Counted, lows: list[str]) -> list[int]:
    """The words that say that the tests are only some of all: `the new tests`, `tests in a.py`."""
    near = range(each.at, min(len(lows), max(each.noun + 9, each.at + 1)))
    parts = [n for n in near if lows[n] in PARTS and n < each.noun + 1]
    places = [n for n in near if case.tokens[n].kind is Kind.PATH or (case.tokens[n].kind is Kind.NAME)]
    lead = [n for n in range(each.at) if case.tokens[n].kind in (Kind.PATH, Kind.NAME)]
    others = [
        n
        for n in range(each.at + 1, each.noun)
        if lows[n].isalpha() and lows[n] not in PLAIN and lows[n] not in FINE and lows[n] not in BAD
    ]
    topics = [
        n
        for n in near
        if lows[n] in ("for", "in", "on", "of")
        and n > each.noun
        and n + 1 < len(lows)
        and lows[n + 1] not in ("total", "all", "them", "these", "those")
        and not set(lows[n + 1 : n + 4]) & TESTS
    ]
    labels = [
        n
        for n in range(each.at)
        if lows[n].isalpha()
        and not any(lows[n] in known for known in (PLAIN, GRAMMAR, FINE, COUNT_NOUNS, TITLES))
    ]
    labels = labels if each.at and ":" in lows[each.at - 1] else []
    return parts + places + lead + others + topics + labels


def _count_of_part(
    case: Case, each: Counted, what: str, runs: list[Tests], part: list[int], covers: list[int]
) -> Atom:
    paths = [n for n in part if case.tokens[n].kind is Kind.PATH]
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
                return holds(told, (*covers, *paths)) if value == each.value else contradicts(told)
    most = max(_value(run, "collected" if what == "collected" else what) or 0 for run in runs)
    if each.value > most:
        return contradicts(runs[-1].told())
    return unknown(f"{runs[-1].told()}; the statement speaks of a part of the tests")


def all_tests(case: Case) -> list[Atom]:
    """`all tests pass`, `the suite is green`, `no failing tests`."""
    lows = lows_of(case)
    fine = [n for n, low in enumerate(lows) if low in FINE]
    heads = [n for n, low in enumerate(lows) if low in TESTS] or _implied_suite(case, lows, fine)
    if not heads or not fine or fine[-1] < heads[0]:
        return []
    board = [n for n, low in enumerate(lows) if low in ("across", "board", "everywhere")]
    span = range(heads[0], fine[-1] + 1)
    if any(low in NEGATIONS for low in lows) or any(lows[n] in BAD for n in span):
        return []
    between = [
        n
        for n in span
        if lows[n].isalpha() and not any(lows[n] in known for known in (PLAIN, FINE, TITLES, {"in", "of"}))
    ]
    lead = [n for n in range(heads[0]) if (lows[n] in PARTS) or case.tokens[n].kind in (Kind.NAME, Kind.PATH)]
    described = [
        n
        for n in range(max(0, heads[0] - 1), heads[0])
        if lows[n].isalpha() and lows[n] not in PLAIN and lows[n] not in NEGATIONS
    ]
    things = [n for n in span if case.tokens[n].kind in (Kind.NAME, Kind.PATH)]
    after = [
        n
        for n in range(fine[-1] + 1, len(lows))
        if lows[n] in ("except", "besides", "only", "on", "if", "in", "with", "when", "locally")
    ]
    whole = [n for n in range(fine[-1]) if lows[n] in WHOLE]
    command = case.tokens[commands_in(case)[0]].text if commands_in(case) else case.reading.statement.command
    runs = known_test_runs(case.world.evidence, command)
    covers = [
        *heads,
        *fine,
        *board,
        *[n for n in span if lows[n] in PLAIN],
        *commands_in(case)[:1],
        *ran_words(case),
    ]
    is_part = bool(between or lead or described or things or after)
    return [_judge_all(case, runs, covers, whole, is_part=is_part)]


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
    pointers: list[Pointer] = [run.pointer] if run.pointer else []
    if bad:
        if is_part:
            return unknown(f"{run.told()}; the statement speaks of a part of the tests")
        return contradicts(run.told(), (), *pointers)
    if run.exit_code is None and run.passed is None:
        return unknown(f"the log does not tell how {shown(run.command)} ended")
    is_all = is_whole_run(run.command) and not any(each.skipped for each in runs)
    if is_part:
        return by_words(run.told(), (), *pointers)
    return capped(case, holds(run.told(), (*covers, *(whole if is_all else ())), *pointers))
