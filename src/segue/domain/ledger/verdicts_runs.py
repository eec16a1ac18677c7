"""Verdicts on what is said of commands, tests, linters, commits and the outcome."""

from __future__ import annotations

from segue.domain.ledger.commandlines import is_same, is_within, programs_of, purposes_of, read_line
from segue.domain.ledger.evidence import CommandRun, Evidence
from segue.domain.ledger.runners import TestSummary, summaries_in
from segue.domain.ledger.values import Claim, Finding
from segue.domain.ledger.verdicts_files import confirmed, refuted, unverifiable

_CANNOT_RUN = (126, 127)
_PYTEST_SAYS_NOTHING = (3, 4, 5)
"""Exit codes of pytest that mean: internal error, wrong usage, no tests found."""
_LONGEST = 80


def judge_command(claim: Claim, evidence: Evidence) -> Finding:  # noqa: PLR0911 (one way out for each verdict)
    """`ran C, exit E`: the agent's log, or Segue's own run, shows it."""
    name = _shown(claim.subject)
    own = [run for run in evidence.checks if _tells(run) and is_same(claim.subject, run.command)]
    logged = [run for run in evidence.commands if is_same(claim.subject, run.command)]
    around = [run for run in evidence.commands if run not in logged and is_within(claim.subject, run.command)]
    if claim.exit_code is None:
        if logged or around:
            return confirmed(f"the log of the agent shows {name}")
        return unverifiable(f"no log shows whether {name} was run")
    for run in (*own, *logged):
        if run.exit_code == claim.exit_code:
            return confirmed(f"{_whose(run)} {name} ended with {claim.exit_code}")
    if claim.exit_code == 0 and any(_all_went_well(run) for run in around):
        return confirmed(f"the log of the agent shows {name} in a line that ended with 0")
    ended = [run for run in logged if run.exit_code is not None and _is_plain(run)]
    if ended and not around and evidence.is_log_whole:
        return refuted(f"{_whose(ended[-1])} {name} ended with {ended[-1].exit_code}, not {claim.exit_code}")
    if own and claim.exit_code == 0:
        return refuted(f"{_whose(own[-1])} {name} ended with {own[-1].exit_code}, not 0")
    if own:
        return unverifiable(
            f"{_whose(own[-1])} {name} ended with {own[-1].exit_code}; it may have failed before"
        )
    return unverifiable(f"nothing shows how {name} ended")


def judge_tests(claim: Claim, evidence: Evidence) -> Finding:
    """`42 tests pass`: compared with what the runner of a check printed."""
    checks = [run for run in evidence.checks if _tells(run) and _is_about_tests(run)]
    is_partial = claim.is_partial
    if claim.subject != "tests":
        same = [run for run in checks if is_same(claim.subject, run.command)]
        is_partial = is_partial or not same
        checks = same or checks
    checks = [run for run in checks if not _ran_nothing(run) or claim.count]
    if not checks:
        return _judge_by_log(claim, evidence)
    failed = [run for run in checks if run.exit_code != 0]
    summaries = [each for run in checks for each in summaries_in(run.output, is_cut=run.is_cut)]
    if failed:
        return _judge_failed(failed[0], is_partial=is_partial)
    if claim.count is None:
        return confirmed(f"{_whose(checks[0])} {_shown(checks[0].command)} passed")
    return _judge_count(claim.count, summaries, len(checks), is_partial=is_partial)


def _judge_failed(run: CommandRun, *, is_partial: bool) -> Finding:
    summaries = summaries_in(run.output, is_cut=run.is_cut)
    told = f": {sum(each.failed for each in summaries)} failed" if summaries else ""
    said = f"{_whose(run)} {_shown(run.command)} ended with {run.exit_code}{told}"
    if is_partial:
        return unverifiable(f"{said}; the claim speaks of a part of the tests")
    return refuted(said)


def _judge_count(count: int, summaries: list[TestSummary], checks: int, *, is_partial: bool) -> Finding:
    if not summaries:
        return unverifiable("the tests passed, but their runner did not say how many there are")
    whole = TestSummary(
        passed=sum(each.passed for each in summaries), left_out=sum(each.left_out for each in summaries)
    )
    if whole.may_be(count) or any(each.may_be(count) for each in summaries):
        return confirmed(f"{_tests(count)} passed in the run of Segue")
    if is_partial and count <= whole.passed:
        return confirmed(f"{_tests(whole.passed)} passed in the run of Segue, the {count} among them")
    if count > whole.passed + whole.left_out or (len(summaries) == 1 and checks == 1):
        return refuted(f"{_tests(whole.passed)} passed in the run of Segue, not {count}")
    return unverifiable(f"{len(summaries)} test runs passed {whole.passed} tests in all, not {count}")


