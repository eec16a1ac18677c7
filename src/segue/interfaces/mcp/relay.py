"""The tools on standard input and output, for one agent: each line is posted to where the tools are hosted.

Agents wait for the greeting of this program before they work, and each session starts one. So it imports
little: neither the MCP SDK nor the rest of Segue. Nothing but the protocol goes to standard output.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from segue import __version__

TOKEN_VARIABLE = "SEGUE_MCP_TOKEN"  # noqa: S105  # the name of it
URL_VARIABLE = "SEGUE_MCP_URL"
DATABASE_VARIABLE = "SEGUE_DATABASE_URL"

_AT_ONCE = 8
"""How many calls of the agent may be under way."""
_TIMEOUT_SECONDS = 60.0
_NOT_JSON, _NOT_A_REQUEST, _FAILED = -32700, -32600, -32603
_BAD_REQUEST = 400
_VERSION = "2025-06-18"
"""Of the protocol, for a client that names none."""


class NoAnswer(Exception):
    """Nobody who answers for Segue was found; the text says where, and why."""


class Hosted:
    """The tools at the address that was given or, if nobody answers there, on a server that we start."""

    def __init__(self, url: str | None, token: str, *, has_database: bool) -> None:
        self._url = url
        self._token = token
        self._has_database = has_database
        self._version: str | None = None
        """The version of the protocol that was agreed on; HTTP wants it with each request."""
        self._starting = threading.Lock()
        self._child: Any = None
        """Our own server: it ends when its standard input does, and so with us, also if we are killed."""

    def ask(self, request: Mapping[str, Any], body: bytes) -> dict[str, Any]:
        """The answer to a request."""
        url = self._url
        try:
            if url is not None:
                return self._ask_at(url, request, body)
        except NoAnswer:
            if not self._has_database:
                raise
        return self._ask_at(self._own_server(instead_of=url), request, body)

    def _ask_at(self, url: str, request: Mapping[str, Any], body: bytes) -> dict[str, Any]:
        status, told = self._post(url, body)
        if status == _BAD_REQUEST:
            return _error(
                request["id"], _NOT_A_REQUEST, "this message is not JSON-RPC, or is nested too deeply"
            )
        result = told.get("result")
        if isinstance(result, dict) or "error" in told:
            if request["method"] == "initialize" and isinstance(result, dict):
                self._version = result.get("protocolVersion")
            return {**told, "id": request["id"]}
        if "detail" not in told:
            raise NoAnswer(f"Segue does not answer at {url} (what answers there is not Segue); try again")
        return _failure(request, str(told["detail"]))

    def _post(self, url: str, body: bytes) -> tuple[int, dict[str, Any]]:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"MCP-Protocol-Version": self._version} if self._version else {}),
        }
        try:
            place = urlsplit(url)
            # No proxy: the token is for the server on this machine alone.
            connection = HTTPConnection(place.hostname or "", place.port, timeout=_TIMEOUT_SECONDS)
            try:
                connection.request("POST", place.path, body, headers)
                response = connection.getresponse()
                told = json.loads(response.read())
            finally:
                connection.close()
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise NoAnswer(f"Segue does not answer at {url} ({reason}); try again") from error
        return response.status, told if isinstance(told, dict) else {}

    def _own_server(self, instead_of: str | None) -> str:
        """The address of the server that we started ourselves; it lives as long as we do."""
        with self._starting:
            if self._url == instead_of:  # else another call has started one
                self._url = self._start()
            assert self._url is not None
            return self._url

    def _start(self) -> str:
        import subprocess

        self._child = child = subprocess.Popen(
            [sys.executable, "-P", "-m", "segue", "mcp", "--http", "--port", "0", "--until-eof"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert child.stderr is not None
        said = ""
        for line in child.stderr:
            said = line.decode("utf-8", "replace").strip()
            if found := re.search(r"http://\S+/mcp", said):
                threading.Thread(target=_pass_on, args=(child.stderr,), daemon=True).start()
                return found[0]
            sys.stderr.write(f"{said}\n")
        raise NoAnswer(f"the tools cannot be served ({said or 'no reason is given'}); try again")


class Relay:
    """Reads requests, answers each as soon as its answer is there."""

    def __init__(self, hosted: Hosted, outgoing: BinaryIO) -> None:
        self._hosted = hosted
        self._outgoing = outgoing
        self._writing = threading.Lock()
        self._free = threading.Semaphore(_AT_ONCE)

    def run(self, incoming: BinaryIO) -> None:
        """Answer until the input has ended and every request is answered."""
        for line in incoming:
            self._take(line)
        for _ in range(_AT_ONCE):
            self._free.acquire()

    def _take(self, line: bytes) -> None:
        """Begin to answer a line. A notification has no answer, and the host would not remember it."""
        if not line.strip():
            return
        try:
            message = json.loads(line.decode("utf-8", "replace"))
            # Models write half surrogate pairs, which no text may have.
            body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        except (ValueError, RecursionError):
            self._write(_error(None, _NOT_JSON, "this line is not JSON, or is nested too deeply"))
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._write(_error(_id_of(message), _NOT_A_REQUEST, "this message is not JSON-RPC"))
        elif "method" not in message or "id" not in message:
            return
        elif not isinstance(message["method"], str) or _id_of(message) is None:
            self._write(_error(_id_of(message), _NOT_A_REQUEST, "this message is not a request of JSON-RPC"))
        else:
            self._free.acquire()
            threading.Thread(target=self._answer, args=(message, body), daemon=True).start()

    def _answer(self, request: Mapping[str, Any], body: bytes) -> None:
        try:
            try:
                answer = self._hosted.ask(request, body)
            except (NoAnswer, OSError) as error:
                answer = _failure(request, str(error))
            self._write(answer)
        finally:
            self._free.release()

    def _write(self, answer: Mapping[str, Any]) -> None:
        line = json.dumps(answer).encode("ascii") + b"\n"
        with self._writing, suppress(OSError):  # the agent is gone
            self._outgoing.write(line)
            self._outgoing.flush()


def _pass_on(stream: Iterable[bytes]) -> None:
    for line in stream:
        sys.stderr.write(line.decode("utf-8", "replace"))


def _id_of(message: object) -> int | str | None:
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _failure(request: Mapping[str, Any], sentence: str) -> dict[str, Any]:
    """That it did not work, as an answer that ends no session.

    A model reads why its call failed. An agent that asks which tools there are is told that there are none,
    and hands off in its reply: some agents do not start at all if a tool server answers with an error.
    """
    match request["method"]:
        case "tools/call":
            content = [{"type": "text", "text": f"Error: {sentence}"}]
            result: dict[str, Any] = {"content": content, "isError": True}
        case "initialize":
            wanted = request.get("params")
            version = wanted.get("protocolVersion") if isinstance(wanted, dict) else None
            result = {
                "protocolVersion": version if isinstance(version, str) else _VERSION,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "segue", "version": __version__},
            }
        case "tools/list":
            sys.stderr.write(f"segue: this session has no tools: {sentence}\n")
            result = {"tools": []}
        case _:
            return _error(request["id"], _FAILED, sentence)
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def _error(request_id: int | str | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def main() -> int:
    """Relay from standard input to standard output until the former ends; gives the exit code."""
    token, url = os.environ.get(TOKEN_VARIABLE, ""), os.environ.get(URL_VARIABLE) or None
    if not token:
        sys.stderr.write(
            f"segue: {TOKEN_VARIABLE} is not set. Segue gives it to the agents that it starts; without it "
            "there is nothing to serve\n"
        )
        return 2
    hosted = Hosted(url, token, has_database=url is None or DATABASE_VARIABLE in os.environ)
    try:
        Relay(hosted, sys.stdout.buffer).run(sys.stdin.buffer)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
