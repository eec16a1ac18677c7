"""Checks what is said of commands and linters: that they ran, and how they ended."""

from __future__ import annotations

from collections.abc import Collection

from segue.domain.claims.atoms import IN_LOG, Atom, Case, by_words, contradicts, holds, unknown
from segue.domain.claims.counted import counted_in
from segue.domain.claims.decide import needs_cover
from segue.domain.claims.lexicon import BAD, FINE, NEGATIONS, TOOLS
from segue.domain.claims.relations import Clause
from segue.domain.claims.runs import (
    is_whole_run,
    known_ends,
    may_have_run,
    pointer_to,
    same_runs,
    shown,
    tells,
    whose,
)
from segue.domain.claims.tokens import WordKind, where
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import CommandRun, Evidence
from segue.domain.text.command_lines import programs_of, purposes_of, read_line
from segue.domain.text.words import word_set

_EXIT = word_set("exit exits exited exiting rc returncode exit-code")
_ENDED = word_set("returns returned ended ends finished completed completes quit quits terminated terminates")
TESTS = word_set("test tests suite testsuite test-suite specs spec")
WHOLE = word_set("all full whole entire complete every full-suite everything each")
_RESULT_GLUE = word_set(
    "run runs ran suite test tests result results output status case cases total automated unit code is "
    "are was were locally up before after with out of and the still now again clean cleanly end ends "
    "check checks"
)
TITLES = word_set(
    "number count score rate summary status result results came comes got get gets see saw reports "
    "reported counts "
    "report outcome tally yields yielded gave gives says shows showed me tried"
)
"""Words around a number of tests or an exit code that say nothing more."""
PARTS = word_set("new added existing focused relevant affected related targeted other remaining auth")
PLAIN = TESTS | WHOLE | _RESULT_GLUE | word_set("i we our have has all verified confirmed that it so both")

_BEFORE_A_RUN = word_set("the a this that last final latest previous same every each full test next first")


def lows_of(case: Case) -> list[str]:
    return [t.low if t.kind in (WordKind.WORD, WordKind.NUMBER, WordKind.SIGN) else "" for t in case.tokens]


def commands_in(case: Case) -> list[int]:
    return [at for at, t in enumerate(case.tokens) if t.kind is WordKind.COMMAND]


def exit_codes(case: Case) -> list[Atom]:
    """`` `pytest -q` exits 0``, `exit code 1`."""
    lows, found = lows_of(case), []
    for at, low in enumerate(lows):
        is_code = (
            low in _EXIT
            or _leads_to_code(case, at)
            or (low in _ENDED and {"code", "status"} & set(lows[at : at + 6]))
        )
        number = next(
            (n for n in range(at + 1, min(at + 6, len(lows))) if case.kind(n) is WordKind.NUMBER), None
        )
        if not is_code or number is None:
            continue
        command = _nearest_command(case, at)
        code = case.tokens[number].value
        if command is None or code is None:
            continue
        covers = [*range(at, number + 1), *where(lows, TITLES | (BAD if code else FINE)), *ran_words(case)]
        if isinstance(command, str):
            found.append(judge_exit(case, command, code, covers))
        else:
            token = case.tokens[command]
            found.append(judge_exit(case, token.text, code, [*covers, command], certain=token.certain))
    return found


_TO_CODE = word_set("-> => \u2192 \u21d2 back returned returns")


def _leads_to_code(case: Case, at: int) -> bool:
    """True in "`make check` -> 1" and "`make check` came back with 1": a number alone is the exit code."""
    number = at + 2 if case.low(at + 1) == "with" else at + 1
    if case.low(at) not in _TO_CODE or number >= len(case.tokens):
        return False
    token = case.tokens[number]
    ends = number + 1 == len(case.tokens) or case.kind(number + 1) is WordKind.SIGN
    behind = any(case.kind(n) is WordKind.COMMAND for n in range(max(0, at - 2), at))
    return behind and ends and token.kind is WordKind.NUMBER and token.total is None and token.text.isdigit()


def _nearest_command(case: Case, at: int) -> int | str | None:
    """The command before, else the one behind, else the one that the context names."""
    commands = commands_in(case)
    before = [n for n in commands if n < at]
    if before:
        return before[-1]
    return commands[0] if commands else case.reading.statement.command


def ran_words(case: Case) -> list[int]:
    return [c for clause in case.reading.clauses if clause.relation is Relation.RAN for c in clause.verb]


