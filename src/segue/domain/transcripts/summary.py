"""Makes a handoff of a transcript, without a model: everything in it stands in the transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from segue.domain.handoff.checking.secrets import redact
from segue.domain.handoff.extract import extract_handoff
from segue.domain.handoff.extract.result import Notation, Origin
from segue.domain.handoff.model import Handoff, NextStep, Section
from segue.domain.text.items import split_items
from segue.domain.transcripts.ending import how_it_ended
from segue.domain.transcripts.loose import head
from segue.domain.transcripts.model import (
    AssistantText,
    Entry,
    Summary,
    ToolCall,
    Transcript,
    UserMessage,
)
from segue.domain.transcripts.wishes import directives_in, own_words, turns_away
from segue.domain.transcripts.work import changed_files, commands_run, newest_plan, relative

_FENCE = "<handoff-context>"
_LONGEST_GOAL = 6000
_LONGEST_REPORT = 6000
_LONGEST_TEXT = 3000
_MOST_ITEMS = 60
_MOST_TURNS = 10
_MOST_LATER = 20
_MOST_DROPPED = 100
_TELLING = frozenset(
    {
        "decisions_made", "patterns_discovered", "gotchas", "failed_approaches", "dependencies_for_next",
        "open_questions", "suggested_next_steps", "blockers", "critical_context",
    }
)  # fmt: skip
"""What a summary that the tool wrote itself may fill."""


def summarise(transcript: Transcript) -> Handoff:
    """The handoff of a session: the user's words, the work that tool calls show, the agent's own report."""
    entries = transcript.entries
    messages = [words for e in entries if isinstance(e, UserMessage) and (words := own_words(e.text))]
    earlier, messages = _earlier_handoff(messages)
    report = _report(entries)
    told = _summed_up(entries)
    created, modified = changed_files(entries, transcript.working_dir)
    directives = directives_in(messages)
    later, dropped = _later_words(messages)
    ending = how_it_ended(entries)
    fields: dict[str, Any] = {name: getattr(report, name) for name in Handoff.model_fields}
    for name in _TELLING:
        fields[name] = fields[name] or getattr(told, name) or getattr(earlier, name)
    fields |= {
        "goal": _goal(messages, earlier) or report.goal or told.goal,
        "constraints": tuple(dict.fromkeys((*earlier.constraints, *directives.kept, *report.constraints))),
        "files_created": _in_own_words(created, report.files_created, transcript.working_dir),
        "files_modified": _in_own_words(modified, report.files_modified, transcript.working_dir),
        "commands_run": commands_run(entries),
        "suggested_next_steps": (*ending.steps, *_plan_left(entries), *fields["suggested_next_steps"]),
        "blockers": (*ending.blockers, *fields["blockers"]),
        "critical_context": (*later, *fields["critical_context"]),
        "next_agent_context": "\n\n".join(
            part for part in (ending.context, report.next_agent_context) if part
        )
        or None,
        "other_sections": (
            *report.other_sections,
            *_dropped([*directives.dropped, *dropped]),
            _source(transcript),
        ),
    }
    return _presentable(Handoff(**fields))


def is_empty(transcript: Transcript) -> bool:
    """True if nobody said or did anything in it: only the tool's own words may stand there."""
    return not any(not isinstance(e, UserMessage) or own_words(e.text) for e in transcript.entries)


def _earlier_handoff(messages: list[str]) -> tuple[Handoff, list[str]]:
    """The handoff that the session itself began with, so that the user's rules outlive every hop."""
    if not messages or _FENCE not in messages[0]:
        return Handoff(), messages
    inside = messages[0].partition(_FENCE)[2].partition("</handoff-context>")[0]
    found = extract_handoff(inside, origin=Origin.REPLY).handoff
    return (found, messages[1:]) if found else (Handoff(), messages)


def _goal(messages: Sequence[str], earlier: Handoff) -> str | None:
    first, rest = (earlier.goal, messages) if earlier.goal else (next(iter(messages), None), messages[1:])
    if first is None:
        return None
    turned = [head(each, _LONGEST_TEXT) for each in rest if turns_away(each)]
    parts = [head(first, _LONGEST_GOAL), *(f"The user changed this later: {each}" for each in turned[-5:])]
    return "\n\n".join(dict.fromkeys(parts))


