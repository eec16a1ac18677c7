"""What `segue demo` prints: what an agent wrote beside what Segue measured, as the records say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from segue.domain.amounts import describe_time
from segue.domain.final_state import words_of
from segue.domain.handoff import Origin, extract_handoff
from segue.interfaces.cli import demo_script
from segue.interfaces.cli.lines import one_line, put, put_beside, put_commands, put_wrapped, width_of, wrap
from segue.interfaces.cli.marks import FALSE, Signs
from segue.interfaces.cli.sentences import sentence_of
from segue.interfaces.cli.steps_block import program_of, tally

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.run_results import RunResult
    from segue.application.views import StepDetail

_LEFT, _WIDEST = 38, 46
"""How wide what an agent wrote is, at least and at most; what is longer has lines of its own."""
_VERDICT = 14
_MOST_LINES = 5
_NO_DEEDS = ("outcome", "decisions_made", "next_agent_context", "suggested_next_steps")
"""Fields that tell nothing that was done; the outcome is told beside the name."""
_TIMES = {1: "", 2: " twice"}


class DemoScreen:
    """The screen of the demo; it is told what happened when it happened."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._signs = Signs(console)
        self._was_false: list[str] = []
        """What was refuted before the repairs."""
        self._begun: set[int] = set()
        self._is_headed = False
        self._told = False
        """Whether the reviewer's briefing corrects something."""

    def introduce(self) -> None:
        """What will be seen."""
        title = Text("Segue demo", "bold") + Text("  a real bug, two scripted agents, no model, no network")
        self._put(title)
        self._put(demo_script.BUG)
        self._put()
        self._put(f'$ segue run quick_fix "{demo_script.TASK}"')

    def show_repair(self, step: StepDetail) -> None:
        """What an agent wrote first, and what Segue measured: it is sent back."""
        repair = step.attempts[-1].repairs[-1]
        if repair.number > 1:
            return
        entries = repair.ledger["entries"] if repair.ledger is not None else ()
        self._show_head(step, step.attempts[-1].reply or "", entries)
        self._was_false = [_words(e) for e in entries if e["verdict"] == "refuted"]
        self._show_claims(entries)

    def show_step(self, step: StepDetail) -> None:
        """What came of a step that is done."""
        ledger: Mapping[str, Any] = {"entries": [], "counts": {}}
        if step.latest_handoff is not None and step.latest_handoff.ledger is not None:
            ledger = step.latest_handoff.ledger
        if step.order_index == 0:
            self._show_developer(step, ledger)
        else:
            self._show_reviewer(step, ledger)

    def _show_developer(self, step: StepDetail, ledger: Mapping[str, Any]) -> None:
        self._show_head(step, step.attempts[-1].reply or "", ledger["entries"])
        if repairs := len(step.attempts[-1].repairs):
            self._put()
            told = Text(f"  Sent back{_TIMES.get(repairs, f' {repairs} times')}:", "yellow")
            self._put(told + Text(" Segue asked the same session to correct its claims."))
            self._put()
        entries = [e for e in ledger["entries"] if not self._was_false or _words(e) in self._was_false]
        self._show_claims(entries or ledger["entries"])
        still = [_words(e) for e in ledger["entries"] if e["verdict"] == "refuted"]
        if set(self._was_false) - set(still):
            said = f" It still says {' and '.join(map(self._signs.quoted, still))}." if still else ""
            self._put()
            put_beside(self._console, Text(), [f"It fixed the code.{said}"])

    def _show_reviewer(self, step: StepDetail, ledger: Mapping[str, Any]) -> None:
        attempt = step.attempts[-1]
        self._show_head(step, attempt.reply or "", ledger["entries"])
        given = attempt.briefing.splitlines()
        shown = list(_pointed_lines(given))
        self._told = "## Corrections" in given
        lines = Text(f" ({len(shown)} lines of {len(given)})", "dim")
        self._put(Text("  ") + Text("What it was given", "bold") + lines)
        for line in (part for each in shown for part in wrap(each, width_of(self._console) - 4)):
            self._put(Text(f"  {self._signs.bar} ", "dim") + Text(line))
        self._put()
        self._put(Text("  ") + Text("What it did with that", "bold"))
        record = (step.latest_handoff.metadata if step.latest_handoff is not None else None) or {}
        done = [str(each) for each in record.get("what_was_done", ())]
        asked = [str(each["step"]) for each in record.get("suggested_next_steps", ())]
        for line in (*done, *(f"Next step: {each}" for each in asked)):
            put_beside(self._console, Text(), [sentence_of(line)])
        if counts := tally(ledger["counts"], self._signs):
            self._put(Text("  ") + counts)

    def _show_head(self, step: StepDetail, reply: str, entries: Sequence[Mapping[str, Any]]) -> None:
        if step.id in self._begun:
            return
        self._begun.add(step.id)
        took = ""
        if step.started_at is not None:
            end = step.finished_at or datetime.now(UTC)
            took = describe_time((end - step.started_at).total_seconds())
        handoff = extract_handoff(reply, origin=Origin.REPLY).handoff
        says = f"   says: {one_line(handoff.outcome)}" if handoff is not None and handoff.outcome else ""
        who = f" {step.order_index + 1} {one_line(step.agent_name):<9}  {program_of(step):<8}{took:>9}{says}"
        head = self._signs.state("done") + Text(who)
        outcome = next((e for e in entries if e["field"] == "outcome" and e["verdict"] == "refuted"), None)
        if says and outcome is not None:
            head += Text("  ") + self._signs.verdict(outcome["verdict"]) + Text(f"  {_measured(outcome)}")
        self._put()
        self._put(head)

    def _show_claims(self, entries: Sequence[Mapping[str, Any]]) -> None:
        shown = [each for each in entries if _is_shown(each)]
        wide = min(max([_LEFT, *(len(_words(entry)) + 5 for entry in shown)]), _WIDEST)
        if shown and not self._is_headed:
            self._is_headed = True
            self._put(Text("  ") + Text(f"{'It wrote':<{wide}}Segue measured", "bold"))
        for entry in shown:
            said = self._signs.quoted(_words(entry))
            if len(said) + 2 > wide:
                put_beside(self._console, Text(), [said])
                said = ""
            head = Text(f"{said:<{wide}}")
            head += self._signs.verdict(entry["verdict"], width=_VERDICT)
            put_beside(self._console, head, [_measured(entry)])

    def conclude(self, result: RunResult, patch: str) -> None:
        """How it ended, and what is on the branch."""
        self._put()
        sentence = one_line(result.sentence) + (" The reviewer was told." if self._told else "")
        styled = len(sentence.partition(":")[0]) + 1 if result.exit_code else 0
        put_wrapped(self._console, sentence, styled=styled, style=FALSE)
        self._put()
        for line in _changed_lines(patch):
            self._put(line)
        self._put()
        self._put("The reviewer did not have to take the developer's word for it.")

    def say_what_next(self, program: str, kept: Path | None) -> None:
        """What to type in a project of one's own."""
        look = (f"{program} demo --keep DIR", "keep this run, to look around in it")
        if kept is not None:
            look = (f"SEGUE_DATA_DIR={kept / 'data'} {program} pipelines show 1", "look around in this run")
        commands = [
            (f"{program} agents doctor", "which agents work here"),
            (f'{program} run quick_fix "TASK"', "the same, with them"),
            look,
        ]
        put_commands(self._console, "Next, in your own project", commands)

    def _put(self, line: Text | str = "") -> None:
        put(self._console, line)


