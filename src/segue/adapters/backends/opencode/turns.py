"""One message that an agent works on: watched by events and by looking, until a reply or an error comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from segue.adapters.backends.opencode.errors import NotThere, Unreachable, from_message, gave_up, one_line
from segue.adapters.backends.opencode.events import Narrator, answer_to, is_final, text_of
from segue.adapters.backends.opencode.permissions import LOOP, access_of, title_of
from segue.application.ports.backend import (
    PermissionAsked,
    PermissionSettled,
    Reply,
    Retrying,
    SessionEvent,
)
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost
from segue.domain.permissions import Ruling, decide

if TYPE_CHECKING:
    from segue.adapters.backends.opencode.sessions import Link, OpenCodeSession

_LOOK_SECONDS = 4.0
_BEGIN_SECONDS = 60.0
"""How long a server that is idle may keep a message before it begins to work on it."""
_DIED = "the OpenCode server died while it worked on the message"
_REFUSED = "The rules do not allow this. Find another way, or say in your reply what you could not do."
_LOOPING = "You have made this very call several times. Do something else, or finish and say what is missing."
_NOBODY = "Nobody is there to answer. Decide by yourself, and name the open question in your reply."


class OpenCodeTurn:
    """Watches over one message. What happened is kept, so that whoever asks late misses nothing."""

    def __init__(
        self, session: OpenCodeSession, message: str, recover: Callable[[Link], Awaitable[Link | None]]
    ) -> None:
        self.message = message
        self._session = session
        self._recover = recover
        self._narrator = Narrator(session.id, message)
        self._settled: set[str] = set()
        self._retries = 0
        self._told: list[SessionEvent] = []
        self._news = asyncio.Event()
        self._sent = asyncio.Event()
        self._failure: Mapping[str, Any] | None = None
        self.aborted = False
        """True once we have aborted it ourselves."""
        self._queue = session.link.hub.listen(session.id)
        self._task = asyncio.create_task(self._watch())
        self._task.add_done_callback(self._ended)

    def begin(self, *, joined: bool) -> None:
        """The message is sent: now, or by somebody else before, who may have missed the reply."""
        if joined:
            self._queue.put_nowait(None)
        self._sent.set()

    async def reply(self) -> Reply:
        """The reply, when it is there."""
        await asyncio.wait({self._task})
        if self._task.cancelled():
            raise (
                AgentFailed("its session was aborted") if self.aborted else SessionLost("nobody waits for it")
            )
        return self._task.result()

    async def events(self) -> AsyncIterator[SessionEvent]:
        """What has happened, and what happens until the end."""
        place = 0
        while True:
            news = self._news
            while place < len(self._told):
                yield self._told[place]
                place += 1
            if self._task.done():
                return
            await news.wait()

    async def stop(self) -> None:
        """Watch no longer; the agent continues."""
        self._task.cancel()
        await asyncio.wait({self._task})

    def _ended(self, task: asyncio.Task[Reply]) -> None:
        self._session.link.hub.leave(self._session.id)
        if not task.cancelled():
            task.exception()  # so that nobody complains if nobody asks
        self._tell()

    def _tell(self, *events: SessionEvent) -> None:
        self._told.extend(events)
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _watch(self) -> Reply:
        await self._sent.wait()
        loop = asyncio.get_running_loop()
        begun, idle = loop.time(), 0
        while True:
            event, missed = await self._next()
            try:
                if event is not None and not await self._take(event):
                    continue
                found = await self._look(missed=missed)
            except Unreachable as error:
                await self._after_trouble(error)
                continue
            if isinstance(found, Reply):
                return await self._last_words(found)
            idle = 0 if found else idle + 1
            if idle > 1 and (self._is_orphan() or loop.time() - begun > _BEGIN_SECONDS):
                raise SessionLost(self._why_idle())

    async def _last_words(self, reply: Reply) -> Reply:
        """The totals come last, and may come late."""
        with suppress(BackendError):
            self._tell(*self._narrator.report(await self._session.usage()))
        return reply

    async def _next(self) -> tuple[Mapping[str, Any] | None, bool]:
        """The next event; none if it is time to look, and whether events may have been missed before."""
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                event = await self._queue.get()
        except TimeoutError:
            return None, False
        return event, event is None

    async def _take(self, event: Mapping[str, Any]) -> bool:
        """Act on an event; true if the end may have come."""
        kind, properties = event["type"], event.get("properties") or {}
        ours = properties.get("sessionID") == self._session.id
        if kind == "permission.asked":
            await self._permission(properties)
        elif kind == "question.asked":
            await self._question(properties)
        elif kind == "session.status" and ours:
            await self._status(properties.get("status") or {})
        elif kind == "session.error" and ours:
            self._failure = properties.get("error")
        self._tell(*self._narrator.take(event))
        if self._narrator.model is not None and self._narrator.window is None:
            self._narrator.window = await self._session.window(*self._narrator.model)
        return ours and kind in ("session.idle", "session.error")

    async def _look(self, *, missed: bool) -> Reply | bool:
        """The reply; else true if the session works."""
        status = (await self._session.statuses()).get(self._session.id)
        for asked in await self._session.pending("permission"):
            await self._permission(asked)
        for asked in await self._session.pending("question"):
            await self._question(asked)
        messages = await self._session.messages()
        self._tell(*self._narrator.catch_up(messages, missed=missed))
        if status is not None and status.get("type") != "idle":
            await self._status(status)
            return True
        return self._outcome(messages)

    def _outcome(self, messages: Sequence[Mapping[str, Any]]) -> Reply | bool:
        """What an idle session has to say to our message."""
        answer = answer_to(messages, self.message)
        if answer is not None and answer["info"].get("error"):
            raise from_message(answer["info"]["error"], ours=self.aborted)
        if answer is not None and is_final(answer):
            return self._checked(answer)
        if self._failure is not None:
            raise from_message(self._failure, ours=self.aborted)
        if answer is not None and answer["info"].get("time", {}).get("completed") and not self._is_orphan():
            return Reply(text=text_of(answer))
        return False

    def _checked(self, answer: Mapping[str, Any]) -> Reply:
        if answer["info"].get("finish") == "length":
            raise from_message({"name": "MessageOutputLengthError"})
        if answer["info"].get("finish") == "content-filter":
            raise from_message({"name": "ContentFilterError", "data": {"message": "it stopped in mid-reply"}})
        return Reply(text=text_of(answer))

    def _is_orphan(self) -> bool:
        """True if the server that took the message is not the one that runs now."""
        record = self._session.record
        return bool(record.server_mark) and record.server_mark != self._session.link.client.address.mark

    def _why_idle(self) -> str:
        if self._is_orphan():
            return f"{_DIED}, and was started anew"
        return "the OpenCode server took the message, but does not work on it"

    async def _after_trouble(self, error: Unreachable) -> None:
        """The server does not answer: continue if it recovers; a new one knows at least what was finished."""
        try:
            link = await self._recover(self._session.link)
        except BackendUnavailable as again:
            raise SessionLost(f"{_DIED}, and could not be started anew: {one_line(str(again))}") from again
        if link is None:
            raise SessionLost(one_line(str(error)))
        if link is not self._session.link:
            self._session.link.hub.leave(self._session.id)
            self._session.link = link
            self._queue = link.hub.listen(self._session.id)
        self._queue.put_nowait(None)

    async def _status(self, status: Mapping[str, Any]) -> None:
        """OpenCode asks a failing model again by itself; we tell, and give up when the profile says so."""
        if status.get("type") != "retry" or int(status.get("attempt") or 1) <= self._retries:
            return
        self._retries = int(status.get("attempt") or 1)
        reason = one_line(str(status.get("message") or "no reason is given"))
        allowed = self._session.record.max_retries
        if allowed is not None and self._retries > allowed:
            self.aborted = True
            await self._session.abort()
            raise gave_up(reason, allowed)
        self._tell(Retrying(reason=reason))

    async def _permission(self, asked: Mapping[str, Any]) -> None:
        if asked["id"] in self._settled:
            return
        record = self._session.record
        access = access_of(asked, self._narrator.calls.get((asked.get("tool") or {}).get("callID", "")))
        verdict = decide(record.rules, access, record.directory)
        if asked.get("permission") == LOOP:
            await self._session.settle(asked["id"], allow=False, comment=_LOOPING)
        elif verdict is Ruling.ASK:
            self._tell(PermissionAsked(id=asked["id"], access=access, title=title_of(access)))
        else:
            await self._session.settle(asked["id"], allow=verdict is Ruling.ALLOW, comment=_REFUSED)
            self._tell(PermissionSettled(access=access, allowed=verdict is Ruling.ALLOW))
        self._settled.add(asked["id"])

    async def _question(self, asked: Mapping[str, Any]) -> None:
        if asked["id"] not in self._settled:
            answers = [[_NOBODY] for _ in asked.get("questions") or ()]
            with suppress(NotThere):
                await self._session.post(f"/question/{asked['id']}/reply", {"answers": answers})
            self._settled.add(asked["id"])
