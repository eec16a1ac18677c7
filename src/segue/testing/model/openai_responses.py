"""OpenAI's responses: function tools, freeform tools, and tools in namespaces."""

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
from segue.testing.model.tools import ScriptedToolCall

_ROLES: Mapping[str, Role] = {"system": "system", "developer": "system", "assistant": "assistant"}
_UNFINISHED = {"length": "max_output_tokens", "filter": "content_filter"}


def _parse(body: Mapping[str, Any]) -> ModelRequest:
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    instructions = body.get("instructions")
    first = [RequestMessage("system", instructions)] if instructions else []
    return ModelRequest(
        api="responses",
        model=str(body.get("model", "")),
        stream=bool(body.get("stream")),
        messages=(*first, *(message for item in items if (message := _message(item)))),
        tools=tuple(_tools(body.get("tools") or [], None)),
        body=body,
    )


def _message(item: Mapping[str, Any]) -> RequestMessage | None:
    kind = item.get("type", "message")
    if kind == "message":
        text = flatten(item.get("content"))
        role = _ROLES.get(item.get("role", ""), "user")
        return RequestMessage("system" if role == "user" and is_reminder(text) else role, text)
    if kind.endswith("_call"):
        return RequestMessage("assistant", "", read_tag(item.get("call_id")))
    if kind.endswith("_output"):
        return RequestMessage("tool", flatten(item.get("output")))
    return None


def _tools(entries: list[Mapping[str, Any]], namespace: str | None) -> Iterator[OfferedTool]:
    for entry in entries:
        if entry.get("type") == "namespace":
            yield from _tools(entry.get("tools") or [], entry["name"])
        elif entry.get("name"):
            freeform = entry.get("type") == "custom"
            yield OfferedTool(entry["name"], entry.get("parameters") or {}, namespace, freeform)


def _reply(answer: ModelAnswer, request: ModelRequest) -> dict[str, Any]:
    unfinished = _UNFINISHED.get(answer.finish or "")
    return {
        **_head(answer, request, "incomplete" if unfinished else "completed"),
        "incomplete_details": {"reason": unfinished} if unfinished else None,
        "output": list(_items(answer)),
        "usage": _usage(answer),
    }


def _events(answer: ModelAnswer, request: ModelRequest) -> Iterator[Event]:
    for number, (kind, data, is_text) in enumerate(_stages(answer, request)):
        yield Event(kind, {"type": kind, "sequence_number": number, **data}, is_text)


def _stages(answer: ModelAnswer, request: ModelRequest) -> Iterator[tuple[str, dict[str, Any], bool]]:
    opening = {**_head(answer, request, "in_progress"), "output": [], "usage": None}
    yield "response.created", {"response": opening}, False
    yield "response.in_progress", {"response": opening}, False
    for index, item in enumerate(_items(answer)):
        place = {"output_index": index, "item_id": item["id"]}
        shell = {**item, "status": "in_progress", **_emptied(item)}
        yield "response.output_item.added", {"output_index": index, "item": shell}, False
        if item["type"] == "message":
            yield from _text_stages(answer, place, item["content"][0])
        else:
            yield from _call_stages(place, item)
        yield "response.output_item.done", {"output_index": index, "item": item}, False
    whole = _reply(answer, request)
    yield f"response.{whole['status']}", {"response": whole}, False


def _text_stages(
    answer: ModelAnswer, place: dict[str, Any], part: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    inside = {**place, "content_index": 0}
    yield "response.content_part.added", {**inside, "part": {**part, "text": ""}}, False
    for piece in answer.pieces:
        yield "response.output_text.delta", {**inside, "delta": piece}, True
    yield "response.output_text.done", {**inside, "text": answer.text}, False
    yield "response.content_part.done", {**inside, "part": part}, False


def _call_stages(place: dict[str, Any], item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    name, key = (
        ("custom_tool_call_input", "input")
        if item["type"] == "custom_tool_call"
        else ("function_call_arguments", "arguments")
    )
    yield f"response.{name}.delta", {**place, "delta": item[key]}, False
    yield f"response.{name}.done", {**place, key: item[key]}, False


def _emptied(item: dict[str, Any]) -> dict[str, Any]:
    empty = {"content": [], "arguments": "", "input": ""}
    return {key: value for key, value in empty.items() if key in item}


def _failure(error: Error) -> Iterator[Event]:
    told = word_error("responses", error)["error"]
    failed = {
        "id": "resp_failed",
        "object": "response",
        "created_at": int(time.time()),
        "status": "failed",
        "error": {"code": told["code"] or told["type"], "message": told["message"]},
        "output": [],
        "usage": None,
    }
    yield Event("response.failed", {"type": "response.failed", "sequence_number": 0, "response": failed})


def _head(answer: ModelAnswer, request: ModelRequest, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.tag}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": request.model,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
    }


def _items(answer: ModelAnswer) -> Iterator[dict[str, Any]]:
    if answer.text or not answer.calls:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{answer.tag}",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
    for number, call in enumerate(answer.calls):
        yield _call_item(call, answer.call_id(number))


def _call_item(call: ScriptedToolCall, call_id: str) -> dict[str, Any]:
    item: dict[str, Any] = {"call_id": call_id, "name": call.tool.name, "status": "completed"}
    if call.tool.namespace:
        item["namespace"] = call.tool.namespace
    words = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    if call.tool.freeform:
        return {"type": "custom_tool_call", "id": f"ctc_{call_id}", **item, "input": words}
    return {"type": "function_call", "id": f"fc_{call_id}", **item, "arguments": words}


def _usage(answer: ModelAnswer) -> dict[str, Any]:
    spent = answer.usage
    read = spent.input + spent.cache_read + spent.cache_write
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": spent.cache_read, "cache_write_tokens": spent.cache_write},
        "output_tokens": spent.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + spent.output,
    }


WIRE = Wire(_parse, _reply, _events, _failure)
