"""What has to be right before a session is opened: its model, its agent, its tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from typing import Any

from segue.adapters.backends.opencode.errors import NotThere, one_line
from segue.adapters.backends.opencode.options import OpenCodeOptions
from segue.adapters.backends.opencode.permissions import session_rules
from segue.adapters.backends.opencode.sessions import OpenCodeSession
from segue.application.ports.backend import SessionRequest, ToolServer
from segue.domain.errors import BackendUnavailable, describe_known

KEY = "segue_key"
"""Where the metadata of a session carries our key."""
_TOOLS_MILLISECONDS = 60_000
_SECONDS = 90.0
"""How long a call may take here: with the first one OpenCode begins to work in a directory, which takes long
when many begin at once."""


def tool_server_name(request: SessionRequest) -> str | None:
    """A name of its own for each session, as OpenCode shares tool servers among those of a directory."""
    return f"{request.tools.name}_s{_digest(request.key)}" if request.tools else None


async def open_session(session: OpenCodeSession, request: SessionRequest, options: OpenCodeOptions) -> str:
    """OpenCode's id of the session: of the one that is there, or of a new one."""
    found = await _find(session)
    if found is not None:
        return found
    agent = await _agent(session, options.agent)
    await check_model(session, request.model)
    body: dict[str, Any] = {
        "title": request.title,
        "metadata": {KEY: request.key},
        "permission": await rules_of(session, agent),
    }
    created = await session.post("/session", body, seconds=_SECONDS)
    return str(created["id"])


async def rules_of(session: OpenCodeSession, agent: Mapping[str, Any] | None) -> list[Mapping[str, str]]:
    """The session's rules in OpenCode's words."""
    servers = await session.get("/mcp", seconds=_SECONDS)
    others = [_safe(name) for name in servers if name != session.record.tools]
    return session_rules(
        session.record.rules,
        agent_rules=(agent or {}).get("permission") or (),
        mcp_servers=others,
        own_tools=session.record.tools,
    )


async def connect_tools(session: OpenCodeSession, tools: ToolServer | None) -> None:
    """Have the session's tool server run."""
    name = session.record.tools
    if tools is None or name is None:
        return
    status = (await session.get("/mcp", seconds=_SECONDS)).get(name) or {}
    if status.get("status") != "connected":
        config = {
            "type": "local",
            "command": list(tools.command),
            "environment": dict(tools.environment),
            "timeout": _TOOLS_MILLISECONDS,
        }
        status = (await session.post("/mcp", {"name": name, "config": config}, seconds=_SECONDS)).get(
            name
        ) or {}
    if status.get("status") != "connected":
        why = one_line(str(status.get("error") or status.get("status") or "no reason is given"))
        raise BackendUnavailable(f'OpenCode could not start the tool server "{tools.name}": {why}')


async def disconnect_tools(session: OpenCodeSession) -> None:
    """Let the session's tool server end."""
    if session.record.tools is not None:
        try:
            await session.post(f"/mcp/{session.record.tools}/disconnect")
        except NotThere:
            return


async def check_model(session: OpenCodeSession, model: str | None) -> None:
    """A wrong model is told now, and not after the message was sent."""
    if model is None:
        return
    wanted = model_of(model)
    providers = (await session.get("/config/providers", seconds=_SECONDS))["providers"]
    known = {f"{entry['id']}/{name}" for entry in providers for name in entry["models"]}
    if f"{wanted['providerID']}/{wanted['modelID']}" not in known:
        close = get_close_matches(model, known, n=3)
        meant = f"did you mean {' or '.join(close)}?" if close else "`opencode models` lists those it has"
        raise BackendUnavailable(f'OpenCode does not have the model "{model}"; {meant}')


def model_of(model: str) -> dict[str, str]:
    """A model as OpenCode's interface wants it."""
    provider, _, name = model.partition("/")
    if not provider or not name:
        raise BackendUnavailable(f'the model "{model}" is wrong for OpenCode: write it as provider/model')
    return {"providerID": provider, "modelID": name}


async def _agent(session: OpenCodeSession, name: str | None) -> Mapping[str, Any] | None:
    agents: Sequence[Mapping[str, Any]] = await session.get("/agent", seconds=_SECONDS)
    found = next((agent for agent in agents if agent.get("name") == name), None)
    if name is not None and found is None:
        names = [str(agent["name"]) for agent in agents if not agent.get("hidden")]
        raise BackendUnavailable(f'OpenCode has no agent "{name}". {describe_known(name, names)}')
    return found


async def _find(session: OpenCodeSession) -> str | None:
    """The session that carries our key: a crash may have come before its id was written down."""
    for info in await session.get("/session", seconds=_SECONDS, roots="true", limit="10000"):
        if (info.get("metadata") or {}).get(KEY) == session.record.key:
            return str(info["id"])
    return None


def _safe(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in name)


def _digest(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:8]
