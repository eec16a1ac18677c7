"""What the user types: a message, or a command that begins with a slash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command that there is."""

    name: str
    takes: str = ""
    """What may stand after it."""
    does: str

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"/{self.name} {self.takes}".rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedCommand:
    """A command as it was typed."""

    name: str
    rest: str
    """What stands after it, word for word."""


COMMANDS = (
    Command(name="handoff", takes="[focus]", does="write a handoff, and continue in a new session with it"),
    Command(name="to", takes="AGENT [focus]", does="the same, but another agent or back end continues"),
    Command(name="resume", takes="[ID]", does="continue in an earlier session"),
    Command(name="sessions", does="choose one of your sessions"),
    Command(name="new", takes="[AGENT]", does="begin a new session that knows nothing of this one"),
    Command(name="help", does="what can be typed here, and which keys there are"),
    Command(name="quit", does="leave; the session stays and can be resumed"),
)
KEYS = (
    ("Enter", "send"),
    ("Ctrl+J", "new line"),
    ("Tab", "complete a command"),
    ("Escape", "cancel the handoff, or stop the turn"),
    ("PageUp, PageDown", "read what was said"),
    ("Ctrl+T", "light or dark"),
    ("Ctrl+C, Ctrl+Q", "leave"),
)

_CALL = re.compile(r"/([A-Za-z][\w-]*)?(?:\s+(.*))?", re.DOTALL)
"""A path such as /usr/bin is none."""
_TAKES_AGENT = ("to", "new")


def read_call(text: str) -> TypedCommand | None:
    """The command that a text is; none for a message. Only the very beginning of the text counts."""
    found = _CALL.fullmatch(text)
    return TypedCommand(name=(found[1] or "").lower(), rest=(found[2] or "").strip()) if found else None


def is_known(name: str) -> bool:
    """Whether there is a command of this name."""
    return any(command.name == name for command in COMMANDS)


def unknown(name: str) -> str:
    """One sentence about a command that there is not."""
    close = get_close_matches(name, [command.name for command in COMMANDS], n=1, cutoff=0.5)
    near = f"did you mean /{close[0]}? " if close else ""
    return f"There is no command /{name}; {near}/help shows all, and a space before it says it as it is."


def fitting(text: str) -> list[Command]:
    """The commands that a text may become."""
    if not re.fullmatch(r"/[\w-]*", text):
        return []
    return [command for command in COMMANDS if command.name.startswith(text[1:].lower())]


def complete(text: str, agents: Iterable[str]) -> str:
    """What would complete the text: of a command, or of an agent's name after it; empty for nothing."""
    commands = fitting(text)
    if commands and text != "/":
        return _rest_of([command.name for command in commands], text[1:].lower())
    call = read_call(text)
    if call is None or call.name not in _TAKES_AGENT or not call.rest or text[-1].isspace():
        return ""
    return _rest_of([name for name in sorted(agents) if name.startswith(call.rest)], call.rest)


def _rest_of(names: Sequence[str], begun: str) -> str:
    return f"{names[0][len(begun) :]} " if names else ""
