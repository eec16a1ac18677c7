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
    screen.print(Panel(Group(*_lines(metadata)), title=title, title_align="left", border_style="green"))


def _lines(metadata: Mapping[str, Any]) -> Iterator[RenderableType]:
    for name, value in metadata.items():
        items = [value] if isinstance(value, str) else [each for each in value or () if not _is_talk(each)]
        if name == "outcome" or not items:
            continue
        yield Text(name.replace("_", " "), style="bold")
        for item in items:
            yield Padding(Text.assemble("• ", _statement(item)), (0, 0, 0, 1))


def _is_talk(item: Any) -> bool:
    """What stood around the handoff without a heading; the reply keeps it."""
    return isinstance(item, Mapping) and item.get("heading") == ""


def _statement(item: Any) -> Text:
    """The words of an item, its further parts dimmed behind them."""
    if not isinstance(item, Mapping):
        return Text(_plain(item))
    first, *others = (key for key in item if key not in _NOT_SHOWN)
    text = Text(_plain(item[first]))
    for key in others:
        if item[key] not in (None, "", []) and item[key] is not False:
            text.append(f"  {key.replace('_', ' ')}: {_plain(item[key])}", style="dim")
    return text


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_plain(each) for each in value)
    return printable(str(value))  # no markup is read in a Text
