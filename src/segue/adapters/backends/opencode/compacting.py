"""Compaction: OpenCode sums a session up, and sends its model the summary from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from segue.adapters.backends.opencode.errors import NotThere, from_message, gave_up, one_line
from segue.adapters.backends.opencode.sessions import OpenCodeSession
from segue.domain.errors import AgentFailed, BackendError

_LOOK_SECONDS = 0.5
_Messages = Sequence[Mapping[str, Any]]


async def compact(session: OpenCodeSession, model: Mapping[str, str] | None) -> None:
    """Have it summed up, and return when it is; what a failure leaves behind is removed."""
    before = await session.messages()
    await clear(session, before)
    body = model or _last_model(before)
    asking = asyncio.create_task(session.post(f"/session/{session.id}/summarize", body, seconds=None))
    try:
        while not (await asyncio.wait({asking}, timeout=_LOOK_SECONDS))[0]:
            await _check_retries(session)
        await asking
        _check(await session.messages(), {str(message["info"]["id"]) for message in before})
    except BackendError:
        with suppress(BackendError):
            await clear(session, await session.messages())
        raise
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def clear(session: OpenCodeSession, messages: _Messages) -> None:
    """Remove a compaction that came to nothing: OpenCode would begin it again before it heard us."""
    done = {m["info"].get("parentID") for m in messages if _is_summary(m) and _is_good(m)}
    asked = {m["info"]["id"] for m in messages if _is_request(m)} - done
    if not asked or session.id in await session.statuses():
        return
    for message in messages:
        if message["info"]["id"] in asked or message["info"].get("parentID") in asked:
            with suppress(NotThere):
                await session.remove(str(message["info"]["id"]))


async def _check_retries(session: OpenCodeSession) -> None:
    """OpenCode asks a failing model again by itself; give up when the profile says so."""
    status = (await session.statuses()).get(session.id) or {}
    allowed = session.record.max_retries
    if status.get("type") == "retry" and allowed is not None and int(status.get("attempt") or 1) > allowed:
        await session.abort()
        raise gave_up(str(status.get("message") or "no reason is given"), allowed)


def _check(messages: _Messages, before: set[str]) -> None:
    """Raise if there is no new summary that is whole."""
    new = [m for m in messages if m["info"]["id"] not in before and _is_summary(m)]
    if new and new[-1]["info"].get("error"):
        raise _failed(new[-1]["info"]["error"])
    if not new or not _is_good(new[-1]):
        raise AgentFailed("OpenCode ended the compaction without a summary; the session is as it was")


def _failed(error: Mapping[str, Any]) -> AgentFailed:
    return AgentFailed(f"the session was not compacted: {one_line(str(from_message(error, ours=True)))}")


def _is_request(message: Mapping[str, Any]) -> bool:
    """What asks for a compaction, and not in the middle of a reply."""
    return any(part.get("type") == "compaction" and not part.get("auto") for part in message["parts"])


def _is_summary(message: Mapping[str, Any]) -> bool:
    return message["info"].get("role") == "assistant" and bool(message["info"].get("summary"))


def _is_good(message: Mapping[str, Any]) -> bool:
    return bool(message["info"].get("finish")) and not message["info"].get("error")


def _last_model(messages: _Messages) -> Mapping[str, str]:
    """The model that answered last, for a session whose profile names none."""
    for info in (message["info"] for message in reversed(messages)):
        if info.get("role") == "assistant" and info.get("modelID"):
            return {"providerID": str(info["providerID"]), "modelID": str(info["modelID"])}
    raise AgentFailed("nothing was said yet that could be compacted")
