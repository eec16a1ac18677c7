"""The tree of commands. The module of each is loaded when it is called: most need what the others do not."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup


class CommandPlace(NamedTuple):
    """Where a command lives, and the line about it."""

    module: str
    name: str
    help: str
    more: tuple[str, ...] = ()
    """Modules that add further commands to the group."""


COMMANDS = {
    "demo": CommandPlace("demo", "demo", "See a false claim caught: offline, 10 seconds."),
    "init": CommandPlace("init", "init", "Write .segue/ with settings and a catalog to start from."),
    "trust": CommandPlace("trust", "trust", "Trust a project's .segue/ as it is now."),
    "run": CommandPlace("run", "run", "Run a pipeline here and now, and watch it."),
    "chat": CommandPlace("chat", "chat", "Talk with an agent, and hand over to a new session with /handoff."),
    "serve": CommandPlace(
        "serve", "serve", "Serve REST and run pipelines; what a crash interrupted continues."
    ),
    "worker": CommandPlace("worker", "worker", "Run pipelines that `segue serve` on any machine takes in."),
    "token": CommandPlace("token", "app", "Manage who may use the server."),
    "mcp": CommandPlace("mcp", "mcp", "Give an agent Segue's own tools, over MCP."),
    "inbox": CommandPlace("decisions", "inbox", "Show what waits for you: approve, reject, answer."),
    "pipelines": CommandPlace(
        "pipelines", "app", "Look at pipelines and steer them.", ("results", "decisions")
    ),
    "clean": CommandPlace("clean", "clean", "Remove what is left of pipelines that ended long ago."),
    "handoff": CommandPlace("handoff", "app", "Read, check, convert and pass on handoff documents."),
    "session": CommandPlace(
        "session", "app", "Talk with agents, and hand over from session to session.", ("sessions",)
    ),
    "audit": CommandPlace("audit", "app", "Read the audit trail, export it, and verify it."),
    "agents": CommandPlace("agents", "app", "The agents that can do a step, and their programs."),
    "templates": CommandPlace("catalog", "templates", "The recipes that can be run."),
    "schema": CommandPlace("schema", "app", "Print the JSON Schema of catalog files, for editors."),
}


class CommandTree(TyperGroup):
    """The commands of `COMMANDS`, known without loading them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Loaded()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Their names, in the order of the help."""
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """What the help says of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.help) for name, place in COMMANDS.items()])


class _Loaded(dict[str, Any]):
    """Name -> command; a command is made when it is looked up."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(COMMANDS))

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401  # this is `get`

    def __getitem__(self, name: str) -> Any:
        if super().__getitem__(name) is None:
            self[name] = _load(name, COMMANDS[name])
        return super().__getitem__(name)

    def items(self) -> Any:
        return [(name, self[name]) for name in self]


@cache
def _load(name: str, place: CommandPlace) -> Any:
    found = _module(place.module).__dict__[place.name]
    holder = typer.Typer(rich_markup_mode=None, add_completion=False)
    holder.callback()(_nothing)  # or else a single command would stand alone, without its name
    if isinstance(found, typer.Typer):
        for more in place.more:
            _module(more).add_to(found)
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return typer.main.get_group(holder).commands[name]


def _module(name: str) -> ModuleType:
    return import_module(f"segue.interfaces.cli.{name}")


def _nothing() -> None:
    """The callback of a group that has no options."""
