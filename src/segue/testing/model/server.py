"""The scripted model: a server on loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from segue.testing.model import anthropic, openai_chat, openai_responses
from segue.testing.model.answer import SIDE, ModelAnswer, Seen, Wire, choose_turn, count_tokens, make_answer
from segue.testing.model.faults import error_headers, is_overflow, word_error
from segue.testing.model.http import BadRequest, HttpReply, HttpRequest, read_request
from segue.testing.model.loading import load_script
from segue.testing.model.request import ModelRequest
from segue.testing.model.script import Cut, Error, Hang, Playable, Script, Turn
from segue.testing.model.script import script as make_script

_HOST = "127.0.0.1"
_WIRES: Mapping[str, Wire] = {
    "/chat/completions": openai_chat.WIRE,
    "/responses": openai_responses.WIRE,
    "/messages": anthropic.WIRE,
}


@dataclass(slots=True, eq=False)
class RequestRecord:
    """One request that the model got, and what became of it."""

    path: str
    api: str
    scenario: str
    turn: int
    body: Mapping[str, Any] = field(repr=False)
    request: ModelRequest = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    reply: HttpReply = field(repr=False)
    at: float = field(default_factory=time.time)
    client_closed: bool = False
    """Whether the client closed the connection before the end."""

    @property
    def status(self) -> int | None:
        """The status of the reply, once there is one."""
        return self.reply.status

    @property
    def ended(self) -> bool:
        """Whether the model is done with it, in whatever way."""
        return self.reply.ended


class ScriptedModel:
    """A model server on loopback that answers from a script.

    `with ScriptedModel({"fix": [write("a.txt", "text"), say("Done.")]}) as model: ...`, or `async with`.
    Agents are pointed at `model.url`; OpenAI's clients want `/v1` after it.
    """

    def __init__(
        self,
        script: Script | Path | Mapping[str, Playable | Sequence[Playable]],
        *,
        port: int = 0,
        models: Sequence[str] = ("scripted",),
    ) -> None:
        """With port 0 the first start picks a free one, and later starts use it again."""
        if isinstance(script, Path):
            script = load_script(script)
        self.script = script if isinstance(script, Script) else make_script(script)
        self.port = port
        self.models = tuple(models)
        self.requests: list[RequestRecord] = []
        self._seen: Seen = Counter()
        self._changed = threading.Condition()
        self._failures: list[BaseException] = []
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._halt = asyncio.Event()
        self._serving: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{_HOST}:{self.port}"

    @property
    def turns(self) -> list[RequestRecord]:
        """The requests that play a scenario: without side calls, which an agent makes at any moment."""
        return [record for record in self.requests if record.scenario != SIDE]

    def start(self) -> Self:
        """Listen; returns when requests can come."""
        if self._thread is None:
            listening: Future[int] = Future()
            self._thread = threading.Thread(
                target=lambda: asyncio.run(self._serve(listening)), name="scripted-model", daemon=True
            )
            self._thread.start()
            try:
                self.port = listening.result(timeout=30)
            except OSError:
                self._thread.join()
                self._thread = None
                raise
        return self

    def stop(self) -> None:
        """Close every connection and the port; what was recorded stays."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._halt.set)
            self._thread.join()
            self._thread = None

    def wait_for(self, predicate: Callable[[RequestRecord], bool], timeout: float = 120) -> RequestRecord:
        """The first request, come or yet to come, for which the predicate holds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                for record in self.requests:
                    if predicate(record):
                        return record
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    came = [(record.scenario, record.turn) for record in self.requests]
                    raise TimeoutError(f"No such request came in {timeout:g} s; there were: {came}.")

    async def wait_for_async(
        self, predicate: Callable[[RequestRecord], bool], timeout: float = 120
    ) -> RequestRecord:
        """The same, for a test that runs in an event loop."""
        return await asyncio.to_thread(self.wait_for, predicate, timeout)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if error is None and self._failures:
            raise self._failures[0]

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    async def _serve(self, listening: Future[int]) -> None:
        self._loop = asyncio.get_running_loop()
        self._halt = asyncio.Event()
        try:
            server = await asyncio.start_server(self._connected, _HOST, self.port, limit=2**20)
        except OSError as error:
            listening.set_exception(error)
            return
        listening.set_result(server.sockets[0].getsockname()[1])
        await self._halt.wait()
        server.close()
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._converse(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection."""
        try:
            try:
                request = await read_request(reader, writer)
                if request is not None:
                    await self._route(
                        request, reader, HttpReply(writer, without_body=request.method == "HEAD")
                    )
            except BadRequest as error:
                body = word_error("chat", Error(400, message=f"Bad request: {error}."))
                await HttpReply(writer).send(400, body)
        except ConnectionError:
            return
        finally:
            writer.close()

    async def _route(self, http: HttpRequest, reader: asyncio.StreamReader, reply: HttpReply) -> None:
        path = http.path.rstrip("/").removeprefix("/v1")
        if http.method == "POST" and path in _WIRES:
            await self._respond(_WIRES[path], http, reader, reply)
        elif http.method == "POST" and path == "/messages/count_tokens":
            await reply.send(200, {"input_tokens": count_tokens(http.content.decode(errors="replace"))})
        elif http.method in ("GET", "HEAD") and path in ("", "/models"):
            await reply.send(200, self._list_models() if path else {"status": "ok"})
        else:
            error = Error(404, message=f"The scripted model has no {http.method} {http.path}.")
            await reply.send(404, word_error("chat", error))

    def _list_models(self) -> dict[str, Any]:
        models = [
            {"id": name, "object": "model", "type": "model", "display_name": name, "created": 0}
            for name in self.models
        ]
        return {"object": "list", "data": models, "has_more": False}

    async def _respond(
        self, wire: Wire, http: HttpRequest, reader: asyncio.StreamReader, reply: HttpReply
    ) -> None:
        request = _parse(wire, http)
        choice = choose_turn(self.script, request, self._seen)
        if choice.seen is not None:
            self._seen[choice.seen] += 1
        record = RequestRecord(
            http.path, request.api, choice.scenario, request.turn, request.body, request, http.headers, reply
        )
        with self._changed:
            self.requests.append(record)
            self._changed.notify_all()
        answering = asyncio.ensure_future(_answer(choice.turn, request, wire, reply))
        leaving = asyncio.ensure_future(_client_left(reader))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            error = answering.exception() if answering.done() else None
            record.client_closed = not answering.done() or isinstance(error, ConnectionError)
            if error is not None and not record.client_closed:
                await self._tell_failure(error, request, reply)
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
            with self._changed:
                reply.ended = True
                self._changed.notify_all()

    async def _tell_failure(self, error: BaseException, request: ModelRequest, reply: HttpReply) -> None:
        """Tell the agent, and later the test, of a function in the script that failed."""
        self._failures.append(error)
        if reply.status is None:
            told = Error(400, message=f"The script failed: {type(error).__name__}: {error}")
            await reply.send(400, word_error(request.api, told))


