"""The audit trail in its table: appended at the end of a transaction, and read back as chains."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from segue.adapters.storage.codec import Row, read_time, where, write_time
from segue.adapters.storage.gateway import ReadConnection, WriteConnection, insert_into
from segue.domain.audit import AuditKind
from segue.domain.audit_chain import (
    GENESIS,
    ChainedEntry,
    ChainHead,
    canonical_json,
    hash_entry,
    write_moment,
)

_PAGE = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class NewEntry:
    """An audit entry that is to be written."""

    kind: AuditKind
    pipeline_id: int | None
    step_id: int | None
    who: str
    payload: Mapping[str, Any] | None
    created_at: datetime


def append_entries(connection: WriteConnection, entries: Sequence[NewEntry]) -> None:
    """Append entries to their chains. The caller holds the lock under which all entries are written.

    That lock makes the heads safe as well: it is held until the commit, and whoever has it next sees them.
    """
    chains = sorted({entry.pipeline_id or 0 for entry in entries})
    listed = ", ".join(str(int(chain)) for chain in chains)
    heads = {
        row["chain"]: (row["seq"], row["head"])
        for row in connection.all(f"SELECT chain, seq, head FROM audit_heads WHERE chain IN ({listed})")
    }
    rows = []
    for entry in entries:
        chain = entry.pipeline_id or 0
        seq, previous = heads.get(chain, (0, GENESIS))
        payload = None if entry.payload is None else canonical_json(dict(entry.payload))
        linked = chained_entry(entry, seq + 1, payload, previous)
        heads[chain] = (linked.seq, linked.hash)
        rows.append(
            {
                "pipeline_id": entry.pipeline_id,
                "step_id": entry.step_id,
                "event_type": str(entry.kind),
                "who": entry.who,
                "payload_json": payload,
                "created_at": entry.created_at,
                "seq": linked.seq,
                "hash": linked.hash,
            }
        )
    connection.run_many(insert_into("audit_events", tuple(rows[0])), rows)
    new_heads = [{"chain": chain, "seq": heads[chain][0], "head": heads[chain][1]} for chain in chains]
    connection.run_many(_PUT_HEAD, new_heads)


def chained_entry(entry: NewEntry, seq: int, payload: str | None, previous: str) -> ChainedEntry:
    """An entry with its place in its chain; `payload` is the text that is kept."""
    linked = ChainedEntry(
        chain=entry.pipeline_id or 0,
        seq=seq,
        kind=str(entry.kind),
        step=entry.step_id,
        who=entry.who,
        created_at=write_moment(entry.created_at),
        payload=None if payload is None else json.loads(payload),
        hash="",
    )
    return replace(linked, hash=hash_entry(linked, previous))


def read_chains(rows: ReadConnection, pipeline_id: int | None = None) -> Iterator[ChainedEntry | ChainHead]:
    """The heads, then the entries of each chain in the order of their ids; of one chain, or of all."""
    chosen, given = where(("chain = :chain", "chain", pipeline_id))
    for row in rows.all(f"SELECT chain, seq, head FROM audit_heads {chosen} ORDER BY chain", **given):
        yield ChainHead(**row)
    chains = (
        [row["pipeline_id"] for row in rows.all("SELECT DISTINCT pipeline_id FROM audit_events ORDER BY 1")]
        if pipeline_id is None
        else [pipeline_id or None]
    )
    for chain in chains:
        last = 0
        of_chain = "t.pipeline_id IS NULL" if chain is None else "t.pipeline_id = :chain"
        sql = f"{_ENTRIES} WHERE {of_chain} AND t.id > :last ORDER BY t.id LIMIT {_PAGE}"
        given = {} if chain is None else {"chain": chain}
        while page := rows.all(sql, last=last, **given):
            for row in page:
                yield _read(row)
            last = page[-1]["id"]


def _read(row: Row) -> ChainedEntry:
    return ChainedEntry(
        chain=0 if row["pipeline_id"] is None else _plain(row["pipeline_id"]),
        seq=_plain(row["seq"]),
        kind=_plain(row["event_type"]),
        step=_plain(row["step_id"]),
        who=_plain(row["who"]),
        created_at=_moment(row["created_at"]),
        payload=_payload(row["payload_json"]),
        hash=_plain(row["hash"]),
    )


def _plain(stored: Any) -> Any:
    """What JSON can hold: SQLite lets anybody put bytes into any column."""
    return repr(stored) if isinstance(stored, bytes) else stored


def _moment(stored: datetime | str) -> str:
    """As it is hashed; what Segue would have written in another way, as it is."""
    try:
        moment = read_time(stored)
        is_ours = not isinstance(stored, str) or write_time(moment) == stored
    except (TypeError, ValueError):
        return str(stored)
    return write_moment(moment) if is_ours else str(stored)


def _payload(stored: str | None) -> Any:
    """The value; a text that Segue would have written in another way, as it is."""
    try:
        value = None if stored is None else json.loads(stored)
    except (TypeError, ValueError, RecursionError):
        return _plain(stored)
    return (
        value if stored is None or (value is not None and canonical_json(value) == stored) else _plain(stored)
    )


_PUT_HEAD = (
    "INSERT INTO audit_heads (chain, seq, head) VALUES (:chain, :seq, :head) "
    "ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, head = excluded.head"
)
_ENTRIES = (
    "SELECT t.id, t.pipeline_id, t.step_id, t.event_type, t.who, t.payload_json, t.created_at, t.seq, t.hash "
    "FROM audit_events t"
)
