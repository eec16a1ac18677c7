"""Joins the parts: settings -> adapters -> Segue. The only place that knows them all."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from segue import __version__
from segue.application.acceptance import Acceptance
from segue.application.app import Segue
from segue.application.approvals import Approvals
from segue.application.backends import AgentBackend, ToolServer
from segue.application.briefings import Briefer
from segue.application.conversations import Conversations, ToolsFor
from segue.application.doctor import Default, Diagnosis, examine
from segue.application.endings import Endings, Limits
from segue.application.final_states import FinalStates
from segue.application.handing_over import HandingOver
from segue.application.pipelines import Pipelines
from segue.application.ports import Database, Views
from segue.application.results import Results
from segue.application.session_ports import Documents
from segue.application.sessions import SessionPolicy, Sessions
from segue.application.step_handover import StepHandover
from segue.application.steps import StepMoves
from segue.application.talking import Talking
from segue.application.tokens import Tokens
from segue.application.tools import AgentTools
from segue.application.verification import Verification
from segue.application.workers import WorkerPolicy, Workers
from segue.domain.environment import postgres_variables, withheld_names
from segue.domain.errors import BackendUnavailable, UnknownName
from segue.domain.handoff.checking.secrets import allow_everywhere
from segue.domain.limits import HandoffLimits
from segue.settings import Settings

if TYPE_CHECKING:
    from segue.adapters.backends.agents import AgentPrograms
    from segue.adapters.catalog.trust_store import TrustStore
    from segue.adapters.catalog.yaml_catalog import YamlCatalog
    from segue.adapters.installs import Installer


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.now(UTC)


def open_catalog(settings: Settings) -> YamlCatalog:
    """The catalog alone, for commands that need nothing else."""
    from segue.adapters.backends import options_model
    from segue.adapters.catalog.yaml_catalog import YamlCatalog

    programs = open_programs(settings)
    return YamlCatalog(
        user_dir=settings.config_dir,
        trust=open_trust(settings),
        options_model=options_model,
        default_backend=settings.backend,
        default_options=settings.backend_options,
        default_checks=settings.checks,
        choose=programs.choose,
        locate=programs.complete,
    )


def open_trust(settings: Settings) -> TrustStore:
    """Which projects the user trusts."""
    from segue.adapters.catalog.trust_store import TrustStore

    return TrustStore(settings.trust_file)


def open_programs(settings: Settings) -> AgentPrograms:
    """What finds agent programs, on the PATH and in Segue's own folder."""
    from segue.adapters.backends.agents import AgentPrograms

    def installed(name: str) -> Path | None:
        try:
            return open_installer(settings, say=lambda _line: None).find(name)
        except (BackendUnavailable, UnknownName):  # there is none for this platform, or none at all
            return None

    return AgentPrograms(installed=installed, options=settings.backend_options)


async def diagnose(settings: Settings, names: Sequence[str], *, seconds: float) -> Diagnosis:
    """A look at every back end, or at those that are named; and which one is the default."""
    from segue.adapters.backends import LoadedBackends

    programs = open_programs(settings)
    chosen = open_catalog(settings).default_backend()
    default = Default(name=chosen.label, backend=chosen.name, why=chosen.why) if chosen else None
    candidates = programs.candidates(names or (), [settings.backend])
    make_data_dir(settings)
    found = await examine(candidates, LoadedBackends(sessions_dir=settings.sessions_dir), seconds=seconds)
    passed = [name for options in settings.backend_options.values() for name in options.get("pass_env") or ()]
    return Diagnosis(default=default, backends=found, withheld=withheld_names(os.environ, passed))


def open_installer(settings: Settings, *, say: Callable[[str], None]) -> Installer:
    """What installs agent programs into Segue's own folder."""
    from segue.adapters.installs import Installer

    return Installer(settings.agents_dir, say=say)


@asynccontextmanager
async def open_segue(
    settings: Settings,
    *,
    policy: WorkerPolicy | None = None,
    backends: Mapping[str, AgentBackend] | None = None,
) -> AsyncIterator[Segue]:
    """Segue with its database open; it moves nothing on until `start` is called. Leaving it stops all."""
    from segue.adapters.backends import LoadedBackends
    from segue.adapters.documents import FileDocuments
    from segue.adapters.engine.dbos_engine import DbosEngine
    from segue.adapters.event_feed import SharedFeed
    from segue.adapters.processes import LocalProcesses
    from segue.adapters.storage.database import open_database
    from segue.interfaces.mcp.host import ToolsHost

    make_data_dir(settings)
    allow_everywhere(settings.not_secret)
    database = await open_database(settings.main_database_url)
    try:
        views = database.views
        feed = SharedFeed(views.entries_after, views.last_entry_id)
        activity = SharedFeed(views.activity_after, views.last_activity_id)
        database.on_commit = [feed.wake, activity.wake]
        loaded = LoadedBackends(sessions_dir=settings.sessions_dir, given=backends)
        clock = SystemClock()
        limits = Limits(step_timeout=settings.step_timeout)
        verification = _verification_of(settings, views)
        endings = Endings(
            database=database, backends=loaded, clock=clock, limits=limits, verification=verification
        )
        workers = Workers(
            database=database,
            engine=DbosEngine(database_url=settings.engine_database_url),
            processes=LocalProcesses(),
            clock=clock,
            policy=policy or WorkerPolicy(room=settings.max_running),
        )
        tools = AgentTools(database=database, clock=clock)
        host = ToolsHost(tools, version=__version__)
        catalog = open_catalog(settings)
        documents = FileDocuments(settings.personas_dir)
        pipelines = Pipelines(
            database=database,
            catalog=catalog,
            workers=workers,
            moves=_moves_of(settings, catalog, endings, documents, tools_for(settings, host.address)),
            clock=clock,
        )
        talking = Talking(
            database=database,
            backends=loaded,
            clock=clock,
            limits=limits,
            credential=str(settings.credential_file),
        )
        segue = Segue(
            sessions=Sessions(
                talking=talking,
                handing_over=HandingOver(talking=talking, documents=documents, verification=verification),
                catalog=catalog,
                policy=session_policy(settings),
            ),
            pipelines=pipelines,
            approvals=Approvals(database=database, clock=clock),
            tools=tools,
            tokens=_tokens_of(settings, database),
            results=Results(database=database, workspaces=verification.workspaces, clock=clock),
            views=database.views,
            feed=feed,
            activity=activity,
            catalog=catalog,
            workers=workers,
            backends=loaded,
        )
        async with aclosing(host):
            try:
                yield segue
            finally:
                await segue.stop()
    finally:
        await database.close()