def _later_words(messages: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The newest of what the user said later, and the older words that have no room."""
    later = list(dict.fromkeys(head(each, 600) for each in messages[1:] if not turns_away(each)))
    kept = tuple(f"The user said later: {each}" for each in later[-_MOST_LATER:])
    return kept, later[:-_MOST_LATER]


def _dropped(directives: Sequence[str]) -> Iterator[Section]:
    """The beginnings of what the user said and what had no room, the newest last."""
    if not directives:
        return
    shown = [f"- {head(' '.join(each.split()), 120)}" for each in directives[-_MOST_DROPPED:]]
    more = len(directives) - len(shown)
    lines = [f"- and {more} older ones", *shown] if more else shown
    yield Section(heading="Said by the user, and left out", text="\n".join(lines))


def _report(entries: Sequence[Entry]) -> Handoff:
    """What the agent itself reported at the ends of its newest turns."""
    finals = _final_texts(entries)[-_MOST_TURNS:]
    at, handoff = len(finals), Handoff()
    for back, text in enumerate(reversed(finals)):
        found = extract_handoff(text, origin=Origin.REPLY)
        if found.handoff and found.notation not in (Notation.REPLY, Notation.NONE):
            at, handoff = len(finals) - 1 - back, found.handoff
            break
    later = finals[at + 1 :] if at < len(finals) else finals
    if not later:
        return handoff
    said = [*(head(_first_paragraph(each), 500) for each in later[:-1]), *_items(later[-1])]
    done = (*handoff.what_was_done, *said)[-_MOST_ITEMS:]
    return handoff.model_copy(update={"what_was_done": done, "outcome": None})


def _final_texts(entries: Sequence[Entry]) -> list[str]:
    """The last text of each turn that no tool call follows."""
    found: list[str] = []
    held: list[str] = []
    for entry in entries:
        if isinstance(entry, AssistantText):
            held.append(entry.text)
        elif isinstance(entry, ToolCall):
            held = []
        elif isinstance(entry, UserMessage) and held:
            found.append("\n\n".join(held))
            held = []
    return [*found, "\n\n".join(held)] if held else found


def _summed_up(entries: Sequence[Entry]) -> Handoff:
    newest = next((e for e in reversed(entries) if isinstance(e, Summary) and not e.of_branch), None)
    return (extract_handoff(newest.text, origin=Origin.REPLY).handoff if newest else None) or Handoff()


def _items(text: str) -> list[str]:
    return [head(item.text, _LONGEST_TEXT) for item in split_items(head(text, _LONGEST_REPORT))]


def _first_paragraph(text: str) -> str:
    return text.strip().split("\n\n", 1)[0]


def _plan_left(entries: Sequence[Entry]) -> tuple[NextStep, ...]:
    plan = newest_plan(entries)
    left = [item for item in plan.plan if item.status in ("pending", "in_progress")] if plan else []
    return tuple(
        NextStep(step=item.text, priority="high" if item.status == "in_progress" else None) for item in left
    )


def _in_own_words(seen: Sequence[Any], claimed: Sequence[Any], working_dir: str | None) -> tuple[Any, ...]:
    """Files as tool calls that succeeded show them, in the agent's words where it has some.

    Files that the agent only names are not listed: its report has them, and git tells what changed.
    """
    words = {relative(each.path, working_dir): each for each in claimed}
    return tuple(
        words[each.path].model_copy(update={"path": each.path}) if each.path in words else each
        for each in seen
    )


def _source(transcript: Transcript) -> Section:
    facts = [f"Taken from the {transcript.tool} session {transcript.session_id}"]
    if transcript.title:
        facts[0] += f" ({head(transcript.title, 200)})"
    if transcript.working_dir:
        facts.append(f"its folder was {transcript.working_dir}")
    if transcript.updated_at:
        facts.append(f"its last entry is of {transcript.updated_at.isoformat(timespec='seconds')}")
    if transcript.skipped:
        facts.append(f"{transcript.skipped} damaged lines were skipped")
    if transcript.left_out:
        facts.append(f"{transcript.left_out} entries of its middle were left out")
    if transcript.branches:
        facts.append(f"{len(transcript.branches)} other branches were left out")
    return Section(heading="Source", text="; ".join(facts) + ".")


def _presentable(handoff: Handoff) -> Handoff:
    """Without secrets, and with no list that nobody would read to its end."""
    return Handoff.model_validate(_clean(handoff.model_dump(exclude_defaults=True)))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return head(redact(value)[0], 2 * _LONGEST_GOAL)
    if isinstance(value, dict):
        return {key: _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value[:400]]
    return value
