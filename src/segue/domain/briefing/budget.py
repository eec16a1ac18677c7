"""A briefing before it is cut to size: pieces in groups, groups in parts; and the cutting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from segue.domain.briefing.model import LeftOut
from segue.domain.handoff.writing.text import close_code

NEVER_CUT = 0
NEVER_SHOWN = 99
"""The rank of what is listed as left out in any case."""
CUT_HERE = "[\u2026]"
_KINDS_NAMED = 4
_PASSES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class BriefingPiece:
    """The least that can be left out: one item, or some lines of a longer text."""

    text: str
    """As it is written in the briefing, with its bullet."""
    rank: int
    """0 is never cut; the higher, the sooner it is left out."""
    field: str = ""
    """`what_was_done[3]`: what to ask for if it was left out."""
    continues: bool = False
    """It continues the text of the piece before it."""
    lead_in: str = ""
    """What is written once above neighbours that share it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Pieces under one label. They are cut from the end: of pieces of one rank, the first ones stay."""

    opening: str
    """What is written before the first piece; nothing if no piece is left."""
    pieces: tuple[BriefingPiece, ...]
    """In the order written."""
    label: str = ""
    """What its pieces are called in the line about what was left out."""
    title: str = ""
    """The agent's own heading, which is left out with the first piece."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PartOfBriefing:
    """Groups that belong together, from one agent or from none. It remembers its text when nothing is cut."""

    groups: tuple[Group, ...]
    """In the order written."""
    opening: str = ""
    """Always written, if the part is."""
    agent_name: str = ""
    """Whose it is."""

    @cached_property
    def whole_text(self) -> str:
        """Its text with all that is shown if there is room."""
        return self._alone().write_part(0)

    @cached_property
    def never_shown(self) -> tuple[tuple[str, LeftOut], ...]:
        """What is left out even if there is room, with its label."""
        return tuple(self._alone().left_out())

    def _alone(self) -> Selection:
        return Selection([self], {key for key, piece in all_keys([self]) if piece.rank != NEVER_SHOWN})


Key = tuple[int, int, int]
"""A piece's place: part, group, piece."""


@dataclass(slots=True)
class Selection:
    """The pieces that stay; grows while a budget is filled."""

    parts: Sequence[PartOfBriefing]
    """All that could be said."""
    kept: set[Key] | None = None
    """The places of the pieces that are said; none for all that are shown if there is room."""

    def write_part(self, at: int) -> str:
        """A part with the pieces that stay."""
        part = self.parts[at]
        if self.kept is None:
            return part.whole_text
        blocks = [part.opening, *(self._write_group(at, g, group) for g, group in enumerate(part.groups))]
        return "\n\n".join(block for block in blocks if block)

    def _write_group(self, at: int, g: int, group: Group) -> str:
        lines: list[str] = []
        lead_in = ""
        for _, item in groupby(enumerate(group.pieces), key=_ItemNumbers()):
            pieces = list(item)
            kept = [piece for p, piece in pieces if self._keeps((at, g, p))]
            if not kept:
                continue
            # What introduces a list may be an item itself.
            if kept[0].lead_in and kept[0].lead_in != lead_in and kept[0].lead_in not in lines[-1:]:
                lines.append(kept[0].lead_in)
            lead_in = kept[0].lead_in
            lines.append(_joined(kept, is_whole=len(kept) == len(pieces)))
        return group.opening + "\n".join(lines) if lines else ""

    def left_out(self) -> Iterator[tuple[str, LeftOut]]:
        """What does not stay, with its label, in the order of the records."""
        for at, part in enumerate(self.parts):
            if self.kept is None:
                yield from part.never_shown
                continue
            for g, group in enumerate(part.groups):
                gone = [piece for p, piece in enumerate(group.pieces) if not self._keeps((at, g, p))]
                for name, pieces in groupby(gone, key=lambda piece: piece.field):
                    text = _as_left_out(list(pieces))
                    if group.title and gone[0] is group.pieces[0]:
                        text = f"{group.title}: {text}"
                    yield group.label, LeftOut(agent_name=part.agent_name, field=name, text=text)

    def _keeps(self, key: Key) -> bool:
        return self.kept is not None and key in self.kept

    def line_about_left_out(self, *, tools: bool = False) -> str:
        """One line that says how much of what is missing, and how to get it."""
        counts = Counter(label for label, _ in self.left_out())
        if not counts:
            return ""
        named = [f"{number} {label}" for label, number in counts.most_common(_KINDS_NAMED)]
        more = counts.total() - sum(number for _, number in counts.most_common(_KINDS_NAMED))
        listed = ", ".join([*named, *([f"{more} more"] if more else [])])
        return f"Left out to save space: {listed}." + (" The `recall` tool gives them." if tools else "")


