"""How a step's ledger looks in the terminal: each claim with its verdict, and what nobody mentioned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from segue.interfaces.cli.output import plain_table, safe

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"confirmed": "green", "refuted": "bold red", "unverifiable": "yellow"}
MARKS = {"confirmed": "✔", "refuted": "✘", "unverifiable": "?"}


def print_ledger(ledger: Mapping[str, Any], screen: Console) -> None:
    """The claims of a handoff with what the evidence says about each."""
    table = plain_table("", "claim", "because")
    for entry in ledger["entries"]:
        verdict = entry["verdict"]
        table.add_row(
            f"[{STYLES[verdict]}]{MARKS[verdict]} {verdict}[/]", safe(entry["claim"]), safe(entry["because"])
        )
    if ledger["entries"]:
        screen.print(table)
    for path in ledger["unmentioned"][:20]:
        screen.print(f"[yellow]! changed, but mentioned nowhere:[/] {safe(path)}")


def describe_ledger(ledger: Mapping[str, Any] | None) -> str:
    """`5 of 6 claims hold, 1 refuted`; empty if nothing was checked."""
    if not ledger or not ledger["counts"]["claims"]:
        return ""
    counts = ledger["counts"]
    words = [f"[green]✔ {counts['confirmed']}[/]"] if counts["confirmed"] else []
    if counts["refuted"]:
        words.append(f"[bold red]✘ {counts['refuted']}[/]")
    if counts["unverifiable"]:
        words.append(f"[yellow]? {counts['unverifiable']}[/]")
    if counts["unmentioned"]:
        words.append(f"[yellow]! {counts['unmentioned']}[/]")
    return "[dim]claims[/] " + " ".join(words)
