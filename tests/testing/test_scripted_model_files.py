"""Scripts from files, and the scripted model as a program."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from segue.testing import (
    ScriptedModel,
    ScriptError,
    call,
    error,
    hang,
    parse_script,
    read,
    say,
    script,
    turn,
    usage,
    write,
)
from tests.interrupts import deaf_to_ctrl_c, hearing_ctrl_c
from tests.testing.clients import APIS, MESSAGES

every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


FILE = """
default: fix
side: A title
scenarios:
  fix:
    - say: I look.
      read: calc.py
    - write: [{path: a, content: A}, {path: b, content: B}]
      usage: {input: 5, output: 6}
    - call: {tool: submit_handoff, arguments: {text: x}}
    - error: 429
      times: 1
      then: Now.
  broken:
    - hang:
"""


def test_a_script_from_a_file_is_the_same_as_one_in_python(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(FILE, encoding="utf-8")
    wanted = script(
        {
            "fix": [
                turn(say("I look."), read("calc.py")),
                turn(write("a", "A"), write("b", "B"), usage=usage(5, 6)),
                call("submit_handoff", {"text": "x"}),
                turn(error(429), times=1, then=say("Now.")),
            ],
            "broken": hang(),
        },
        default="fix",
        side=say("A title"),
    )
    assert ScriptedModel(tmp_path / "script.yaml").script == wanted


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "Make the script a mapping, not []."),
        ({"scenarios": {"a": [{"sya": "x"}]}}, "Fix scenario a, turn 1: 'sya' is none of"),
        ({"scenarios": {"a": {"write": {"path": "x"}}}}, "Fix scenario a, turn 1, write: .*'content'"),
        ({"scenarios": {"a": {"write": {"path": "x", "text": ""}}}}, "'text' is none of content, path"),
        ({"scenarios": {"a": {"say": "x", "hang": None}}}, "steps or one fault, not both"),
        ({"scenarios": {"a": {"say": "x", "then": "y"}}}, "how many `times`"),
        ({"scenarios": {"a": {"say": 5}}}, "Fix scenario a, turn 1, say: text is a text, not 5."),
        ({"scenarios": {"a": {"say": "x", "delay": "1s"}}}, "turn 1: delay is a number, not '1s'."),
        ({"scenarios": {"a": {"error": {"status": "x"}}}}, "error: status is a number, not 'x'."),
        ({"scenarios": {}, "default": "a"}, "default scenario 'a' is not among"),
    ],
)
def test_a_script_that_cannot_be_understood_is_told_in_a_sentence(data: object, told: str) -> None:
    with pytest.raises(ScriptError, match=told.replace("[]", r"\[\]")):
        parse_script(data)


@pytest.mark.parametrize(
    ("started", "number"),
    [(hearing_ctrl_c, signal.SIGINT), (hearing_ctrl_c, signal.SIGTERM), (deaf_to_ctrl_c, signal.SIGTERM)],
)
def test_it_runs_from_the_command_line(
    tmp_path: Path, started: Callable[[list[str]], list[str]], number: signal.Signals
) -> None:
    (tmp_path / "script.json").write_text('{"scenarios": {"a": "Hello."}}', encoding="utf-8")
    command = [sys.executable, "-m", "segue.testing.model", "--script", str(tmp_path / "script.json")]
    with subprocess.Popen(started(command), stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            url = program.stdout.readline().split()[0]
            reply = httpx.post(url + "/v1/messages", json=MESSAGES.body("Hi", stream=False))
            assert MESSAGES.read(reply).text == "Hello."
            assert program.stdout.readline() == "messages a turn 0: 200\n"
            program.send_signal(number)
            assert program.wait(120) == 0
        finally:
            program.kill()


def test_a_missing_script_is_told_in_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "segue.testing.model", "--script", str(tmp_path / "none.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Cannot read the script ")
    assert "Traceback" not in done.stderr
