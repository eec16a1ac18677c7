"""OpenAI's chat completions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from segue.testing.model.answer import Event, ModelAnswer, Wire
from segue.testing.model.faults import word_error
from segue.testing.model.request import (
    ModelRequest,
    OfferedTool,
    RequestMessage,
    Role,
    flatten,
    is_reminder,
    read_tag,
)
from segue.testing.model.script import Error

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_FINISH = {"length": "length", "filter": "content_filter"}


def _parse(body: Mapping[str, Any]) -> ModelRequest:
    tools = (entry["function"] for entry in body.get("tools") or () if entry.get("type") == "function")
    return ModelRequest(
        api="chat",
        model=str(body.get("model", "")),
        stream=bool(body.get("stream")),
        messages=tuple(_message(entry) for entry in body.get("messages") or ()),
        tools=tuple(OfferedTool(tool["name"], tool.get("parameters") or {}) for tool in tools),
        body=body,
    )


def _message(entry: Mapping[str, Any]) -> RequestMessage:
    text = flatten(entry.get("content"))
    role = _ROLES.get(entry.get("role", ""), "user")
    calls = entry.get("tool_calls") or ()
    tag = read_tag(calls[0].get("id")) if calls else None
    return RequestMessage("system" if role == "user" and is_reminder(text) else role, text, tag)


def _reply(answer: ModelAnswer, request: ModelRequest) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = list(_calls(answer))
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    return {
        **_head(answer, request, "chat.completion"),
        "choices": [choice],
        "usage": _usage(answer),
    }


def _events(answer: ModelAnswer, request: ModelRequest) -> Iterator[Event]:
    head = _head(answer, request, "chat.completion.chunk")

    def chunk(delta: Mapping[str, Any], finish: str | None = None, *, is_text: bool = False) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Event(None, {**head, "choices": [choice]}, is_text)

    yield chunk({"role": "assistant", "content": ""})
    for piece in answer.pieces:
        yield chunk({"content": piece}, is_text=True)
    for number, call in enumerate(_calls(answer)):
        function = call["function"]
        opening = {**call, "index": number, "function": {**function, "arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        arguments = {"index": number, "function": {"arguments": function["arguments"]}}
        yield chunk({"tool_calls": [arguments]})
    yield chunk({}, _finish(answer))
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield Event(None, {**head, "choices": [], "usage": _usage(answer)})
    yield Event(None, "[DONE]")


def _failure(error: Error) -> Iterator[Event]:
    yield Event(None, word_error("chat", error))


def _head(answer: ModelAnswer, request: ModelRequest, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.tag}",
        "object": kind,
        "created": int(time.time()),
        "model": request.model,
    }


def _calls(answer: ModelAnswer) -> Iterator[dict[str, Any]]:
    for number, call in enumerate(answer.calls):
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        yield {
            "id": answer.call_id(number),
            "type": "function",
            "function": {"name": call.tool.name, "arguments": arguments},
        }


def _finish(answer: ModelAnswer) -> str:
    if answer.finish:
        return _FINISH.get(answer.finish, answer.finish)
    return "tool_calls" if answer.calls else "stop"


def _usage(answer: ModelAnswer) -> dict[str, Any]:
    spent = answer.usage
    prompt = spent.input + spent.cache_read + spent.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": spent.output,
        "total_tokens": prompt + spent.output,
        "prompt_tokens_details": {"cached_tokens": spent.cache_read},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


WIRE = Wire(_parse, _reply, _events, _failure)
