"""Writes a ledger: as corrections for the next agent, as a table for people, as JSON for programs."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Any

from segue.domain.briefing.fencing import clean, neutralise_line
from segue.domain.ledger.mentions import listed
from segue.domain.ledger.values import Claim, ClaimKind, Entry, Ledger, Verdict

MARKS = {Verdict.CONFIRMED: "\u2714", Verdict.REFUTED: "\u2718", Verdict.UNVERIFIABLE: "?"}
_LONGEST = 160
_MOST_PATHS = 20


def corrections_of(ledger: Ledger) -> tuple[str, ...]:
    """One line of Markdown for each refuted claim, and one for what nobody mentioned.

    They are made for `brief(corrections=...)`. Words of the agent have lost their powers.
    """
    lines = [f"{_quoted(entry.claim)} is not true: {one_line(entry.because)}." for entry in ledger.refuted]
    if ledger.unmentioned:
        named = listed((one_line(path) for path in ledger.unmentioned), _MOST_PATHS)
        lines.append(f"Changed, but mentioned nowhere: {named}.")
    return tuple(lines)


def render_ledger(ledger: Ledger, source: str = "") -> str:
    """The ledger as plain text, one claim a line, with the line of the source where it stands."""
    rows = [
        (
            str(line_of(entry.claim, source) or ""),
            MARKS[entry.verdict],
            str(entry.verdict),
            describe(entry.claim),
        )
        for entry in ledger.entries
    ]
    wide = max((len(row[0]) for row in rows), default=0)
    far = max((len(row[3]) for row in rows), default=0)
    lines = [
        f"{row[0]:>{wide}} {row[1]} {row[2]:<12} {row[3]:<{far}}  {one_line(entry.because)}".strip()
        for row, entry in zip(rows, ledger.entries, strict=True)
    ]
    lines += [f"! unmentioned  {one_line(path)}" for path in ledger.unmentioned]
    return "\n".join([*lines, summarise(ledger)]) + "\n"


def summarise(ledger: Ledger) -> str:
    """`12 claims: 10 confirmed, 1 refuted, 1 unverifiable; 2 changed paths unmentioned; 91 % hold`."""
    counts = ledger.counts
    claims = "1 claim" if counts["claims"] == 1 else f"{counts['claims']} claims"
    verdicts = ", ".join(f"{counts[str(verdict)]} {verdict}" for verdict in Verdict)
    paths = counts["unmentioned"]
    silent = f"; {paths} changed {'path' if paths == 1 else 'paths'} unmentioned" if paths else ""
    # Rounded down: 100 % is said only where all hold.
    share = "" if ledger.share is None else f"; {int(ledger.share * 100)} % of what can be checked holds"
    return f"{claims}: {verdicts}{silent}{share}"


def ledger_as_dict(ledger: Ledger, source: str = "") -> dict[str, Any]:
    """The ledger as values that JSON has."""
    return {
        "entries": [_entry_as_dict(entry, source) for entry in ledger.entries],
        "unmentioned": [_text(path) for path in ledger.unmentioned],
        "counts": ledger.counts,
        "share": ledger.share,
    }


def describe(claim: Claim) -> str:  # noqa: PLR0911 (one way out for each verdict)
    """A claim in a few words: `created src/a.py`, `42 tests pass`."""
    subject = one_line(claim.subject)
    lines = ", ".join(f"{each.first}-{each.last}" for each in claim.lines)
    match claim.kind:
        case ClaimKind.RENAMED:
            return f"renamed {one_line(claim.old_path or '')} to {subject}"
        case ClaimKind.EXISTS:
            return f"{subject} exists"
        case ClaimKind.RAN:
            return f"ran `{subject}`" + ("" if claim.exit_code is None else f", exit {claim.exit_code}")
        case ClaimKind.TESTS:
            number = "tests pass" if claim.count is None else f"{claim.count} tests pass"
            return number if claim.subject == "tests" else f"{number} in `{subject}`"
        case ClaimKind.CLEAN:
            return f"{subject} clean"
        case ClaimKind.COMMITTED:
            return f"committed as {subject}"
        case ClaimKind.COMPLETED:
            return "outcome completed"
        case _:
            return f"{claim.kind} {subject}" + (f" (lines {lines})" if lines else "")


def line_of(claim: Claim, source: str) -> int | None:
    """The line of the source in which a claim begins, counted from 1."""
    if claim.span is None or not source:
        return None
    return bisect_left(_line_ends(source), claim.span.start) + 1


@lru_cache(maxsize=2)
def _line_ends(source: str) -> tuple[int, ...]:
    return tuple(found.start() for found in re.finditer("\n", source))


def _entry_as_dict(entry: Entry, source: str) -> dict[str, Any]:
    claim = entry.claim
    return {
        "verdict": str(entry.verdict),
        "because": _text(entry.because),
        "claim": describe(claim),
        "kind": str(claim.kind),
        "subject": _text(claim.subject),
        "old_path": None if claim.old_path is None else _text(claim.old_path),
        "lines": [[each.first, each.last] for each in claim.lines],
        "exit_code": claim.exit_code,
        "count": claim.count,
        "is_partial": claim.is_partial,
        "text": _text(claim.text),
        "field": claim.field,
        "span": None if claim.span is None else {"start": claim.span.start, "end": claim.span.end},
        "line": line_of(claim, source),
    }


def _quoted(claim: Claim) -> str:
    said = one_line(claim.text)
    named = describe(claim)
    return f'"{said}"' if claim.field.partition("[")[0] in ("", "what_was_done") else f'"{named}"'


def one_line(text: str) -> str:
    """Words of others on one line, not too long, without powers; bytes that are no text become marks."""
    flat = neutralise_line(text[: 4 * _LONGEST])
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "\u2026"


def _text(text: str) -> str:
    return clean(text.replace("\n", "\\n")) if "\n" in text else clean(text)
