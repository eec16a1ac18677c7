"""A little ACP agent for tests: its prompt is a list of things to do in JSON, its reply what came of them.

["call", METHOD, PARAMS]  ask the client        ["say", TEXT]       speak          ["update", UPDATE]  tell
["stop", REASON]          end the turn so       ["fail", ERROR]     JSON-RPC error ["exit", CODE]      die
["noise", LINE]           print what is no JSON ["forever"]         never answer

Arguments: mute (never answers), old (another protocol), noload, die TEXT, login, keep (lives on when its
input ends).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

ARGUMENTS = sys.argv[1:]
_asked = 0


def tell(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**values: Any) -> None:
    tell({"method": "session/update", "params": {"sessionId": "little", "update": values}})


def say(text: str) -> None:
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def hear() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        while "keep" in ARGUMENTS:
            time.sleep(1)
        sys.exit(0)
    heard: dict[str, Any] = json.loads(line)
    return heard


def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client; a cancel that comes in between is left alone."""
    global _asked  # noqa: PLW0603
    _asked += 1
    tell({"id": f"a{_asked}", "method": method, "params": {"sessionId": "little", **params}})
    while (heard := hear()).get("id") != f"a{_asked}":
        pass
    return {key: heard[key] for key in ("result", "error") if key in heard}


def call(steps: list[list[Any]], method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client; the terminal that it gives is put in for $ in what comes after."""
    found = ask(method, params)
    if terminal := found.get("result", {}).get("terminalId"):
        for later in steps:
            if later[0] == "call" and later[2].get("terminalId") == "$":
                later[2]["terminalId"] = terminal
    return found


def leave(code: int) -> None:
    sys.stderr.write("the end is near\n")
    sys.exit(code)


def listen_for_ever() -> None:
    while True:
        hear()


def wait_for_cancel() -> None:
    while hear().get("method") != "session/cancel":
        pass


DO: Mapping[str, Callable[..., object]] = {
    "say": say,
    "update": lambda values: update(**values),
    "noise": lambda line: sys.stdout.write(line + "\n"),
    "exit": leave,
    "forever": listen_for_ever,
    "patiently": wait_for_cancel,
}


def work(steps: list[list[Any]]) -> dict[str, Any]:
    """Do what the prompt says; gives the answer to the prompt."""
    found: list[dict[str, Any]] = []
    for kind, *rest in steps:
        if kind == "call":
            found.append(call(steps, *rest))
        elif kind == "stop":
            return {"result": {"stopReason": rest[0]}}
        elif kind == "fail":
            return {"error": rest[0]}
        else:
            DO[kind](*rest)
    if found:
        say(json.dumps(found))
    return {"result": {"stopReason": "end_turn"}}


def answer(heard: dict[str, Any]) -> dict[str, Any]:
    method, params = heard["method"], heard.get("params") or {}
    if method == "initialize":
        version = 99 if "old" in ARGUMENTS else 1
        able = {"loadSession": "noload" not in ARGUMENTS}
        return {"result": {"protocolVersion": version, "agentCapabilities": able}}
    if method == "session/new":
        if "login" in ARGUMENTS:
            return {"error": {"code": -32000, "message": "Authentication required"}}
        return {"result": {"sessionId": "little"}}
    if method == "session/load":
        say("a replay of what was said before")
        return {"result": None}
    if method == "session/prompt":
        return work(json.loads(params["prompt"][0]["text"]))
    return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    if "die" in ARGUMENTS:
        sys.exit(ARGUMENTS[-1])
    tell({"method": "qwen/notify", "params": {}})
    while True:
        heard = hear()
        if "id" in heard and "mute" not in ARGUMENTS:
            tell({"id": heard["id"], **answer(heard)})


main()
