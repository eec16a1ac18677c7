"""How a handoff record looks in the terminal: every field that holds something, one line a statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from segue.interfaces.cli.output import printable, safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_OUTCOMES = {"completed": "green", "partial": "yellow", "failed": "red", "blocked": "red"}
_NOT_SHOWN = frozenset({"id"})


def print_handoff(
    agent_name: str, metadata: Mapping[str, Any] | None, content_md: str, screen: Console
) -> None:
    """A handoff in a frame; the raw reply if nothing could be extracted from it."""
    title = f"handoff of {safe(agent_name)}"
    if metadata is None:
        screen.print(Panel(safe(content_md.strip()), title=f"{title} (raw reply)", title_align="left"))
        return
    from rich.console import Group

    outcome = str(metadata.get("outcome") or "")
    if outcome:
        title += f" · [{_OUTCOMES.get(outcome, 'dim')}]{safe(outcome)}[/]"
    said = {
        name: [each for each in value if not _is_talk(each)] if isinstance(value, list) else value
        for name, value in metadata.items()
        if name != "outcome"  # stands in the title
    }
    screen.print(Panel(Group(*draw_record(said)), title=title, title_align="left", border_style="green"))


def draw_record(metadata: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The name of every field that holds something, and below it what it holds."""
    for name, value in metadata.items():
        items = value if isinstance(value, list | tuple) else [value]
        if all(item in (None, "") for item in items):
            continue
        yield Text(name.replace("_", " "), style="bold")
        for item in items:
            yield Padding(Text.assemble("- ", _statement(item)), (0, 0, 0, 1), expand=False)


def _is_talk(item: Any) -> bool:
    """What stood around the handoff without a heading; the reply keeps it."""
    return isinstance(item, Mapping) and item.get("heading") == ""


def _statement(item: Any) -> Text:
    """The words of an item, its further parts dimmed behind them."""
    if not isinstance(item, Mapping):
        return Text(_plain(item))
    text = Text()
    for key, value in item.items():
        if key in _NOT_SHOWN or value in (None, "", []) or value is False:
            continue
        if text:
            text.append(f"  {key.replace('_', ' ')}: {_plain(value)}", style="dim")
        else:
            text.append(_plain(value))
    return text


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_plain(each) for each in value)
    if value is True:
        return "yes"
    return printable(str(value))  # no markup is read in a Text
