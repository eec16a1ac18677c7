"""Asking the writer of a reply to structure it: once, in its own session or, where it has none, in a new one.

A session that lives is asked there. An agent without one is run again with its own reply, in an empty folder
and without any permission, so that it can change nothing. What comes back is kept only where the reply says
so.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog

from segue.application.conversations.timeouts import Limits, uninterrupted, within
from segue.application.conversations.transactions import read_submitted, storable
from segue.application.handoffs.review import HandoffReviewer, ReviewedHandoff, review_extraction
from segue.application.handoffs.step_work import StepWork
from segue.application.handoffs.transactions import (
    begin_question,
    end_question_session,
    open_question_session,
)
from segue.application.ports import backend as port
from segue.application.ports.backend import AgentBackend, Reply, SessionRequest
from segue.application.ports.store import Store
from segue.application.ports.world import Clock, EmptyFolders
from segue.domain.asking import Missing, complete, what_is_missing
from segue.domain.briefing.instructions import AskedNotation
from segue.domain.briefing.repair_prompt import question_for
from segue.domain.errors import AgentFailed, BackendError
from segue.domain.handoff import (
    Extraction,
    Handoff,
    Notation,
)
from segue.domain.permissions import PermissionRule, Ruling
from segue.domain.session import MessageKind, Session, SessionMessage
from segue.domain.submissions import SUBMITTED
from segue.domain.usage import Usage

log = structlog.get_logger()

NO_PERMISSIONS = (PermissionRule(action=Ruling.DENY),)


class WriterQuestions:
    """Asks about replies in pipelines."""

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        store: Store,
        clock: Clock,
        limits: Limits,
        reviewer: HandoffReviewer,
        folders: EmptyFolders,
        notation: AskedNotation,
        is_on: bool,
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._reviewer = reviewer
        self._folders = folders
        self._notation = notation
        self._is_on = is_on

    async def complete(self, work: StepWork, reviewed: ReviewedHandoff) -> ReviewedHandoff:
        """The handoff with what its writer adds; as it was if there is nothing to ask, or no answer."""
        missing = what_is_missing(reviewed.handoff, reviewed.reading)
        question = next(iter(work.talk.said(MessageKind.QUESTION)), None)  # asked before a crash
        if question is None:
            if not missing or not self._may_ask(reviewed):
                return reviewed
            backend, request = work.talk.backend, work.talk.request
            remembers = await backend.converses(request)
            text = question_for(missing, self._notation, reply=None if remembers else reviewed.source)
            can_answer = await backend.answers(request, text) if remembers else backend.capabilities.rerun
            if not can_answer:
                return reviewed
            question = await self._begin(work, reviewed, missing, text)
        try:
            answer = await self._answer(work, question)
        except BackendError as error:
            log.warning("question_failed", **work.where, error=str(error))
            return reviewed
        return await self._completed(work, reviewed, answer, missing)

    def _may_ask(self, reviewed: ReviewedHandoff) -> bool:
        return self._is_on and reviewed.notation != SUBMITTED and bool(reviewed.source.strip())

    async def _begin(
        self, work: StepWork, reviewed: ReviewedHandoff, missing: Missing, text: str
    ) -> SessionMessage:
        """Write down what the agent will be asked, before it is."""
        now = self._clock.now()
        new = work.session.message(
            MessageKind.QUESTION, "question", storable(text), now, ledger=reviewed.ledger_record
        )
        question = await self._store.write(
            lambda rows: begin_question(rows, work.lease, new, work.where, missing.names)
        )
        log.info("writer_asked", **work.where, missing=list(missing.names))
        return work.talk.keep(question)

    async def _answer(self, work: StepWork, question: SessionMessage) -> Handoff | None:
        if question.reply is None:
            if await work.talk.backend.converses(work.talk.request):
                question = await work.talk.exchange(question, since=question.created_at)
            else:
                question = await self._ask_anew(work, question)
        given = await self._store.read(lambda rows: read_submitted(rows, work.session.id, question.id))
        if given.handoff is not None:
            return given.handoff
        return (await asyncio.to_thread(self._reviewer.extract, question.reply or "")).handoff

    async def _ask_anew(self, work: StepWork, question: SessionMessage) -> SessionMessage:
        """In a session of its own, which knows nothing but the reply."""
        asked = work.session
        async with self._folders.open(question.wire_id) as folder:
            new = Session(
                name=asked.name,
                backend=asked.backend,
                key=question.wire_id,
                step_id=asked.step_id,
                title="",
                model=asked.model,
                working_dir=folder,
                profile=asked.profile,
                timeout=asked.timeout,
                base_mark=None,
                started_at=self._clock.now(),
            )
            session = await self._store.write(lambda rows: open_question_session(rows, work.lease, new))
            usage: Usage | None = None
            try:
                reply, usage = await ask_in_folder(
                    work.talk.backend,
                    request_in_folder(work.talk.request, key=question.wire_id, folder=folder),
                    port.Message(id=question.wire_id, text=question.text),
                    seconds=asked.timeout or asked.profile.timeout or self._limits.step_timeout,
                )
            finally:
                ended = replace(session.ended(self._clock.now()), usage=usage)
                await self._store.write(lambda rows: end_question_session(rows, session, ended))
        replied = question.replied(storable(reply.text), self._clock.now(), usage)
        return await work.talk.save(question, replied)

    async def _completed(
        self, work: StepWork, reviewed: ReviewedHandoff, answer: Handoff | None, missing: Missing
    ) -> ReviewedHandoff:
        """The record with the answer in it, compared with what was done."""
        notation = Notation(reviewed.notation)
        read = Extraction(handoff=reviewed.handoff, notation=notation, spans=reviewed.spans)
        done = complete(read, reviewed.reading, answer, missing, reviewed.source)
        able = work.talk.backend.capabilities
        observed = await self._reviewer.measure(work.pipeline, work.step, work.session, able)
        return await review_extraction(
            replace(read, handoff=done.handoff, spans=done.spans),
            observed,
            source=reviewed.source,
            notation=reviewed.notation,
            reading=done.reading,
        )


def request_in_folder(request: SessionRequest, *, key: str, folder: str) -> SessionRequest:
    """The same agent in another folder, where it may do nothing but answer."""
    return replace(request, key=key, working_dir=folder, permissions=NO_PERMISSIONS, tools=None)


async def ask_in_folder(
    backend: AgentBackend, request: SessionRequest, message: port.Message, *, seconds: float
) -> tuple[Reply, Usage | None]:
    """The reply of a session that is opened for one message, and what it has used."""
    session = await within(seconds, backend.open(request), "the agent did not open a session")
    try:
        async with asyncio.timeout(seconds):
            await backend.send(request, session, message)
            reply = await backend.wait(session, message.id)
            usage = await backend.usage(session) if backend.capabilities.usage else None
    except BaseException as error:
        await uninterrupted(backend.abort(session))
        if isinstance(error, TimeoutError):
            why = f"it did not answer the question about its reply within {seconds:g} s"
            raise AgentFailed(why) from None
        raise
    finally:
        await uninterrupted(backend.close(session))
    return reply, usage
