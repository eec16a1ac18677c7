"""Finds in settings and catalog files what would be run or handed to a program."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from segue.adapters.catalog.positions import Loc, LocatedYaml

_OPTIONS = ("options", "backend_options")
_TEXT = frozenset({"append_system_prompt", "description", "password", "system", "system_prompt_additions"})
"""Options whose words are for a model, or for nobody's eyes."""
_ACTIONS = ("actions", "later", "when")
"""What a scripted agent does; of that, only `run` runs something."""
_MOST_SHOWN = 400
_BETWEEN_WORDS = re.compile(r"""[\s;|&()<>"'`$=,:{}\[\]]+""")
_WRITTEN = re.compile(r"""(?:^|(?<=\s))[0-9&]?>>?\s*(?:"[^"$`]*"|'[^']*'|[^\s;|&()<>"'$`]+)""")
"""A file that a shell writes to: it changes with every run, and is not run by this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedCommand:
    """A value that is run, or is handed to what is run."""

    loc: Loc
    value: Any
    module: str | None = None
    """The Python module that is imported for it."""

    def show(self, source: LocatedYaml) -> str:
        """A line for a person: where it is written, and what it says."""
        text = "; ".join(_shown(each) for each in _commands(self.loc, self.value))
        if len(text) > _MOST_SHOWN:
            text = f"{text[:_MOST_SHOWN]}… ({len(text) - _MOST_SHOWN} characters more)"
        name = ".".join(str(part) for part in self.loc)
        return f"{source.path.parent.name}/{source.path.name}:{source.line(self.loc)}: {name}: {text}"

    def words(self) -> Iterator[str]:
        """Everything in it that may be the path of a file."""
        if self.module is not None:
            parts = self.module.split(".")
            yield f"{'/'.join(parts)}.py"
            yield from ("/".join((*parts[:count], "__init__.py")) for count in range(1, len(parts) + 1))
        for command in _commands(self.loc, self.value):
            for text in _strings(command):
                filled = _WRITTEN.sub(" ", text).replace("{working_dir}", ".")
                yield filled.strip()
                yield from _BETWEEN_WORDS.split(filled)
                try:
                    yield from shlex.split(filled)
                except ValueError:  # not a shell's line; its words were found above
                    continue


def find_commands(source: LocatedYaml) -> list[NamedCommand]:
    """All of a file, in its order; values of a wrong type are looked through as well."""
    return list(_find(source.value, ()))


def _find(value: Any, loc: Loc) -> Iterator[NamedCommand]:
    if isinstance(value, dict):
        for key, inner in value.items():
            here = (*loc, str(key))
            if key in _OPTIONS and isinstance(inner, dict):
                yield from _find_options(inner, here)
            elif key == "backend" and isinstance(inner, str):
                if ":" in inner:  # a class of somebody's module
                    yield NamedCommand(loc=here, value=inner, module=inner.partition(":")[0])
            elif key in ("backend", "checks", *_OPTIONS):
                yield NamedCommand(loc=here, value=inner)
            else:
                yield from _find(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _find(inner, (*loc, index))


def _find_options(options: dict[str, Any], loc: Loc) -> Iterator[NamedCommand]:
    for name, value in options.items():
        here = (*loc, str(name))
        if loc[-1] == "backend_options" and isinstance(value, dict):
            yield from _find_options(value, here)
        elif name not in _TEXT and any(True for _ in _strings(list(_commands(here, value)))):
            yield NamedCommand(loc=here, value=value)


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
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return json.dumps(value, ensure_ascii=False, default=str)
