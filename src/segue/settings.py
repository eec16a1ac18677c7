"""Settings: from the environment (`SEGUE_*`), then the project's and the user's `segue.yaml`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_config_path, user_data_path
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as UnreadableVariable

from segue.adapters.catalog.positions import LocatedYaml
from segue.adapters.catalog.project import Project, read_bytes, read_project, read_yaml
from segue.adapters.catalog.trust_store import TRUST_FILE, TrustStore
from segue.domain.errors import CatalogError, NotTrusted, SettingsError, UnsafeProject, describe_known
from segue.domain.handoff import OutputNotation
from segue.domain.repository_source import shared_address
from segue.domain.trust import SETTINGS_FILE

_SECRET = frozenset({"database_url", "push_to"})
"""Never shown in an error."""
NEVER_FROM_PROJECT = frozenset(
    {
        "allow_rest_commands",
        "config_dir",
        "data_dir",
        "database_url",
        "host",
        "keep_days",
        "not_secret",
        "port",
        "push_to",
    }
)
"""Where Segue listens, whom it lets in and where it keeps things is the user's alone to say."""
_RELATIVE_FILE = re.compile(r"(sqlite(?:\+\w+)?:///)(?!/|:memory:|file:)(.+)", re.DOTALL)


def _config_dir() -> Path:
    return user_config_path("segue")


def _data_dir() -> Path:
    return user_data_path("segue")


