"""What lies over the conversation for a while: the draft of a handoff, and the list of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from segue.application.handoffs.handover import Draft
from segue.application.views import SessionView
from segue.domain.briefing.handover_prompt import problems_that_count
from segue.domain.handoff import Origin, check_handoff, extract_handoff
from segue.interfaces.chat.prompt import CalmArea
from segue.interfaces.chat.text import calm, first_line

_MOST_FALSE = 5
_HASTE_SECONDS = 0.5
"""Keys so soon after the draft came up were meant for something else."""


class DraftScreen(ModalScreen[str | None]):
    """A handoff, to be read and changed before it is used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "accept", "use it", priority=True),
        Binding("escape", "cancel", "cancel the handoff"),
    ]

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft, self._shown = draft.text, calm(draft.text)
        self._false = [f"✘ {first_line(line, 300)}" for line in draft.findings[:_MOST_FALSE]]

    def compose(self) -> ComposeResult:
        """The text between what it is and what is wrong with it."""
        with Vertical(id="draft") as box:
            box.border_title = "the handoff, to be read and changed"
            yield CalmArea(self._shown, id="draft-text", compact=True, read_only=True)
            yield Static(id="draft-problems")
            if self._false:
                told = "\n".join(["Compared with the files and the log, before your changes:", *self._false])
                yield Static(Content(calm(told)), id="draft-false")
            yield Static("Ctrl+S uses it · Escape cancels the handoff", id="draft-keys")

    def on_mount(self) -> None:
        """Begin to edit."""
        self.query_one(TextArea).focus()
        self.set_timer(_HASTE_SECONDS, self._let_type)
        self.on_text_area_changed()

    def on_text_area_changed(self) -> None:
        """Say what is wrong with it now."""
        self.query_one("#draft-problems", Static).update(Content(calm(self._problems())))

    def action_accept(self) -> None:
        """Use it as it stands, if it is a handoff."""
        text = self.query_one(TextArea).text
        if extract_handoff(text, origin=Origin.REPLY).handoff is not None:
            self.dismiss(self._draft if text == self._shown else text)

    def action_cancel(self) -> None:
        """Do not hand over."""
        self.dismiss(None)

    def _let_type(self) -> None:
        self.query_one(TextArea).read_only = False

    def _problems(self) -> str:
        found = extract_handoff(self.query_one(TextArea).text, origin=Origin.REPLY).handoff
        if found is None:
            return "✘ This holds no handoff, and cannot be used."
        problems = problems_that_count(check_handoff(found))
        if not problems:
            return "✔ Its form is right."
        return "\n".join(f"✘ {first_line(problem.message, 200)}" for problem in problems[:3])


class SessionsScreen(ModalScreen[int | None]):
    """Your sessions, to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "back")]

    def __init__(self, sessions: Sequence[SessionView], here: int | None) -> None:
        super().__init__()
        self._sessions = sessions
        self._here = here

    def compose(self) -> ComposeResult:
        """The newest first."""
        with Vertical(id="sessions") as box:
            box.border_title = "your sessions"
            yield OptionList(*map(self._option, self._sessions), id="sessions-list", markup=False)
            yield Static("Enter continues there · Escape goes back", id="sessions-keys")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """One was chosen."""
        self.dismiss(int(event.option_id or 0))

    def action_cancel(self) -> None:
        """None was chosen."""
        self.dismiss(None)

    def _option(self, session: SessionView) -> Option:
        origin = f"from {session.parent_id}" if session.parent_id is not None else ""
        when = session.started_at.astimezone().strftime("%d %b %H:%M")
        state = "ended: " if session.ended_at is not None else "here: " if session.id == self._here else ""
        who, title = first_line(session.name, 14), first_line(session.title or "no title", 200)
        line = f"{session.id:>3}  {origin:<8}  {who:<14}  {when}  {state}{title}"
        return Option(Content(line), id=str(session.id), disabled=session.ended_at is not None)
