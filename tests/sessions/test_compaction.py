"""Compaction in place with real agents: the next request holds the summary, and the session goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from segue.__main__ import LazyParts
from segue.application.handoffs.outcomes import Compacted, HandoffCancelled
from segue.application.segue import Segue
from segue.bootstrap import open_segue
from segue.interfaces.cli.app import run_cli
from segue.settings import Settings
from segue.testing import Playable, ScriptedModel, error, hang, say, script, turn
from tests.agents.rigs import MAKERS, make_project, profile_of
from tests.sessions.scripts import failed

pytestmark = pytest.mark.thorough

SUMMARY = "<summary>The sign in calc.py is wrong.</summary>"
OLD = "[[look]] Why is add wrong? THESE-ARE-OLD-WORDS"
RIGS = ["opencode", "claude_code"]
every_rig = pytest.mark.parametrize("name", RIGS)


def a_model(compaction: Playable) -> ScriptedModel:
    """It answers a message first; what comes with the same words again asks it to sum up."""
    return ScriptedModel(
        script(
            {
                "look": [turn(say("The sign is wrong."), times=1, then=compaction)],
                "more": [turn(say("There is more."), times=1, then=say(SUMMARY))],
                "end": [say("That is all.")],
            },
            side=None,
        )
    )


def make(name: str, tmp_path: Path, model: ScriptedModel) -> Path:
    """A project with one agent."""
    rig = MAKERS[name](tmp_path / "home", model.url)
    return make_project(tmp_path / "project", {"agents": {"developer": profile_of(rig)}})


@asynccontextmanager
async def talked(name: str, tmp_path: Path, model: ScriptedModel) -> AsyncIterator[tuple[Segue, int]]:
    """A session in which something was said."""
    project = make(name, tmp_path, model)
    settings = Settings(data_dir=tmp_path / "data", config_dir=tmp_path / "config")
    async with open_segue(settings) as segue:
        session = await segue.sessions.start("developer", working_dir=str(project), title="add")
        assert (await segue.sessions.say(session.id, OLD)).reply == "The sign is wrong."
        yield segue, session.id
        await segue.sessions.end(session.id)


def sent_with(model: ScriptedModel, words: str) -> str:
    """The newest request with these words, whole."""
    found = [record for record in model.requests if words in json.dumps(record.body)]
    return json.dumps(found[-1].body)


@every_rig
def test_the_next_request_holds_the_summary_and_no_longer_what_was_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command is a process of its own for all that counts: only the agent lives on."""
    with a_model(say(SUMMARY)) as model:
        monkeypatch.chdir(make(name, tmp_path, model))

        def cli(*arguments: str) -> Any:
            code = run_cli(LazyParts(), ["session", *arguments, "--json"])
            printed = capsys.readouterr()
            assert code == 0, printed.err
            return json.loads(printed.out)

        session = cli("start", "developer", "--title", "add")
        cli("say", "1", OLD)
        before = cli("show", "1")
        assert cli("handoff", "1", "--in-place")["outcome"] == "compacted"
        after = cli("show", "1")
        assert cli("say", "1", "[[end]] And now?")["reply"] == "That is all."
        sent = sent_with(model, "And now?")
        assert run_cli(LazyParts(), ["session", "end", "1"]) == 0
    assert "The sign in calc.py is wrong." in sent
    assert "THESE-ARE-OLD-WORDS" not in sent
    assert session["id"] == after["id"] == 1
    assert after["usage"]["context_tokens"] < before["usage"]["context_tokens"] / 2


@every_rig
async def test_a_model_that_fails_leaves_the_session_as_it_was(name: str, tmp_path: Path) -> None:
    with a_model(error(400)) as model:
        async with talked(name, tmp_path, model) as (segue, session):
            hand_off = compacting(segue, session)
            assert "the session was not compacted: " in failed(await hand_off())
            assert (await segue.sessions.say(session, "[[more]] And now?")).reply == "There is more."
            assert "THESE-ARE-OLD-WORDS" in sent_with(model, "And now?")
            assert await hand_off() == Compacted(session_id=session)
            assert (await segue.sessions.say(session, "[[end]] And then?")).reply == "That is all."
            assert "THESE-ARE-OLD-WORDS" not in sent_with(model, "And then?")


async def test_a_model_that_is_asked_again_in_vain_is_given_up(tmp_path: Path) -> None:
    with a_model(error(500)) as model:
        async with talked("opencode", tmp_path, model) as (segue, session):
            assert "its model gave an error and was asked again once, in vain" in failed(
                await compacting(segue, session)()
            )
            assert (await segue.sessions.say(session, "[[more]] And now?")).reply == "There is more."


@every_rig
async def test_a_compaction_that_is_cancelled_is_stopped(name: str, tmp_path: Path) -> None:
    with a_model(hang()) as model:
        async with talked(name, tmp_path, model) as (segue, session):
            outcome = asyncio.create_task(compacting(segue, session)())
            summing = await model.wait_for_async(lambda record: record is not model.requests[0], 120)
            await segue.sessions.cancel(session)
            assert await asyncio.wait_for(outcome, 120) == HandoffCancelled(session_id=session)
            assert summing.client_closed, "the agent has let go of the model"
            asked = len(model.requests)
            assert (await segue.sessions.say(session, "[[more]] And now?")).reply == "There is more."
            assert len(model.requests) == asked + 1, "nothing is compacted behind our back"
            assert "THESE-ARE-OLD-WORDS" in sent_with(model, "And now?")


def compacting(segue: Segue, session: int) -> Callable[[], Any]:
    return lambda: segue.sessions.hand_off(session, reason="context_limit", in_place=True)
