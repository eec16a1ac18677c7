"""What the commands need from the rest, handed in by the one place that joins the parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import typer

if TYPE_CHECKING:
    from segue.application.doctor import Diagnosis
    from segue.application.handoffs.agent_tools import AgentTools
    from segue.application.handoffs.structured_text import StructuredText
    from segue.application.ports.checks import CheckedTests
    from segue.application.ports.world import CatalogSource
    from segue.application.segue import Segue
    from segue.application.tokens import Tokens
    from segue.domain.evidence.sources import Observed
    from segue.domain.transcripts import FoundSession, Transcript
    from segue.domain.trust import ProjectContent, TrustedProject


class CliSettings(Protocol):
    """The settings that commands look at."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def allow_rest_commands(self) -> bool: ...
    @property
    def backend(self) -> str: ...
    @property
    def data_dir(self) -> Path: ...
    @property
    def mcp(self) -> str: ...
    @property
    def engine_database_url(self) -> str | None: ...
    @property
    def keep_days(self) -> float | None: ...
    @property
    def drain_seconds(self) -> float: ...
    @property
    def log_level(self) -> str: ...
    @property
    def log_format(self) -> str: ...


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def label(self) -> str:
        """What it counts with."""
        ...

    def __call__(self, text: str) -> int: ...


class InstalledProgram(Protocol):
    """An agent program that is there."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def command(self) -> str | None: ...
    @property
    def fresh(self) -> bool: ...


class ProgramInstaller(Protocol):
    """Installs agent programs."""

    def install(self, name: str) -> InstalledProgram:
        """Make sure that it is there."""
        ...


class ProjectTrust(Protocol):
    """Which projects the user trusts."""

    def check(self, content: ProjectContent) -> None:
        """`NotTrusted` unless exactly this content was trusted."""
        ...

    def trust(self, content: ProjectContent) -> None:
        """Trust a folder with this content."""
        ...

    def revoke(self, folder: str) -> bool:
        """Trust a folder no longer; false if it was not trusted."""
        ...

    def projects(self) -> list[TrustedProject]:
        """All that is trusted."""
        ...


class TranscriptShelf(Protocol):
    """The sessions of other tools on this machine."""

    def find(
        self, tool: str | None = None, working_dir: Path | None = None, most: int | None = None
    ) -> list[FoundSession]:
        """Those that are here, the newest first."""
        ...

    def read(self, name: str, *, tool: str | None = None, working_dir: Path | None = None) -> Transcript:
        """One of them, by file, by id, or `latest`."""
        ...


class Parts(Protocol):
    """Settings and Segue, made when asked for."""

    def settings(self, working_dir: Path | None = None, **overrides: Any) -> CliSettings:
        """The settings for a project folder, which must be trusted; `None` overrides nothing."""
        ...

    def own_settings(self, **overrides: Any) -> CliSettings:
        """The settings without those of a project: for commands that only use records."""
        ...

    def project_content(self, folder: Path) -> ProjectContent | None:
        """What the project around a folder would configure and run; none if there is nothing of it."""
        ...

    def trust(self, settings: CliSettings) -> ProjectTrust:
        """Which projects the user trusts."""
        ...

    def open(self, settings: CliSettings, *, hosting: bool = False) -> AbstractAsyncContextManager[Segue]:
        """Segue with its database open."""
        ...

    def tools(self, settings: CliSettings) -> AbstractAsyncContextManager[AgentTools]:
        """The tools of agents, with the database open and nothing else."""
        ...

    def tokens(self, settings: CliSettings) -> AbstractAsyncContextManager[Tokens]:
        """Who may use the server, with the database open and nothing else."""
        ...

    def catalog(self, settings: CliSettings) -> CatalogSource:
        """The catalog alone."""
        ...

    def catalog_schema(self) -> dict[str, Any]:
        """The JSON Schema of catalog files."""
        ...

    def token_counter(self, model: str | None) -> TokenCounter:
        """The counter for a model, or the nearest there is."""
        ...

    def structure(
        self, settings: CliSettings, text: str, *, agent: str, working_dir: Path, seconds: float
    ) -> Coroutine[Any, Any, StructuredText]:
        """A text as a record, with the help of an agent."""
        ...

    def diagnose(
        self, settings: CliSettings, names: Sequence[str], *, seconds: float
    ) -> Coroutine[Any, Any, Diagnosis]:
        """A look at every back end, or at those that are named."""
        ...

    def installer(self, settings: CliSettings, *, say: Callable[[str], None]) -> ProgramInstaller:
        """Installs agent programs into Segue's own folder, and says what it is at."""
        ...

    def place_of_tool(self, settings: CliSettings, name: str) -> str | None:
        """The program of another tool, as a back end would find it; none if it is not there."""
        ...

    def commit_before(self, folder: Path, moment: datetime) -> str | None:
        """The newest commit of a repository that is older than a moment; none if there is none."""
        ...

    def observe(self, folder: Path, base: str | None, head: str | None) -> Observed:
        """What changed in a repository, with the text before and after."""
        ...

    def run_check(
        self, command: str, folder: Path, base: str | None, *, seconds: float, pass_env: Collection[str]
    ) -> CheckedTests:
        """A check command, run; if it runs tests, on the base, too."""
        ...

    def transcripts(self) -> TranscriptShelf:
        """What other tools wrote down of their sessions."""
        ...

    @property
    def version(self) -> str: ...


def parts_of(context: typer.Context) -> Parts:
    """The parts that `main` handed in."""
    return cast("Parts", context.find_root().obj)