def _words(entry: Mapping[str, Any]) -> str:
    return one_line(words_of(entry["field"], entry["text"], entry["claim"]))


def _measured(entry: Mapping[str, Any]) -> str:
    """What was measured, in few words: without what the claim itself says, and the command that all share."""
    reason = one_line(entry["reason"]).removesuffix(", when Segue ran it")
    reason = re.sub(r"^`[^`]*` ended with (\d+)$", r"exit \1", reason)
    reason = re.sub(r"^no test was added: (\d+) before", r"\1 tests before", reason).rpartition(": ")[2]
    place = re.search(r" in \S+", reason)
    return reason.replace(place[0], "") if place is not None and place[0] in entry["text"] else reason


def _is_shown(entry: Mapping[str, Any]) -> bool:
    """What it did, and whatever is false; what claims nothing has no verdict, the outcome has its place."""
    field = entry["field"].partition("[")[0]
    is_told = field not in _NO_DEEDS or (entry["verdict"] == "refuted" and field != "outcome")
    return entry["verdict"] is not None and is_told


def _pointed_lines(briefing: Sequence[str]) -> Iterator[str]:
    """Of a briefing, what the developer says it did, what is false of that, and what was measured."""
    wanted = ("**What was done**", "## Corrections", "## Measured", "Measured by Segue")
    taken, is_in = 0, False
    for line in briefing:
        starts = line.lstrip("#* ").startswith(tuple(each.lstrip("#* ") for each in wanted))
        if starts or (line.startswith(("#", "**")) and is_in):
            is_in = starts
        is_shown = (is_in and line.startswith("- ")) or line.startswith("Measured by Segue")
        if is_shown and taken < _MOST_LINES:
            taken += 1
            yield one_line(line)


def _changed_lines(patch: str) -> Iterator[Text]:
    """The changed lines of a patch, below the names of their files; signs in the colours of git."""
    for line in patch.splitlines():
        if line.startswith("+++ "):
            yield Text(f"  {one_line(line[4:].removeprefix('b/'))}", "dim")
        elif line.startswith(("+", "-")) and not line.startswith("--- "):
            style = "green" if line[0] == "+" else "red"
            yield Text("  ") + Text(line[0], style) + Text(f" {line[1:].rstrip()}")