def _parse(wire: Wire, http: HttpRequest) -> ModelRequest:
    body = http.json()
    try:
        return wire.parse(body)
    except (AttributeError, KeyError, TypeError) as error:
        raise BadRequest(f"the body is not what this API takes: {error!r}") from error


async def _client_left(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(2**16):
            pass
    except ConnectionError:
        return


async def _answer(turn: Turn, request: ModelRequest, wire: Wire, reply: HttpReply) -> None:
    await asyncio.sleep(turn.delay)
    answer = make_answer(turn, request)
    fault = answer.fault
    if fault is not None and fault.after is None:
        await _fail_at_once(fault, request, wire, reply)
    elif request.stream:
        await _stream(turn, answer, request, wire, reply)
    elif isinstance(fault, Error):
        await _fail_at_once(fault, request, wire, reply)
    elif isinstance(fault, Hang):
        await _hang()
    else:
        await reply.send(200, wire.reply(answer, request), cut=isinstance(fault, Cut))


async def _fail_at_once(
    fault: Error | Cut | Hang, request: ModelRequest, wire: Wire, reply: HttpReply
) -> None:
    if isinstance(fault, Hang):
        await _hang()
    elif isinstance(fault, Error):
        if request.api == "responses" and request.stream and is_overflow(fault):
            await reply.open_stream()  # this API tells it within the stream
            for event in wire.failure(fault):
                await reply.send_event(event.name, event.data)
            await reply.end_stream()
        else:
            await reply.send(fault.status, word_error(request.api, fault), error_headers(fault))


async def _stream(
    turn: Turn, answer: ModelAnswer, request: ModelRequest, wire: Wire, reply: HttpReply
) -> None:
    events = list(wire.events(answer, request))
    if answer.fault is not None:
        last = max((number for number, event in enumerate(events) if event.is_text), default=0)
        del events[last + 1 :]
        if isinstance(answer.fault, Error):
            events += wire.failure(answer.fault)
    await reply.open_stream()
    for number, event in enumerate(events):
        if number:
            await asyncio.sleep(turn.chunk_delay)
        await reply.send_event(event.name, event.data)
    if isinstance(answer.fault, Hang):
        await _hang()
    elif not isinstance(answer.fault, Cut):
        await reply.end_stream()


async def _hang() -> None:
    await asyncio.Event().wait()
