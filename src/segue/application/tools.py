"""What an agent can do through Segue's own tools: see its task, hand off, ask for more, report a blocker.

Each call shows the token of one attempt and reaches no further than the pipeline of that attempt; only the
lessons of finished work in the same folder come from elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from segue.application.ports import Clock, Database, SavedHandoff, UnitOfWork
from segue.application.submissions import has_submitted, reported_blockers, to_keep
from segue.domain.audit import AuditKind
from segue.domain.briefing.recalling import (
    LESSONS,
    Statement,
    find_statements,
    statements_of,
    without_repetitions,
    words_of,
    write_statements,
)
from segue.domain.errors import InvalidRequest, ToolsClosed
from segue.domain.handoff import Handoff
from segue.domain.handoff.checking.submitted import Submitted, clean_text, read_submission
from segue.domain.handoff.model import Blocker
from segue.domain.pipeline import Attempt, Pipeline, Step

log = structlog.get_logger()

_LONGEST_TOKEN = 64
_LONGEST_QUERY = 500
_LONGEST_BLOCKER = 4000
_MOST_BLOCKERS = 50
_LONGEST_ANSWER = 24_000
_HANDOFFS_SEARCHED = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Where a token leads."""

    attempt: Attempt
    pipeline: Pipeline

    @property
    def step(self) -> Step:
        """The step that the agent works on."""
        return self.pipeline.step(self.attempt.step_id)

    @property
    def audit(self) -> Mapping[str, int]:
        """Where entries of the audit trail belong."""
        return {"pipeline_id": self.pipeline.id, "step_id": self.attempt.step_id}


class AgentTools:
    """The use cases behind the tools. Every refusal is a `SegueError` with one sentence for the agent."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def check(self, token: str) -> None:
        """`ToolsClosed` unless the token is that of an attempt that is under way."""
        async with self._database.begin() as work:
            await _attempt_of(work, token)

    async def get_task(self, token: str) -> str:
        """Who the agent is in this run, what it has handed in so far, and its briefing once more."""
        async with self._database.begin() as work:
            place = await _place_of(work, token)
        attempt, pipeline, step = place.attempt, place.pipeline, place.step
        handed_in = "has been submitted" if has_submitted(attempt) else "has not been submitted yet"
        steps = ", ".join(f"{s.order_index + 1} {s.agent_name} ({s.status})" for s in pipeline.steps)
        return (
            f"You are {step.agent_name}, step {step.order_index + 1} of {len(pipeline.steps)} in pipeline "
            f'{pipeline.id}, "{pipeline.title}". Steps: {steps}.\n'
            f"Your handoff {handed_in}; blockers reported: {len(reported_blockers(attempt))}.\n\n"
            f"This is the briefing you were given:\n\n{attempt.text}"
        )

    async def submit_handoff(self, token: str, arguments: Mapping[str, Any]) -> Submitted:
        """Keep a handoff if nothing makes it unfit; else say what to mend. A later one replaces it."""
        async with self._database.begin() as work:
            blockers = reported_blockers(await _attempt_of(work, token))
        submitted = await asyncio.to_thread(read_submission, arguments, blockers=blockers)
        if submitted.handoff is None and not submitted.problems:
            raise InvalidRequest(
                "nothing was submitted: give `outcome`, `what_was_done` and the other fields that apply, or "
                "`text`"
            )
        async with self._database.begin() as work:
            place = await _place_of(work, token)
            if kept := to_keep(place.attempt, submitted):
                await work.attempts.submit(place.attempt.id, submitted=kept, blockers=None)
            await work.audit.add(
                AuditKind.HANDOFF_SUBMITTED,
                self._clock.now(),
                **place.audit,
                accepted=submitted.is_accepted,
                problems=sorted({problem.code for problem in submitted.problems}),
            )
            await work.commit()
        log.info("handoff_submitted", accepted=submitted.is_accepted, **place.audit)
        return submitted

    async def recall(self, token: str, query: str = "", *, step: int | None = None, field: str = "") -> str:
        """Statements of earlier handoffs of this run, by words, step or field."""
        _bounded(query, field)
        async with self._database.begin() as work:
            place = await _place_of(work, token)
            earlier = [s for s in place.pipeline.steps if s.order_index < place.step.order_index]
            saved = await work.handoffs.latest_of_steps([s.id for s in earlier])
        if not saved:
            return "No earlier step of this run has handed off: there is nothing to recall."
        if step is not None and not any(s.order_index + 1 == step for s in earlier):
            raise InvalidRequest(f"step {step} is none of the earlier steps; they are 1 to {len(earlier)}")
        wanted = [s for s in earlier if s.id in saved and step in (None, s.order_index + 1)]
        sources = [(f"step {s.order_index + 1} ({s.agent_name})", saved[s.id]) for s in wanted]
        return await asyncio.to_thread(_recalled, sources, query, field)

    async def search_knowledge(self, token: str, query: str) -> str:
        """Lessons of finished work in this run's folder, by words."""
        _bounded(query)
        if not words_of(query):
            raise InvalidRequest("`query` has no words: name a file, a tool or a topic, such as `login test`")
        async with self._database.begin() as work:
            place = await _place_of(work, token)
            found = await work.handoffs.recent_in(place.pipeline.working_dir, limit=_HANDOFFS_SEARCHED)
        sources = [(f"{saved.agent_name}, handoff {saved.id}", saved) for saved in found]
        return await asyncio.to_thread(_known, sources, query)

    async def report_blocker(self, token: str, blocker: Blocker) -> int:
        """Keep what stops the work, so that it stands in the handoff whatever else does; gives how many."""
        said = Blocker.model_validate(_clean(blocker.model_dump(exclude_defaults=True)))
        if not said.blocker.strip():
            raise InvalidRequest("`blocker` is empty: say in one sentence what stops the work")
        async with self._database.begin() as work:
            place = await _place_of(work, token)
            others = [each for each in reported_blockers(place.attempt) if each.blocker != said.blocker]
            if len(others) >= _MOST_BLOCKERS:
                raise InvalidRequest(f"{_MOST_BLOCKERS} blockers are reported already, which is the most")
            kept = [each.model_dump(exclude_defaults=True) for each in (*others, said)]
            await work.attempts.submit(place.attempt.id, submitted=None, blockers=json.dumps(kept))
            await work.audit.add(
                AuditKind.BLOCKER_REPORTED, self._clock.now(), **place.audit, blocker=said.blocker[:200]
            )
            await work.commit()
        log.info("blocker_reported", **place.audit)
        return len(kept)


