"""With whom and where a session can be begun."""

from __future__ import annotations

from pathlib import Path

from segue.application.ports.backend import Backends
from segue.application.ports.world import CatalogSource
from segue.domain.catalog import AUTO, AgentProfile
from segue.domain.errors import InvalidRequest, UnknownName


def find_profile(
    who: str, folder: str, catalog: CatalogSource, backends: Backends
) -> tuple[str, AgentProfile]:
    """An agent profile by its name, or a back end as it is; `auto` is the default one."""
    agents = catalog.load(folder).agents
    if who in agents:
        return who, agents[who]
    known = backends.states()
    if who not in known and who != AUTO:
        raise UnknownName("agent or back end", who, {*agents, *known})
    profile = catalog.without_profile(who)
    return profile.backend or who, profile


def find_folder(name: str | None) -> str:
    """The folder to work in, this one if none is named."""
    folder = Path(name or ".").expanduser().resolve()
    if not folder.is_dir():
        raise InvalidRequest(f"the working directory {folder} does not exist")
    return str(folder)
