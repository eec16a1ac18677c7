"""One alteration of an audit trail, as SQL, drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from segue.domain.audit_chain import ChainedEntry, hash_entry

Row = Mapping[str, Any]
COLUMNS = "pipeline_id, step_id, event_type, payload_json, created_at, who, seq, hash"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tampering:
    """What is done, and where it must be noticed."""

    name: str
    statements: tuple[str, ...]
    chain: int
    seq: int


def draw(random: Random, rows: Sequence[Row], entries: Sequence[ChainedEntry]) -> Tampering:
    """One of the ways to alter a trail; `entries` are the rows as they are hashed."""
    return random.choice((edit, delete, insert, reorder))(random, rows, entries)


def edit(random: Random, rows: Sequence[Row], _: Sequence[ChainedEntry]) -> Tampering:
    """One field of one row."""
    row = random.choice(rows)
    change = random.choice(
        (
            "event_type = 'pipeline_done'",
            "who = 'user:mallory'",
            "payload_json = '{}'",
            "payload_json = NULL",
            "payload_json = replace(payload_json, 'number', 'numbers')",
            "payload_json = payload_json || ' '",
            "payload_json = 'not JSON'",
            "step_id = coalesce(step_id, 0) + 1",
            "created_at = '2020-01-01 00:00:00.000000'",
            f"seq = seq + {random.randint(1, 50)}",
            "seq = 0",
            f"hash = '{random.randbytes(32).hex()}'",
            "pipeline_id = coalesce(pipeline_id, 0) + 1",
            "pipeline_id = 99",
        )
    )
    return made(f"edit: {change}", row, f"UPDATE audit_events SET {change} WHERE id = {row['id']}")


def delete(random: Random, rows: Sequence[Row], _: Sequence[ChainedEntry]) -> Tampering:
    """One row, or the end of a chain."""
    row = random.choice(rows)
    one = f"DELETE FROM audit_events WHERE id = {row['id']}"
    rest = f"DELETE FROM audit_events WHERE id >= {row['id']} AND coalesce(pipeline_id, 0) = {chain_of(row)}"
    return made("delete", row, random.choice((one, rest)))


def insert(random: Random, rows: Sequence[Row], entries: Sequence[ChainedEntry]) -> Tampering:
    """A row with a right hash: a copy, one at the end of a chain, or one in between that moves the rest."""
    index = random.randrange(len(rows))
    row, entry = rows[index], entries[index]
    own = [each for each in rows if chain_of(each) == chain_of(row)]
    last = own[-1]
    copied = f"INSERT INTO audit_events ({COLUMNS}) SELECT {COLUMNS} FROM audit_events WHERE id = {row['id']}"
    way = random.choice(("copy", "append", "between"))
    if way == "copy":
        return made("insert a copy", row, copied)
    after = last if way == "append" else row
    seq = after["seq"] + 1
    forged = hash_entry(replace(entry, seq=seq), after["hash"])
    columns = COLUMNS.replace("seq, hash", f"{seq}, '{forged}'")
    place = 1000 if after is last else f"{after['id']} + 100"
    add = (
        f"INSERT INTO audit_events (id, {COLUMNS}) "
        f"SELECT {place}, {columns} FROM audit_events WHERE id = {row['id']}"
    )
    if after is last:
        return replace(made("insert at the end", after, add), seq=seq)
    move = f"UPDATE audit_events SET id = id + 200 WHERE id > {after['id']}"
    renumber = (
        f"UPDATE audit_events SET seq = seq + 1 WHERE seq > {after['seq']} "
        f"AND coalesce(pipeline_id, 0) = {chain_of(row)}"
    )
    # The forged entry itself follows from its predecessor: the next one no longer does.
    return replace(made("insert between", row, move, renumber, add), seq=seq + 1)


def reorder(random: Random, rows: Sequence[Row], _: Sequence[ChainedEntry]) -> Tampering:
    """Two rows of a chain change places."""
    row = random.choice([row for row in rows if sum(chain_of(each) == chain_of(row) for each in rows) > 1])
    own = [each for each in rows if chain_of(each) == chain_of(row) and each["id"] != row["id"]]
    first, second = sorted((row, random.choice(own)), key=lambda each: int(each["id"]))
    one, other = first["id"], second["id"]
    facts = "step_id, event_type, payload_json, created_at, who, hash"
    exchange = ", ".join(
        f"{column} = (SELECT o.{column} FROM audit_events o WHERE o.id = {one} + {other} - audit_events.id)"
        for column in facts.split(", ")
    )
    seqs = (
        f"UPDATE audit_events SET seq = {first['seq']} + {second['seq']} - seq WHERE id IN ({one}, {other})"
    )
    ids = (
        f"UPDATE audit_events SET id = 1000 WHERE id = {one}",
        f"UPDATE audit_events SET id = {one} WHERE id = {other}",
        f"UPDATE audit_events SET id = {other} WHERE id = 1000",
    )
    held = f"CREATE TABLE held AS SELECT * FROM audit_events WHERE id IN ({one}, {other})"
    exchanged = exchange.replace("FROM audit_events o", "FROM held o")
    contents = (held, f"UPDATE audit_events SET {exchanged} WHERE id IN ({one}, {other})")
    return random.choice(
        (
            made("reorder: seq", first, seqs),
            made("reorder: id", first, *ids),
            made("reorder: contents", first, *contents),
        )
    )


def made(name: str, row: Row, *statements: str) -> Tampering:
    return Tampering(name=name, statements=statements, chain=chain_of(row), seq=row["seq"])


def chain_of(row: Row) -> int:
    return row["pipeline_id"] or 0
