"""The chain of hashes over the audit trail: how an entry is hashed, and how an alteration is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any

FORMAT = "segue-audit-1"
"""Named in the first line of an export."""
GENESIS = "0" * 64
"""What the first entry of a chain follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainedEntry:
    """An entry as it is hashed and exported. What was altered may hold anything."""

    chain: Any
    """The pipeline's id; 0 for what happened outside of pipelines."""
    seq: Any
    """1 for the first entry of its chain, then without a gap."""
    kind: Any
    step: Any
    who: Any
    created_at: Any
    payload: Any
    hash: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainHead:
    """The newest entry of a chain."""

    chain: Any
    seq: Any
    head: Any
    """Its hash."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alteration:
    """One thing that is wrong with an audit trail."""

    chain: Any
    """None for what belongs to no chain, such as a line that cannot be read."""
    seq: Any
    problem: str

    def __str__(self) -> str:
        """One line that names chain, entry and problem."""
        if self.chain is None:
            return self.problem
        return f"chain {self.chain}, entry {self.seq}: {self.problem}"


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditReport:
    """What a verification found."""

    is_whole: bool
    entries: int
    chains: int
    alterations: list[Alteration]
    heads: list[ChainHead]
    """To be noted elsewhere: who can write the database can compute every hash anew, but not these."""


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, without spaces, in ASCII: the same value always gives the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def write_moment(moment: datetime) -> str:
    """A moment as it is hashed: in UTC, with six decimals."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def hash_entry(entry: ChainedEntry, previous: str) -> str:
    """The hash of an entry that follows the entry with the hash `previous`."""
    facts = {
        "chain": entry.chain,
        "created_at": entry.created_at,
        "kind": entry.kind,
        "payload": entry.payload,
        "previous": previous,
        "seq": entry.seq,
        "step": entry.step,
        "who": entry.who,
    }
    return hashlib.sha256(canonical_json(facts).encode()).hexdigest()


def find_alterations(
    found: Iterable[ChainedEntry | ChainHead | Alteration], noted: Iterable[ChainHead] = ()
) -> AuditReport:
    """Whether a trail is whole: the entries of each chain in order, its head, and heads noted earlier."""
    chains: dict[Any, _Chain] = {}
    alterations, entries = [], 0
    kept = list(noted)
    for each in found:
        if isinstance(each, Alteration):
            alterations.append(each)
            continue
        key = canonical_json(each.chain)
        if key not in chains:
            own = [head for head in kept if head.chain == each.chain]
            chains[key] = _Chain(each.chain, own)
        if isinstance(each, ChainHead):
            chains[key].take_head(each)
        else:
            entries += 1
            chains[key].take(each)
    for head in kept:
        if canonical_json(head.chain) not in chains:
            chains[canonical_json(head.chain)] = _Chain(head.chain, [head])
    for followed in chains.values():
        alterations += followed.ended()
    return AuditReport(
        is_whole=not alterations,
        entries=entries,
        chains=len(chains),
        alterations=alterations,
        heads=[each.head for each in chains.values() if each.head is not None],
    )


@dataclass(slots=True)
class _Chain:
    """How far one chain was followed."""

    chain: Any
    noted: list[ChainHead]
    head: ChainHead | None = None
    seq: int = 0
    previous: set[Any] = field(default_factory=lambda: {GENESIS})
    """What the next entry may follow: the hash that is kept; where it is wrong, the right one, too."""
    found: list[Alteration] = field(default_factory=list)

    def take_head(self, head: ChainHead) -> None:
        if self.head is not None:
            self._report(head.seq, "the chain has two heads")
        self.head = head

    def take(self, entry: ChainedEntry) -> None:
        if not isinstance(entry.seq, int) or entry.seq <= self.seq:
            return self._report(entry.seq, f"not in its place: it comes after entry {self.seq}")
        if entry.seq > self.seq + 1:
            last = entry.seq - 1
            missing = "missing" if last == self.seq + 1 else f"missing, with all up to entry {last}"
            self._report(self.seq + 1, f"{missing}: entry {entry.seq} comes after entry {self.seq}")
            self.previous = {str(entry.hash)}
        else:
            computed = [hash_entry(entry, previous) for previous in self.previous]
            if entry.hash not in computed:
                self._report(entry.seq, "altered: its facts and the entry before do not give its hash")
            self.previous = {str(entry.hash), *computed} if entry.hash not in computed else {entry.hash}
        self.seq = entry.seq
        for head in [head for head in self.noted if head.seq == entry.seq]:
            if head.head != entry.hash:
                self._report(head.seq, "differs from the head noted earlier: the chain was computed anew")
        return None

    def ended(self) -> list[Alteration]:
        """All that is wrong with it, once it has no further entry."""
        for noted in self.noted:
            if noted.seq > self.seq:
                self._report(noted.seq, "missing: the head noted earlier names it")
        if self.head is None:
            if self.seq:
                self._report(self.seq, "the chain has no head")
        elif not isinstance(self.head.seq, int) or self.head.seq > self.seq:
            self._report(self.seq + 1, f"missing: the head says that the chain ends at entry {self.head.seq}")
        elif self.head.seq < self.seq:
            self._report(
                self.head.seq + 1, f"added: the head says that the chain ends at entry {self.head.seq}"
            )
        elif str(self.head.head) not in self.previous:
            self._report(self.seq, "the last entry does not have the hash that the head names")
        return self.found

    def _report(self, seq: Any, problem: str) -> None:
        self.found.append(Alteration(chain=self.chain, seq=seq, problem=problem))


def write_export(found: Iterable[ChainedEntry | ChainHead]) -> Iterator[str]:
    """The lines of an export: its format, the heads, then the entries; so a cut is seen wherever it is."""
    rest = iter(found)
    heads = []
    for first in rest:
        if not isinstance(first, ChainHead):
            rest = chain([first], rest)
            break
        heads.append(first)
    yield canonical_json({"format": FORMAT, "heads": len(heads)})
    for each in chain(heads, rest):
        yield canonical_json(asdict(each))


def read_export(lines: Iterable[str]) -> Iterator[ChainedEntry | ChainHead | Alteration]:
    """What the lines of an export hold; a line that is not as it was written is an alteration."""
    number, heads, counted = 0, None, 0
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        value = _parsed(text)
        if number == 1:
            if value is None or set(value) != {"format", "heads"} or value["format"] != FORMAT:
                yield _line(1, f"the first line of an export names its format, {FORMAT}")
            else:
                heads = value["heads"]
        elif value is not None and set(value) == {"chain", "seq", "head"}:
            counted += 1
            yield ChainHead(**value)
        elif value is not None and set(value) == _FIELDS:
            yield ChainedEntry(**value)
        else:
            yield _line(number, "neither an entry nor a head, as an export has them")
    if number == 0:
        yield _line(1, "the file is empty")
    elif heads is not None and heads != counted:
        yield _line(1, f"it says that there are {heads} heads, but there are {counted}")


_FIELDS = {"chain", "seq", "kind", "step", "who", "created_at", "payload", "hash"}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and canonical_json(value) == text else None


def _line(number: int, problem: str) -> Alteration:
    return Alteration(chain=None, seq=None, problem=f"line {number}: {problem}")
