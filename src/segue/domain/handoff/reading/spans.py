"""Where each statement of a record stands: names and places, made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from segue.domain.handoff.reading.draft import TEXT_TOPICS, Evidence, Piece, Span, Statement
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.parts import HEADLINES

TUPLES: Final = frozenset({"applies_to", "depends_on", "blocking_tasks"})
"""Parts that are lists; their texts have no places of their own."""


class Spans(Mapping[str, Span]):
    """Field or item (`decisions_made[1].rationale`) -> where it stands in the source."""

    def __init__(
        self,
        fields: Mapping[Topic, Sequence[Statement]] | None = None,
        outcome: Evidence | None = None,
        others: Sequence[Piece] = (),
    ) -> None:
        self._fields = fields or {}
        self._outcome = outcome
        self._others = others
        self._made: dict[str, Span] | None = None

    def _by_name(self) -> dict[str, Span]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def _make(self) -> dict[str, Span]:
        found: dict[str, Span] = {}
        for topic, statements in self._fields.items():
            if topic in TEXT_TOPICS:
                found[topic.value] = Span(*statements[0][1:3])
            else:
                found.update(_of_items(topic, statements))
        if self._outcome is not None:
            found["outcome"] = Span(self._outcome.start, self._outcome.end)
        for at, piece in enumerate(self._others):
            found[f"other_sections[{at}]"] = found[f"other_sections[{at}].text"] = Span(*piece[1:])
        return found

    def __getitem__(self, name: str) -> Span:
        return self._by_name()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name())

    def __len__(self) -> int:
        return len(self._by_name())

    def __repr__(self) -> str:
        return repr(self._by_name())


def _of_items(topic: Topic, statements: Sequence[Statement]) -> Iterator[tuple[str, Span]]:
    headline = HEADLINES.get(topic)
    for at, (_, start, end, parts) in enumerate(statements):
        where, whole = f"{topic.value}[{at}]", Span(start, end)
        yield where, whole
        if headline is None:
            continue
        own = next((Span(*piece[1:]) for part, piece in parts if part == headline), whole)
        yield f"{where}.{headline}", own
        for part, piece in parts:
            if part != headline and piece.start >= 0 and _has_place(part, piece):
                yield f"{where}.{part}", Span(*piece[1:])


def _has_place(part: str, piece: Piece) -> bool:
    return part not in TUPLES and (part != "exit_code" or is_exit_code(piece.text))


def is_exit_code(words: str) -> bool:
    """True for a whole number."""
    return words.removeprefix("-").isdecimal()
