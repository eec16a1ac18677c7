"""What an agent can do through Segue's own tools: see its task, hand off, ask for more, report a blocker.

Each call shows the token of one session and reaches no further than the pipeline that it works in or, outside
of pipelines, the sessions that it continues; only the lessons of finished work in the same folder come from
elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from segue.application.handoffs.transactions import add_submission
from segue.application.ports.store import Reads, Rows, Store
from segue.application.ports.world import Clock
from segue.domain.attempt import Attempt
from segue.domain.briefing.recall import (
    LESSONS,
    RecordedStatement,
    find_statements,
    statements_of,
    without_repetitions,
    words_of,
    write_statements,
)
from segue.domain.errors import InvalidRequest, ToolsClosed
from segue.domain.handoff.checking.submitted import Submitted, clean_text, read_submission
from segue.domain.handoff.model import Blocker
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline, Step
from segue.domain.session import MessageKind, Session, SessionMessage, Submission, SubmissionKind
from segue.domain.submissions import reported_blockers, submitted_for

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

    session: Session
    submissions: tuple[Submission, ...]
    pipeline: Pipeline | None
    """None outside of pipelines."""

    @property
    def step(self) -> Step:
        """The step that the agent works on, in a pipeline."""
        assert self.pipeline is not None
        assert self.session.step_id is not None
        return self.pipeline.step(self.session.step_id)

    @property
    def where(self) -> Mapping[str, int]:
        """Where entries of the audit trail belong."""
        if self.pipeline is None:
            return {"session": self.session.id}
        return {"pipeline_id": self.pipeline.id, "step_id": self.step.id}


class AgentTools:
    """The use cases behind the tools. Every refusal is a `SegueError` with one sentence for the agent."""

    def __init__(self, *, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def check(self, token: str) -> None:
        """`ToolsClosed` unless the token is that of a session that is under way."""
        await self._store.read(lambda rows: _session_of(rows, token))

    async def get_task(self, token: str) -> str:
        """Who the agent is, what it has handed in so far, and its briefing once more."""

        def look(rows: Reads) -> tuple[_Place, tuple[SessionMessage, ...]]:
            place = _place_of(rows, token)
            return place, rows.find(SessionMessage, session_id=place.session.id)

        place, said = await self._store.read(look)
        given = submitted_for(place.submissions, said[-1].id if said else None)
        handed_in = "has been submitted" if given.accepted is not None else "has not been submitted yet"
        state = f"Your handoff {handed_in}; blockers reported: {len(given.blockers)}."
        if place.pipeline is None:
            last = f"This is what you were told last:\n\n{said[-1].text}" if said else "Nothing was said yet."
            session = place.session
            return f'You are {session.name} in session {session.id}, "{session.title}".\n{state}\n\n{last}'
        pipeline, step = place.pipeline, place.step
        steps = ", ".join(f"{s.order_index + 1} {s.agent_name} ({s.status})" for s in pipeline.steps)
        briefing = next(message for message in said if message.kind is MessageKind.BRIEFING)
        return (
            f"You are {step.agent_name}, step {step.order_index + 1} of {len(pipeline.steps)} in pipeline "
            f'{pipeline.id}, "{pipeline.title}". Steps: {steps}.\n{state}\n\n'
            f"This is the briefing you were given:\n\n{briefing.text}"
        )

    async def submit_handoff(self, token: str, arguments: Mapping[str, Any]) -> Submitted:
        """Keep a handoff if nothing makes it unfit; else say what to fix. A later one replaces it."""
        place = await self._store.read(lambda rows: _place_of(rows, token))
        blockers = reported_blockers(place.submissions)
        submitted = await asyncio.to_thread(read_submission, arguments, blockers=blockers)
        if submitted.handoff is None and not submitted.problems:
            raise InvalidRequest(
                "nothing was submitted: give `outcome`, `what_was_done` and the other fields that apply, or "
                "`text`"
            )
        record = submitted.handoff.as_dict() if submitted.handoff is not None else None
        problems, now = sorted({problem.code for problem in submitted.problems}), self._clock.now()

        def add(rows: Rows) -> None:
            here = _place_of(rows, token, lock=True)
            add_submission(
                rows,
                here.session,
                here.where,
                kind=SubmissionKind.HANDOFF,
                record=record,
                is_accepted=submitted.is_accepted,
                facts={"accepted": submitted.is_accepted, "problems": problems},
                at=now,
            )

        await self._store.write(add)
        log.info("handoff_submitted", accepted=submitted.is_accepted, **place.where)
        return submitted

    async def recall(self, token: str, query: str = "", *, step: int | None = None, field: str = "") -> str:
        """Statements of earlier handoffs of this run, or of the sessions before, by words, step or field."""
        _bounded(query, field)

        def look(rows: Reads) -> tuple[_Place, Mapping[int, HandoffRecord], list[tuple[str, HandoffRecord]]]:
            place = _place_of(rows, token)
            if place.pipeline is None:
                return place, {}, _left_before(rows, place.session)
            earlier = [s for s in place.pipeline.steps if s.order_index < place.step.order_index]
            return place, rows.newest_handoffs([s.id for s in earlier]), []

        place, saved, sources = await self._store.read(look)
        if not saved and not sources:
            before = (
                "No earlier step of this run" if place.pipeline is not None else "No session before this one"
            )
            return f"{before} has handed off: there is nothing to recall."
        if place.pipeline is not None:
            earlier = [s for s in place.pipeline.steps if s.order_index < place.step.order_index]
            if step is not None and not any(s.order_index + 1 == step for s in earlier):
                raise InvalidRequest(
                    f"step {step} is none of the earlier steps; they are 1 to {len(earlier)}"
                )
            chosen = [s for s in earlier if s.id in saved and step in (None, s.order_index + 1)]
            sources = [(f"step {s.order_index + 1} ({s.agent_name})", saved[s.id]) for s in chosen]
        elif step is not None:
            raise InvalidRequest("this session works outside of pipelines: leave out `step`")
        return await asyncio.to_thread(_recalled, sources, query, field)

    async def search_knowledge(self, token: str, query: str) -> str:
        """Lessons of finished work in this folder, by words."""
        _bounded(query)
        if not words_of(query):
            raise InvalidRequest("`query` has no words: name a file, a tool or a topic, such as `login test`")

        def look(rows: Reads) -> list[tuple[str, HandoffRecord]]:
            place = _place_of(rows, token)
            folder = place.pipeline.working_dir if place.pipeline is not None else place.session.working_dir
            return list(rows.recent_handoffs(folder, limit=_HANDOFFS_SEARCHED))

        found = await self._store.read(look)
        sources = [(f"{name}, handoff {saved.id}", saved) for name, saved in found]
        return await asyncio.to_thread(_known, sources, query)

    async def report_blocker(self, token: str, blocker: Blocker) -> int:
        """Keep what stops the work, so that it stands in the handoff whatever else does; gives how many."""
        said = Blocker.model_validate(_clean(blocker.model_dump(exclude_defaults=True)))
        if not said.blocker.strip():
            raise InvalidRequest("`blocker` is empty: say in one sentence what stops the work")
        now = self._clock.now()

        def add(rows: Rows) -> tuple[_Place, int]:
            place = _place_of(rows, token, lock=True)
            reported = reported_blockers(place.submissions)
            others = [each for each in reported if each.blocker != said.blocker]
            if len(others) >= _MOST_BLOCKERS:
                raise InvalidRequest(f"{_MOST_BLOCKERS} blockers are reported already, which is the most")
            add_submission(
                rows,
                place.session,
                place.where,
                kind=SubmissionKind.BLOCKER,
                record=said.model_dump(mode="json", exclude_defaults=True),
                is_accepted=True,
                facts={"blocker": said.blocker[:200]},
                at=now,
            )
            return place, len(others) + 1

        place, count = await self._store.write(add)
        log.info("blocker_reported", **place.where)
        return count


def _session_of(rows: Reads, token: str) -> Session:
    plain = token.isascii() and token.isprintable() and 0 < len(token) <= _LONGEST_TOKEN
    found = rows.first(Session, token=token) if plain else None
    if found is None or not hmac.compare_digest(found.token or "", token):
        raise ToolsClosed(
            "this token opens no tools: use the one that Segue gave to this session (SEGUE_MCP_TOKEN)"
        )
    if found.step_id is None:
        if found.ended_at is not None:
            raise ToolsClosed("this session has ended: its tools are closed, so just finish")
    elif (attempt := rows.first(Attempt, session_id=found.id)) is None or attempt.status.is_final:
        how = attempt.status if attempt is not None else "none"
        raise ToolsClosed(f"this attempt has ended ({how}): its tools are closed, so just finish")
    return found


def _place_of(rows: Reads, token: str, *, lock: bool = False) -> _Place:
    session, pipeline = _session_of(rows, token), None
    if session.step_id is not None:
        pipeline_id = rows.get(Step, session.step_id).pipeline_id
        pipeline = rows.pipeline(pipeline_id, lock=lock)  # held from here on
        session = _session_of(rows, token)
    return _Place(
        session=session, submissions=rows.find(Submission, session_id=session.id), pipeline=pipeline
    )


def _left_before(rows: Reads, session: Session) -> list[tuple[str, HandoffRecord]]:
    """The newest handoff of each session that this one continues, the nearest first."""
    found, parent_id = [], session.parent_id
    while parent_id is not None:
        parent = rows.get(Session, parent_id)
        if (left := rows.last_handoff(parent.id)) is not None:
            found.append((f"session {parent.id} ({parent.name})", left))
        parent_id = parent.parent_id
    return found


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


Sources = Collection[tuple[str, HandoffRecord]]


def _statements(sources: Sources) -> list[RecordedStatement]:
    return [
        statement
        for name, saved in sources
        for statement in statements_of(
            name,
            saved.handoff,
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
