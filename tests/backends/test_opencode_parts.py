"""The parts of the OpenCode back end that need no OpenCode: errors, rules, answers, ids, records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends.opencode.errors import from_http, from_message, gave_up
from segue.adapters.backends.opencode.events import Narrator, answer_to, text_of
from segue.adapters.backends.opencode.kinds import kind_of
from segue.adapters.backends.opencode.options import OpenCodeOptions, ServerSpec, place_of
from segue.adapters.backends.opencode.permissions import access_of, session_rules
from segue.adapters.backends.opencode.records import Records, SessionRecord
from segue.adapters.backends.opencode.sessions import new_id, sent_as
from segue.application.ports.backend import Said
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool, rules_for


def _error(name: str, **data: Any) -> dict[str, Any]:
    return {"name": name, "data": data}


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (
            _error("ProviderAuthError", providerID="acme", message="no key"),
            AgentFailed,
            "its model provider acme refuses the key: no key; check it or run `opencode auth login`",
        ),
        (
            _error("APIError", message="bad key.", statusCode=401),
            AgentFailed,
            "its model provider refuses the key (HTTP 401): bad key",
        ),
        (
            _error("APIError", message="slow\ndown", statusCode=429),
            AgentFailed,
            "its model provider has reached its rate limit (HTTP 429): slow down",
        ),
        (
            _error("APIError", message="boom", statusCode=503),
            AgentFailed,
            "its model provider has a failure of its own (HTTP 503): boom",
        ),
        (
            _error("APIError", message="what?", statusCode=418),
            AgentFailed,
            "its model provider refuses the request (HTTP 418): what?",
        ),
        (
            _error("APIError", message="Unable to connect"),
            AgentFailed,
            "its model provider cannot be reached, or broke off its answer: Unable to connect",
        ),
        (_error("MessageAbortedError", message="x"), SessionLost, "somebody else aborted its session"),
        (
            _error("ContextOverflowError", message="too long"),
            AgentFailed,
            "the conversation is longer than its model can read: too long",
        ),
        (
            _error("MessageOutputLengthError"),
            AgentFailed,
            "its reply was cut off, because it is longer than its model may write",
        ),
        (
            _error("StructuredOutputError", message="text"),
            AgentFailed,
            "its model did not answer in the form that was asked for: text",
        ),
        (
            _error("ContentFilterError", message="no"),
            AgentFailed,
            "its model provider refused the content: no",
        ),
        (
            _error("UnknownError", message="Model not found: a/b. Did you mean: c?"),
            BackendUnavailable,
            "OpenCode does not have its model: Model not found: a/b. Did you mean: c?",
        ),
        (
            _error("UnknownError", message='Agent not found: "x"'),
            BackendUnavailable,
            'OpenCode does not have its agent: Agent not found: "x"',
        ),
        (_error("UnknownError", message="hm"), AgentFailed, "OpenCode failed: hm"),
        (_error("NewError", message="hm"), AgentFailed, "OpenCode gave the error NewError: hm"),
    ],
)
def test_each_error_of_a_message_has_a_sentence(
    error: dict[str, Any], kind: type[Exception], sentence: str
) -> None:
    found = from_message(error)
    assert (type(found), str(found)) == (kind, sentence)


def test_an_abort_of_ours_is_a_failure_and_no_loss() -> None:
    assert type(from_message(_error("MessageAbortedError"), ours=True)) is AgentFailed


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, BackendUnavailable, "refuses the request (HTTP 400): wrong"),
        (401, BackendUnavailable, 'refuses us (HTTP 401); set "username" and "password"'),
        (404, SessionLost, "does not know it any more: wrong"),
        (500, BackendUnavailable, "failed (HTTP 500): wrong"),
    ],
)
def test_each_status_has_a_sentence(status: int, kind: type[Exception], words: str) -> None:
    found = from_http(status, _error("Some", message="wrong."), "http://x")
    assert isinstance(found, kind)
    assert words in str(found)


def test_giving_up_names_the_reason() -> None:
    assert str(gave_up("Overloaded", 2)) == (
        "its model gave an error and was asked again 2 times, in vain: Overloaded"
    )


def test_rules_that_allow_all_add_nothing_but_the_border() -> None:
    rules = session_rules(
        [PermissionRule(action=Ruling.ALLOW)], agent_rules=(), mcp_servers=["x"], own_tools="segue_s1"
    )
    assert [tuple(rule.values()) for rule in rules] == [
        ("external_directory", "*", "ask"),
        ("question", "*", "deny"),
        ("*_s????????_*", "*", "deny"),
        ("segue_s1_*", "*", "allow"),
    ]


def test_sub_agents_get_refusals_and_the_session_questions() -> None:
    rules = (
        *DEFAULT_RULES,
        PermissionRule(tool=Tool.MCP, action=Ruling.ASK),
        PermissionRule(tool=Tool.FETCH, action=Ruling.DENY),
        PermissionRule(tool=Tool.SHELL, pattern="rm [-a]*", action=Ruling.ASK),
    )
    made = session_rules(rules, agent_rules=(), mcp_servers=["git"], own_tools=None)
    found = [tuple(rule.values()) for rule in made]
    first = found.index(("edit", "*", "ask"))
    assert {("bash", "*git push*", "deny"), ("bash", "rm ?*", "deny"), ("git_*", "*", "deny")} <= {
        *found[:first]
    }
    assert {("bash", "*", "ask"), ("git_*", "*", "ask"), ("webfetch", "*", "deny")} <= {*found[first:]}
    assert not [rule for rule in found if rule[0] in ("read", "task")]


def test_a_file_elsewhere_is_kept_by_the_border_and_one_inside_by_questions() -> None:
    for credential, questions in (("/data/segue/credential", []), ("/w/data/credential", ["ask"])):
        rules = rules_for((), "/w", credential)
        made = session_rules(rules, agent_rules=(), mcp_servers=(), own_tools=None)
        found = [rule["action"] for rule in made if (rule["permission"], rule["pattern"]) == ("read", "*")]
        assert found == questions
        assert ("external_directory", "*", "ask") in [tuple(rule.values()) for rule in made]


def test_what_the_agent_itself_may_not_do_stays_so() -> None:
    plan = [
        {"permission": "*", "pattern": "*", "action": "allow"},
        {"permission": "edit", "pattern": "*", "action": "deny"},
        {"permission": "edit", "pattern": "plans/*", "action": "allow"},
    ]
    made = session_rules(DEFAULT_RULES, agent_rules=plan, mcp_servers=(), own_tools=None)
    assert not [rule for rule in made if rule["permission"] == "edit" and rule["action"] == "ask"]
    assert [rule for rule in made if rule["permission"] == "bash" and rule["action"] == "ask"]


def test_a_question_is_about_the_call_behind_it() -> None:
    asked = {"permission": "external_directory", "patterns": ["/x/*"], "metadata": {"filepath": "/x/a"}}
    assert access_of(asked, ("read", {"filePath": "/x/a"})).tool is Tool.READ
    assert access_of(asked, ("write", {"filePath": "/x/a"})).tool is Tool.EDIT
    shell = access_of({"permission": "external_directory", "metadata": {"command": "ls /x"}}, ("bash", {}))
    assert (shell.tool, shell.targets) == (Tool.SHELL, ("ls /x",))
    files = [{"filePath": "/w/a", "movePath": "/x/b"}, {"filePath": "/w/c"}]
    patch = access_of({"permission": "edit", "metadata": {"files": files}}, ("apply_patch", {}))
    assert patch.targets == ("/w/a", "/w/c", "/x/b")
    assert kind_of("segue_s12345678_submit_handoff") is Tool.MCP
    assert kind_of("task") is Tool.OTHER


def _said(name: str, parent: str, finish: str | None, text: str, **more: Any) -> dict[str, Any]:
    time = {"created": 1, **({"completed": 2} if finish else {})}
    info = {"id": name, "role": "assistant", "parentID": parent, "finish": finish, "time": time, **more}
    return {"info": info, "parts": [{"type": "text", "id": f"p{name}", "messageID": name, "text": text}]}


def _asked(name: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"info": {"id": name, "role": "user"}, "parts": list(parts)}


def test_the_answer_is_what_was_said_before_a_late_compaction() -> None:
    tail = [
        _asked("u2", {"type": "compaction", "auto": True}),
        _said("a2", "u2", "stop", "summary", summary=True),
        _asked("u3", {"type": "text", "text": "Continue", "synthetic": True}),
        _said("a3", "u3", "stop", "nothing left to do"),
    ]
    finished = [_asked("u1"), _said("a1", "u1", "stop", "the handoff"), *tail]
    answer = answer_to(finished, "u1")
    assert answer is not None
    assert text_of(answer) == "the handoff"
    unfinished = [_asked("u1"), _said("a1", "u1", "tool-calls", "on it"), *tail]
    answer = answer_to(unfinished, "u1")
    assert answer is not None
    assert text_of(answer) == "nothing left to do"
    assert answer_to([_asked("u1")], "u1") is None


def test_words_that_are_not_the_agents_are_left_out() -> None:
    message = _said("a1", "u1", "stop", "one")
    message["parts"] += [
        {"type": "text", "text": "hidden", "synthetic": True},
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "two"},
    ]
    assert text_of(message) == "one\n\ntwo"


def test_nothing_is_told_twice() -> None:
    narrator = Narrator("s", "u1")
    message = _said("a1", "u1", None, "", sessionID="s")
    told = [*narrator.take({"type": "message.updated", "properties": {"info": message["info"]}})]
    told += narrator.take({"type": "message.part.updated", "properties": {"part": message["parts"][0]}})
    delta = {"partID": "pa1", "field": "text", "delta": "one "}
    told += narrator.take({"type": "message.part.delta", "properties": delta})
    complete = _said("a1", "u1", "stop", "one two", sessionID="s")
    for missed in (True, False):
        told += narrator.catch_up([_asked("u1"), complete], missed=missed)
    assert told == [Said(text="one "), Said(text="two")]


def test_words_that_were_missed_come_with_the_end() -> None:
    narrator = Narrator("s", "u1")
    told = [*narrator.catch_up([_asked("u1"), _said("a1", "u1", None, "", sessionID="s")], missed=True)]
    delta = {"partID": "pa1", "field": "text", "delta": "two "}
    told += narrator.take({"type": "message.part.delta", "properties": delta})
    assert told == []
    part = {**_said("a1", "u1", "stop", "one two three")["parts"][0], "time": {"start": 1, "end": 2}}
    told += narrator.take({"type": "message.part.updated", "properties": {"part": part}})
    delta = {"partID": "pa1", "field": "text", "delta": "three"}
    told += narrator.take({"type": "message.part.delta", "properties": delta})
    assert told == [Said(text="one two three")]


def test_ids_are_in_the_order_of_the_server_and_found_again() -> None:
    info = {"time": {"created": 1794793330376}}
    first = new_id("m1", info, [])
    assert first.startswith("msg_1e204d6c8001")
    assert len(first) == 30
    later = {"info": {"id": "msg_1e204e1c7001Gxq63Sc6mp2J6D", "role": "assistant"}}
    second = new_id("m2", info, [_asked(first), later])
    assert first < later["info"]["id"] < second
    assert sent_as([_asked(first), later, _asked(second)], "m2") == second
    assert sent_as([_asked(first), later], "m2") is None


def test_a_server_has_what_the_profile_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEGUE_API_KEY", "ours")
    monkeypatch.setenv("ACME_API_KEY", "theirs")
    monkeypatch.setenv("MISTRAL_API_KEY", "mine")
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"provider":{"a":{"x":1}},"share":"auto"}')
    options = OpenCodeOptions(
        program="/bin/sh",
        config={"provider": {"a": {"y": 2}}},
        pass_env=("AWS_*",),
        set_env={"TERM": "", "MORE": "yes"},
    )
    place = place_of(options)
    assert isinstance(place, ServerSpec)
    made = place.environment(tmp_path, "secret")
    assert not {"SEGUE_API_KEY", "ACME_API_KEY", "TERM"} & {*made}
    assert (made["MISTRAL_API_KEY"], made["AWS_PROFILE"]) == ("mine", "work")
    assert (made["MORE"], made["PWD"]) == ("yes", str(tmp_path))
    assert made["OPENCODE_DISABLE_AUTOCOMPACT"] == "1"
    assert made["OPENCODE_CONFIG_CONTENT"] == (
        '{"autoupdate": false, "share": "auto", "provider": {"a": {"x": 1, "y": 2}}, "snapshot": false}'
    )
    before = place.name
    monkeypatch.setenv("WINDOWID", "17")
    monkeypatch.setenv("ACME_API_KEY", "another")
    assert place.name == before
    for name in ("MISTRAL_API_KEY", "AWS_PROFILE"):
        monkeypatch.setenv(name, "another")
        assert place.name != before
        before = place.name


def test_records_are_private_and_survive_rubbish(tmp_path: Path) -> None:
    records = Records(tmp_path / "sessions")
    place = ServerSpec(program="/bin/sh", set_env={"A_TOKEN": "x"}, config={}, autocompact=False)
    record = SessionRecord(
        key="k", place=place, server="s", directory="/w", rules=DEFAULT_RULES, max_retries=None
    )
    records.write(record)
    assert records.read("k") == record
    assert (tmp_path / "sessions" / "k.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "sessions" / "bad.json").write_text("{")
    assert records.read("bad") is None
    assert set(records.keys()) == {"k", "bad"}
    assert records.servers() == {"s"}
    records.remove("k")
    records.remove("k")
    assert records.read("k") is None
