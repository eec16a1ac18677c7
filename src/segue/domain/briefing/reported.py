"""What earlier agents left, as groups of pieces: the header, the tables and lists, or the raw reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from segue.domain.briefing import wording
from segue.domain.briefing.fencing import neutralise, neutralise_line, table_cell
from segue.domain.briefing.marking import mark_handoff, mark_text
from segue.domain.briefing.pieces import NEVER_CUT, Group, PartOfBriefing, Piece
from segue.domain.briefing.values import Predecessor
from segue.domain.handoff.checking.rules_text import statement_key
from segue.domain.handoff.checking.rules_values import mend_value
from segue.domain.handoff.model import Dependency, Gotcha, Handoff
from segue.domain.handoff.writing.text import dedent_rest, indent_after_first

_LONGEST_PIECE = 200
_LONGEST_REPLY = 1_000_000

Indexed = Sequence[tuple[int, Any]]


def part_of(predecessor: Predecessor, weight: int, said: set[Any]) -> PartOfBriefing:
    """The part about one predecessor; `said` holds what earlier parts say already and is added to."""
    name = neutralise_line(predecessor.agent_name)
    handoff = predecessor.handoff
    if handoff is None or handoff.is_empty():
        text = mark_text(_bounded(predecessor.reply), predecessor.false)
        reply = _text_group("", "reply", text, rank=4, label="rest of the reply")
        opening = f"## Reply of previous step ({name}), which held no structured handoff"
        return PartOfBriefing(opening=opening, groups=reply, agent_name=predecessor.agent_name, weight=weight)
    handoff = mark_handoff(handoff, predecessor.false)
    return PartOfBriefing(
        opening=f"## Handoff from previous step ({name})",
        groups=(*_header(handoff, said), *_tables(handoff, said), *_rest(handoff)),
        agent_name=predecessor.agent_name,
        weight=weight,
    )


def _bounded(reply: str) -> str:
    """No briefing has room for more; nobody should wait for it to be cleaned."""
    if len(reply) <= _LONGEST_REPLY:
        return reply
    return f"{reply[:_LONGEST_REPLY]}\n\n[{len(reply) - _LONGEST_REPLY} more characters are not shown]"


def _header(handoff: Handoff, said: set[Any]) -> Iterator[Group]:
    yield from _text_group("**Outcome**: ", "outcome", handoff.outcome, rank=1)
    yield from _text_group("**Goal**: ", "goal", handoff.goal, rank=1)
    constraints = _unsaid("constraints", handoff.constraints, said)
    yield from _list_group("**Constraints**:\n", "constraints", constraints, str, NEVER_CUT)
    done = list(enumerate(handoff.what_was_done))
    yield from _list_group("**What was done**:\n", "what_was_done", done, str, 4, inline=True)
    decisions = list(enumerate(handoff.decisions_made))
    yield from _list_group("**Decisions made**:\n", "decisions_made", decisions, wording.decision, 3)
    questions = [(at, each) for at, each in enumerate(handoff.open_questions) if not each.blocking]
    yield from _list_group("**Open questions**:\n", "open_questions", questions, wording.question, 4)
    yield from _text_group("**Your task**: ", "next_agent_context", handoff.next_agent_context, rank=2)


def _tables(handoff: Handoff, said: set[Any]) -> Iterator[Group]:
    files = handoff.dependencies_for_next
    if files:
        yield Group(
            opening="### Files to Review\n\n| File | Reason |\n|------|--------|\n",
            pieces=tuple(
                Piece(text=_row(each), rank=6, field=f"dependencies_for_next[{at}]")
                for at, each in enumerate(files)
            ),
            label="files to review",
        )
    patterns = _unsaid("patterns_discovered", handoff.patterns_discovered, said)
    yield from _list_group("### Patterns to Follow\n\n", "patterns_discovered", patterns, wording.pattern, 5)
    gotchas = [
        (at, each) for at, each in _unsaid("gotchas", handoff.gotchas, said) if _severity(each) != "low"
    ]
    yield from _list_group("### Warnings\n\n", "gotchas", gotchas, wording.gotcha, _gotcha_rank)
    blocking = [(at, each) for at, each in enumerate(handoff.open_questions) if each.blocking]
    yield from _list_group("### Blocking Questions\n\n", "open_questions", blocking, wording.question, 1)


def _rest(handoff: Handoff) -> Iterator[Group]:
    for heading, name, write, rank in (
        ("Blockers", "blockers", wording.blocker, NEVER_CUT),
        ("Next Steps", "suggested_next_steps", wording.next_step, 3),
        ("Failed Approaches", "failed_approaches", wording.failed_approach, 5),
        ("Critical Context", "critical_context", str, 6),
        ("Files Created", "files_created", wording.file_created, 7),
        ("Files Modified", "files_modified", wording.file_modified, 7),
        ("Commands Run", "commands_run", wording.command, 8),
    ):
        items = list(enumerate(getattr(handoff, name)))
        yield from _list_group(f"### {heading}\n\n", name, items, write, rank)
    for at, section in enumerate(handoff.other_sections):
        if not section.heading.strip():
            continue  # talk around the handoff, which its writer gave no name; the reply keeps it
        opening = f"### {neutralise_line(section.heading)}\n\n"
        yield from _text_group(opening, f"other_sections[{at}]", section.text, rank=9, label="other sections")


def _list_group(
    opening: str,
    name: str,
    items: Indexed,
    write: Callable[[Any], str],
    rank: int | Callable[[Any], int],
    *,
    inline: bool = False,
) -> Iterator[Group]:
    """Several items as bullets; one item of the header as a paragraph, as it was written."""
    if not items:
        return
    is_label = opening.startswith("**")
    mark = "" if len(items) == 1 and is_label else "- "
    if inline and not mark:
        opening = opening.rstrip("\n") + " "
    pieces = tuple(
        Piece(
            text=mark + indent_after_first(dedent_rest(neutralise(write(each))), len(mark)),
            rank=rank if isinstance(rank, int) else rank(each),
            field=f"{name}[{at}]",
        )
        for at, each in items
    )
    yield Group(opening=opening, pieces=pieces, label=name.replace("_", " "))


def _text_group(opening: str, name: str, text: str | None, rank: int, label: str = "") -> tuple[Group, ...]:
    """Running text, which is cut at the end of a line."""
    if not text or not text.strip():
        return ()
    pieces = tuple(Piece(text=each, rank=rank, field=name) for each in _cut_text(neutralise(text)))
    label = label or f"rest of {name.replace('_', ' ')}"
    return (Group(opening=opening, pieces=pieces, joint="", is_text=True, label=label),)


def _cut_text(text: str) -> Iterator[str]:
    """A few lines at a time, with their ends; a very long line at spaces."""
    start = 0
    while start < len(text):
        end = _border(text, start)
        yield text[start:end]
        start = end


def _border(text: str, start: int) -> int:
    stop = start + _LONGEST_PIECE
    if stop >= len(text):
        # The last lines one by one would be no better: they are short already.
        return len(text)
    for mark in ("\n", " "):
        at = text.rfind(mark, start, stop)
        if at >= start:
            return at + 1
    return stop


def _unsaid(name: str, items: Iterable[Any], said: set[Any]) -> list[tuple[int, Any]]:
    """The items that no earlier part says already: constraints and lessons travel through many hops."""
    fresh = []
    for at, item in enumerate(items):
        key = (name, statement_key(item))
        if key not in said:
            said.add(key)
            fresh.append((at, item))
    return fresh


def _row(item: Dependency) -> str:
    return f"| {table_cell(item.file)} | {table_cell(item.reason or '')} |"


def _severity(gotcha: Gotcha) -> str | None:
    return mend_value("severity", gotcha.severity) if gotcha.severity else None


def _gotcha_rank(gotcha: Gotcha) -> int:
    return NEVER_CUT if _severity(gotcha) == "high" else 3
