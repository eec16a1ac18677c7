"""The rules that need to know what happened: they are checked where the changes are known."""

from __future__ import annotations

from segue.domain.evidence.model import Evidence
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.checking.rules import RULES_BY_CODE
from segue.domain.handoff.model import Handoff

_NO_FILES = RULES_BY_CODE["H013"]
_MOST_NAMED = 3


def check_against_evidence(handoff: Handoff, evidence: Evidence) -> list[Problem]:
    """H013: files changed, and the handoff lists none of them, nor names one in its text."""
    if not evidence.changes or handoff.files_created or handoff.files_modified:
        return []
    text = handoff.to_json()
    if any(path in text or path.rpartition("/")[2] in text for path in evidence.changes):
        return []
    count = len(evidence.changes)
    named = ", ".join(sorted(evidence.changes)[:_MOST_NAMED])
    more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
    return [
        Problem(
            code=_NO_FILES.code,
            field="files_modified",
            message=f"{'1 file' if count == 1 else f'{count} files'} changed, and none is listed",
            hint=f"list what you changed in `files_created` and `files_modified`: {named}{more}",
            severity=_NO_FILES.severity,
        )
    ]
