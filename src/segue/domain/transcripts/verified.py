"""The handoff of a transcript after it was compared with git: what is false is left out or marked."""

from __future__ import annotations

import re

from segue.domain.briefing.corrections import mark_handoff
from segue.domain.briefing.measured import measured_lines
from segue.domain.briefing.model import FalseClaim
from segue.domain.claims import Ledger, LedgerEntry
from segue.domain.evidence.model import ChangeKind, Evidence
from segue.domain.handoff.model import FileCreated, FileModified, Handoff, Section

_FILE = re.compile(r"^(files_created|files_modified)\[(\d+)\]")
_THERE = (ChangeKind.MODIFIED, ChangeKind.RENAMED, ChangeKind.TYPE_CHANGED)


def verified(handoff: Handoff, ledger: Ledger, evidence: Evidence) -> Handoff:
    """Without files that git does not show, with false statements marked, and with what was measured."""
    wrong: dict[tuple[str, int], LedgerEntry] = {}
    false: list[FalseClaim] = []
    for entry in ledger.refuted:
        if match := _FILE.match(entry.statement.field):
            wrong[match[1], int(match[2])] = entry
        else:
            claim = entry.statement
            false.append(FalseClaim(field=claim.field, text=claim.text, reason=entry.reason))
    created = [each for at, each in enumerate(handoff.files_created) if ("files_created", at) not in wrong]
    modified = [each for at, each in enumerate(handoff.files_modified) if ("files_modified", at) not in wrong]
    left_out: list[str] = []
    for (name, at), entry in wrong.items():
        item: FileCreated | FileModified = getattr(handoff, name)[at]
        change = evidence.changes.get(f"{evidence.prefix}{item.path}")
        if name == "files_created" and change is not None and change.kind in _THERE:
            modified.append(FileModified(path=item.path, change_type="modify"))
        else:
            left_out.append(f"- {item.path}: {entry.reason}")
    marked = mark_handoff(handoff, false)
    sections = [Section(heading="Measured by Segue", text=_listed(measured_lines(evidence)))]
    if left_out:
        sections.append(Section(heading="Files left out, git does not show them", text="\n".join(left_out)))
    return marked.model_copy(
        update={
            "files_created": tuple(created),
            "files_modified": tuple(modified),
            "other_sections": (*marked.other_sections, *sections),
        }
    )


def _listed(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines)
