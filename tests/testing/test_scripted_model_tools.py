"""The scripted model puts its steps into the tools that an agent offers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from segue.testing import (
    ScriptedModel,
    call,
    edit,
    read,
    say,
    script,
    shell,
    write,
)
from tests.testing.clients import APIS, RESPONSES, Api

every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def function(name: str, *names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {one: {"type": "string"} for one in names}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "name": name, "parameters": schema}


def ask_with(model: ScriptedModel, tools: list[dict[str, Any]], cwd: str = "/w") -> httpx.Response:
    items = [
        {"role": "user", "content": f"<environment_context><cwd>{cwd}</cwd></environment_context>"},
        {"role": "user", "content": "Go."},
    ]
    return RESPONSES.post_body(model, {"input": items, "tools": tools})


def test_a_tool_in_a_namespace_is_called_with_it() -> None:
    tools = [
        function("exec_command", "cmd"),
        {"type": "namespace", "name": "mcp__segue", "tools": [function("submit_handoff", "text")]},
    ]
    with ScriptedModel({"a": call("submit_handoff", {"text": "in {cwd}"})}) as model:
        [item] = ask_with(model, tools).json()["output"]
    assert (item["type"], item["namespace"], item["name"]) == (
        "function_call",
        "mcp__segue",
        "submit_handoff",
    )
    assert json.loads(item["arguments"]) == {"text": "in /w"}


@pytest.mark.parametrize("name", ["submit_handoff", "segue_submit_handoff", "mcp__segue__submit_handoff"])
def test_a_tool_is_found_behind_the_prefix_of_an_agent(name: str) -> None:
    with ScriptedModel({"a": call("submit_handoff", {"text": "x"})}) as model:
        [item] = ask_with(model, [function("bash", "command"), function(name, "text")]).json()["output"]
    assert item["name"] == name


def test_a_freeform_tool_gets_text() -> None:
    tools = [{"type": "custom", "name": "apply_patch"}, function("exec_command", "cmd")]
    with ScriptedModel({"a": write("a/b.txt", "one\ntwo\n"), "b": call("apply_patch", "raw")}) as model:
        reply = RESPONSES.post_body(model, {"input": "[[a]]", "tools": tools, "stream": True})
        [item] = RESPONSES.read(reply).raw["output"]
        raw = RESPONSES.post_body(model, {"input": "[[b]]", "tools": tools}).json()["output"][0]
    assert item["type"] == raw["type"] == "custom_tool_call"
    assert item["input"] == "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+two\n*** End Patch\n"
    assert raw["input"] == "raw"


def test_without_a_fitting_tool_the_shell_does_it(tmp_path: Path) -> None:
    tools = [function("exec_command", "cmd", "note", required=("cmd", "note"))]
    content = "it's $HOME\nwithout a last newline"
    steps = [
        write("{cwd}/deep/a.txt", content),
        edit("deep/a.txt", "it's", "it is 'now'"),
        read("deep/a.txt"),
    ]
    with ScriptedModel({str(number): step for number, step in enumerate(steps)}) as model:
        for number in range(3):
            body = {"tools": tools, "input": f"Working directory: {tmp_path}\n[[{number}]]"}
            [item] = RESPONSES.post_body(model, body).json()["output"]
            given = json.loads(item["arguments"])
            assert given["note"] == "scripted step"
            done = subprocess.run(
                ["/bin/sh", "-c", given["cmd"]], capture_output=True, text=True, timeout=120, check=True
            )
    assert done.stdout == content.replace("it's", "it is 'now'")


def test_other_names_of_tools_and_arguments_are_understood() -> None:
    editor = function("developer__text_editor", "command", "path", "file_text", "old_str", "new_str")
    many = function("edit", "path", "edits")
    many["parameters"]["properties"]["edits"] = {
        "type": "array",
        "items": {"properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}}},
    }
    old_shell = function("shell", "command")
    old_shell["parameters"]["properties"]["command"] = {"type": "array"}
    plan = {"w": write("a", "A"), "e": edit("a", "A", "B"), "s": shell("ls")}

    def given(model: ScriptedModel, name: str, tools: list[dict[str, Any]]) -> Any:
        body = {"input": f"[[{name}]]", "tools": tools}
        return json.loads(RESPONSES.post_body(model, body).json()["output"][0]["arguments"])

    with ScriptedModel(plan) as model:
        assert given(model, "w", [editor]) == {"command": "write", "path": "a", "file_text": "A"}
        replaced = {"command": "str_replace", "path": "a", "old_str": "A", "new_str": "B"}
        assert given(model, "e", [editor]) == replaced
        assert given(model, "e", [many]) == {"path": "a", "edits": [{"oldText": "A", "newText": "B"}]}
        assert given(model, "s", [old_shell]) == {"command": ["bash", "-lc", "ls"]}


@every_api
@pytest.mark.parametrize("step", [call("no_such_tool"), write("a", "b")], ids=["call", "write"])
def test_a_step_that_no_tool_can_do_is_refused(api: Api, step: Any) -> None:
    with ScriptedModel({"a": step}) as model:
        reply = api.post(model, "Go.", tools=[("look", {"where": "string"})])
    assert reply.status_code == 400
    assert "it offers: look." in reply.json()["error"]["message"]


@every_api
def test_a_side_call_has_no_tools_and_gets_a_harmless_text(api: Api) -> None:
    plan = {"a": say("A")}
    for side, expected in (("default", "Scripted session"), ("own", "A title"), (None, "A")):
        made = script(plan) if side == "default" else script(plan, side=say("A title") if side else None)
        with ScriptedModel(made) as model:
            assert api.read(api.post(model, "[[a]] title?", tools=[])).text == expected
        assert model.requests[0].scenario == ("a" if side is None else "side")