def judge_exit(case: Case, command: str, code: int, covers: list[int], *, certain: bool = True) -> Atom:  # noqa: PLR0911
    """How a command ended: Segue's own run counts most, then the last one in the log."""
    evidence = case.world.evidence
    own, logged, around = same_runs(evidence, command)
    name = shown(command)
    plain = known_ends(logged)
    if own and own[-1].exit_code == code:
        return holds(f"{name} ended with {code} when Segue ran it", covers, pointer_to(own[-1]))
    if own and code == 0:
        told = f"{name} ended with {own[-1].exit_code}, not 0, when Segue ran it"
        return contradicts(told, pointer_to(own[-1]))
    last = plain[-1] if plain else None
    if last is not None:
        if last.exit_code == code:
            return holds(f"{name} ended with {code}, {whose(last)}", covers, pointer_to(last))
        if any(run.exit_code == code for run in plain):
            told = f"{name} ended with {code} once, but with {last.exit_code} the last time"
            return by_words(told, (), pointer_to(last))
        return contradicts(f"{name} ended with {last.exit_code}, not {code}, {whose(last)}", pointer_to(last))
    if own:
        return unknown(f"{name} ended with {own[-1].exit_code} when Segue ran it; it may have failed before")
    if code == 0 and (good := [run for run in known_ends(around) if run.exit_code == 0]):
        told = f"{name} is part of a line that ended with 0, {whose(good[-1])}"
        return holds(told, covers, pointer_to(good[-1]))
    if around or logged:
        return unknown(f"the log does not tell how {name} ended")
    return _not_run(case, command, code, certain=certain)


def _not_run(case: Case, command: str, code: int | None, *, certain: bool) -> Atom:
    evidence = case.world.evidence
    name = shown(command)
    alike = [run for run in known_ends(evidence.commands) if programs_of(command) & programs_of(run.command)]
    line = read_line(command)
    bare = line is not None and all(len(argv) == 1 for argv in line.commands)
    if code == 0 and certain and bare and alike and all(run.exit_code != 0 for run in alike):
        last = alike[-1]
        told = f"{shown(last.command)} ended with {last.exit_code}, {whose(last)}"
        return contradicts(told, pointer_to(last))
    if evidence.is_log_whole and certain and not may_have_run(evidence, command):
        return contradicts(
            f"{name} was not run: the log of the agent is complete and does not show it", IN_LOG
        )
    return unknown(f"no log shows {name}")


def went_well(case: Case) -> list[Atom]:
    """`` `make build` succeeded``: not for tests, whose words are looked at more closely."""
    lows, found = lows_of(case), []
    if any(low in _EXIT for low in lows) or any(
        c.what in ("passed", "failed", "skipped") for c in counted_in(case.tokens)
    ):
        return []
    for at in commands_in(case):
        ahead = [n for n in range(at + 1, min(at + 7, len(lows))) if lows[n] in FINE or lows[n] in BAD]
        if not ahead or any(case.kind(n) is WordKind.COMMAND for n in range(at + 1, ahead[0])):
            continue
        between = lows[at + 1 : ahead[0]]
        if any(case.tokens[n].value is not None for n in range(at + 1, ahead[0])):
            continue  # `pytest` and 12 tests passed: the number tells
        if lows[ahead[0]] in BAD or any(low in NEGATIONS for low in between):
            continue
        if any(low.isalpha() and low not in _RESULT_GLUE | _ENDING for low in between):
            continue
        covers = [*range(at, ahead[0] + 1), *ran_words(case)]
        token = case.tokens[at]
        is_sure = token.certain or bool(purposes_of(token.text))
        found.append(capped(case, judge_exit(case, token.text, 0, covers, certain=is_sure)))
    return found


_ENDING = word_set(
    "also successfully comes came back completes completed finished reports reported checker type"
)
"""Between a command or a tool and how it ended."""


def capped(case: Case, atom: Atom) -> Atom:
    """Where a test was weakened and nobody said so, passing tests prove less."""
    weak = case.weakened
    if atom.status != "holds" or weak is None:
        return atom
    return by_words(f"{atom.reason}; but {weak}", (), *atom.evidence)


def clean_tools(case: Case) -> list[Atom]:
    """`lint is clean`, `no type errors`, `mypy passes`."""
    lows, found = lows_of(case), []
    for at, token in enumerate(case.tokens):
        subject = (
            TOOLS.get(token.low) if token.kind in (WordKind.WORD, WordKind.COMMAND, WordKind.NAME) else None
        )
        if token.low == "type" and case.low(at + 1) in _TYPE_CHECKS:
            subject = "types"
        if subject is None:
            continue
        fine = [n for n in where(lows, FINE) if at < n < at + 7]
        none = case.at(_COMPLAINTS, range(at - 2, at + 7))
        denied = case.at(_NONE, range(at - 3, at + 6))
        if token.low in ("compiles", "builds", "type-checks") and not NEGATIONS & set(lows[:at]):
            fine = fine or [at]
        if (not fine and not (none and denied)) or (fine and NEGATIONS & set(lows[at : fine[-1]])):
            continue
        glue = [n for n in where(lows, _RESULT_GLUE | _ENDING) if at <= n < (fine or none)[-1]]
        found.append(_judge_tool(case, subject, [at, *fine, *none, *denied, *glue], at))
    return found


_TYPE_CHECKS = word_set("checks check checker checking errors error")
_COMPLAINTS = word_set("errors error issues warnings problems")
_NONE = word_set("no zero 0 without")


