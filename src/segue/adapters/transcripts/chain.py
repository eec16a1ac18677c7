"""The tree that the entries of a session form, in a few bytes an entry, and the way to its leaf."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

_MOST_BRANCHES = 50
_NONE = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class SideBranch:
    """A way that does not lead to the leaf."""

    leaf: int
    """The place of its last entry."""
    entries: int
    """How many entries are its own."""


class Chain:
    """Who follows whom. A parent that is not in the file is taken to be the entry before."""

    def __init__(self) -> None:
        self._ids = array("q")
        self._parents = array("q")
        self._counts = bytearray()
        self._pending: list[tuple[int, int]] = []
        """Places whose parent is not the entry before, with the hash of the parent's id."""
        self.is_straight = True
        """True while every entry follows the one before."""

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, own: str, parent: str | None, *, counts: bool = True, is_root: bool = False) -> None:
        """One more entry. `counts`: whether it makes a branch worth telling of."""
        place = len(self._ids)
        before = place - 1
        if place and is_root:
            self.is_straight = False
            before = _NONE
        elif place and parent is not None and hash(parent) != self._ids[before]:
            self.is_straight = False
            self._pending.append((place, hash(parent)))
        self._ids.append(hash(own) if own else place)
        self._parents.append(before)
        self._counts.append(counts)

    def path(self) -> bytearray:
        """For each entry 1 if it lies on the way to the last one, else 0."""
        self._resolve()
        on_path = bytearray(len(self._ids))
        at = len(self._ids) - 1
        while at >= 0:
            on_path[at] = 1
            at = self._parents[at]
        return on_path

    def branches(self, on_path: bytearray) -> list[SideBranch]:
        """The other ways, the newest first."""
        seen = bytearray(on_path)
        found: list[SideBranch] = []
        for leaf in range(len(self._ids) - 1, -1, -1):
            at, own, counts = leaf, 0, False
            while at >= 0 and not seen[at]:
                seen[at] = 1
                own += 1
                counts = counts or bool(self._counts[at])
                at = self._parents[at]
            if counts and len(found) < _MOST_BRANCHES:
                found.append(SideBranch(leaf=leaf, entries=own))
        return found

    def _resolve(self) -> None:
        """Find all parents in one sweep. A parent always comes before its child."""
        wanted = {parent: _NONE for _, parent in self._pending}
        pending = iter(self._pending)
        place, parent = next(pending, (_NONE, 0))
        for at, own in enumerate(self._ids):
            if at == place:
                if wanted[parent] != _NONE:
                    self._parents[at] = wanted[parent]
                place, parent = next(pending, (_NONE, 0))
            if own in wanted:
                wanted[own] = at
        self._pending = []
