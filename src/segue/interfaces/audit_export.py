"""What both show of the audit trail: an export as lines, and entries as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from segue.domain.audit_chain import AuditReport, ChainedEntry, ChainHead, canonical_json


def render_markdown(found: Iterable[ChainedEntry | ChainHead]) -> str:
    """Chains and their entries as tables, for people; only the lines of an export can be verified."""
    heads, rows = [], []
    for each in found:
        if isinstance(each, ChainHead):
            heads.append((each.chain, each.seq, f"`{each.head}`"))
        else:
            payload = "" if each.payload is None else canonical_json(each.payload)
            step = "" if each.step is None else each.step
            rows.append((each.chain, each.seq, each.created_at, each.kind, step, each.who or "", payload))
    parts = [
        "# Audit trail",
        "Chain 0 is what happened outside of pipelines; any other is a pipeline's.",
        "## Heads",
        _table(("chain", "seq", "hash"), heads),
        "## Entries",
        _table(("chain", "seq", "time", "kind", "step", "who", "facts"), rows),
    ]
    return "\n\n".join(parts) + "\n"


def summarize(report: AuditReport) -> str:
    """One line: whole or altered, and how much was looked at."""
    entries = f"{report.entries} {'entry' if report.entries == 1 else 'entries'}"
    chains = f"{report.chains} {'chain' if report.chains == 1 else 'chains'}"
    if report.is_whole:
        return f"whole: {entries} in {chains}"
    found = len(report.alterations)
    return f"altered: {found} {'problem' if found == 1 else 'problems'} in {entries} of {chains}"


def _table(headings: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [headings, ("---",) * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    text = " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