def _verification_of(settings: Settings, views: Views) -> Verification:
    """What holds handoffs against git and against commands that are run again."""
    from segue.adapters.checks.reported import CheckRunner
    from segue.adapters.checks.run_cache import FileCache
    from segue.adapters.git.test_trees import GitTestTrees
    from segue.adapters.git.workspaces import GitWorkspaces
    from segue.application.test_comparison import TestComparer

    comparer = TestComparer(
        trees=GitTestTrees(), run=CheckRunner(), cache=FileCache(settings.data_dir / "test-runs")
    )
    return Verification(
        workspaces=GitWorkspaces(root=settings.worktrees_dir),
        views=views,
        run_check=lambda folder, base, command: comparer.compare_alongside(
            Path(folder), base, command, seconds=settings.check_timeout
        ),
    )


def session_policy(settings: Settings) -> SessionPolicy:
    """When sessions hand themselves over."""
    return SessionPolicy(
        auto_handoff=settings.auto_handoff,
        limits=handoff_limits(settings),
    )


def handoff_limits(settings: Settings) -> HandoffLimits:
    """What a session may use before it hands over."""
    return HandoffLimits(
        context_share=settings.handoff_context_share,
        turns=settings.handoff_turns,
        minutes=settings.handoff_minutes,
        cost=settings.handoff_cost,
    )


@asynccontextmanager
async def open_tools(settings: Settings) -> AsyncIterator[AgentTools]:
    """What agents can do through tools, with the database open: no worker, no engine, no back end."""
    from segue.adapters.storage.database import open_database

    make_data_dir(settings)
    allow_everywhere(settings.not_secret)
    database = await open_database(settings.main_database_url)
    try:
        yield AgentTools(database=database, clock=SystemClock())
    finally:
        await database.close()


@asynccontextmanager
async def open_tokens(settings: Settings) -> AsyncIterator[Tokens]:
    """Who may use the server, with the database open and nothing else."""
    from segue.adapters.storage.database import open_database

    make_data_dir(settings)
    database = await open_database(settings.main_database_url)
    try:
        yield _tokens_of(settings, database)
    finally:
        await database.close()


def _tokens_of(settings: Settings, database: Database) -> Tokens:
    from segue.adapters.credential import LocalCredential, login_name

    return Tokens(
        database=database,
        clock=SystemClock(),
        credential=LocalCredential(settings.credential_file),
        owner=login_name(),
    )


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


def _moves_of(
    settings: Settings,
    catalog: YamlCatalog,
    endings: Endings,
    documents: Documents,
    tools: ToolsFor | None,
) -> StepMoves:
    """What brings a step to its end."""
    from segue.adapters.tokens import counter_for

    notation = settings.handoff_notation
    conversations = Conversations(endings=endings, tools_for=tools, credential=str(settings.credential_file))
    return StepMoves(
        catalog=catalog,
        endings=endings,
        briefer=Briefer(counter_for=counter_for, budget=settings.briefing_budget, notation=notation),
        conversations=conversations,
        acceptance=Acceptance(
            endings=endings,
            conversations=conversations,
            verification=endings.verification,
            final_states=FinalStates(database=endings.database, verification=endings.verification),
            notation=notation,
        ),
        handover=StepHandover(
            endings=endings, conversations=conversations, documents=documents, most=settings.handoff_most
        ),
        handoff_limits=handoff_limits(settings) if settings.auto_handoff else None,
    )


def make_data_dir(settings: Settings) -> None:
    """The folder of the database and the sessions; `StorageError` if another user could change it."""
    from segue.adapters.private_files import make_data_folder

    is_default = settings.data_dir == Settings.model_fields["data_dir"].get_default(call_default_factory=True)
    own = (settings.sessions_dir.parent, settings.worktrees_dir.parent, settings.personas_dir)
    make_data_folder(settings.data_dir, tighten=is_default, private=tuple(each.name for each in own))