class Settings(BaseSettings):
    """What can be set. Frozen; read in one place, the joining of the parts."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix="SEGUE_", env_parse_none_str="")

    data_dir: Path = Field(default_factory=_data_dir)
    """Where the database and the agents' sessions are kept."""
    config_dir: Path = Field(default_factory=_config_dir)
    """Where your own agents and templates are."""
    database_url: str | None = None
    """sqlite:///path or postgresql://...; a file in data_dir if not set."""
    backend: str = "auto"
    """The back end of agents whose profile names none; auto for the first agent that is found."""
    backend_options: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    """Back end -> options that its agents have by default."""
    step_timeout: float = Field(default=600.0, gt=0, le=1e9)
    """Seconds a step may take before its session is aborted."""
    checks: tuple[str, ...] = ()
    """Commands that Segue runs after each step of templates that name none, such as `pytest -q`."""
    check_timeout: float = Field(default=600.0, gt=0, le=1e9)
    """Seconds that a check command of a template may take."""
    max_running: int = Field(default=20, ge=1)
    """How many pipelines run at once in one process; the others wait."""
    max_running_overall: int | None = Field(default=None, ge=1)
    """How many run at once in all processes when `segue serve` takes up another one."""
    max_per_backend: Mapping[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """Back end -> how many of its agents work at once in one process."""
    max_recoveries: int = Field(default=20, ge=1)
    """How often a pipeline is taken up again, without finishing a step, before it fails."""
    keep_days: float | None = Field(default=None, ge=0, le=36_500)
    """Days that `segue serve` and `segue worker` keep what an ended pipeline left; none keeps all."""
    drain_seconds: float = Field(default=20.0, ge=0, le=1e9)
    """Seconds that running steps get to end after SIGTERM, where other machines can continue the rest."""
    briefing_budget: int | None = Field(default=8000, ge=500)
    """Tokens that a briefing may have; what is left out is named in it."""
    handoff_notation: OutputNotation = OutputNotation.YAML
    """How agents are asked to hand off: yaml, json, four or six sections."""
    ask_writer: bool = True
    """Whether an agent whose reply could not be read is asked once to structure it."""
    remind_after_hours: float = Field(default=24, gt=0, le=10_000)
    """When to remind for the first time of what waits for a person; then after twice as long, five times."""
    auto_handoff: bool = True
    """Whether a session hands itself over when a limit is reached, in a step of a pipeline or outside."""
    handoff_context_share: float | None = Field(default=0.75, gt=0, le=1)
    """How full its model's window may be, from 0 to 1."""
    handoff_turns: int | None = Field(default=None, ge=1)
    """How many replies it may give; in a step, answers of its model."""
    handoff_minutes: float | None = Field(default=None, gt=0)
    """How long it may last."""
    handoff_cost: float | None = Field(default=None, gt=0)
    """US dollars that it may cost."""
    max_handoffs: int = Field(default=8, ge=0)
    """How often the sessions of one step may hand over; then the step fails."""
    mcp: Literal["stdio", "http", "off"] = "stdio"
    """How Segue's own tools reach the records: by the database, by `segue serve`, or not at all."""
    push_to: str | None = None
    """Where the commits of each step are pushed if machines share a database: an address, or origin."""
    not_secret: tuple[str, ...] = ()
    """Values that look like secrets and are none: they are not redacted."""
    host: str = "127.0.0.1"
    """Address that `segue serve` listens on."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port that `segue serve` listens on."""
    allow_rest_commands: bool = False
    """Whether a request over REST may hold commands that Segue itself runs, such as the checks of a step."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """How much is logged."""
    log_format: Literal["console", "json"] = "console"
    """How it is logged."""

    @field_validator("backend", mode="before")
    @classmethod
    def _or_auto(cls, name: Any) -> Any:
        """Set to nothing, it is as if not set."""
        return "auto" if name is None else name

    @field_validator("push_to")
    @classmethod
    def _is_address(cls, address: str | None) -> str | None:
        """All machines can use it, and it is kept in the records: a password has no place in it."""
        if address is None or address == "origin" or address.startswith("/"):
            return address
        shared = shared_address(address)
        if shared is None:
            raise ValueError("it is neither the address of a repository nor origin")
        if shared != address:
            raise ValueError("an address with a password or a user; git asks your credential helper for both")
        return address

    @field_validator("data_dir", "config_dir")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        """`~` is the user's home; what is relative is so to the folder that Segue was started in."""
        try:
            return path.expanduser().absolute()
        except RuntimeError as error:
            raise ValueError(f"{path} names a home that is not known") from error

    @property
    def main_database_url(self) -> str:
        """Where the records are."""
        return self.database_url or f"sqlite:///{self.data_dir / 'segue.db'}"

    @property
    def sessions_dir(self) -> Path:
        """Where agents' sessions leave their files: apart for each database, which knows which are in use."""
        return self.data_dir / "sessions" / hashlib.sha256(self.main_database_url.encode()).hexdigest()[:12]

    @property
    def credential_file(self) -> Path:
        """Where the local credential is."""
        return self.data_dir / "credential"

    @property
    def agents_dir(self) -> Path:
        """Where the agent programs are that Segue installed."""
        return self.data_dir / "agents"

    @property
    def trust_file(self) -> Path:
        """Which projects the user trusts."""
        return self.data_dir / TRUST_FILE

    @property
    def personas_dir(self) -> Path:
        """Where the handoffs of sessions are kept, in a folder for each agent."""
        return self.data_dir / "personas"

    @property
    def worktrees_dir(self) -> Path:
        """Where pipelines have their worktrees: apart for each database, whose ids name them."""
        return self.data_dir / "worktrees" / hashlib.sha256(self.main_database_url.encode()).hexdigest()[:12]

    @property
    def repositories_dir(self) -> Path:
        """Where clones of repositories are whose folders are on other machines."""
        return self.data_dir / "repositories" / self.worktrees_dir.name

    @property
    def engine_database_url(self) -> str | None:
        """Where DBOS keeps its own rows: in a schema of its own on PostgreSQL; nowhere on SQLite."""
        form, colon, place = self.main_database_url.partition("://")
        is_postgres = form.partition("+")[0] in ("postgres", "postgresql")
        return f"postgresql{colon}{place}" if is_postgres else None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment before the files."""
        return env_settings, init_settings


def load_settings(
    working_dir: Path | None = None,
    *,
    with_project: bool = True,
    given: str = "on the command line",
    **overrides: Any,
) -> Settings:
    """The settings for a project folder; `SettingsError` names what is wrong and where it stands.

    `NotTrusted` if the project around the folder is not trusted; without the project, nothing of it is read.
    `given` says where the overrides come from.
    """
    chosen = {name: value for name, value in overrides.items() if value is not None}
    named = os.environ.get("SEGUE_CONFIG_DIR") or _config_dir()
    config_dir = Path(os.path.expanduser(named))  # noqa: PTH111  # raises nothing for an unknown home
    try:
        path = config_dir / SETTINGS_FILE
        users = read_yaml(path, read_bytes(path)) if path.is_file() else None
        own = _made([users] if users else [], chosen, given)
        if not with_project or (project := read_project(working_dir or Path.cwd())) is None:
            return own
        theirs = _project_settings(project, config_dir)
        TrustStore(own.trust_file).check(project.content)
        if theirs is None:
            return own
        made = _made([each for each in (users, theirs) if each], chosen, given)
        return made.model_copy(update={name: getattr(own, name) for name in NEVER_FROM_PROJECT})
    except (NotTrusted, UnsafeProject):
        raise
    except CatalogError as error:
        raise SettingsError(str(error)) from error


def _project_settings(project: Project, config_dir: Path) -> LocatedYaml | None:
    """The project's settings file, which must leave alone what is the user's to say."""
    source = project.settings
    for key in source.value if source else ():
        if source and key in NEVER_FROM_PROJECT:
            raise SettingsError(
                f'{source.path}:{source.line((key,))}: "{key}" is never taken from a project: '
                f"set it in {config_dir / SETTINGS_FILE} or as SEGUE_{key.upper()}"
            )
    return source


def _made(sources: list[LocatedYaml], chosen: Mapping[str, Any], given: str) -> Settings:
    """Settings of files, the later ones over the earlier, below the environment and the command line."""
    merged: dict[str, Any] = {}
    origin: dict[str, LocatedYaml] = {}
    for source in sources:
        for key in source.value:  # exactly: pydantic would take `HOST` for `host`
            if key not in Settings.model_fields:
                known = describe_known(str(key), Settings.model_fields)
                raise SettingsError(f'{source.path}:{source.line((key,))}: unknown setting "{key}". {known}')
        merged |= _placed(source.value, source.path.parent)
        origin |= dict.fromkeys(source.value, source)
    try:
        return _beaten_by(chosen)(**merged)
    except ValidationError as error:
        raise SettingsError(_explain(error, origin, dict.fromkeys(chosen, given))) from error
    except UnreadableVariable as error:
        raise SettingsError(f"a SEGUE_ variable is wrong: {error}; JSON is expected") from error


def _beaten_by(overrides: Mapping[str, Any]) -> type[Settings]:
    """Settings in which what stands on the command line beats the environment and the files."""

    class Chosen(Settings):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: type[BaseSettings], *sources: Any, **named: Any
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            first = InitSettingsSource(settings_cls, init_kwargs=dict(overrides))
            return first, *super().settings_customise_sources(settings_cls, *sources, **named)

    return Chosen if overrides else Settings


def _placed(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The values of a file; a relative path in it is relative to this folder."""
    placed = dict(values)
    for name in ("data_dir", "config_dir"):
        if isinstance(placed.get(name), str) and not placed[name].startswith("~"):
            placed[name] = folder / placed[name]
    url = placed.get("database_url")
    if isinstance(url, str) and (found := _RELATIVE_FILE.match(url)):
        placed["database_url"] = f"{found[1]}{folder.absolute() / found[2]}"
    return placed


def _explain(error: ValidationError, origin: Mapping[str, LocatedYaml], given: Mapping[str, str]) -> str:
    """`given` tells of each override where it comes from."""
    first = error.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    said = first["msg"].removeprefix("Value error, ")
    variable = f"SEGUE_{key.upper()}"
    if key in given:
        return f'"{key}" {given[key]} is wrong: {said}'
    if variable in os.environ:
        shown = "" if key in _SECRET else f"={os.environ[variable]!r}"
        return f"{variable}{shown} is wrong: {said}"
    message = f'"{key}" is wrong: {said}'
    source = origin.get(key)
    return f"{source.path}:{source.line((key,))}: {message}" if source else message
