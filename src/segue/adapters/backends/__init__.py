"""The programs that are driven: by name, by a plugin's entry point, or by dotted path; loaded when used."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel

from segue.application.ports.backend import AgentBackend, Backends
from segue.domain.errors import BackendUnavailable, UnknownName

BACKENDS = {
    "acp": "segue.adapters.backends.acp.backend:AcpBackend",
    "claude_code": "segue.adapters.backends.claude_code:ClaudeCodeBackend",
    "codex": "segue.adapters.backends.codex:CodexBackend",
    "command": "segue.adapters.backends.command:CommandBackend",
    "opencode": "segue.adapters.backends.opencode.backend:OpenCodeBackend",
    "scripted": "segue.adapters.backends.scripted:ScriptedBackend",
}

_UNLOADABLE = (
    ImportError,
    AttributeError,
    SyntaxError,
    NameError,
    TypeError,
    ValueError,
    LookupError,
    OSError,
    RuntimeError,
)
"""What the import of somebody's module may end with."""


def backend_class(name: str) -> type[AgentBackend]:
    """The class of a back end."""
    place = BACKENDS.get(name) or (name if ":" in name else plugins().get(name))
    if place is None:
        raise UnknownName("back end", name, {*BACKENDS, *plugins()})
    module, _, attribute = place.partition(":")
    try:
        with _without_cache() if ":" in name else nullcontext():
            found = getattr(import_module(module), attribute)
    except _UNLOADABLE as error:
        raise BackendUnavailable(
            f'the back end "{name}" cannot be loaded from {place}: {_first_line(error)}; correct its dotted '
            "path, install its package, or put its folder on the PYTHONPATH"
        ) from error
    if not (isinstance(found, type) and issubclass(found, AgentBackend)):
        raise BackendUnavailable(f'the back end "{name}" is wrong: {place} is no subclass of AgentBackend')
    if missing := sorted(found.__abstractmethods__):
        raise BackendUnavailable(f'the back end "{name}" is wrong: {place} lacks {", ".join(missing)}')
    return found


@contextmanager
def _without_cache() -> Iterator[None]:
    """Modules are imported from their source: a `.pyc` beside it is in no diff, and may hold anything."""
    before = sys.pycache_prefix
    with TemporaryDirectory() as nothing:
        sys.pycache_prefix = nothing
        try:
            yield
        finally:
            sys.pycache_prefix = before


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@cache
def plugins() -> Mapping[str, str]:
    """Back ends that installed packages offer: name -> dotted path."""
    return {point.name: point.value for point in entry_points(group="segue.backends")}


def options_model(name: str) -> type[BaseModel]:
    """What may stand under `options` in the profile of an agent on this back end."""
    return backend_class(name).Options


class LoadedBackends(Backends):
    """The back ends that were used so far. `given` ones stand ready already, as in tests."""

    def __init__(self, *, sessions_dir: Path, given: Mapping[str, AgentBackend] | None = None) -> None:
        self._sessions_dir = sessions_dir
        self._loaded: dict[str, AgentBackend] = dict(given or {})

    def get(self, name: str | None, agent_name: str) -> tuple[str, AgentBackend]:
        """The back end with this name; gives the name too."""
        if name is None:
            raise BackendUnavailable(
                f'no back end is set for agent "{agent_name}", and no agent program was found. Run '
                '`segue agents install opencode`, or set "backend" in its profile (`segue init` writes one '
                "to start from) or SEGUE_BACKEND; `segue agents doctor` shows what is there. "
                f"Known: {', '.join(sorted(BACKENDS))}"
            )
        if name not in self._loaded:
            try:
                self._loaded[name] = backend_class(name)(sessions_dir=self._sessions_dir)
            except UnknownName as error:
                raise BackendUnavailable(str(error)) from error
            except TypeError as error:
                raise BackendUnavailable(f'the back end "{name}" cannot be made: {error}') from error
        return name, self._loaded[name]

    def with_leftovers(self) -> Collection[AgentBackend]:
        """The back ends that have left something on this machine."""
        found = [name for name in BACKENDS if (self._sessions_dir / name).is_dir()]
        return [self.get(name, "")[1] for name in found]

    def states(self) -> Mapping[str, str]:
        """Back end -> `ready` or `in use`."""
        return {
            name: "in use" if name in self._loaded else "ready" for name in sorted({*BACKENDS, *self._loaded})
        }

    async def rest(self) -> None:
        """Let every back end that was used end what only waits."""
        for backend in self._loaded.values():
            await backend.rest()

    async def shutdown(self) -> None:
        """Shut down every back end that was used."""
        for backend in self._loaded.values():
            await backend.shutdown()
