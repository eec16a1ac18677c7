"""What one earlier agent left, as groups of pieces: the record's lists and tables, and the raw reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, TypeVar

from segue.domain.briefing import wording
from segue.domain.briefing.budget import NEVER_CUT, NEVER_SHOWN, BriefingPiece, Group, PartOfBriefing
from segue.domain.briefing.corrections import mark_handoff, mark_text
from segue.domain.briefing.fencing import neutralise, neutralise_line, table_cell
from segue.domain.briefing.model import ItemPlace, Predecessor
from segue.domain.handoff.checking.rules_text import statement_key
from segue.domain.handoff.checking.rules_values import fix_value
from segue.domain.handoff.extract.result import LEAST_COVERAGE
from segue.domain.handoff.model import Dependency, Gotcha, Handoff
from segue.domain.handoff.writing.text import dedent_rest, indent_after_first

_TOLD_BY_REPLY = (
    *("what_was_done", "critical_context", "files_created", "files_modified", "commands_run"),
    "other_sections",
)
"""What a whole reply tells as well as a record: it is not said twice."""
_LONGEST_PIECE = 200
_LONGEST_ITEM = 600
"""A longer item may be cut within, at the end of a line."""
_LONGEST_REPLY = 1_000_000
_OTHER_NOTES = "Other Notes"
_REPLY_RANK = 4
_OLD_REPLY_RANK = 9
_OTHER_RANK = 9

_NO_PLACE = ItemPlace()

T = TypeVar("T")
Rank = int | Callable[[Any], int]


@dataclass(slots=True)
class OlderParts:
    """The parts about all predecessors but the newest. They stay the same from briefing to briefing."""

    predecessors: list[Predecessor] = field(default_factory=list)
    parts: list[PartOfBriefing] = field(default_factory=list)
    said: set[Any] = field(default_factory=set)
    """What the parts say of that which is said once."""

    def grow(self, predecessors: Sequence[Predecessor]) -> None:
        """Add parts for those that are new; begin anew if others are no longer what they were."""
        known = len(self.parts)
        if any(old is not new for old, new in zip(self.predecessors, predecessors, strict=False)):
            known = 0
        if known > len(predecessors) or not known:
            self.predecessors, self.parts, self.said, known = [], [], set(), 0
        for each in predecessors[known:]:
            self.predecessors.append(each)
            self.parts.append(part_of(each, self.said, is_newest=False))


def parts_of(predecessors: Sequence[Predecessor], older: OlderParts) -> list[PartOfBriefing]:
    """The parts about all predecessors, the oldest first; `older` remembers those it made before."""
    if not predecessors:
        return []
    older.grow(predecessors[:-1])
    return [*older.parts, part_of(predecessors[-1], set(older.said), is_newest=True)]


def part_of(predecessor: Predecessor, said: set[Any], *, is_newest: bool) -> PartOfBriefing:
    """The part about one predecessor; `said` holds what earlier parts say already and is added to."""
    name = neutralise_line(predecessor.agent_name)
    handoff = predecessor.handoff
    if handoff is None or handoff.is_empty():
        opening = f"## Reply of previous step ({name}), which held no structured handoff"
        groups = _reply("", predecessor, is_newest=is_newest)
    else:
        opening = f"## Handoff from previous step ({name})"
        # A record of little of its reply is given together with the reply.
        with_reply = predecessor.coverage < LEAST_COVERAGE
        if with_reply:
            handoff = handoff.model_copy(update=dict.fromkeys(_TOLD_BY_REPLY, ()))
        record = _PredecessorRecord(
            handoff=mark_handoff(handoff, predecessor.false),
            places=predecessor.places,
            refuted=frozenset(each.field for each in predecessor.false),
        )
        groups = (*record.header(said), *record.tables(said), *record.rest())
        if with_reply:
            groups += _reply("### Its whole reply\n\n", predecessor, is_newest=is_newest)
        else:
            groups += tuple(record.other_sections())
    return PartOfBriefing(opening=opening, groups=groups, agent_name=predecessor.agent_name)


def _reply(opening: str, predecessor: Predecessor, *, is_newest: bool) -> tuple[Group, ...]:
    text = mark_text(_bounded(predecessor.reply), predecessor.false)
    rank = _REPLY_RANK if is_newest else _OLD_REPLY_RANK
    return _text_group(opening, "reply", text, rank, label="rest of the reply")


def _bounded(reply: str) -> str:
    """No briefing has room for more; nobody should wait for it to be cleaned."""
    if len(reply) <= _LONGEST_REPLY:
        return reply
    return f"{reply[:_LONGEST_REPLY]}\n\n[{len(reply) - _LONGEST_REPLY} more characters are not shown]"


@dataclass(frozen=True, kw_only=True, slots=True)
class _PredecessorRecord:
    handoff: Handoff
    places: Mapping[str, ItemPlace]
    refuted: frozenset[str]

    def header(self, said: set[Any]) -> Iterator[Group]:
        handoff = self.handoff
        yield from _text_group("**Outcome**: ", "outcome", self._outcome(), rank=1)
        yield from _text_group("**Goal**: ", "goal", self._placed("goal", handoff.goal), rank=1)
        constraints = _unsaid("constraints", handoff.constraints, said)
        yield from self._list("**Constraints**:\n", "constraints", constraints, str, NEVER_CUT)
        done = enumerate(handoff.what_was_done)
        yield from self._list("**What was done**:\n", "what_was_done", done, str, 4)
        decisions = enumerate(handoff.decisions_made)
        yield from self._list("**Decisions made**:\n", "decisions_made", decisions, wording.decision, 3)
        questions = [(at, each) for at, each in enumerate(handoff.open_questions) if not each.blocking]
        yield from self._list("**Open questions**:\n", "open_questions", questions, wording.question, 4)
        context = self._placed("next_agent_context", handoff.next_agent_context)
        yield from _text_group("**Your task**: ", "next_agent_context", context, rank=2)

    def _outcome(self) -> str | None:
        """The outcome, with the words that state it if they are others."""
        place = self.places.get("outcome", _NO_PLACE)
        words = [each for each in (place.heading, place.lead_in, *place.extras) if each]
        if not words or self.handoff.outcome is None:
            return self.handoff.outcome
        return f"{self.handoff.outcome} ({'; '.join(words)})"

    def _placed(self, name: str, text: str | None) -> str | None:
        return text and _with_place(text, self.places.get(name, _NO_PLACE), lead_in=True)

    def tables(self, said: set[Any]) -> Iterator[Group]:
        handoff = self.handoff
        if files := handoff.dependencies_for_next:
            yield Group(
                opening="### Files to Review\n\n| File | Reason |\n|------|--------|\n",
                pieces=tuple(
                    BriefingPiece(
                        text=self._row(f"dependencies_for_next[{at}]", each),
                        rank=6,
                        field=f"dependencies_for_next[{at}]",
                    )
                    for at, each in enumerate(files)
                ),
                label="files to review",
            )
        patterns = _unsaid("patterns_discovered", handoff.patterns_discovered, said)
        yield from self._list(
            "### Patterns to Follow\n\n", "patterns_discovered", patterns, wording.pattern, 5
        )
        gotchas = _unsaid("gotchas", handoff.gotchas, said)
        yield from self._list("### Warnings\n\n", "gotchas", gotchas, wording.gotcha, _gotcha_rank)
        blocking = [(at, each) for at, each in enumerate(handoff.open_questions) if each.blocking]
        yield from self._list("### Blocking Questions\n\n", "open_questions", blocking, wording.question, 1)

    def _row(self, name: str, item: Dependency) -> str:
        reason = _with_place(item.reason or "", self.places.get(name, _NO_PLACE), lead_in=True)
        return f"| {table_cell(item.file)} | {table_cell(reason.strip())} |"

    def rest(self) -> Iterator[Group]:
        for heading, name, write, rank in (
            ("Blockers", "blockers", wording.blocker, NEVER_CUT),
            ("Next Steps", "suggested_next_steps", wording.next_step, 3),
            ("Failed Approaches", "failed_approaches", wording.failed_approach, 5),
            ("Critical Context", "critical_context", str, 6),
            ("Files Created", "files_created", wording.file_created, 7),
            ("Files Modified", "files_modified", wording.file_modified, 7),
            ("Commands Run", "commands_run", wording.command, 8),
        ):
            items = self._not_mentions(name)
            yield from self._list(f"### {heading}\n\n", name, items, write, rank)

    def _not_mentions(self, name: str) -> list[tuple[int, Any]]:
        """The items of a field, without those that statements above name already, unless they are refuted."""
        return [
            (at, item)
            for at, item in enumerate(getattr(self.handoff, name))
            if (named := f"{name}[{at}]") in self.refuted or not self.places.get(named, _NO_PLACE).is_mention
        ]

    def other_sections(self) -> Iterator[Group]:
        for at, section in enumerate(self.handoff.other_sections):
            heading = neutralise_line(section.heading)
            opening = f"### {heading or _OTHER_NOTES}\n\n"
            name = f"other_sections[{at}]"
            for group in _text_group(opening, name, section.text, _OTHER_RANK, label="other sections"):
                yield replace(group, title=heading)

    def _list(
        self,
        opening: str,
        name: str,
        items: Iterable[tuple[int, Any]],
        write: Callable[[Any], str],
        rank: Rank,
    ) -> Iterator[Group]:
        """Several items as bullets; one item of the header as a paragraph, as it was written."""
        numbered = list(items)
        if not numbered:
            return
        places = _share_headings([self.places.get(f"{name}[{at}]", _NO_PLACE) for at, _ in numbered])
        is_alone = opening.startswith("**") and len(numbered) == 1 and not places[0].lead_in
        if is_alone and name == "what_was_done":
            opening = opening.rstrip("\n") + " "
        pieces: list[BriefingPiece] = []
        for (at, item), place in zip(numbered, places, strict=True):
            text = _with_place(write(item), place)
            bullet = "" if is_alone else "  - " if place.lead_in else "- "
            written = bullet + indent_after_first(dedent_rest(neutralise(text)), len(bullet))
            item_rank = rank if isinstance(rank, int) else rank(item)
            lead_in = f"- {neutralise_line(place.lead_in)}" if place.lead_in else ""
            pieces += _pieces(written, item_rank, f"{name}[{at}]", lead_in)
        yield Group(opening=opening, pieces=tuple(pieces), label=name.replace("_", " "))


def _share_headings(places: Sequence[ItemPlace]) -> list[ItemPlace]:
    """A heading of several neighbours is written once above them, as a sentence that introduces a list is."""
    shared: list[ItemPlace] = []
    for heading, group in groupby(places, key=lambda place: place.heading):
        same = list(group)
        is_shared = bool(heading) and len(same) > 1 and not any(place.lead_in for place in same)
        above = {"heading": "", "lead_in": f"{heading.rstrip(':.')}:"} if is_shared else {}
        shared += [replace(place, **above) for place in same]  # type: ignore[arg-type]  # names of its fields
    return shared


def _text_group(opening: str, name: str, text: str | None, rank: int, label: str = "") -> tuple[Group, ...]:
    """Running text, which is cut at the end of a line."""
    if not text or not text.strip():
        return ()
    label = label or f"rest of {name.replace('_', ' ')}"
    pieces = tuple(_pieces(neutralise(text), rank, name, longest=0))
    return (Group(opening=opening, pieces=pieces, label=label),)


def _pieces(
    text: str, rank: int, name: str, lead_in: str = "", longest: int = _LONGEST_ITEM
) -> Iterator[BriefingPiece]:
    cuts = [text] if len(text) <= longest else list(_cut_text(text))
    for at, cut in enumerate(cuts):
        yield BriefingPiece(text=cut, rank=rank, field=name, continues=at > 0, lead_in=lead_in)


def _cut_text(text: str) -> Iterator[str]:
    """A few lines at a time, with their ends; a long line at the ends of sentences, else at spaces."""
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
    for mark in ("\n", ". ", " "):
        at = text.rfind(mark, start, stop)
        if at >= start:
            return at + len(mark)
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


def _named(name: str, items: Iterable[T]) -> Iterator[tuple[str, T]]:
    """Each item with its name in the record."""
    for at, item in enumerate(items):
        yield f"{name}[{at}]", item


def _with_place(text: str, place: ItemPlace, *, lead_in: bool = False) -> str:
    """An item with what it stood under; its lead-in is written above it unless it has no list."""
    above = [each for each in (place.heading, place.lead_in if lead_in else "") if each]
    placed = "".join(f"{each.rstrip(':.')}: " for each in above) + text
    return placed + (f" ({'; '.join(place.extras)})" if place.extras else "")


def _gotcha_rank(gotcha: Gotcha) -> int:
    severity = fix_value("severity", gotcha.severity) if gotcha.severity else None
    return {"high": NEVER_CUT, "low": NEVER_SHOWN}.get(severity or "", 3)
