"""What a profile may say about OpenCode, and the server that it means."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from segue.application.ports.backend import SessionRequest
from segue.domain.environment import PassEnv, agent_environment, is_passed
from segue.domain.errors import BackendUnavailable

REMEDY = 'run `segue agents install opencode`, or name it in the option "program"'

_TELLING_PREFIXES = ("OPENCODE_", "XDG_CONFIG", "XDG_DATA", "XDG_CACHE", "XDG_STATE")
_TELLING_SUFFIXES = ("_API_KEY", "_BASE_URL", "_TOKEN")
_PER_SERVER = {"OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME"}


class OpenCodeOptions(BaseModel):
    """What may stand under `options` of an agent on the `opencode` back end."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    program: str = "opencode"
    """The program that is started as the server: a name on the PATH, or a path."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """A server that runs already; then none is started, and it is never stopped."""
    username: str = "opencode"
    """The user name of the server at `url`."""
    password: str | None = None
    """The password of the server at `url`; none if it has none."""
    agent: str | None = None
    """OpenCode's own agent, such as build or plan; none for its default."""
    system: str | None = None
    """Words for the system prompt, with every message."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Merged into OpenCode's configuration: providers, models, MCP servers and so on."""
    pass_env: PassEnv = ()
    """Environment variables to hand on that are withheld by default, by name or as AWS_*."""
    set_env: dict[str, str] = Field(default_factory=dict)
    """Environment variables to set for the server; an empty value takes one away."""
    max_retries: int | None = Field(default=None, ge=0)
    """How often OpenCode may ask a failing model again; none for all five times, over a minute in all."""
    snapshot: bool = False
    """Let OpenCode keep snapshots of the files; slow with many sessions at once."""
    autocompact: bool = False
    """Let OpenCode compact a full conversation by itself, in the middle of a reply."""


class ServerSpec(BaseModel):
    """A server of our own: what is started. Two that are equal share one process."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    program: str
    pass_env: PassEnv = ()
    set_env: dict[str, str]
    config: dict[str, Any]
    autocompact: bool

    @property
    def name(self) -> str:
        """The same for all that would start the same server."""
        told = {
            name: value
            for name, value in self._variables().items()
            if _tells(name) or is_passed(name, self.pass_env)
        }
        text = json.dumps([self.model_dump(), told], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def environment(self, folder: Path, password: str) -> dict[str, str]:
        """The environment of the server: what it sees of ours, with what the profile says."""
        merged = {
            **self._variables(),
            "PWD": str(folder),
            "OPENCODE_SERVER_USERNAME": "opencode",
            "OPENCODE_SERVER_PASSWORD": password,
        }
        merged["OPENCODE_CONFIG_CONTENT"] = json.dumps(self._config(merged.get("OPENCODE_CONFIG_CONTENT")))
        return {name: value for name, value in merged.items() if value}

    def _variables(self) -> dict[str, str]:
        compaction = {} if self.autocompact else {"OPENCODE_DISABLE_AUTOCOMPACT": "1"}
        given = {"OPENCODE_DISABLE_AUTOUPDATE": "1", **compaction, **self.set_env}
        return agent_environment(os.environ, pass_env=self.pass_env, set_env=given)

    def _config(self, given: str | None) -> dict[str, Any]:
        try:
            base = json.loads(given or "{}")
        except ValueError as error:
            raise BackendUnavailable(f"OPENCODE_CONFIG_CONTENT is no JSON: {error}") from error
        return _merged({"autoupdate": False, "share": "disabled"}, _merged(base, self.config))


class External(BaseModel):
    """Somebody else's server."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    url: str
    username: str
    password: str | None

    @property
    def name(self) -> str:
        """The same for all that mean the same server."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


Place = ServerSpec | External
"""Where the server of a session is."""


def options_of(request: SessionRequest) -> OpenCodeOptions:
    """The options of an agent, or one sentence about what is wrong with them."""
    try:
        return OpenCodeOptions.model_validate(dict(request.profile.options))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "options"
        raise BackendUnavailable(
            f'agent "{request.agent_name}" runs on the back end "opencode", but its options are wrong: '
            f'"{key}": {first["msg"]}'
        ) from error


def place_of(options: OpenCodeOptions) -> Place:
    """The server that these options mean."""
    if options.url is not None:
        return External(
            url=options.url.rstrip("/"), username=options.username, password=options.password or None
        )
    return ServerSpec(
        program=find_program(options.program, options.set_env),
        pass_env=options.pass_env,
        set_env=options.set_env,
        config=_merged({"snapshot": options.snapshot}, options.config),
        autocompact=options.autocompact,
    )


def find_program(name: str, set_env: Mapping[str, str]) -> str:
    """The full path of the program; `BackendUnavailable` with the remedy if it is not there."""
    if os.sep not in name:
        found = shutil.which(name, path=set_env.get("PATH") or None)
        if found is None:
            raise BackendUnavailable(f'the program "{name}" is not on the PATH; {REMEDY}')
        return str(Path(found).absolute())
    path = Path(name).expanduser().absolute()
    if not path.is_file():
        raise BackendUnavailable(f"the program {path} does not exist; {REMEDY}")
    if not os.access(path, os.X_OK):
        raise BackendUnavailable(f"the program {path} is not executable; run chmod +x {path}")
    return str(path)


def _tells(name: str) -> bool:
    """True for a variable that makes another server of it."""
    if name in _PER_SERVER:
        return False
    return name in ("HOME", "PATH") or name.startswith(_TELLING_PREFIXES) or name.endswith(_TELLING_SUFFIXES)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one, level by level; `over` wins."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
