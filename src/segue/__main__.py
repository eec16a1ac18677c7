"""The console script: joins the command line with the parts, made when a command asks for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue import __version__
from segue.interfaces.cli.app import run_cli

if TYPE_CHECKING:
    from segue.adapters.catalog.trust_store import TrustStore
    from segue.adapters.installs import Installer
    from segue.adapters.tokens import VocabularyCounter
    from segue.adapters.transcripts.local import LocalTranscripts
    from segue.application.doctor import Diagnosis
    from segue.application.handoffs.agent_tools import AgentTools
    from segue.application.handoffs.structured_text import StructuredText
    from segue.application.ports.checks import CheckedTests
    from segue.application.ports.world import CatalogSource
    from segue.application.segue import Segue
    from segue.application.tokens import Tokens
    from segue.domain.evidence.sources import Observed
    from segue.domain.trust import ProjectContent
    from segue.settings import Settings


class LazyParts:
    """The parts, imported when they are needed: `segue --help` needs none of them."""

    version = __version__

    def settings(self, working_dir: Path | None = None, **overrides: Any) -> Settings:
        """The settings for a project folder."""
        from segue.settings import load_settings

        return load_settings(working_dir, **overrides)

    def own_settings(self, **overrides: Any) -> Settings:
        """The settings without those of a project."""
        from segue.settings import load_settings

        return load_settings(with_project=False, **overrides)

    def project_content(self, folder: Path) -> ProjectContent | None:
        """What the project around a folder would configure and run."""
        from segue.adapters.catalog.project import read_project

        project = read_project(folder)
        return project.content if project else None

    def trust(self, settings: Any) -> TrustStore:
        """Which projects the user trusts."""
        from segue.bootstrap import open_trust

        return open_trust(settings)

    def open(self, settings: Any, *, hosting: bool = False) -> AbstractAsyncContextManager[Segue]:
        """Segue with its database open."""
        from segue.application.ports.engine import WorkerPolicy
        from segue.bootstrap import open_segue

        policy = WorkerPolicy(
            hosting=hosting, room=settings.max_running, overall=settings.max_running_overall
        )
        return open_segue(settings, policy=policy)

    def tools(self, settings: Any) -> AbstractAsyncContextManager[AgentTools]:
        """The tools of agents, with the database open and nothing else."""
        from segue.bootstrap import open_tools

        return open_tools(settings)

    def tokens(self, settings: Any) -> AbstractAsyncContextManager[Tokens]:
        """Who may use the server, with the database open and nothing else."""
        from segue.bootstrap import open_tokens

        return open_tokens(settings)

    def catalog(self, settings: Any) -> CatalogSource:
        """The catalog alone."""
        from segue.bootstrap import open_catalog

        return open_catalog(settings)

    def catalog_schema(self) -> dict[str, Any]:
        """The JSON Schema of catalog files, with the options of every back end that people use."""
        from segue.adapters.backends import BACKENDS, options_model
        from segue.adapters.catalog.schema import catalog_schema

        return catalog_schema([name for name in BACKENDS if name != "scripted"], options_model)

    def token_counter(self, model: str | None) -> VocabularyCounter:
        """The counter for a model; loaded when tokens are counted."""
        from segue.adapters.tokens import counter_for

        return counter_for(model)

    def structure(
        self, settings: Any, text: str, *, agent: str, working_dir: Path, seconds: float
    ) -> Coroutine[Any, Any, StructuredText]:
        """A text as a record, with the help of an agent."""
        from segue.bootstrap import structure_with

        return structure_with(settings, text, agent=agent, working_dir=working_dir, seconds=seconds)

    def diagnose(
        self, settings: Any, names: Sequence[str], *, seconds: float
    ) -> Coroutine[Any, Any, Diagnosis]:
        """A look at every back end, or at those that are named."""
        from segue.bootstrap import diagnose

        return diagnose(settings, names, seconds=seconds)

    def installer(self, settings: Any, *, say: Callable[[str], None]) -> Installer:
        """Installs agent programs into Segue's own folder."""
        from segue.bootstrap import open_installer

        return open_installer(settings, say=say)

    def place_of_tool(self, settings: Any, name: str) -> str | None:
        """The program of another tool."""
        from segue.bootstrap import open_programs

        return open_programs(settings).place_of(name)

    def commit_before(self, folder: Path, moment: datetime) -> str | None:
        """The newest commit of a repository that is older than a moment."""
        from segue.adapters.git import commit_before

        return commit_before(folder, moment)

    def observe(self, folder: Path, base: str | None, head: str | None) -> Observed:
        """What changed in a repository, with the text before and after."""
        from segue.adapters.git import observe

        return observe(folder, base, head)

    def run_check(
        self, command: str, folder: Path, base: str | None, *, seconds: float, pass_env: Collection[str]
    ) -> CheckedTests:
        """A check command, run; if it runs tests, on the base, too."""
        from segue.adapters.checks.reported import CheckRunner
        from segue.adapters.git.test_trees import GitTestTrees
        from segue.application.handoffs.test_comparison import TestComparer

        comparer = TestComparer(trees=GitTestTrees(), run=CheckRunner(pass_env=pass_env))
        return comparer.compare(folder, base, command, seconds=seconds)

    def transcripts(self) -> LocalTranscripts:
        """What other tools wrote down of their sessions."""
        from segue.adapters.transcripts.local import LocalTranscripts

        return LocalTranscripts()


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a poor locale must not end a command
    sys.exit(run_cli(LazyParts()))


if __name__ == "__main__":
    main()
