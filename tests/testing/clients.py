"""Small clients of the three APIs, written from their public descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import httpx

from segue.testing import ScriptedModel

CLIENT = httpx.Client(trust_env=False, verify=False)
SYSTEM = "You are an agent.\nWorking directory: /home/me/work\n"
TOOLS: Sequence[tuple[str, Mapping[str, str]]] = (
    ("write", {"filePath": "string", "content": "string"}),
    ("edit", {"filePath": "string", "oldString": "string", "newString": "string"}),
    ("read", {"filePath": "string"}),
    ("bash", {"command": "string"}),
)


@dataclass
class Heard:
    """A reply of the model, the same for every API; a call is name, arguments, id."""

    text: str = ""
    calls: list[tuple[str, Any, str]] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Api:
    """A client of one API."""

    name: str
    path: str
    plain_end: str
    tool_end: str
    length_end: str
    make_body: Callable[[str, Sequence[Heard], str | None], dict[str, Any]]
    make_tool: Callable[[str, dict[str, Any]], dict[str, Any]]
    read_whole: Callable[[dict[str, Any]], Heard]
    read_events: Callable[[list[dict[str, Any]]], Heard]

    def tools(self, offered: Sequence[tuple[str, Mapping[str, str]]] = TOOLS) -> list[dict[str, Any]]:
        return [
            self.make_tool(
                name,
                {"type": "object", "properties": {key: {"type": kind} for key, kind in given.items()}},
            )
            for name, given in offered
        ]

    def body(
        self,
        text: str,
        *,
        stream: bool,
        history: Sequence[Heard] = (),
        then: str | None = None,
        tools: Sequence[tuple[str, Mapping[str, str]]] = TOOLS,
        model_name: str = "scripted",
    ) -> dict[str, Any]:
        made = self.make_body(text, history, then)
        return {"model": model_name, "stream": stream, "tools": self.tools(tools), **made}

    def post_body(self, model: ScriptedModel, body: Mapping[str, Any]) -> httpx.Response:
        whole = {"model": "scripted", "tools": self.tools(), **body}
        return CLIENT.post(model.url + "/v1" + self.path, json=whole, timeout=120)

    def post(
        self,
        model: ScriptedModel,
        text: str,
        *,
        stream: bool = False,
        prefix: str = "/v1",
        timeout: float = 120,
        **options: Any,
    ) -> httpx.Response:
        body = self.body(text, stream=stream, **options)
        return CLIENT.post(model.url + prefix + self.path, json=body, timeout=timeout)

    def open(
        self, model: ScriptedModel, text: str, timeout: float | httpx.Timeout = 120
    ) -> AbstractContextManager[httpx.Response]:
        body = self.body(text, stream=True)
        return CLIENT.stream("POST", model.url + "/v1" + self.path, json=body, timeout=timeout)

    def ask(self, model: ScriptedModel, text: str, *, stream: bool = False, **options: Any) -> Heard:
        return self.read(self.post(model, text, stream=stream, **options))

    def events(self, reply: httpx.Response) -> list[dict[str, Any]]:
        assert reply.headers["content-type"] == "text/event-stream"
        lines = [line for line in reply.text.splitlines() if line.startswith("data: ")]
        events = [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]
        named = [line[7:] for line in reply.text.splitlines() if line.startswith("event: ")]
        assert named in ([], [event.get("type") for event in events])
        return events

    def read(self, reply: httpx.Response) -> Heard:
        assert reply.status_code == 200, reply.text
        if reply.headers["content-type"] == "text/event-stream":
            return self.read_events(self.events(reply))
        return self.read_whole(reply.json())


def _chat_body(text: str, history: Sequence[Heard], then: str | None) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": [{"type": "text", "text": text}]},
    ]
    for heard in history:
        calls = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for n, a, i in heard.calls
        ]
        messages.append(
            {"role": "assistant", "content": heard.text, **({"tool_calls": calls} if calls else {})}
        )
        messages += [{"role": "tool", "tool_call_id": i, "content": "ok"} for _, _, i in heard.calls]
    if then:
        messages.append({"role": "user", "content": then})
    return {"messages": messages, "stream_options": {"include_usage": True}}


def _chat_whole(body: dict[str, Any]) -> Heard:
    [choice] = body["choices"]
    message = choice["message"]
    calls = [
        (one["function"]["name"], json.loads(one["function"]["arguments"]), one["id"])
        for one in message.get("tool_calls", [])
    ]
    return Heard(message["content"] or "", calls, choice["finish_reason"], body["usage"], body)


def _chat_events(events: list[dict[str, Any]]) -> Heard:
    heard = Heard()
    parts: dict[int, dict[str, Any]] = {}
    for event in events:
        heard.usage = event.get("usage") or heard.usage
        for choice in event["choices"]:
            heard.text += choice["delta"].get("content") or ""
            heard.finish = choice["finish_reason"] or heard.finish
            for one in choice["delta"].get("tool_calls", []):
                part = parts.setdefault(one["index"], {"id": one.get("id"), "name": "", "arguments": ""})
                part["name"] += one["function"].get("name", "")
                part["arguments"] += one["function"].get("arguments", "")
    heard.calls = [(p["name"], json.loads(p["arguments"]), p["id"]) for p in parts.values()]
    return heard


def _responses_body(text: str, history: Sequence[Heard], then: str | None) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": text}]
    for heard in history:
        if heard.text:
            part = {"type": "output_text", "text": heard.text}
            items.append({"type": "message", "role": "assistant", "content": [part]})
        items += [
            {"type": "function_call", "name": n, "arguments": json.dumps(a), "call_id": i}
            for n, a, i in heard.calls
        ]
        items += [{"type": "function_call_output", "call_id": i, "output": "ok"} for _, _, i in heard.calls]
    if then:
        items.append({"role": "user", "content": [{"type": "input_text", "text": then}]})
    return {"instructions": SYSTEM, "input": items}


def _responses_whole(body: dict[str, Any]) -> Heard:
    heard = Heard(finish=body["status"], usage=body["usage"], raw=body)
    for item in body["output"]:
        if item["type"] == "message":
            heard.text += "".join(part["text"] for part in item["content"])
        elif item["type"] == "function_call":
            heard.calls.append((item["name"], json.loads(item["arguments"]), item["call_id"]))
    return heard


def _responses_events(events: list[dict[str, Any]]) -> Heard:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    heard = _responses_whole(events[-1]["response"])
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == heard.text
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == heard.raw["output"]
    return heard


def _messages_body(text: str, history: Sequence[Heard], then: str | None) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    for heard in history:
        said = [{"type": "text", "text": heard.text}] if heard.text else []
        uses = [{"type": "tool_use", "id": i, "name": n, "input": a} for n, a, i in heard.calls]
        messages.append({"role": "assistant", "content": [*said, *uses]})
        if heard.calls:
            results = [
                {"type": "tool_result", "tool_use_id": i, "content": [{"type": "text", "text": "ok"}]}
                for _, _, i in heard.calls
            ]
            messages.append({"role": "user", "content": results})
    if then:
        messages.append({"role": "user", "content": [{"type": "text", "text": then}]})
    return {"system": [{"type": "text", "text": SYSTEM}], "messages": messages, "max_tokens": 100}


def _messages_whole(body: dict[str, Any]) -> Heard:
    text = "".join(block["text"] for block in body["content"] if block["type"] == "text")
    calls = [(b["name"], b["input"], b["id"]) for b in body["content"] if b["type"] == "tool_use"]
    return Heard(text, calls, body["stop_reason"], body["usage"], body)


def _messages_events(events: list[dict[str, Any]]) -> Heard:
    body: dict[str, Any] = {}
    partial = ""
    for event in events:
        match event["type"]:
            case "message_start":
                body = event["message"]
            case "content_block_start":
                assert event["index"] == len(body["content"])
                body["content"].append(event["content_block"])
                partial = ""
            case "content_block_delta":
                partial += event["delta"].get("text", event["delta"].get("partial_json"))
            case "content_block_stop":
                block = body["content"][event["index"]]
                key = "text" if block["type"] == "text" else "input"
                block[key] = partial if key == "text" else json.loads(partial)
            case "message_delta":
                body["usage"] |= event["usage"]
                body["stop_reason"] = event["delta"]["stop_reason"]
    assert events[-1]["type"] == "message_stop"
    return _messages_whole(body)


CHAT = Api(
    "chat",
    "/chat/completions",
    "stop",
    "tool_calls",
    "length",
    _chat_body,
    lambda name, schema: {"type": "function", "function": {"name": name, "parameters": schema}},
    _chat_whole,
    _chat_events,
)
RESPONSES = Api(
    "responses",
    "/responses",
    "completed",
    "completed",
    "incomplete",
    _responses_body,
    lambda name, schema: {"type": "function", "name": name, "parameters": schema},
    _responses_whole,
    _responses_events,
)
MESSAGES = Api(
    "messages",
    "/messages",
    "end_turn",
    "tool_use",
    "max_tokens",
    _messages_body,
    lambda name, schema: {"name": name, "input_schema": schema},
    _messages_whole,
    _messages_events,
)
APIS = (CHAT, RESPONSES, MESSAGES)