async def _attempt_of(work: UnitOfWork, token: str) -> Attempt:
    plain = token.isascii() and token.isprintable() and 0 < len(token) <= _LONGEST_TOKEN
    found = await work.attempts.by_token(token) if plain else None
    if found is None or not hmac.compare_digest(found[0].token or "", token):
        raise ToolsClosed(
            "this token opens no tools: use the one that Segue gave to this session (SEGUE_MCP_TOKEN)"
        )
    attempt = found[0]
    if attempt.status.is_final:
        raise ToolsClosed(f"this attempt has ended ({attempt.status}): its tools are closed, so just finish")
    return attempt


async def _place_of(work: UnitOfWork, token: str) -> _Place:
    first = await _attempt_of(work, token)
    pipeline = await work.pipelines.of_step(first.step_id)  # held from here on
    return _Place(attempt=await _attempt_of(work, token), pipeline=pipeline)


def _bounded(*texts: str) -> None:
    if any(len(text) > _LONGEST_QUERY for text in texts):
        raise InvalidRequest(f"a query may have {_LONGEST_QUERY} characters at most; a few words find more")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) > _LONGEST_BLOCKER:
            raise InvalidRequest(f"a part of a blocker may have {_LONGEST_BLOCKER} characters at most")
        return clean_text(value)
    if isinstance(value, Mapping):
        return {name: _clean(each) for name, each in value.items()}
    return [_clean(each) for each in value[:_MOST_BLOCKERS]]


Sources = Collection[tuple[str, SavedHandoff]]


def _statements(sources: Sources) -> list[Statement]:
    return [
        statement
        for name, saved in sources
        for statement in statements_of(
            name,
            Handoff.model_validate_json(saved.metadata_json) if saved.metadata_json else None,
            saved.content_md,
        )
    ]


def _recalled(sources: Sources, query: str, field: str) -> str:
    everything = _statements(sources)
    kind = field.partition("[")[0].strip()
    within = [each for each in everything if not field.strip() or field.strip() in (each.field, each.kind)]
    if kind and not within:
        held = ", ".join(sorted({each.kind for each in everything}))
        return f"The earlier handoffs hold nothing under that field. They hold: {held}."
    found = find_statements(within, query)
    if not found:
        held = ", ".join(sorted({each.kind for each in within}))
        return (
            f"No statement of the earlier handoffs has these words. Ask by field instead; they hold: {held}."
        )
    return write_statements(found, room=_LONGEST_ANSWER)


def _known(sources: Sources, query: str) -> str:
    lessons = without_repetitions(each for each in _statements(sources) if each.kind in LESSONS)
    if not lessons:
        return "Nothing is known yet: no finished work in this folder has left lessons."
    found = find_statements(lessons, query)
    if not found:
        return f"None of the {len(lessons)} lessons known in this folder has these words."
    return write_statements(found, room=_LONGEST_ANSWER)
