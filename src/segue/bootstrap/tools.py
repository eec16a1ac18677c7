"""How agents reach Segue's own tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from segue.application.conversations.registry import ToolsFor
from segue.application.ports.backend import ToolServer
from segue.domain.environment import postgres_variables
from segue.settings import Settings


def tools_for(settings: Settings, hosted_at: Callable[[], str | None]) -> ToolsFor | None:
    """How a session is given the tools of its attempt; none if agents are to have none.

    `hosted_at` tells where this process hosts them, and is asked when a session needs them.
    """
    if settings.mcp == "off":
        return None
    # -P: the program starts in the agent's working directory, whose files must not pass for Python's own.
    command = (sys.executable, "-P", "-m", "segue.interfaces.mcp.relay")

    def way() -> Mapping[str, str]:
        if settings.mcp == "http":
            # The address of `segue serve` stands in for that of the database, whose password stays here.
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            return {"SEGUE_MCP_URL": f"http://{host}:{settings.port}/mcp"}
        # The way to the database is for agents that outlive this process.
        here = hosted_at()
        return {**({"SEGUE_MCP_URL": here} if here else {}), **_way_to_the_database(settings)}

    return lambda token: ToolServer(
        name="segue", command=command, environment={**way(), "SEGUE_MCP_TOKEN": token}
    )


def _way_to_the_database(settings: Settings) -> Mapping[str, str]:
    postgres = settings.main_database_url.startswith("postgres")
    return {
        **(postgres_variables(os.environ) if postgres else {}),
        "SEGUE_DATABASE_URL": settings.main_database_url,
        "SEGUE_DATA_DIR": str(settings.data_dir),
        "SEGUE_CONFIG_DIR": str(settings.config_dir),
    }
