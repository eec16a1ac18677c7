"""Which handoff counts: the one that the agent submitted through a tool, or the one in its reply.

An accepted submission wins over the reply. One that was refused and never mended is kept all the same: it
stands in where the reply holds no handoff but prose, with its problems, so that no work is lost. A refused
submission never replaces one that was accepted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from segue.domain.handoff import Extraction, Handoff, Notation, extract_handoff
from segue.domain.handoff.checking.submitted import Submitted, add_blockers
from segue.domain.handoff.model import Blocker
from segue.domain.pipeline import Attempt

_WEAK = frozenset({Notation.PROSE, Notation.NONE})
_REFUSED = "refused"
"""The key that a refused record is saved under; no field of a handoff has this name."""


def reported_blockers(attempt: Attempt) -> Sequence[Blocker]:
    """What the agent said stops it."""
    if attempt.blockers_json is None:
        return ()
    return Handoff(blockers=json.loads(attempt.blockers_json)).blockers


def to_keep(attempt: Attempt, new: Submitted) -> str | None:
    """What is saved of a new submission; none if the attempt has a better one or there is nothing to save."""
    if new.handoff is None:
        return None
    if new.is_accepted:
        return new.handoff.to_json()
    return None if has_submitted(attempt) else f'{{"{_REFUSED}":{new.handoff.to_json()}}}'


def has_submitted(attempt: Attempt) -> bool:
    """Whether a submission was accepted."""
    return attempt.submitted_json is not None and not _is_refused(attempt.submitted_json)


def read_handoff(attempt: Attempt, reply: str) -> tuple[Extraction, str]:
    """The handoff that counts, and how it came: `submitted`, or its notation in the reply."""
    extraction, notation = _read_without_blockers(attempt, reply)
    if blockers := reported_blockers(attempt):
        handoff = add_blockers(extraction.handoff or Handoff(), blockers)
        extraction = replace(extraction, handoff=handoff)
    return extraction, notation


def _read_without_blockers(attempt: Attempt, reply: str) -> tuple[Extraction, str]:
    extraction = extract_handoff(reply)
    is_weak = attempt.submitted_json is not None and extraction.notation in _WEAK
    if has_submitted(attempt) or is_weak:
        return Extraction(handoff=_submitted(attempt), notation=extraction.notation), "submitted"
    return extraction, extraction.notation


def _submitted(attempt: Attempt) -> Handoff:
    saved = json.loads(attempt.submitted_json or "{}")
    return Handoff.model_validate(saved.get(_REFUSED, saved))


def _is_refused(submitted: str) -> bool:
    return submitted.startswith(f'{{"{_REFUSED}":')
