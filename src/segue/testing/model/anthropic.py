"""Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from segue.testing.model.answer import Event, ModelAnswer, Wire
from segue.testing.model.faults import word_error
from segue.testing.model.request import (
    ModelRequest,
    OfferedTool,
    RequestMessage,
    flatten,
    is_reminder,
    read_tag,
)
from segue.testing.model.script import Error

_FINISH = {"length": "max_tokens", "filter": "refusal"}


def _parse(body: Mapping[str, Any]) -> ModelRequest:
    entries = body.get("messages") or ()
    return ModelRequest(
        api="messages",
        model=str(body.get("model", "")),
        stream=bool(body.get("stream")),
        messages=(
            RequestMessage("system", flatten(body.get("system"))),
            *(message for entry in entries for message in _split(entry)),
        ),
        tools=tuple(
            OfferedTool(tool["name"], tool.get("input_schema") or {}) for tool in body.get("tools") or ()
        ),
        body=body,
    )


def _split(entry: Mapping[str, Any]) -> Iterator[RequestMessage]:
    """The messages in one: results of tools, then what the user really says."""
    content = entry.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    if entry.get("role") == "assistant":
        ids = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
        texts = [block for block in blocks if block.get("type") == "text"]
        yield RequestMessage("assistant", flatten(texts), read_tag(ids[0]) if ids else None)
        return
    for block in blocks:
        if block.get("type") == "tool_result":
            yield RequestMessage("tool", flatten(block))
    said = [flatten(block) for block in blocks if block.get("type") == "text"]
    reminders = [text for text in said if is_reminder(text)]
    if reminders:
        yield RequestMessage("system", "\n".join(reminders))
    if text := "\n".join(text for text in said if not is_reminder(text)):
        yield RequestMessage("system" if entry.get("role") == "system" else "user", text)


def _reply(answer: ModelAnswer, request: ModelRequest) -> dict[str, Any]:
    return {
        **_head(answer, request),
        "content": list(_blocks(answer)),
        "stop_reason": _finish(answer),
        "usage": _usage(answer),
    }


def _events(answer: ModelAnswer, request: ModelRequest) -> Iterator[Event]:
    opening = {**_head(answer, request), "content": [], "stop_reason": None}
    yield _event("message_start", message={**opening, "usage": {**_usage(answer), "output_tokens": 1}})
    yield _event("ping")
    for index, block in enumerate(_blocks(answer)):
        shell = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield _event("content_block_start", index=index, content_block=shell)
        if block["type"] == "text":
            for piece in answer.pieces:
                delta = {"type": "text_delta", "text": piece}
                yield _event("content_block_delta", is_text=True, index=index, delta=delta)
        else:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": _finish(answer), "stop_sequence": None}
    yield _event("message_delta", delta=end, usage=_usage(answer))
    yield _event("message_stop")


def _event(kind: str, *, is_text: bool = False, **data: Any) -> Event:
    return Event(kind, {"type": kind, **data}, is_text)


def _failure(error: Error) -> Iterator[Event]:
    yield Event("error", word_error("messages", error))


def _head(answer: ModelAnswer, request: ModelRequest) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.tag}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "stop_sequence": None,
    }


def _blocks(answer: ModelAnswer) -> Iterator[dict[str, Any]]:
    if answer.text:
        yield {"type": "text", "text": answer.text}
    for number, call in enumerate(answer.calls):
        given = {"input": call.arguments} if isinstance(call.arguments, str) else dict(call.arguments)
        yield {
            "type": "tool_use",
            "id": answer.call_id(number, "toolu"),
            "name": call.tool.name,
            "input": given,
        }


def _finish(answer: ModelAnswer) -> str:
    if answer.finish:
        return _FINISH.get(answer.finish, answer.finish)
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: ModelAnswer) -> dict[str, int]:
    spent = answer.usage
    return {
        "input_tokens": spent.input,
        "cache_creation_input_tokens": spent.cache_write,
        "cache_read_input_tokens": spent.cache_read,
        "output_tokens": spent.output,
    }


WIRE = Wire(_parse, _reply, _events, _failure)