def _judge_by_log(claim: Claim, evidence: Evidence) -> Finding:
    """Without a check, the agent's own last test run can bear a claim out."""
    runs = [
        run for run in evidence.commands if "tests" in purposes_of(run.command) and run.exit_code is not None
    ]
    if not runs:
        return unverifiable("no test run is known")
    last = runs[-1]
    if last.exit_code != 0 or not _is_plain(last):
        return unverifiable(f"the last test run of the agent, {_shown(last.command)}, does not show it")
    if claim.count is None:
        return confirmed(f"the last test run of the agent, {_shown(last.command)}, passed")
    if any(each.may_be(claim.count) for each in summaries_in(last.output, is_cut=last.is_cut)):
        return confirmed(f"the last test run of the agent passed {claim.count} tests")
    return unverifiable(f"the last test run of the agent, {_shown(last.command)}, does not show so many")


def judge_clean(claim: Claim, evidence: Evidence) -> Finding:
    """`lint is clean`: the checks that lint pass."""
    checks = [run for run in evidence.checks if _tells(run) and _is_about(claim.subject, run)]
    failed = [run for run in checks if run.exit_code != 0]
    if not checks:
        return unverifiable(f"no check is known that tells of {claim.subject}")
    if not failed:
        return confirmed(f"{_whose(checks[0])} {_shown(checks[0].command)} passed")
    said = f"{_whose(failed[0])} {_shown(failed[0].command)} ended with {failed[0].exit_code}"
    line = read_line(failed[0].command)
    if claim.is_partial or line is None or len(line.commands) > 1:
        return unverifiable(f"{said}, which may have other reasons")
    return refuted(said)


def judge_commit(claim: Claim, evidence: Evidence) -> Finding:
    """`committed as abc1234`: there is such a commit."""
    if any(commit.startswith(claim.subject) for commit in evidence.commits):
        return confirmed(f"{claim.subject} is a commit of this step")
    if any(commit.startswith(claim.subject) for commit in evidence.known_commits):
        return unverifiable(f"{claim.subject} is a commit, but not one of this step")
    if evidence.are_commits_whole:
        return refuted(f"there is no commit {claim.subject}")
    return unverifiable("not all commits are known")


def judge_outcome(evidence: Evidence) -> Finding:
    """`completed`: every check passes."""
    failed = [run for run in evidence.checks if _tells(run) and run.exit_code != 0]
    if failed:
        return refuted(f"{_whose(failed[0])} {_shown(failed[0].command)} ended with {failed[0].exit_code}")
    silent = [run for run in evidence.checks if not _tells(run)]
    if silent:
        return unverifiable(f"the check {_shown(silent[0].command)} {_fault(silent[0])}")
    if not evidence.checks:
        return unverifiable("the step has no checks")
    number = len(evidence.checks)
    if number == 1:
        return confirmed("the only check passed when Segue ran it")
    return confirmed(f"all {number} checks passed when Segue ran them")


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number} tests"


def _tells(run: CommandRun) -> bool:
    """False if a command could not run, so that its end says nothing about the work."""
    return run.exit_code is not None and run.fault is None and run.exit_code not in _CANNOT_RUN


def _fault(run: CommandRun) -> str:
    return run.fault or "could not be run"


def _is_about_tests(run: CommandRun) -> bool:
    return "tests" in purposes_of(run.command) or bool(summaries_in(run.output, is_cut=run.is_cut))


def _ran_nothing(run: CommandRun) -> bool:
    return run.exit_code in _PYTEST_SAYS_NOTHING and "pytest" in programs_of(run.command)


def _is_about(subject: str, run: CommandRun) -> bool:
    return (
        subject in purposes_of(run.command)
        or subject in programs_of(run.command)
        or (
            subject == "clippy" and "cargo" in programs_of(run.command) and "lint" in purposes_of(run.command)
        )
    )


def _is_plain(run: CommandRun) -> bool:
    """True if the exit code is that of the command: no pipe, no `|| true` behind it."""
    line = read_line(run.command)
    return line is not None and line.is_chain


def _all_went_well(run: CommandRun) -> bool:
    return run.exit_code == 0 and _is_plain(run)


def _whose(run: CommandRun) -> str:
    return "when Segue ran it," if run.by == "segue" else "in the log of the agent"


def _shown(command: str) -> str:
    words = " ".join(command.split())
    return f"`{words[: _LONGEST - 1]}\u2026`" if len(words) > _LONGEST else f"`{words}`"