def _judge_tool(case: Case, subject: str, covers: list[int], at: int) -> Atom:
    evidence = case.world.evidence
    runs = [run for run in evidence.checks if tells(run) and _is_about(subject, run)]
    runs = runs or [run for run in known_ends(evidence.commands) if _is_about(subject, run)][-1:]
    if not runs:
        return unknown(f"no run of {subject} is known")
    failed = [run for run in runs if run.exit_code != 0]
    limited = any(case.kind(n) is WordKind.PATH for n in range(at, len(case.tokens)))
    if not failed:
        return holds(f"{shown(runs[0].command)} passed, {whose(runs[0])}", covers, pointer_to(runs[0]))
    told = f"{shown(failed[0].command)} ended with {failed[0].exit_code}, {whose(failed[0])}"
    line = read_line(failed[0].command)
    if limited or line is None or len(line.commands) > 1:
        return unknown(f"{told}, which may have other reasons")
    return contradicts(told, pointer_to(failed[0]))


def _is_about(subject: str, run: CommandRun) -> bool:
    named = purposes_of(run.command) | programs_of(run.command)
    return subject in named or (subject == "clippy" and "cargo" in named)


def _is_noun(case: Case, clause: Clause) -> bool:
    """True for the `run` of "in the last run"."""
    at = min(clause.verb, default=0)
    return at > 0 and case.low(at - 1) in _BEFORE_A_RUN


def ran(case: Case) -> list[Atom]:
    """`ran the tests`, `` `make check` was run``."""
    found: list[Atom] = []
    evidence = case.world.evidence
    for clause in case.reading.clauses:
        if clause.relation is not Relation.RAN or clause.foreign or _is_noun(case, clause):
            continue
        if clause.negated or _runs_none(case, clause):
            found += _not_ran(case, clause)
            continue
        commands = [i.at for i in clause.items if case.kind(i.at) is WordKind.COMMAND]
        for at in commands:
            text = case.text(at)
            own, logged, around = same_runs(evidence, text)
            if own and not logged:
                found.append(unknown(f"Segue ran {shown(text)} itself; no log shows that the agent did"))
            elif logged or around:
                told = f"the log of the agent shows {shown(text)}"
                found.append(holds(told, (at, *clause.verb), pointer_to((logged or around)[-1])))
            else:
                found.append(_not_run(case, text, None, certain=case.tokens[at].certain))
        heads = case.at(TESTS, clause.words)
        if heads and not commands:
            found.append(_ran_tests(case, [*heads, *clause.verb]))
    return found


def _runs_none(case: Case, clause: Clause) -> bool:
    """True for "ran no tests", and nothing more of them."""
    behind = case.low(max(clause.verb, default=len(case.tokens)) + 1)
    return behind in ("no", "none") and clause.words != ()


def _is_part(case: Case, told: Collection[int]) -> bool:
    """True for "ran no slow tests" and "did not run the tests of a module": others may have run."""
    between = (n for n in range(min(told), max(told)) if n not in told and case.low(n) not in PLAIN)
    return case.low(max(told) + 1) in _NARROWS or any(needs_cover(case.tokens[n]) for n in between)


_NARROWS = word_set("for of with on against under that which other besides except than beyond")


def _not_ran(case: Case, clause: Clause) -> list[Atom]:
    """`the tests were not run`, `` `make check` was never run``."""
    evidence = case.world.evidence
    span = range(clause.first, clause.last + 1)
    words, tests = case.at(NEGATIONS, span), case.at(TESTS, span)
    commands = [i.at for i in clause.items if case.kind(i.at) is WordKind.COMMAND]
    if any(case.kind(i.at) in (WordKind.PATH, WordKind.NAME) for i in clause.items) or not (
        commands or tests
    ):
        return []
    if not commands and _is_part(case, (*clause.verb, *words, *tests)):
        return []
    line = case.text(commands[0]) if commands else "pytest"
    logged = same_runs(evidence, line)[1] if commands else _test_runs(evidence)
    if logged:
        told = f"the log of the agent shows {shown(logged[-1].command)}"
        return [contradicts(told, pointer_to(logged[-1]))]
    if not evidence.is_log_whole or may_have_run(evidence, line):
        return []
    told = "the log of the agent is complete and does not show it"
    return [holds(told, (*words, *tests, *commands, *clause.verb), IN_LOG)]


def _test_runs(evidence: Evidence) -> list[CommandRun]:
    return [run for run in evidence.commands if "tests" in purposes_of(run.command)]


def _ran_tests(case: Case, covers: list[int]) -> Atom:
    evidence = case.world.evidence
    if runs := _test_runs(evidence):
        whole = case.at(WHOLE) if is_whole_run(runs[-1].command) else []
        told = f"the log of the agent shows {shown(runs[-1].command)}"
        return holds(told, (*covers, *whole), pointer_to(runs[-1]))
    if evidence.is_log_whole and not evidence.tests and not may_have_run(evidence, "pytest"):
        return contradicts("no test was run: the log of the agent is complete and shows none", IN_LOG)
    return unknown("no log shows a run of the tests")
