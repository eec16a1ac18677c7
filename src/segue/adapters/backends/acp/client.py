"""Segue's side of the protocol: what an agent tells and asks of us, answered by the rules."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from segue.adapters.backends.acp import files
from segue.adapters.backends.acp.options import AcpOptions
from segue.adapters.backends.acp.terminals import Terminals, as_arguments
from segue.adapters.backends.acp.tool_calls import AcpToolCall
from segue.adapters.backends.acp.turn import AcpTurn
from segue.adapters.backends.acp.usage import SessionUsage
from segue.adapters.backends.acp.wire import RequestError
from segue.application.ports.backend import (
    PermissionAsked,
    PermissionSettled,
    SessionRequest,
    UsageReported,
)
from segue.domain.permissions import Access, Ruling, Tool, decide

_KINDS = {True: ("allow_once", "allow_always"), False: ("reject_once", "reject_always")}


class AcpClient:
    """Handles what comes from one agent. Only one turn is under way at a time."""

    def __init__(
        self,
        request: SessionRequest,
        options: AcpOptions,
        environment: Mapping[str, str],
        usage: SessionUsage,
    ) -> None:
        self._request = request
        self._options = options
        self.servers = (request.tools.name,) if request.tools else ()
        self.usage = usage
        self.turn: AcpTurn | None = None
        self.terminals = Terminals(workspace=request.working_dir, environment=environment)
        self._asked: dict[str, asyncio.Future[bool]] = {}
        self._requests = {
            "session/request_permission": self._permission,
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create,
            "terminal/output": self._output,
            "terminal/wait_for_exit": self._wait_for_exit,
            "terminal/kill": self._kill,
            "terminal/release": self._release,
        }

    async def handle(self, method: str, params: Any, is_notification: bool) -> Any:  # the SDK's own
        """A request or a notification; one that is not known is refused or left alone."""
        given = params if isinstance(params, Mapping) else {}
        if is_notification:
            if method == "session/update" and isinstance(given.get("update"), Mapping):
                self._update(given["update"])
            return None
        answer = self._requests.get(method)
        if answer is None or not self._offered(method):
            raise RequestError.method_not_found(method)
        try:
            return await answer(given)
        except FileNotFoundError:
            raise RequestError.resource_not_found(str(given.get("path") or given.get("command"))) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RequestError.invalid_params({"details": str(error)}) from None

    def answer(self, permission_id: str, *, allow: bool) -> None:
        """What a person decided; too late, or twice, changes nothing."""
        waiting = self._asked.get(permission_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(allow)

    def cancel_questions(self) -> None:
        """Nobody will decide any more."""
        for waiting in self._asked.values():
            waiting.cancel()

    def _offered(self, method: str) -> bool:
        if method.startswith("fs/"):
            return self._options.client_files
        return self._options.client_terminals or not method.startswith("terminal/")

    def _update(self, update: Mapping[str, Any]) -> None:
        kind, turn = update.get("sessionUpdate"), self.turn
        if kind == "usage_update":
            self.usage.take_update(update)
            if turn is not None:
                turn.tell(UsageReported(usage=self.usage.total))
        elif turn is None:
            return  # a replay of what was said before
        elif kind == "agent_message_chunk":
            turn.take_words(update.get("content"))
        elif kind in ("tool_call", "tool_call_update"):
            turn.take_call(update)

    async def _permission(self, params: Mapping[str, Any]) -> Any:
        told = params.get("toolCall")
        told = told if isinstance(told, Mapping) else {}
        call = (self.turn.call(told) if self.turn else AcpToolCall("")).ask(told)
        try:
            allowed = await self._allowed(call.access(self.servers), call.title)
        except asyncio.CancelledError:
            return {"outcome": {"outcome": "cancelled"}}
        if self.turn and not allowed:
            self.turn.refused = call.title
        options = [one for one in params.get("options") or () if isinstance(one, Mapping)]
        for kind in _KINDS[allowed]:
            for option in options:
                if option.get("kind") == kind:
                    return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}
        return {"outcome": {"outcome": "cancelled"}}

    async def _allowed(self, access: Access, title: str) -> bool:
        verdict = decide(self._request.permissions, access, self._request.working_dir)
        if verdict is not Ruling.ASK or self.turn is None:
            allowed = verdict is Ruling.ALLOW
            if self.turn is not None:
                self.turn.tell(PermissionSettled(access=access, allowed=allowed))
            return allowed
        name = uuid4().hex
        waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked[name] = waiting
        self.turn.tell(PermissionAsked(id=name, access=access, title=title))
        try:
            allowed = await waiting
        finally:
            del self._asked[name]
        return allowed

    async def _check(self, tool: Tool, target: str, title: str) -> None:
        if not await self._allowed(Access(tool=tool, targets=(target,)), title):
            raise RequestError(-32003, f"the rules of this session do not allow it: {title}")

    async def _read(self, params: Mapping[str, Any]) -> Any:
        path, folder = str(params["path"]), self._request.working_dir
        files.inside(folder, path)
        await self._check(Tool.READ, path, f"read {path}")
        line, limit = params.get("line"), params.get("limit")
        text = await asyncio.to_thread(files.read_text, folder, path, line=line, limit=limit)
        return {"content": text}

    async def _write(self, params: Mapping[str, Any]) -> Any:
        path, folder = str(params["path"]), self._request.working_dir
        files.inside(folder, path)
        await self._check(Tool.EDIT, path, f"write {path}")
        await asyncio.to_thread(files.write_text, folder, path, str(params["content"]))
        return {}

    async def _create(self, params: Mapping[str, Any]) -> Any:
        words = as_arguments(params)
        line = str(params.get("command")) if words[:2] == ["/bin/sh", "-c"] else shlex.join(words)
        files.inside(self._request.working_dir, str(params.get("cwd") or "."))
        await self._check(Tool.SHELL, line, line)
        return {"terminalId": await self.terminals.create(params)}

    async def _output(self, params: Mapping[str, Any]) -> Any:
        return self._terminal(params).output()

    async def _wait_for_exit(self, params: Mapping[str, Any]) -> Any:
        return await self._terminal(params).ended()

    async def _kill(self, params: Mapping[str, Any]) -> Any:
        await self._terminal(params).kill()
        return {}

    async def _release(self, params: Mapping[str, Any]) -> Any:
        await self.terminals.release(params.get("terminalId"))
        return {}

    def _terminal(self, params: Mapping[str, Any]) -> Any:
        terminal = self.terminals.get(params.get("terminalId"))
        if terminal is None:
            raise RequestError.resource_not_found(str(params.get("terminalId")))
        return terminal
