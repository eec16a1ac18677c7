"""Finds in settings and catalog files what would be run or handed to a program."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from segue.adapters.catalog.positions import Loc, LocatedYaml
from segue.adapters.catalog.scripts import ScriptSearch
from segue.domain.catalog import AUTO
from segue.domain.trust import SETTINGS_FILE, one_line

_OPTIONS = ("options", "backend_options")
_TEXT = frozenset({"append_system_prompt", "description", "password", "system", "system_prompt_additions"})
"""Options whose words are for a model, or for nobody's eyes."""
_ACTIONS = ("actions", "later", "when")
"""What a scripted agent does; of that, only `run` runs something."""
_MOST_SHOWN = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedCommand:
    """A value that is run, or is handed to what is run."""

    loc: Loc
    value: Any
    module: str | None = None
    """The Python module that is imported for it."""
    is_own: bool = False
    """True for an option of somebody's own back end, which may do anything with it."""

    def show(self, source: LocatedYaml) -> list[str]:
        """A line for a person for each command: where it is written, and what it says."""
        return [f"{_place(source, self.loc, source.line(loc))}: {_shown(each)}" for loc, each in self._each()]

    def check(self, source: LocatedYaml) -> None:
        """An error for a search path with folders that depend on where a program is started."""
        if self.loc[-1] != "set_env" or not isinstance(self.value, dict):
            return
        path = self.value.get("PATH")
        if isinstance(path, str) and not all(entry.startswith("/") for entry in path.split(":")):
            raise source.wrong(
                (*self.loc, "PATH"),
                '"PATH" of a project must have absolute folders only, from the first to the last',
            )

    def search(self, search: ScriptSearch) -> None:
        """Find the files that it runs."""
        if self.module is not None:
            search.module(self.module)
        for _, command in self._each():
            if not self.is_command:
                search.anything(command)
            elif isinstance(command, str):
                search.line(command)
            elif isinstance(command, list) and all(isinstance(word, str) for word in command):
                search.arguments(command)
            else:
                search.anything(command)

    @property
    def is_command(self) -> bool:
        """True for a line for a shell, or a list of a program and its arguments."""
        return not self.is_own and self.loc[-1] in ("checks", "command", *_ACTIONS)

    def _each(self) -> Iterator[tuple[Loc, Any]]:
        if self.loc[-1] == "checks" and isinstance(self.value, list):
            yield from (((*self.loc, index), each) for index, each in enumerate(self.value))
        elif self.is_own:
            yield self.loc, self.value
        else:
            yield from ((self.loc, each) for each in _commands(self.loc, self.value))


def find_commands(source: LocatedYaml, default_backend: object = None) -> list[NamedCommand]:
    """All of a file, in its order; values of a wrong type are looked through as well.

    `default_backend` is that of agents which name none.
    """
    return list(_find(source.value, (), default_backend))


def find_changes(source: LocatedYaml, builtin: Mapping[str, Any]) -> list[str]:
    """Lines for a person: permissions of agents, entries in the place of built-in ones, and settings."""
    if source.path.name == SETTINGS_FILE:
        kept = {
            name: each for name, each in source.value.items() if name not in ("backend_options", "checks")
        }
        return [f"{_place(source, (name,))}: {_shown(each)}" for name, each in kept.items()]
    lines = []
    for kind in ("agents", "templates"):
        entries = source.value.get(kind)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if name in builtin.get(kind, {}):
                lines.append(f"{_place(source, (kind, name))}: takes the place of the built-in one")
            if isinstance(entry, dict) and (permissions := entry.get("permissions")):
                lines.append(f"{_place(source, (kind, name, 'permissions'))}: {_shown(permissions)}")
    return lines


def _place(source: LocatedYaml, loc: Loc, line: int | None = None) -> str:
    """Where something is written, on one line."""
    name = ".".join(str(part) for part in loc)
    return one_line(f"{source.path.parent.name}/{source.path.name}:{line or source.line(loc)}: {name}")


def _find(value: Any, loc: Loc, backend: object) -> Iterator[NamedCommand]:
    if isinstance(value, dict):
        backend = _named_backend(value) or backend
        for key, inner in value.items():
            here = (*loc, str(key))
            if key in _OPTIONS and isinstance(inner, dict):
                yield from _find_options(inner, here, is_own=_is_own(backend))
            elif key == "backend" and isinstance(inner, str):
                if _is_own(inner):
                    yield NamedCommand(loc=here, value=inner, module=inner.partition(":")[0])
            elif key in ("backend", "checks", *_OPTIONS):
                yield NamedCommand(loc=here, value=inner)
            else:
                yield from _find(inner, here, backend)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _find(inner, (*loc, index), backend)


def _find_options(options: dict[str, Any], loc: Loc, *, is_own: bool) -> Iterator[NamedCommand]:
    for name, value in options.items():
        here = (*loc, str(name))
        if loc[-1] == "backend_options" and isinstance(value, dict):
            yield from _find_options(value, here, is_own=_is_own(name))
        elif is_own:
            yield NamedCommand(loc=here, value=value, is_own=True)
        elif name not in _TEXT and any(True for _ in _strings(list(_commands(here, value)))):
            yield NamedCommand(loc=here, value=value)


def _named_backend(value: dict[str, Any]) -> object:
    named = value.get("backend")
    return None if named == AUTO else named


def _is_own(backend: object) -> bool:
    """True for a class of somebody's module, false for the name of a back end."""
    return isinstance(backend, str) and ":" in backend


def _commands(loc: Loc, value: Any) -> Iterator[Any]:
    """The commands in a value: itself, or those that the actions of a scripted agent run."""
    if not loc or loc[-1] not in _ACTIONS:
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "run":
                yield inner
            elif isinstance(inner, list):
                yield from _commands(loc, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands(loc, inner)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        text = shlex.join(value)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    note = " (what the shell fills in for $, `, * or ? is not covered)" if set(text) & set("$`*?") else ""
    if len(text) > _MOST_SHOWN:
        text = f"{text[:_MOST_SHOWN]}… ({len(text) - _MOST_SHOWN} characters more)"
    return text + note
