"""What is typed after a slash, what the bar says, and how the chat stands any screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from segue.domain.usage import Usage
from segue.interfaces.chat.commands import TypedCommand, complete, fitting, read_call, unknown
from segue.interfaces.chat.text import at_home, calm, first_line
from segue.interfaces.chat.usage import usage_line
from segue.interfaces.chat.widgets import Streamed
from tests.chat.desk import at_desk
from tests.sessions.scripts import agent, until

AGENTS = {"helper": agent(), "reviewer": agent({"say": "I review."})}


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("/handoff", TypedCommand(name="handoff", rest="")),
        ("/HANDOFF the  tests\nall ", TypedCommand(name="handoff", rest="the  tests\nall")),
        ("/", TypedCommand(name="", rest="")),
        ("/etc/hosts", None),
        ("say /handoff", None),
        (" /handoff", None),
        ("//", None),
    ],
)
def test_only_the_beginning_of_a_text_makes_it_a_command(text: str, call: TypedCommand | None) -> None:
    assert read_call(text) == call


def test_commands_and_agents_are_completed() -> None:
    assert complete("/ha", ()) == "ndoff "
    assert complete("/", ()) == ""
    assert complete("/to rev", ("helper", "reviewer")) == "iewer "
    assert complete("/to reviewer focus", ("reviewer",)) == ""
    assert complete("/handoff rev", ("reviewer",)) == ""
    assert [command.name for command in fitting("/h")] == ["handoff", "help"]
    assert fitting("no /h") == []
    assert "did you mean /handoff?" in unknown("hadnoff")
    assert "did you mean" not in unknown("xyz")


FULL = Usage(input_tokens=1_200_000, context_tokens=160_000, context_window=200_000, cost=0.004)


@pytest.mark.parametrize(
    ("usage", "width", "text"),
    [
        (None, 80, "context nothing used yet"),
        (Usage(input_tokens=950), 80, "context not reported · 950 tokens · cost not reported"),
        (Usage(context_tokens=1500), 80, "context 1.5k of a window that is not known · cost not reported"),
        (FULL, 80, "███┃░"),
        (FULL, 80, "80% of 200k · 1.2M tokens · $0.0040"),
        (FULL, 20, "context 80% of 200k"),
    ],
)
def test_the_bar_says_what_is_known(usage: Usage | None, width: int, text: str) -> None:
    assert text in usage_line(usage, 0.75, width, automatic=False, is_fresh=usage is None).plain


@given(
    share=st.floats(0, 1.5),
    limit=st.none() | st.floats(0.01, 1),
    width=st.integers(0, 200),
    auto=st.booleans(),
)
def test_the_bar_fits_wherever_there_is_room_for_its_numbers(
    share: float, limit: float | None, width: int, auto: bool
) -> None:
    usage = Usage(context_tokens=int(share * 200_000), context_window=200_000)
    line = usage_line(usage, limit, width, automatic=auto).plain
    assert len(line) <= max(width, len("context 150% of 200k · 0 tokens · cost not reported"))
    has_bar = "█" in line or "░" in line
    assert ("┃" in line) == (has_bar and limit is not None)


@given(st.text())
def test_no_text_drives_the_screen(text: str) -> None:
    assert not any(c < " " or "\x7f" <= c < "\xa0" for c in calm(text) if c not in "\n\t")
    assert "\n" not in first_line(text)


def test_a_path_at_home_is_short(own_home: Path) -> None:
    assert at_home(str(own_home / "a" / "b")) == "~/a/b"
    assert at_home(str(own_home)) == "~"
    assert at_home("/elsewhere") == "/elsewhere"


class Page(App[None]):
    """Replies alone."""

    def compose(self) -> ComposeResult:
        yield Streamed()


PIECES = [
    "# ",
    "> ",
    "- ",
    "1. ",
    "```",
    "```py\n",
    "**",
    "`",
    "~~",
    "[x](y)",
    "<b>",
    "&#27;",
    "[red]",
    "\x1b[2J",
    "\t",
    "    ",
    "---\n",
    "word ",
    "[^1]:",
    "\u202e",
    "\\",
    "\n",
    "\n\n",
]
MARKDOWN = st.lists(st.sampled_from([*PIECES, "|a|b|\n|-|-|\n", "|c|", "|"]), max_size=40)


@pytest.mark.thorough
async def test_no_markdown_breaks_a_reply() -> None:
    examples: list[list[str]] = []

    @settings(max_examples=60)
    @given(MARKDOWN)
    def collect(pieces: list[str]) -> None:
        examples.append(pieces)

    collect()
    app = Page()
    async with app.run_test(size=(60, 30)) as pilot:
        for pieces in examples:
            streamed = Streamed()
            await app.mount(streamed)
            for piece in pieces:
                streamed.add(piece)
                await streamed.flush()
            await pilot.pause()
            app.export_screenshot()
            await streamed.remove()


@pytest.mark.usefixtures("repository")
async def test_help_unknown_commands_and_suggestions(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await desk.press("/")
        await desk.sees("/handoff [focus]", "/to AGENT [focus]", "/quit")
        await desk.press("h", "e")
        screen = await desk.sees("/help")
        assert "/quit" not in screen
        await desk.press("tab", "enter")
        await desk.sees("Ctrl+J", "cancel the handoff, or stop the turn")
        await desk.send("/hadnoff now")
        await desk.sees("There is no command /hadnoff; did you mean /handoff?")
        assert desk.backend.received == {}
        await desk.press("up")
        await desk.sees("│ /hadnoff now")


@pytest.mark.thorough
@pytest.mark.usefixtures("repository")
async def test_sessions_are_resumed_chosen_and_begun_anew(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await desk.send("/sessions")
        await desk.sees("There are no sessions yet")
        await desk.send("The first [red]thing[/].")
        await desk.rests()
        await desk.send("/new reviewer")
        await desk.sees("A new session with reviewer begins", "reviewer on scripted  new session")
        await desk.send("The second thing.")
        await desk.sees("I review.")
        await desk.rests()
        await desk.send("/resume 1")
        await desk.sees("⇢ Session 1: The first [red]thing[/].", "helper on scripted  session 1")
        assert desk.screen.count("Hello.") == 2
        await desk.send("/sessions")
        await desk.sees("your sessions", "here: The first [red]thing[/].", "The second thing.")
        await desk.press("enter")
        await desk.sees("reviewer on scripted  session 2")
        await desk.rests()
        await desk.sees("context not reported")
        await desk.send("/resume")
        await desk.sees("your sessions")
        await desk.press("escape")
        await desk.send("/resume 99")
        await desk.sees("✘ no session 99")
        await desk.send("/resume x")
        await desk.sees('✘ "x" is no session')
        await desk.send("/new nobody")
        await desk.sees('no agent or back end "nobody"')
        await desk.send("/quit")
        await until(lambda: not desk.app.is_running)


@pytest.mark.usefixtures("repository")
async def test_nothing_is_switched_while_a_turn_is_under_way(tmp_path: Path) -> None:
    async with at_desk(tmp_path, {"helper": agent(Slow=[{"delay": 600}])}) as desk:
        await desk.send("Slow, please.")
        await desk.sees("working")
        await desk.send("/new")
        await desk.send("/resume 1")
        await desk.sees("Not while something is under way; Escape stops it.")
        assert "session 1" in desk.screen


@pytest.mark.usefixtures("repository")
async def test_a_chat_can_begin_in_an_earlier_session(tmp_path: Path) -> None:
    async with at_desk(tmp_path, AGENTS) as desk:
        await desk.send("Hi.")
        await desk.rests()
        backend = desk.backend
    async with at_desk(tmp_path, AGENTS, backend=backend, resume=1) as desk:
        await desk.sees("⇢ Session 1: Hi.", "▌ Hi.", "Hello.")
        await desk.rests()


@pytest.mark.usefixtures("repository")
async def test_it_stands_any_size_no_colour_and_light(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLORFGBG", "0;15")
    usage = {"usage": {"context_tokens": 82_000, "context_window": 200_000}}
    async with at_desk(tmp_path, {"helper": agent({"say": "Hello."}, usage)}, size=(80, 24)) as desk:
        themes = [desk.app.current_theme.dark]
        await desk.press("ctrl+t")
        themes.append(desk.app.current_theme.dark)
        assert themes == [False, True]
        await desk.send("Hi.")
        await desk.sees("Hello.", "█", "░", "┃")
        for size in ((30, 8), (200, 60), (12, 4), (80, 24)):
            await desk.pilot.resize_terminal(*size)
            await desk.pilot.pause()
        await desk.sees("Hello.", "41% of 200k")


def test_without_a_terminal_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "segue", "chat"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("segue: segue chat needs a terminal")
    assert done.stderr.count("\n") == 1
