"""Messages and replies in the chat: streamed, safe, queued, answered, stopped."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from segue.domain.session import MessageStatus
from tests.chat.desk import GATE, at_desk
from tests.sessions.scripts import agent, until

pytestmark = pytest.mark.usefixtures("repository")
SLOW = {"helper": agent(Slow=[{"say": "I begin."}, {"delay": 600}])}
USED = {"input_tokens": 30000, "output_tokens": 2000, "context_tokens": 82000, "context_window": 200000}


async def test_a_question_its_tool_calls_and_the_answer(tmp_path: Path) -> None:
    agents = {
        "helper": agent(
            {"run": ["ls"]},
            {"run": ["false"]},
            {"say": "It is **fixed**.\n\n- first\n- second"},
            {"usage": USED | {"cost": 0.42}},
        )
    }
    async with at_desk(tmp_path, agents) as desk:
        await desk.sees("Your first message begins a session with helper on scripted.", "new session")
        await desk.send("Fix the button.")
        await desk.sees("It is fixed.", "• first", "✔ run ls", "✘ run false (exit 1)")
        screen = await desk.rests("helper on scripted  session 1", "41% of 200k")
        assert screen.index("Fix the button.") < screen.index("run ls") < screen.index("It is fixed.")
        assert "41% of 200k · 32k tokens · $0.42 · hands over at 75%" in screen
        session = await desk.segue.sessions.show(1)
        assert (session.title, session.messages) == ("Fix the button.", 2)


async def test_words_are_shown_while_the_agent_works(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        await desk.send("Slow, please.")
        await desk.sees("I begin.", "working · Escape stops it")


HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07 [red]not red[/red] [@click=app.quit]click[/]\n\n<script>tag</script> "
    "![i](file:///etc/passwd) [l](javascript:x) &#27;[31m \u202eturned\n\n"
    "| a | b |\n|---|\n| c | d | e |\n\n```no-such-language\n[bold]x\n```\n\n# \x9b31m heading {0} $x\n"
)


async def test_hostile_text_is_shown_as_it_is_and_drives_nothing(tmp_path: Path) -> None:
    agents = {"helper": agent({"say": HOSTILE}, {"run": ["echo", "[red]\x1b[31m\nsecond line"]})}
    async with at_desk(tmp_path, agents, size=(120, 50)) as desk:
        await desk.send("Say [bold]that[/] \x1b[31m again.")
        screen = await desk.rests()
        for literal in (
            "[red]not red[/red] [@click=app.quit]click[/]",
            "<script>tag</script> ![i](file:///etc/passwd) [l](javascript:x) &#27;[31m",
            "[bold]x",
            "Say [bold]that[/] \ufffd[31m again.",
            "\ufffdturned",
            "echo '[red]\ufffd[31m second line'",
        ):
            assert literal in screen
        assert not any(c < " " or "\x7f" <= c < "\xa0" for c in screen if c != "\n")


@pytest.mark.parametrize(("key", "said"), [("y", "approved"), ("n", "rejected")])
async def test_a_question_for_permission_is_answered_with_a_key(tmp_path: Path, key: str, said: str) -> None:
    agents = {"helper": agent({"ask": "rm -rf build"}, {"say": "Good."})}
    async with at_desk(tmp_path, agents) as desk:
        await desk.send("Clean up.")
        await desk.sees(
            "It asks for permission: rm -rf build", "y allows · n denies", "waits for your answer"
        )
        await desk.pilot.pause(0.5)
        await desk.press(key)
        screen = await desk.rests()
        assert f"rm -rf build: {said}" in screen
        assert f"rm -rf build · {'allowed' if key == 'y' else 'denied'}" in screen
        await desk.send("Thanks.")
        await desk.sees("Thanks.")


async def test_who_is_typing_answers_nothing_by_chance(tmp_path: Path) -> None:
    agents = {"helper": agent(GATE, {"ask": "rm -rf build"})}
    async with at_desk(tmp_path, agents) as desk:
        await desk.send("Clean up.")
        await desk.press(*"why")
        desk.let_go()
        await desk.sees("It asks for permission: rm -rf build")
        await desk.pilot.pause(0.5)
        await desk.press("y")
        assert "whyy" in await desk.sees("y allows · n denies")
        await desk.press("tab", "n")
        await desk.rests("rm -rf build: rejected")


async def test_escape_stops_the_turn_and_the_session_answers(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        await desk.send("Slow, please.")
        await desk.sees("I begin.")
        await desk.press("escape")
        await desk.sees("Stopped.")
        await desk.rests()
        assert len(desk.backend.aborted) == 1
        await desk.send("Are you there?")
        await desk.sees("Hello.")
        said = (await desk.segue.sessions.show(1)).said
        assert [each.status for each in said] == [MessageStatus.CANCELLED, MessageStatus.REPLIED]


async def test_enter_and_escape_at_once_leave_the_chat_free(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        desk.app.chat.say("Slow, please.")
        await desk.app.chat.escape()
        await desk.rests()
        await desk.send("Hi.")
        await desk.sees("Hello.")


async def test_escape_with_nothing_under_way_does_nothing(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        await desk.paste("not lost")
        await desk.press("escape", "escape")
        assert "not lost" in desk.screen
        await desk.press("enter")
        await desk.sees("Hello.")


async def test_what_is_typed_meanwhile_waits_visibly_and_is_said_then(tmp_path: Path) -> None:
    agents = {"helper": agent(GATE, {"say": "Done."})}
    async with at_desk(tmp_path, agents) as desk:
        await desk.send("First.")
        await desk.send("Second.")
        await desk.sees("waits: Second.")
        desk.let_go()
        await until(lambda: len(desk.backend.received["helper"]) == 2)
        assert "waits:" not in await desk.rests()
        assert [text.strip() for text in desk.backend.received["helper"]] == ["First.", "Second."]


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ([{"fail": "the model is overloaded"}], "✘ the model is overloaded"),
        ([{"crash": 9}], "✘ its session crashed"),
    ],
)
async def test_a_back_end_that_fails_is_one_sentence_and_the_chat_goes_on(
    tmp_path: Path, actions: list[Mapping[str, Any]], sentence: str
) -> None:
    async with at_desk(tmp_path, {"helper": agent(Bad=actions)}) as desk:
        await desk.send("Bad things.")
        await desk.sees(sentence)
        await desk.rests()
        await desk.send("Hi.")
        await desk.sees("Hello.")


async def test_a_session_that_is_lost_is_told_and_a_new_one_can_begin(tmp_path: Path) -> None:
    async with at_desk(tmp_path, {"helper": agent()}) as desk:
        await desk.send("Hi.")
        await desk.rests()
        await desk.backend.close(await _key(tmp_path))
        await desk.send("Still there?")
        await desk.sees("its scripted session ended")
        await desk.rests()
        await desk.send("/new")
        await desk.send("Hi again.")
        await desk.sees("session 2")
        await desk.rests("Hello.", times=2)


async def _key(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "data" / "segue.db", timeout=120)) as connection:
        return str(connection.execute("SELECT session_ref FROM agents").fetchone()[0])


async def test_a_storage_error_is_one_sentence_and_the_chat_goes_on(tmp_path: Path) -> None:
    async with at_desk(tmp_path, {"helper": agent()}) as desk:
        await desk.send("Hi.")
        await desk.rests()
        await asyncio.to_thread(_rename, tmp_path, "messages", "gone")
        await desk.send("Hi again.")
        await desk.sees("✘ cannot use the database")
        assert "no such table: messages" in " ".join((await desk.rests()).split())
        await asyncio.to_thread(_rename, tmp_path, "gone", "messages")
        await desk.send("And now?")
        await desk.sees("And now?")
        await desk.rests("Hello.", times=2)


def _rename(folder: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(folder / "data" / "segue.db", timeout=120)) as connection:
        connection.execute(f"ALTER TABLE {old} RENAME TO {new}")


async def test_a_message_may_have_lines_and_what_is_pasted_stays_whole(tmp_path: Path) -> None:
    async with at_desk(tmp_path, {"helper": agent()}) as desk:
        await desk.press("a", "ctrl+j", "b", "shift+enter")
        await desk.send("c\r\nd\n\n  e")
        await desk.rests()
        assert desk.backend.received["helper"] == ["a\nb\nc\nd\n\n  e"]


async def test_leaving_withdraws_what_is_under_way(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        await desk.send("Slow, please.")
        await desk.sees("I begin.")
        await desk.press("ctrl+c")
        await until(lambda: not desk.app.is_running)
        (said,) = (await desk.segue.sessions.show(1)).said
        assert said.status is MessageStatus.CANCELLED
        assert len(desk.backend.aborted) == 1
