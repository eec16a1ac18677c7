"""The screen of the chat: it shows what the conversation tells it, and hands on what is typed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static, TextArea

from segue.application.handoffs.handover import Draft
from segue.application.ports.backend import PermissionAsked, ToolUsed
from segue.application.segue import Segue
from segue.application.views import SessionDetail
from segue.domain.errors import SegueError
from segue.interfaces.chat.chat import Chat, Tone
from segue.interfaces.chat.commands import COMMANDS, KEYS, TypedCommand, fitting, is_known, read_call, unknown
from segue.interfaces.chat.prompt import Prompt
from segue.interfaces.chat.screens import DraftScreen, SessionsScreen
from segue.interfaces.chat.talk import Talk
from segue.interfaces.chat.text import at_home, calm, first_line
from segue.interfaces.chat.themes import DARK, LIGHT
from segue.interfaces.chat.usage import usage_line
from segue.interfaces.chat.widgets import Question

_TICK_SECONDS = 0.5
_MOST_SESSIONS = 100
_MOST_WAITING = 3


class ChatApp(App[None]):
    """A conversation with an agent, in the terminal."""

    CSS_PATH = "chat.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", "cancel the handoff, or stop the turn"),
        Binding("ctrl+c", "interrupt", "leave", priority=True),
        Binding("ctrl+q", "quit", "leave", priority=True),
        Binding("ctrl+t", "toggle_light", "light or dark"),
    ]

    def __init__(self, segue: Segue, *, who: str, working_dir: str, resume: int | None = None) -> None:
        super().__init__()
        self._sessions = segue.sessions
        self.chat = Chat(segue, self, who=who, working_dir=working_dir)
        self.talk = Talk()
        self._prompt = Prompt(self.chat.names)
        self._head = Static(id="head")
        self._waiting = Static(id="waiting")
        self._status = Static(id="status")
        self._commands = Static(id="commands")
        self._usage = Static(id="usage")
        self._resume = resume
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_leaving = False

    def compose(self) -> ComposeResult:
        """The conversation between who is spoken to and what it costs."""
        yield self._head
        yield self.talk
        yield self._waiting
        yield self._status
        yield self._commands
        yield self._prompt
        yield self._usage

    def on_mount(self) -> None:
        """Begin."""
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = (LIGHT if _is_light() else DARK).name
        self._prompt.focus()
        self.set_interval(_TICK_SECONDS, self._show_doing)
        if self._resume is not None:
            self.chat.resume(self._resume)
        else:
            self.show_note(f"Your first message begins a session with {self._who()}. /help shows what else.")
        self.show_state()

    @on(Prompt.Sent)
    def sent(self, event: Prompt.Sent) -> None:
        """A message, or a command."""
        call = read_call(event.text)
        if call is None:
            self.chat.say(event.text)
        elif is_known(call.name):
            self._do(call)
        else:
            self.show_note(unknown(call.name), Tone.BAD)

    @on(Prompt.Turned)
    def turned(self, event: Prompt.Turned) -> None:
        """Read further up or down."""
        if event.pages < 0:
            self.talk.scroll_page_up(animate=False)
        else:
            self.talk.scroll_page_down(animate=False)

    @on(TextArea.Changed, "#prompt")
    def typed(self, event: TextArea.Changed) -> None:
        """Show the commands that the text may become."""
        commands = fitting(event.text_area.text)
        width = max((len(command.usage) for command in commands), default=0)
        lines = (f"{each.usage:<{width}}  {each.does}" for each in commands)
        self._commands.update(Content("\n".join(lines)))
        self._commands.display = bool(commands)

    @on(Question.Answered)
    def answered(self, event: Question.Answered) -> None:
        """Tell the agent; then comes the next question, or typing."""
        self._run(self.chat.answer(event.session_id, event.asked, allow=event.allow))
        (self.talk.open_question() or self._prompt).focus()

    def on_resize(self, event: Resize) -> None:
        """The bar is as wide as there is room."""
        self._show_usage(event.size.width)

    def action_escape(self) -> None:
        """Cancel the handoff, or stop the turn."""
        self._run(self.chat.escape())

    def action_interrupt(self) -> None:
        """Copy what is marked; with nothing marked, leave."""
        focused = self.focused
        marked = focused.selected_text if isinstance(focused, TextArea) else self.screen.get_selected_text()
        if marked:
            self.copy_to_clipboard(marked)
        else:
            self.leave()

    async def action_quit(self) -> None:
        """Leave."""
        self.leave()

    def action_toggle_light(self) -> None:
        """Light or dark."""
        self.theme = (LIGHT if self.current_theme.dark else DARK).name

    def leave(self) -> None:
        """Withdraw what is under way, and go; the second time, go at once."""
        if self._is_leaving:
            self.exit()
            return
        self._is_leaving = True
        self._run(self._leave())

    def show_message(self, text: str) -> None:
        """What the user says."""
        self.talk.show_message(text)

    def show_reply(self, words: str) -> None:
        """The agent's next words."""
        self.talk.show_words(words, is_draft=False)

    def show_draft(self, words: str) -> None:
        """The next words of a handoff that is being written."""
        self.talk.show_words(words, is_draft=True)

    def show_tool(self, used: ToolUsed) -> None:
        """A tool call began or ended."""
        self.talk.show_tool(used)

    def show_question(self, session_id: int, asked: PermissionAsked) -> None:
        """The agent waits; whoever is typing is not disturbed."""
        question = self.talk.show_question(session_id, asked)
        if not self._prompt.text:
            question.focus()
        self._show_doing()

    def show_note(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """A line of Segue's own."""
        self.talk.show_note(text, tone)

    def show_history(self, session: SessionDetail) -> None:
        """What was said in a session before."""
        self.talk.show_history(session)

    def end_part(self) -> None:
        """What comes next is something else."""
        self.talk.end_part()
        if self.talk.is_attached and (self.focused is None or isinstance(self.focused, Question)):
            self._prompt.focus()

    def show_state(self) -> None:
        """Who is spoken to, what is under way, what waits, what was used."""
        if not self.talk.is_attached:
            return  # the screen is gone already
        self._head.update(self._who_and_where())
        self._waiting.update(Content(_waiting(self.chat.waiting)))
        self._waiting.display = bool(self.chat.waiting)
        self._show_doing()
        self._show_usage(self.size.width)

    async def edit(self, draft: Draft) -> str | None:
        """Let the user change a handoff."""
        done: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def settle(text: str | None) -> None:
            if not done.done():
                done.set_result(text)

        screen = DraftScreen(draft)
        await self.push_screen(screen, settle)
        try:
            return await done
        except asyncio.CancelledError:
            if screen.is_current:
                screen.dismiss(None)
            raise

    def _do(self, call: TypedCommand) -> None:
        match call.name:
            case "handoff":
                self.chat.hand_off(call.rest)
            case "to":
                self._hand_to(call.rest)
            case "resume" if call.rest:
                self._resume_by(call.rest)
            case "resume" | "sessions":
                self._run(self._choose())
            case "new":
                self.chat.begin_anew(call.rest or None)
            case "help":
                self.show_note(_help())
            case "quit":
                self.leave()

    def _hand_to(self, rest: str) -> None:
        agent, *focus = rest.split(maxsplit=1)[:2] or [""]
        if agent:
            self.chat.hand_off(focus[0] if focus else "", to=agent)
        else:
            self.show_note("Say to whom: /to AGENT [focus]", Tone.BAD)

    def _resume_by(self, name: str) -> None:
        if name.isascii() and name.isdigit() and len(name) < 10:
            self.chat.resume(int(name))
        else:
            self.show_note(f'"{first_line(name)}" is no session: /sessions shows them.', Tone.BAD)

    async def _choose(self) -> None:
        try:
            page = await self._sessions.list(limit=_MOST_SESSIONS)
        except SegueError as error:
            self.show_note(str(error), Tone.BAD)
            return
        if not page.items:
            self.show_note("There are no sessions yet; your first message begins one.")
            return
        here = self.chat.session.id if self.chat.session is not None else None
        await self.push_screen(SessionsScreen(page.items, here), self._chosen)

    def _chosen(self, session_id: int | None) -> None:
        if session_id is not None:
            self.chat.resume(session_id)

    def _who_and_where(self) -> Content:
        session = self.chat.session
        if session is None:
            parts = [self._who(), "new session"]
        else:
            origin = f", from {session.parent_id}" if session.parent_id is not None else ""
            parts = [_on(session.name, session.backend), f"session {session.id}{origin}"]
        parts.append(at_home(str(Path(self.chat.working_dir))))
        return Content.assemble(("segue", "bold"), calm("  ".join(["", *parts])))

    def _who(self) -> str:
        try:
            name, profile = self._sessions.profile(self.chat.who, self.chat.working_dir)
        except SegueError:
            return self.chat.who
        return _on(name, profile.backend or "no back end")

    def _show_doing(self) -> None:
        doing = self.chat.doing
        if self._is_leaving:
            doing = "leaving: what is under way is withdrawn"
        elif self.talk.open_question() is not None:
            doing = "it waits for your answer · Tab goes to the question · Escape stops it"
        seconds = int(time.monotonic() - self.chat.since)
        mark = "●" if seconds % 2 else "○"
        self._status.update(Content(f"{mark} {doing} · {seconds} s" if doing else ""))
        self._status.display = bool(doing)

    def _show_usage(self, width: int) -> None:
        policy = self._sessions.policy
        line = usage_line(
            self.chat.usage,
            policy.limits.context_share,
            width - 6,
            automatic=policy.auto_handoff,
            is_fresh=not self.chat.has_reply,
        )
        self._usage.update(line)

    def _run(self, act: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(act)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _leave(self) -> None:
        self._show_doing()
        await self.chat.close()
        self.exit()


def _on(name: str, backend: str) -> str:
    return name if name == backend else f"{name} on {backend}"


def _waiting(texts: list[str]) -> str:
    lines = [f"waits: {first_line(text, 200)}" for text in texts[:_MOST_WAITING]]
    more = len(texts) - _MOST_WAITING
    return "\n".join([*lines, f"and {more} more"] if more > 0 else lines)


def _help() -> str:
    width = max(len(command.usage) for command in COMMANDS) + 2
    lines = [f"  {command.usage:<{width}}{command.does}" for command in COMMANDS]
    keys = [f"  {key:<{width}}{does}" for key, does in KEYS]
    return "\n".join(["What can be typed here:", *lines, "", "Keys:", *keys])


def _is_light() -> bool:
    """Some terminals tell their colours; the last is the background's."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
