"""Handoffs in the chat: written, read, changed, used, cancelled, failed, and made at a limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from segue.domain.session import MessageStatus
from segue.testing import ScriptedBackend
from tests.chat.desk import GATE, Desk, at_desk
from tests.sessions.scripts import ASKED, GIVEN, HANDOFF, agent, documents, until

pytestmark = pytest.mark.usefixtures("repository")
AGENTS = {"helper": agent()}
SLOW = {"helper": agent(asked=[{"say": "## Goal\nLet the"}, {"delay": 600}])}
FULL = {"context_tokens": 180_000, "context_window": 200_000, "input_tokens": 180_000}


async def talked(desk: Desk) -> None:
    """Something was said."""
    await desk.send("Fix the button.")
    await desk.rests()


async def test_a_handoff_is_written_shown_accepted_and_gone_on_from(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("to be read and changed", "goal: Let the button work again.", "✔ Its form is right.")
        await desk.press("ctrl+s")
        await desk.sees("New session 2 started with handoff context (task_boundary)", "I go on from there.")
        await desk.rests("session 2, from 1", "The handoff is kept in")
        await desk.send("Go on.")
        await desk.rests()
        assert len((await desk.segue.sessions.show(2)).said) == 2


async def test_the_draft_can_be_changed_and_only_a_handoff_can_be_used(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("goal: Let the button work again.")
        draft = desk.app.screen.query_one(TextArea)
        right = draft.text
        draft.text = "nothing at all"
        await desk.sees("✘ This holds no handoff, and cannot be used.")
        await desk.press("ctrl+s")
        assert desk.app.screen.query(TextArea)
        draft.text = right.replace("Let the button work again.", "Let the [red]lamp[/] shine.")
        await desk.press("ctrl+s")
        await desk.sees("I go on from there.")
        assert "Let the [red]lamp[/] shine." in desk.backend.received["helper"][-1]


async def test_what_is_false_is_told_while_the_draft_can_be_changed(tmp_path: Path) -> None:
    lie = HANDOFF.replace(
        "Found the cause of the dead button", "I ran `sh check.sh` and it passed (exit code 0)"
    )
    script = agent(
        {"run": ["sh", "-c", "exit 1"]},
        {"run": ["sh", "check.sh"]},
        asked=[{"say": lie}],
        fix=[{"say": lie}],
    )
    async with at_desk(tmp_path, {"helper": script}) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("Compared with the files and the log", "check.sh", "Ctrl+S uses it")


@pytest.mark.thorough
async def test_a_draft_does_not_drive_the_screen_and_is_used_as_it_was(tmp_path: Path) -> None:
    turned = HANDOFF.replace("the dead button", "the dead \u202e button")
    async with at_desk(tmp_path, {"helper": agent(asked=[{"say": turned}])}) as desk:
        await talked(desk)
        await desk.send("/handoff")
        screen = await desk.sees("the dead \ufffd button", "Ctrl+S uses it")
        assert "\u202e" not in screen
        await desk.press("ctrl+s")
        await desk.rests("I go on from there.")
        (handoff,) = (await desk.segue.sessions.show(1)).handoffs
        assert "the dead \u202e button" in handoff.content_md


@pytest.mark.thorough
async def test_escape_in_the_draft_cancels_the_handoff(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("Ctrl+S uses it")
        await desk.press("escape")
        await desk.sees("Handoff cancelled")
        await nothing_was_left(desk, tmp_path)


async def test_escape_cancels_a_handoff_that_is_being_written(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("Let the", "the handoff is being written · Escape cancels it")
        await desk.press("escape")
        screen = await desk.sees("Handoff cancelled")
        assert "Handoff failed" not in screen
        await nothing_was_left(desk, tmp_path)


async def nothing_was_left(desk: Desk, folder: Path) -> None:
    """No document, no successor; and the old session answers."""
    await desk.rests()
    assert documents(folder) == []
    assert (await desk.segue.sessions.lineage(1)).children == []
    await desk.send("Are you there?")
    screen = await desk.rests("Hello.", times=2)
    assert "session 1" in screen
    assert "from 1" not in screen
    assert screen.count("Hello.") == 2


async def test_a_handoff_that_fails_is_told_apart(tmp_path: Path) -> None:
    async with at_desk(tmp_path, {"helper": agent(asked=[{"say": ""}])}) as desk:
        await talked(desk)
        await desk.send("/handoff")
        screen = await desk.sees("✘ Handoff failed: its reply was empty, so there is nothing to hand off")
        assert "cancelled" not in screen
        await nothing_was_left(desk, tmp_path)


async def test_with_no_messages_there_is_nothing_to_hand_off(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW | {"mute": agent({"fail": "no model"})}, who="mute") as desk:
        await desk.send("/handoff")
        await desk.sees("Nothing to hand off (no messages yet)")
        await desk.send("Hi.")
        await desk.rests()
        await desk.send("/handoff")
        await desk.rests("Nothing to hand off (no messages yet)", times=2)


async def test_the_focus_is_told_word_for_word(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await talked(desk)
        await desk.send("/handoff  the [bold]tests[/],\n  and `--all` of /them ")
        await desk.sees("Ctrl+S uses it")
        asked = desk.backend.received["helper"][-1]
        assert asked.startswith(ASKED)
        assert "Additional focus: the [bold]tests[/],\n  and `--all` of /them\n" in asked


async def test_the_word_in_a_sentence_is_no_command(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await desk.send("When should I type /handoff here?")
        await desk.rests()
        await desk.send("/usr/bin/env is missing")
        await desk.rests()
        await desk.send(" /handoff")
        await desk.rests()
        assert desk.backend.received["helper"] == [
            "When should I type /handoff here?",
            "/usr/bin/env is missing",
            " /handoff",
        ]


@pytest.mark.thorough
async def test_another_agent_goes_on(tmp_path: Path) -> None:
    other = agent(given=[{"say": "The reviewer goes on."}])
    async with at_desk(tmp_path, AGENTS | {"reviewer": other}) as desk:
        await talked(desk)
        await desk.send("/to reviewer look at the handler")
        await desk.sees("Ctrl+S uses it")
        await desk.press("ctrl+s")
        await desk.sees("The reviewer goes on.", "reviewer on scripted  session 2, from 1")
        await desk.rests()
        assert "Additional focus: look at the handler" in desk.backend.received["helper"][-1]
        assert GIVEN in desk.backend.received["reviewer"][0]
        await desk.send("/to nobody")
        await desk.sees('Handoff failed: no agent or back end "nobody".')
        await desk.send("/to")
        await desk.sees("Say to whom: /to AGENT [focus]")


@pytest.mark.thorough
async def test_the_first_escape_is_for_the_handoff_the_second_for_the_turn(tmp_path: Path) -> None:
    agents = {"helper": agent(Slow=[{"say": "I begin."}, {"delay": 600}])}
    async with at_desk(tmp_path, agents) as desk:
        await talked(desk)
        await desk.send("Slow, please.")
        await desk.sees("I begin.")
        await desk.send("/handoff")
        await desk.sees("working; the handoff comes after it · Escape cancels the handoff")
        await desk.send("/handoff")
        await desk.sees("A handoff is under way already")
        await desk.press("escape")
        screen = await desk.sees("Handoff cancelled", "working · Escape stops it")
        assert "Stopped." not in screen
        await desk.press("escape")
        await desk.sees("Stopped.")
        await desk.rests()
        assert not any(ASKED in text for text in desk.backend.received["helper"])


@pytest.mark.thorough
async def test_a_handoff_waits_for_the_turn_and_drops_what_waits(tmp_path: Path) -> None:
    agents = {"helper": agent(Slow=[GATE, {"say": "At last."}])}
    async with at_desk(tmp_path, agents) as desk:
        await talked(desk)
        await desk.send("Slow, please.")
        await desk.send("This one is dropped.")
        await desk.sees("waits: This one is dropped.")
        await desk.send("/handoff")
        await desk.sees("the handoff comes after it")
        desk.let_go()
        await desk.sees("Ctrl+S uses it")
        await desk.press("ctrl+s")
        screen = await desk.sees("Dropped at the handoff", "I go on from there.")
        assert (
            screen.index("At last.") < screen.index("New session 2") < screen.index("  This one is dropped.")
        )
        await desk.rests()
        assert not any("This one is dropped" in text for text in desk.backend.received["helper"])


@pytest.mark.thorough
async def test_what_waits_is_said_after_a_handoff_that_was_cancelled(tmp_path: Path) -> None:
    async with at_desk(tmp_path, SLOW) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("the handoff is being written")
        await desk.send("One more thing.")
        await desk.sees("waits: One more thing.")
        await desk.press("escape")
        await desk.sees("Handoff cancelled", "▌ One more thing.")
        await until(lambda: desk.backend.received["helper"][-1] == "One more thing.")


@pytest.mark.thorough
async def test_the_first_reply_of_a_successor_can_be_stopped(tmp_path: Path) -> None:
    agents = {"helper": agent(given=[{"say": "I read it."}, {"delay": 600}])}
    async with at_desk(tmp_path, agents) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("Ctrl+S uses it")
        await desk.press("ctrl+s")
        await desk.sees("I read it.", "it continues from the handoff · Escape stops it")
        await desk.press("escape")
        await desk.sees("Stopped.", "session 2, from 1", "The handoff is kept in")
        assert "✘" not in await desk.rests()
        await desk.send("Are you there?")
        await desk.rests("Hello.", times=2)


async def test_a_session_hands_itself_over_at_a_limit(tmp_path: Path) -> None:
    small = FULL | {"context_tokens": 2_000}
    agents = {
        "helper": agent(
            {"say": "I am full."}, {"usage": FULL}, given=[{"say": "I am fresh."}, {"usage": small}]
        )
    }
    async with at_desk(tmp_path, agents, auto_handoff=True) as desk:
        await desk.send("Fix the button.")
        screen = await desk.sees("I am fresh.", "New session 2 started with handoff context (context_limit)")
        assert "A limit is reached (context_limit): the session hands itself over." in screen
        assert screen.index("I am full.") < screen.index("A limit is reached") < screen.index("I am fresh.")
        await desk.rests("session 2, from 1", "1% of 200k", "hands over at 75%")


@pytest.mark.thorough
async def test_escape_cancels_a_handoff_at_a_limit_too(tmp_path: Path) -> None:
    agents = {
        "helper": agent({"say": "I am full."}, {"usage": FULL}, asked=[{"say": "## Goal"}, {"delay": 600}])
    }
    async with at_desk(tmp_path, agents, auto_handoff=True) as desk:
        await desk.send("Fix the button.")
        await desk.sees("the handoff is being written")
        await desk.press("escape")
        await desk.sees("Handoff cancelled")
        screen = await desk.rests("90% of 200k")
        assert "from 1" not in screen


async def test_what_is_false_is_told(tmp_path: Path) -> None:
    lie = HANDOFF + "\n## Files Created\n- `button.py`: the handler\n"
    agents = {"helper": agent(asked=[{"say": lie}], fix=[{"say": lie}])}
    async with at_desk(tmp_path, agents) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("Ctrl+S uses it")
        await desk.press("ctrl+s")
        await desk.sees(
            "Its handoff was checked, and it was asked to repair it.", "False, and the new session"
        )
        await desk.rests("button.py")


@pytest.mark.thorough
@pytest.mark.parametrize("when", ["writing", "draft"])
async def test_leaving_takes_a_handoff_back(tmp_path: Path, when: str) -> None:
    backend = ScriptedBackend()
    async with at_desk(tmp_path, SLOW if when == "writing" else AGENTS, backend=backend) as desk:
        await talked(desk)
        await desk.send("/handoff")
        await desk.sees("the handoff is being written" if when == "writing" else "Ctrl+S uses it")
        await desk.press("ctrl+q")
        await until(lambda: not desk.app.is_running)
        assert documents(tmp_path) == []
        said = (await desk.segue.sessions.show(1)).said
        assert all(each.status.is_final for each in said)
        if when == "writing":
            assert said[-1].status is MessageStatus.CANCELLED
