"""Puts a briefing together from saved records: the same records give the same text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from segue.domain.briefing.budget import NEVER_CUT, BriefingPiece, Group, PartOfBriefing, Selection, fit
from segue.domain.briefing.fencing import clean, fenced, neutralise
from segue.domain.briefing.instructions import AskedNotation, how_to_hand_off
from segue.domain.briefing.model import Briefing, KnownFact, Predecessor
from segue.domain.briefing.predecessor import OlderParts, parts_of
from segue.domain.handoff.custom_notation import CustomNotation
from segue.domain.handoff.writing.rendering import OutputNotation
from segue.domain.handoff.writing.text import indent_after_first

_MEASURED = (
    "## Measured by Segue\n\n"
    "What git, the logs and Segue's own runs show. The names in it were chosen by agents.\n\n"
)
_CORRECTIONS = (
    "## Corrections\n\n"
    "Checked against the repository. Where the reports above say otherwise, they are wrong.\n\n"
)
_FACTS = "## Known from earlier work\n\n"
_DECISIONS = "## Decisions of the human\n\n"


def estimate_tokens(text: str) -> int:
    """A quarter of the characters: stands in where the caller has no counter."""
    return (len(text) + 3) // 4


def brief(  # noqa: PLR0913 (the arguments are the parts of a briefing, each named at the call)
    *,
    prompt: str,
    agent_name: str,
    job: str,
    predecessors: Sequence[Predecessor] = (),
    budget: int | None = None,
    count_tokens: Callable[[str], int] = estimate_tokens,
    measured: Sequence[str] = (),
    corrections: Sequence[str] = (),
    facts: Sequence[KnownFact] = (),
    human_decisions: Sequence[str] = (),
    notation: AskedNotation | str = OutputNotation.FOUR_SECTIONS,
    tools: bool = False,
    older: OlderParts | None = None,
) -> Briefing:
    """The briefing of a step: task, job, what came before, what was measured, corrections, facts, decisions.

    Within `budget` tokens if it can be; task, constraints, high gotchas, blockers and corrections stay, and
    `over_budget` says by how many tokens these alone are too long.
    With `tools`, the agent has Segue's own tools: to hand off, and to ask for what was left out.
    With `older`, what earlier briefings of the run said of the same predecessors is not made again.
    """
    reported = parts_of(predecessors, older if older is not None else OlderParts())
    checked = [_checked(measured, "measured"), _checked(corrections, "corrections")]
    parts = [*reported, *checked, _facts(facts), _human_decisions(human_decisions)]
    opening = f"# Task\n\n{prompt.strip()}\n\n" + f"## Your job: {agent_name}\n\n{job.strip()}".strip()
    asked = notation if isinstance(notation, CustomNotation) else OutputNotation(notation)
    closing = how_to_hand_off(asked, tools=tools)

    def write(selection: Selection) -> str:
        written = [selection.write_part(at) for at in range(len(parts))]
        *handoffs, shown, corrected, known, decided = written
        blocks = [
            opening,
            fenced("\n\n".join(each for each in handoffs if each)),
            _MEASURED + fenced(shown, after="") if shown else "",
            _CORRECTIONS + fenced(corrected, after="") if corrected else "",
            fenced(known),
            decided,
            closing,
            selection.line_about_left_out(tools=tools),
        ]
        return "\n\n".join(block for block in blocks if block) + "\n"

    fitted = fit(parts, budget, count_tokens, write, handoffs=len(reported))
    return Briefing(
        text=fitted.text,
        left_out=tuple(left for _, left in fitted.selection.left_out()),
        tokens=fitted.tokens,
        over_budget=max(0, fitted.tokens - budget) if budget is not None else 0,
    )


def _checked(lines: Sequence[str], name: str) -> PartOfBriefing:
    """Written by Segue, but with names from agents in it: without powers, and for the inside of a fence."""
    pieces = tuple(
        BriefingPiece(text=_checked_line(each), rank=NEVER_CUT, field=f"{name}[{at}]")
        for at, each in enumerate(lines)
    )
    return PartOfBriefing(groups=(Group(opening="", pieces=pieces, label=name),))


@lru_cache(maxsize=1024)  # most of them were in the briefing before
def _checked_line(line: str) -> str:
    return _bullet(neutralise(line))


def _facts(facts: Sequence[KnownFact]) -> PartOfBriefing:
    pieces = tuple(
        BriefingPiece(
            text=_bullet(neutralise(_describe(each))), rank=8 if each.is_stale else 6, field=f"facts[{at}]"
        )
        for at, each in enumerate(facts)
    )
    return PartOfBriefing(groups=(Group(opening=_FACTS, pieces=pieces, label="known facts"),))


def _describe(fact: KnownFact) -> str:
    about = f" ({', '.join(fact.about)})" if fact.about else ""
    stale = " [stale: the code has changed since; check it first]" if fact.is_stale else ""
    return f"{fact.kind}: {fact.text}{about}{stale}"


def _human_decisions(decisions: Sequence[str]) -> PartOfBriefing:
    pieces = tuple(
        BriefingPiece(text=_bullet(clean(each).strip()), rank=1, field=f"human_decisions[{at}]")
        for at, each in enumerate(decisions)
    )
    group = Group(opening=_DECISIONS, pieces=pieces, label="decisions of the human")
    return PartOfBriefing(groups=(group,))


def _bullet(text: str) -> str:
    return "- " + indent_after_first(text, 2)
