"""Writes a ledger: as corrections for the next agent, as a table for people, as JSON for programs."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Any

from segue.domain.briefing.fencing import clean, neutralise_line
from segue.domain.claims.ledger import Ledger, LedgerEntry, Statement, Verdict
from segue.domain.claims.unmentioned import listed
from segue.domain.claims.verbs import Relation

MARKS = {
    Verdict.CONFIRMED: "\u2713",
    Verdict.REFUTED: "\u2717",
    Verdict.PARTLY: "~",
    Verdict.UNVERIFIABLE: "?",
}
_ORDER = (Verdict.REFUTED, Verdict.PARTLY, Verdict.CONFIRMED, Verdict.UNVERIFIABLE)
_LONGEST = 160
_SHORT = 100
_MOST_REST = 4
_MOST_PATHS = 20


def corrections_of(ledger: Ledger) -> tuple[str, ...]:
    """One line of Markdown for each refuted claim, and one for what nobody mentioned.

    They are made for `brief(corrections=...)`. Words of the agent have lost their powers.
    """
    lines = [f"{_quoted(entry.statement)} is not true: {one_line(entry.reason)}." for entry in ledger.refuted]
    if ledger.unmentioned:
        named = listed((one_line(path) for path in ledger.unmentioned), _MOST_PATHS)
        lines.append(f"Changed, but mentioned nowhere: {named}.")
    if ledger.removed:
        named = listed((one_line(name) for name in ledger.removed), _MOST_PATHS)
        lines.append(f"Removed, but mentioned nowhere: {named}.")
    return tuple(lines)


def render_ledger(ledger: Ledger, source: str = "") -> str:
    """The ledger as plain text, one claim a line, with the line of the source where it is."""
    rows = [
        (
            str(line_of(entry.statement, source) or ""),
            MARKS[entry.verdict],
            str(entry.verdict),
            describe(entry.statement),
        )
        for entry in ledger.entries
        if entry.verdict is not None
    ]
    wide = max((len(row[0]) for row in rows), default=0)
    far = max((len(row[3]) for row in rows), default=0)
    lines = [
        f"{row[0]:>{wide}} {row[1]} {row[2]:<12} {row[3]:<{far}}  {explain(entry)}".strip()
        for row, entry in zip(rows, ledger.entries, strict=True)
    ]
    lines += [f"! unmentioned  {one_line(path)}" for path in ledger.unmentioned]
    return "\n".join([*lines, summarise(ledger)]) + "\n"


def explain(entry: LedgerEntry) -> str:
    """What was measured, and which words nothing checked."""
    rest = ", ".join(f"\u201c{one_line(words)}\u201d" for words in entry.rest[:_MOST_REST])
    return one_line(entry.reason) + (f"; not checked: {rest}" if rest else "")


def summarise(ledger: Ledger) -> str:
    """`14 claims: 2 refuted, 1 partly, 6 confirmed, 5 unverifiable; 3 statements are not claims`."""
    counts = ledger.counts
    claims = "1 claim" if counts["claims"] == 1 else f"{counts['claims']} claims"
    verdicts = ", ".join(f"{counts[str(verdict)]} {verdict}" for verdict in _ORDER)
    parts = [f"{claims}: {verdicts}"]
    if others := counts["not_claims"]:
        parts.append("1 statement is not a claim" if others == 1 else f"{others} statements are not claims")
    if paths := counts["unmentioned"]:
        parts.append(f"{paths} changed {'path' if paths == 1 else 'paths'} unmentioned")
    if weak := counts["weakened"]:
        parts.append(f"{weak} weakened {'test' if weak == 1 else 'tests'}")
    return "; ".join(parts)


def ledger_as_dict(ledger: Ledger, source: str = "") -> dict[str, Any]:
    """The ledger as values that JSON has."""
    return {
        "entries": [_entry_as_dict(entry, source) for entry in ledger.entries],
        "others": [_entry_as_dict(entry, source) for entry in ledger.others],
        "unmentioned": [_text(path) for path in ledger.unmentioned],
        "removed": [_text(name) for name in ledger.removed],
        "counts": ledger.counts,
        "weakened": [
            {
                "way": each.way,
                "path": _text(each.path),
                "line": each.line,
                "test": each.test,
                "reason": _text(each.reason),
                "standing": str(each.standing),
            }
            for each in ledger.weakened
        ],
    }


def describe(statement: Statement) -> str:
    """A statement in a few words: `created src/a.py`, or as it was said."""
    if statement.is_outcome:
        return "outcome completed"
    if statement.path is None:
        if statement.command is not None and statement.exit_code is not None:
            return f"ran `{one_line(statement.command)}`, exit {statement.exit_code}"
        return one_line(statement.text, _SHORT)
    path = one_line(statement.path)
    if statement.relation is Relation.RENAMED:
        return f"renamed {one_line(statement.old_path or '')} to {path}"
    if statement.relation is Relation.HAS:
        return f"{path} exists"
    lines = ", ".join(f"{each.first}-{each.last}" for each in statement.lines)
    return f"{statement.relation} {path}" + (f" (lines {lines})" if lines else "")


def line_of(statement: Statement, source: str) -> int | None:
    """The line of the source in which a statement begins, counted from 1."""
    if statement.span is None or not source:
        return None
    return bisect_left(_line_ends(source), statement.span.start) + 1


@lru_cache(maxsize=2)
def _line_ends(source: str) -> tuple[int, ...]:
    return tuple(found.start() for found in re.finditer("\n", source))


def _entry_as_dict(entry: LedgerEntry, source: str) -> dict[str, Any]:
    statement = entry.statement
    span = statement.span
    return {
        "verdict": None if entry.verdict is None else str(entry.verdict),
        "reason": _text(entry.reason),
        "rest": [_text(words) for words in entry.rest],
        "evidence": [
            {
                "kind": str(each.kind),
                "path": each.path,
                "hunk": each.hunk,
                "activity_id": each.activity_id,
                "check": each.check,
            }
            for each in entry.evidence
        ],
        "claim": describe(statement),
        "text": _text(statement.text),
        "field": statement.field,
        "span": None if span is None else {"start": span.start, "end": span.end},
        "line": line_of(statement, source),
    }


def _quoted(statement: Statement) -> str:
    is_typed = statement.path is not None or statement.exit_code is not None or statement.is_outcome
    return f'"{describe(statement) if is_typed else one_line(statement.text)}"'


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Words of others on one line, not too long, without powers; bytes that are no text become marks."""
    flat = neutralise_line(text[: 4 * longest])
    return flat if len(flat) <= longest else flat[: longest - 1] + "\u2026"


def _text(text: str) -> str:
    return clean(text.replace("\n", "\\n")) if "\n" in text else clean(text)
