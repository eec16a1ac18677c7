"""A briefing before it is cut to size: pieces in groups, groups in parts; and the cutting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from segue.domain.briefing.values import LeftOut
from segue.domain.handoff.writing.text import close_code

NEVER_CUT = 0
_KINDS_NAMED = 4
_PASSES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """The least that can be left out: one item, or one line of a text."""

    text: str
    """As it stands in the briefing, with its bullet."""
    rank: int
    """0 is never cut; the higher, the sooner it goes."""
    field: str = ""
    """`what_was_done[3]`: what to ask for if it was left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Pieces under one label."""

    opening: str
    """What stands before the first piece; not written if no piece is left."""
    pieces: tuple[Piece, ...]
    """In the order written."""
    joint: str = "\n"
    """What stands between two pieces."""
    is_text: bool = False
    """Running text: once a piece is left out, all after it are, and they count as one."""
    label: str = ""
    """What its pieces are called in the line about what was left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PartOfBriefing:
    """Groups that stand together, from one agent or from none."""

    groups: tuple[Group, ...]
    """In the order written."""
    opening: str = ""
    """Always written, if the part is."""
    agent_name: str = ""
    """Whose it is."""
    weight: int = 0
    """Among pieces of one rank, those of the heavier part stay longer."""


Key = tuple[int, int, int]
"""A piece's place: part, group, piece."""


@dataclass(slots=True)
class Selection:
    """The pieces that stay; grows while a budget is filled."""

    parts: Sequence[PartOfBriefing]
    """All that could be said."""
    kept: set[Key] = field(default_factory=set)
    """The places of the pieces that are said."""

    def write_part(self, at: int) -> str:
        """A part with the pieces that stay."""
        part = self.parts[at]
        blocks = [part.opening, *(self._write_group(at, g, group) for g, group in enumerate(part.groups))]
        return "\n\n".join(block for block in blocks if block)

    def _write_group(self, at: int, g: int, group: Group) -> str:
        texts = [piece.text for p, piece in enumerate(group.pieces) if (at, g, p) in self.kept]
        if not texts:
            return ""
        body = group.joint.join(texts)
        return group.opening + (close_code(body.rstrip()) if group.is_text else body)

    def left_out(self) -> Iterator[tuple[str, LeftOut]]:
        """What does not stay, with its label, in the order of the records."""
        for at, part in enumerate(self.parts):
            for g, group in enumerate(part.groups):
                gone = [piece for p, piece in enumerate(group.pieces) if (at, g, p) not in self.kept]
                if gone and group.is_text:
                    gone = [Piece(text=group.joint.join(p.text for p in gone), rank=0, field=gone[0].field)]
                for piece in gone:
                    yield (
                        group.label,
                        LeftOut(agent_name=part.agent_name, field=piece.field, text=piece.text.strip()),
                    )

    def line_about_left_out(self, *, tools: bool = False) -> str:
        """One line that says how much of what is missing, and how to get it."""
        counts = Counter(label for label, _ in self.left_out())
        if not counts:
            return ""
        named = [f"{number} {label}" for label, number in counts.most_common(_KINDS_NAMED)]
        more = counts.total() - sum(number for _, number in counts.most_common(_KINDS_NAMED))
        listed = ", ".join([*named, *([f"{more} more"] if more else [])])
        return f"Left out to save space: {listed}." + (" The `recall` tool gives them." if tools else "")


def all_keys(parts: Sequence[PartOfBriefing]) -> Iterator[tuple[Key, Piece]]:
    """Every piece with its place."""
    for at, part in enumerate(parts):
        for g, group in enumerate(part.groups):
            for p, piece in enumerate(group.pieces):
                yield (at, g, p), piece


def fit(
    parts: Sequence[PartOfBriefing],
    budget: int | None,
    count_tokens: Callable[[str], int],
    write: Callable[[Selection], str],
) -> Selection:
    """The pieces that stay within `budget` tokens of the text that `write` makes, by importance."""
    everything = Selection(parts, {key for key, _ in all_keys(parts)})
    if budget is None or count_tokens(write(everything)) <= budget:
        return everything
    selection = Selection(parts, {key for key, piece in all_keys(parts) if piece.rank == NEVER_CUT})
    added: list[Key] = []
    # Counts of pieces do not add up exactly to the count of the text: what room is left is tried again.
    for _ in range(_PASSES):
        more = _add_by_rank(selection, budget - count_tokens(write(selection)), count_tokens)
        added += more
        if not more:
            break
    while added and count_tokens(write(selection)) > budget:
        for key in added[-max(1, len(added) // 50) :]:
            selection.kept.discard(key)
        del added[-max(1, len(added) // 50) :]
    return selection


def _add_by_rank(selection: Selection, room: int, count_tokens: Callable[[str], int]) -> list[Key]:
    parts, kept = selection.parts, selection.kept

    def urgency(each: tuple[Key, Piece]) -> tuple[int, int, int, Key]:
        """By rank; among equals the short before the long, so that most statements stay; text in order."""
        (at, g, _), piece = each
        length = 0 if parts[at].groups[g].is_text else len(piece.text)
        return piece.rank, length, -parts[at].weight, each[0]

    waiting = sorted(
        ((key, piece) for key, piece in all_keys(parts) if piece.rank != NEVER_CUT and key not in kept),
        key=urgency,
    )
    opened = {key[:2] for key in kept}
    closed: set[tuple[int, int]] = set()
    added: list[Key] = []
    for key, piece in waiting:
        place = key[:2]
        group = parts[key[0]].groups[key[1]]
        if room <= 0 or place in closed:
            continue
        cost = count_tokens(piece.text + group.joint)
        if place not in opened:
            cost += count_tokens(group.opening + "\n\n")
        if cost > room:
            if group.is_text:
                closed.add(place)
            continue
        room -= cost
        opened.add(place)
        kept.add(key)
        added.append(key)
    return added
