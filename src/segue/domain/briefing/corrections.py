"""Marks what was refuted where it is said, so that no false claim reaches the next agent unmarked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from segue.domain.briefing.model import FalseClaim
from segue.domain.handoff.model import Handoff, Part

_FIELD = re.compile(r"^(\w+)(?:\[(\d+)\])?")
_DETAILS = {
    "files_created": "purpose",
    "files_modified": "description",
    "commands_run": "observation",
    "dependencies_for_next": "reason",
    "decisions_made": "rationale",
}
"""Where a note about an item fits; else behind its headline."""
_LONGEST_REASON = 120
_SHORTEST_QUOTE = 8


def false_claims(ledger: Mapping[str, Any] | None) -> tuple[FalseClaim, ...]:
    """The refuted claims of a stored ledger."""
    return tuple(
        FalseClaim(field=str(each["field"]), text=str(each["text"]), reason=str(each["reason"]))
        for each in (ledger or {}).get("entries", ())
        if each["verdict"] == "refuted"
    )


def mark_handoff(handoff: Handoff, claims: Sequence[FalseClaim]) -> Handoff:
    """The record with "(false: ...)" behind each refuted claim."""
    for claim in claims:
        handoff = _mark(handoff, claim)
    return handoff


def mark_text(text: str, claims: Sequence[FalseClaim]) -> str:
    """A text with "(false: ...)" behind each refuted claim that is found in it."""
    for claim in claims:
        if (at := _place(text, claim)) is not None:
            text = text[:at] + _note(claim) + text[at:]
    return text


def _mark(handoff: Handoff, claim: FalseClaim) -> Handoff:
    match = _FIELD.match(claim.field)
    name, at = (match[1], int(match[2] or 0)) if match else ("", 0)
    value = getattr(handoff, name, None) if name in type(handoff).model_fields else None
    if isinstance(value, str) and value:
        return handoff.model_copy(update={name: _marked(value, claim)})
    if isinstance(value, tuple) and at < len(value):
        items = (*value[:at], _marked_item(name, value[at], claim), *value[at + 1 :])
        return handoff.model_copy(update={name: items})
    return _mark_anywhere(handoff, claim)


def _mark_anywhere(handoff: Handoff, claim: FalseClaim) -> Handoff:
    """A statement that no field is named for: wherever its words are."""
    for name in type(handoff).model_fields:
        value = getattr(handoff, name)
        if isinstance(value, str) and _place(value, claim) is not None:
            return handoff.model_copy(update={name: _marked(value, claim)})
        for at, item in enumerate(value if isinstance(value, tuple) else ()):
            text = item if isinstance(item, str) else getattr(item, "text", "")
            if _place(text, claim) is None:
                continue
            new = _marked(item, claim) if isinstance(item, str) else _copy(item, "text", _marked(text, claim))
            return handoff.model_copy(update={name: (*value[:at], new, *value[at + 1 :])})
    return handoff


def _marked_item(name: str, item: Any, claim: FalseClaim) -> Any:
    if isinstance(item, str):
        return _marked(item, claim)
    if not isinstance(item, Part):
        return _copy(item, "text", _marked(item.text, claim))
    field = _DETAILS.get(name, item.headline)
    return _copy(item, field, f"{getattr(item, field) or ''}{_note(claim)}".strip())


def _copy(item: Any, field: str, text: str) -> Any:
    return item.model_copy(update={field: text})


def _marked(text: str, claim: FalseClaim) -> str:
    at = _place(text, claim)
    return text + _note(claim) if at is None else text[:at] + _note(claim) + text[at:]


def _place(text: str, claim: FalseClaim) -> int | None:
    """Where the words of a claim end in a text, whatever the blanks between them."""
    words = claim.text.split()
    if len(claim.text.strip()) < _SHORTEST_QUOTE or not words:
        return None
    found = re.search(r"\s+".join(re.escape(word) for word in words[:60]), text)
    return found.end() if found and len(words) <= 60 else None


def _note(claim: FalseClaim) -> str:
    reason = " ".join(claim.reason.split())
    cut = reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "\u2026"
    return f" (false: {cut})"