def _as_left_out(pieces: Sequence[BriefingPiece]) -> str:
    """The text of one item, behind what introduces its list."""
    text = "".join(piece.text for piece in pieces).strip()
    lead_in = "" if pieces[0].continues else pieces[0].lead_in
    return f"{lead_in} {text.removeprefix('- ')}" if lead_in else text


class _ItemNumbers:
    """Gives the pieces of one item the same number."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, numbered: tuple[int, BriefingPiece]) -> int:
        self._number += not numbered[1].continues
        return self._number


def _joined(pieces: Sequence[BriefingPiece], *, is_whole: bool) -> str:
    """The text of one item; where its end is missing, that can be seen."""
    text = "".join(piece.text for piece in pieces)
    if is_whole:
        return text.rstrip() if len(pieces) > 1 else text
    closed = close_code(text.rstrip())
    return closed + ("\n" if closed != text.rstrip() else " ") + CUT_HERE


def all_keys(parts: Sequence[PartOfBriefing]) -> Iterator[tuple[Key, BriefingPiece]]:
    """Every piece with its place."""
    for at, part in enumerate(parts):
        for g, group in enumerate(part.groups):
            for p, piece in enumerate(group.pieces):
                yield (at, g, p), piece


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedText:
    """What was made of the pieces that stay."""

    selection: Selection
    text: str
    tokens: int


def fit(
    parts: Sequence[PartOfBriefing],
    budget: int | None,
    count_tokens: Callable[[str], int],
    write: Callable[[Selection], str],
    *,
    handoffs: int,
) -> FittedText:
    """The pieces that stay within `budget` tokens of the text that `write` makes, with that text.

    The first parts are of so many handoffs, the oldest first. Half of the room belongs to the newest handoff.
    What is left is given out by rank, the newer before the older, and every list from its beginning: the
    length of a piece plays no part.
    """

    def written(selection: Selection) -> FittedText:
        text = write(selection)
        return FittedText(selection=selection, text=text, tokens=count_tokens(text))

    everything = written(Selection(parts))
    if budget is None or everything.tokens <= budget:
        return everything
    kept = {key for key, piece in all_keys(parts) if piece.rank == NEVER_CUT}
    selection = Selection(parts, kept)
    room = budget - count_tokens(write(selection))
    added = _add_by_rank(parts, kept, room // 2, count_tokens, handoffs, only_newest=True)
    # Counts of pieces do not add up exactly to the count of the text: what room is left is tried again.
    for _ in range(_PASSES):
        room = budget - count_tokens(write(selection))
        more = _add_by_rank(parts, kept, room, count_tokens, handoffs)
        added += more
        if not more:
            break
    fitted = written(selection)
    while added and fitted.tokens > budget:
        few = max(1, len(added) // 50)
        kept.difference_update(added[-few:])
        del added[-few:]
        fitted = written(selection)
    return fitted


def _add_by_rank(  # called in two places, in one function
    parts: Sequence[PartOfBriefing],
    kept: set[Key],
    room: int,
    count_tokens: Callable[[str], int],
    handoffs: int,
    *,
    only_newest: bool = False,
) -> list[Key]:
    newest = handoffs - 1

    def urgency(each: tuple[Key, BriefingPiece]) -> tuple[int, int, Key]:
        key, piece = each
        return piece.rank, max(0, newest - key[0]), key  # of two pieces of one rank, the newer one stays

    waiting = sorted(
        (
            (key, piece)
            for key, piece in all_keys(parts)
            if (key[0] == newest or not only_newest)
            and piece.rank not in (NEVER_CUT, NEVER_SHOWN)
            and key not in kept
        ),
        key=urgency,
    )
    opened = {key[:2] for key in kept}
    closed: set[tuple[int, int, int]] = set()
    added: list[Key] = []
    for key, piece in waiting:
        group = parts[key[0]].groups[key[1]]
        this_list = (*key[:2], piece.rank)
        if this_list in closed:
            continue
        cost = count_tokens(piece.text + "\n")
        if key[:2] not in opened:
            cost += count_tokens(group.opening + "\n\n")
        if cost > room:
            closed.add(this_list)  # a list is cut from its end, never in its middle
            continue
        room -= cost
        opened.add(key[:2])
        kept.add(key)
        added.append(key)
    return added
