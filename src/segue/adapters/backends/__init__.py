"""The programs that are driven: a table name -> dotted path, loaded when used."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from segue.application.ports import AgentBackend
from segue.domain.errors import BackendUnavailable, UnknownName

BACKENDS = {
    "command": "segue.adapters.backends.command:CommandBackend",
    "scripted": "segue.adapters.backends.scripted:ScriptedBackend",
}


def backend_class(name: str) -> Any:
    """The class of a back end."""
    if name not in BACKENDS:
        raise UnknownName("back end", name, BACKENDS)
    module, _, attribute = BACKENDS[name].partition(":")
    return getattr(import_module(module), attribute)


def options_model(name: str) -> type[BaseModel]:
    """What may stand under `options` in the profile of an agent on this back end."""
    model: type[BaseModel] = backend_class(name).Options
    return model


class LoadedBackends:
    """The back ends that were used so far. `given` ones stand ready already, as in tests."""

    def __init__(self, *, sessions_dir: Path, given: Mapping[str, AgentBackend] | None = None) -> None:
        self._sessions_dir = sessions_dir
        self._loaded: dict[str, AgentBackend] = dict(given or {})

    def get(self, name: str | None, agent_name: str) -> tuple[str, AgentBackend]:
        """The back end with this name; gives the name too."""
        if name is None:
            raise BackendUnavailable(
                f'no back end is set for agent "{agent_name}". Set "backend" in its profile (`segue init` '
                f"writes one to start from), or SEGUE_BACKEND. Known: {', '.join(sorted(BACKENDS))}"
            )
        if name not in self._loaded:
            try:
                self._loaded[name] = backend_class(name)(sessions_dir=self._sessions_dir)
            except UnknownName as error:
                raise BackendUnavailable(str(error)) from error
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

    async def shutdown(self) -> None:
        """Shut down every back end that was used."""
        for backend in self._loaded.values():
            await backend.shutdown()
