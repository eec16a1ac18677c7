"""One session on one server: the calls that are about it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from segue.adapters.backends.opencode.errors import NotThere
from segue.adapters.backends.opencode.events import context_tokens, usage_of, with_context
from segue.adapters.backends.opencode.records import SessionRecord
from segue.domain.usage import Usage

if TYPE_CHECKING:
    from segue.adapters.backends.opencode.client import OpenCodeClient
    from segue.adapters.backends.opencode.hub import Hub

_GET_SECONDS = 15.0
_POST_SECONDS = 30.0
_ABORT_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_ID_SPACE = 1 << 48
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Link:
    """A living server that we speak to."""

    client: OpenCodeClient
    hub: Hub
    windows: dict[tuple[str, str], int | None] = field(default_factory=dict)
    """Provider and model -> how many tokens it can see at once."""

    async def close(self) -> None:
        """Let go of it."""
        await self.hub.close()
        await self.client.close()


class OpenCodeSession:
    """A session as OpenCode keeps it."""

    def __init__(self, link: Link, record: SessionRecord) -> None:
        self.link = link
        self.record = record
        self.id = record.id or ""

    async def get(self, path: str, *, seconds: float = _GET_SECONDS, **query: str) -> Any:
        """Ask for something in the session's directory."""
        directory = self.record.directory
        return await self.link.client.call("GET", path, directory=directory, query=query, timeout=seconds)

    async def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, seconds: float | None = _POST_SECONDS
    ) -> Any:
        """Do something in the session's directory; without seconds, however long it takes."""
        return await self.link.client.call(
            "POST", path, directory=self.record.directory, body=body, timeout=seconds
        )

    async def info(self) -> Mapping[str, Any]:
        """The session itself."""
        found: Mapping[str, Any] = await self.get(f"/session/{self.id}")
        return found

    async def messages(self) -> Sequence[Mapping[str, Any]]:
        """All that was said."""
        found: Sequence[Mapping[str, Any]] = await self.get(f"/session/{self.id}/message")
        return found

    async def statuses(self) -> Mapping[str, Mapping[str, Any]]:
        """The sessions of the directory that work."""
        found: Mapping[str, Mapping[str, Any]] = await self.get("/session/status")
        return found

    async def pending(self, what: str) -> Sequence[Mapping[str, Any]]:
        """Questions of this session, or of those it started, that wait for an answer."""
        found = [asked for asked in await self.get(f"/{what}") if isinstance(asked, Mapping)]
        if not any(asked.get("sessionID") != self.id for asked in found):
            return found
        family = {self.id, *(child["id"] for child in await self.children())}
        return [asked for asked in found if asked.get("sessionID") in family]

    async def children(self) -> Sequence[Mapping[str, Any]]:
        """The sessions that it started itself, and theirs."""
        found, new = [], [self.id]
        while new:
            born = [child for parent in new for child in await self.get(f"/session/{parent}/children")]
            found += born
            new = [child["id"] for child in born]
        return found

    async def settle(self, permission: str, *, allow: bool, comment: str) -> None:
        """Answer a question about a permission; what is settled already stays."""
        body = {"reply": "once"} if allow else {"reply": "reject", "message": comment}
        with suppress(NotThere):
            await self.post(f"/permission/{permission}/reply", body)

    async def abort(self) -> None:
        """Stop what it does, and see it stopped."""
        await self.post(f"/session/{self.id}/abort")
        with suppress(TimeoutError):
            async with asyncio.timeout(_ABORT_SECONDS):
                while self.id in await self.statuses():  # noqa: ASYNC110  # another program works
                    await asyncio.sleep(_LOOK_SECONDS)

    async def remove(self, message: str) -> None:
        """Remove one message."""
        path = f"/session/{self.id}/message/{message}"
        await self.link.client.call("DELETE", path, directory=self.record.directory)

    async def delete(self) -> None:
        """Remove it, and those it started."""
        with suppress(NotThere):
            await self.link.client.call("DELETE", f"/session/{self.id}", directory=self.record.directory)

    async def usage(self) -> Usage:
        """What it has used so far, with those it started."""
        infos = [await self.info(), *await self.children()]
        turns = [m["info"] for m in await self.messages() if m["info"].get("role") == "assistant"]
        newest = next((turn for turn in reversed(turns) if context_tokens(turn)), None)
        total = sum((usage_of(info) for info in infos), Usage())
        if newest is None:
            return total
        window = await self.window(str(newest.get("providerID")), str(newest.get("modelID")))
        return with_context(total, context_tokens(newest), window)

    async def window(self, provider: str, model: str) -> int | None:
        """How many tokens a model can see at once."""
        windows = self.link.windows
        if (provider, model) not in windows:
            for entry in (await self.get("/config/providers"))["providers"]:
                for name, found in entry["models"].items():
                    windows[entry["id"], name] = (found.get("limit") or {}).get("context") or None
        return windows.setdefault((provider, model), None)


def suffix_of(message_id: str) -> str:
    """The end of OpenCode's id for one of our messages: by it, a message that was sent is found again."""
    number, letters = int.from_bytes(hashlib.sha256(message_id.encode()).digest()), []
    for _ in range(14):
        number, digit = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[digit])
    return "".join(letters)


def sent_as(messages: Sequence[Mapping[str, Any]], message_id: str) -> str | None:
    """OpenCode's id of a message of ours that is there already."""
    suffix = suffix_of(message_id)
    ids = (str(message["info"]["id"]) for message in messages if message["info"].get("role") == "user")
    return next((found for found in ids if found.endswith(suffix)), None)


def new_id(message_id: str, info: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> str:
    """An id for a message that is to be sent.

    OpenCode orders messages by their ids, which begin with the time: ours must be later than all that was
    said and earlier than the reply, by the clock of the server and not by ours.
    """
    times = [int(info["time"]["created"]) * 0x1000 % _ID_SPACE]
    times += [int(str(message["info"]["id"])[4:16], 16) for message in messages[-1:]]
    return f"msg_{(max(times) + 1) % _ID_SPACE:012x}{suffix_of(message_id)}"
