"""How a step's ledger looks in the terminal: each claim with its verdict, reason, rest and evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from segue.domain.amounts import count
from segue.domain.final_state import words_of
from segue.interfaces.cli.lines import one_line, put, put_beside
from segue.interfaces.cli.marks import VERDICTS, Signs
from segue.interfaces.cli.sentences import sentence_of

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN_PATHS = 20
_WIDE = 16
"""How wide a sign with its word is: `? unverifiable`."""
_VERDICTS = ("refuted", "partly", "confirmed", "unverifiable")


def print_ledger(ledger: Mapping[str, Any], screen: Console) -> None:
    """The claims of a handoff, the worst first, each with what the evidence says about it."""
    signs = Signs(screen)
    for name in VERDICTS:
        head = signs.verdict(name, width=_WIDE)
        for lines in _entries(ledger, name, signs):
            put_beside(screen, head, lines, indent=0)


def _entries(ledger: Mapping[str, Any], name: str, signs: Signs) -> Iterator[Sequence[Text | str]]:
    if name == "weakened":
        yield from (_weakened(test) for test in ledger.get("weakened", ()) if test["standing"] == "weakened")
    elif name == "unmentioned":
        paths = ledger["unmentioned"]
        yield from ([one_line(path)] for path in paths[:_SHOWN_PATHS])
        if len(paths) > _SHOWN_PATHS:
            yield [f"and {len(paths) - _SHOWN_PATHS} more"]
    else:
        yield from (_claim(entry, signs) for entry in ledger["entries"] if entry["verdict"] == name)


def _claim(entry: Mapping[str, Any], signs: Signs) -> list[Text | str]:
    rest = ", ".join(signs.quoted(one_line(words)) for words in entry.get("rest", ()))
    reason = sentence_of(entry["reason"]) + (f" Not checked: {rest}." if rest else "")
    pointers = [Text(line, "dim") for line in dict.fromkeys(map(_pointer, entry.get("evidence", ())))]
    words = words_of(entry["field"], entry["text"], entry["claim"])
    return [signs.quoted(one_line(words)), reason, *pointers]


def _weakened(test: Mapping[str, Any]) -> list[Text | str]:
    line = f":{test['line']}" if test["line"] else ""
    place = Text(f"{one_line(test['path'])}{line}", "dim")
    return [one_line(test["test"] or test["way"]), place, sentence_of(test["reason"])]


def _pointer(pointer: Mapping[str, Any]) -> str:
    """Where a person can look: `diff shop/cart.py, hunk 2`, `check pytest -q`."""
    path = one_line(pointer["path"]) if pointer.get("path") else ""
    if pointer["kind"] == "check":
        return f"check {one_line(pointer.get('check') or '')}, run by Segue"
    if pointer["kind"] == "log":
        return f"log entry {pointer['activity_id']}" if pointer.get("activity_id") else "log of the agent"
    if pointer["kind"] == "tree":
        return f"files after the step{f': {path}' if path else ''}"
    hunk = f", hunk {pointer['hunk'] + 1}" if pointer.get("hunk") is not None else ""
    return f"diff {path}{hunk}".rstrip()


def summarise(ledger: Mapping[str, Any]) -> Iterator[str]:
    """`15 claims: 2 refuted, 1 partly. 1 test weakened.`, and how many statements claim nothing."""
    counts = ledger["counts"]
    told = ", ".join(f"{counts[name]} {name}" for name in _VERDICTS if counts.get(name))
    weakened = f" {count(counts['weakened'], 'test')} weakened." if counts.get("weakened") else ""
    yield f"{count(counts['claims'], 'claim')}{f': {told}' if told else ''}.{weakened}"
    if silent := counts.get("not_claims"):
        yield f"{count(silent, 'statement')} {'is not a claim' if silent == 1 else 'are not claims'}."


def print_summary(ledger: Mapping[str, Any], screen: Console) -> None:
    """The totals of a ledger."""
    for line in summarise(ledger):
        put(screen, line)


def describe_ledger(ledger: Mapping[str, Any] | None) -> str:
    """`✗ 2 refuted  ✓ 5 confirmed`, as markup; empty if nothing was checked."""
    if not ledger or not ledger["counts"]["claims"]:
        return ""
    counts = ledger["counts"]
    shown = [(mark, counts[name], name) for name, mark in VERDICTS.items() if counts.get(name)]
    return "  ".join(
        f"[{mark.style or 'none'}]{mark.sign} {number} {name}[/]" for mark, number, name in shown
    )
