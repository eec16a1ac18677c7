"""Drafting a handoff between two sessions: the old one is asked, its answer is examined, and mended once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from segue.application.ports import UnitOfWork
from segue.application.verification import Examined, hold_against
from segue.domain.errors import BackendError
from segue.domain.evidence.sources import Observed
from segue.domain.handing_over import problems_that_count, question, repair_question
from segue.domain.handoff import Handoff, extract_handoff, redact
from segue.domain.limits import stalled_after

Ask = Callable[[str], Awaitable[str]]
"""Asks the session something; gives the reply to this very question."""
Look = Callable[[], Awaitable[Observed | None]]
"""What the session has changed; none where nothing can be seen."""


class NoHandoff(BackendError):
    """The session wrote none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A handoff that a session wrote, and what it was held against."""

    handoff: Handoff
    examined: Examined
    observed: Observed | None


async def draft(
    ask: Ask, look: Look, *, focus: str = "", on_mending: Callable[[], None] = lambda: None
) -> Draft:
    """Ask for a handoff; one that is bad, or says what is not so, may be mended once. `NoHandoff` if none."""
    reply = await ask(question(focus))
    if not reply.strip():
        raise NoHandoff("its reply was empty, so there is nothing to hand off")
    observed = await look()
    examined = await examine(reply, observed)
    if _is_bad(examined) or examined.refuted:
        on_mending()
        mended = await _mend(ask, examined)
        if mended is not None:
            observed = await look()
            examined = await examine(mended, observed)
    if examined.handoff is None:
        raise NoHandoff("no handoff could be found in its reply, also after it was asked to mend it")
    return Draft(handoff=examined.handoff, examined=examined, observed=observed)


async def examine(text: str, observed: Observed | None) -> Examined:
    """Read a handoff, check its form, and verify its claims."""
    source, _ = redact(text)
    extraction = await asyncio.to_thread(extract_handoff, source)
    return await hold_against(extraction, observed, source=source, notation=extraction.notation)


async def stalled_by(work: UnitOfWork, parent_id: int | None, handoff: Handoff, *, has_changes: bool) -> int:
    """How many handoffs in a row brought nothing new, with this one of a session that has this parent."""
    before = await work.sessions.last_handoff(parent_id) if parent_id is not None else None
    return stalled_after(
        before.stalled if before is not None else 0,
        has_changes=has_changes,
        is_same=before is not None and before.metadata_json == handoff.to_json(),
    )


async def _mend(ask: Ask, examined: Examined) -> str | None:
    """One more try; none if it brought nothing better than what was there."""
    if examined.handoff is None:
        return await ask(repair_question((), ()))
    try:
        mended = await ask(repair_question(examined.problems, examined.refuted))
    except BackendError:
        return None  # what it had written is still the best there is
    found = (await asyncio.to_thread(extract_handoff, mended)).handoff
    return mended if found is not None else None


def _is_bad(examined: Examined) -> bool:
    return examined.handoff is None or bool(problems_that_count(examined.problems))
