"""Joins the parts: settings -> adapters -> Segue. The only place that knows them all."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

from segue import __version__
from segue.application.clock import SharedClock
from segue.application.conversations.conversation import ConversationParts
from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import Limits
from segue.application.doctor import Default, Diagnosis, examine
from segue.application.handoffs.agent_tools import AgentTools
from segue.application.handoffs.review import HandoffReviewer
from segue.application.handoffs.writer_questions import NO_PERMISSIONS
from segue.application.pipelines.approvals import Approvals
from segue.application.pipelines.results import Results
from segue.application.pipelines.retention import Retention
from segue.application.pipelines.workers import Workers
from segue.application.ports.backend import AgentBackend, SessionRequest
from segue.application.ports.checks import CheckedTests
from segue.application.ports.engine import WorkerPolicy
from segue.application.ports.store import Store
from segue.application.ports.views import Views
from segue.application.ports.world import Clock
from segue.application.segue import Segue
from segue.application.sessions.handover import SessionHandover
from segue.application.sessions.model import SessionPolicy
from segue.application.sessions.profiles import find_profile
from segue.application.sessions.sessions import Sessions
from segue.application.tokens import Tokens
from segue.bootstrap.pipelines import PipelineParts, join_pipelines
from segue.bootstrap.tools import tools_for
from segue.domain.environment import withheld_names
from segue.domain.errors import BackendUnavailable, UnknownName
from segue.domain.handoff.checking.secrets import allow_everywhere
from segue.domain.handoff.custom_notation import CustomNotation
from segue.domain.session import HandoffLimits
from segue.domain.workers import Worker
from segue.settings import Settings

if TYPE_CHECKING:
    from segue.adapters.backends.agents import AgentPrograms
    from segue.adapters.catalog.trust_store import TrustStore
    from segue.adapters.catalog.yaml_catalog import YamlCatalog
    from segue.adapters.checks.functions import CheckFunctions
    from segue.adapters.installs import Installer
    from segue.adapters.storage.database import SqlStore
    from segue.application.handoffs.structured_text import StructuredText
    from segue.application.pipelines.shared_work import SharedWork
    from segue.application.ports.world import Clock


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.now(UTC)


def open_catalog(settings: Settings, *, backends: Mapping[str, AgentBackend] | None = None) -> YamlCatalog:
    """The catalog alone, for commands that need nothing else."""
    from segue.adapters.backends import options_model
    from segue.adapters.catalog.yaml_catalog import YamlCatalog

    given = backends or {}
    programs = open_programs(settings)
    return YamlCatalog(
        user_dir=settings.config_dir,
        trust=open_trust(settings),
        options_model=lambda name: given[name].Options if name in given else options_model(name),
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


async def structure_with(
    settings: Settings, text: str, *, agent: str, working_dir: Path, seconds: float
) -> StructuredText:
    """A text as a record, with the help of an agent that works in an empty folder."""
    from segue.adapters.backends import LoadedBackends
    from segue.adapters.empty_folders import LocalFolders
    from segue.application.handoffs.structured_text import structure_text

    catalog = open_catalog(settings)
    with TemporaryDirectory(prefix="segue-") as place:
        backends = LoadedBackends(sessions_dir=Path(place, "sessions"))
        name, profile = find_profile(agent, str(working_dir), catalog, backends)
        _, backend = backends.get(profile.backend, name)
        async with LocalFolders(Path(place)).open("empty") as folder:
            request = SessionRequest(
                key=uuid4().hex,
                agent_name=name,
                profile=profile,
                permissions=NO_PERMISSIONS,
                model=profile.model,
                working_dir=folder,
                title="segue: structure a handoff",
            )
            try:
                return await structure_text(text, backend, request, seconds=seconds)
            finally:
                await backends.shutdown()


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
    notation: CustomNotation | None = None,
    checks: CheckFunctions | None = None,
    own_clock: Clock | None = None,
) -> AsyncIterator[Segue]:
    """Segue with its database open; it moves nothing on until `start` is called. Leaving it stops all.

    `own_clock` is that of this machine, which is put right by the database's.
    """
    from segue.adapters.backends import LoadedBackends
    from segue.adapters.documents import FileDocuments
    from segue.adapters.engine import open_engine
    from segue.adapters.event_feed import SharedFeed
    from segue.adapters.processes import LocalProcesses
    from segue.interfaces.mcp.host import ToolsHost

    make_data_dir(settings)
    allow_everywhere(settings.not_secret)
    store = await _open_store(settings)
    try:
        views = store.views
        feed = SharedFeed(views.entries_after, views.last_entry_id)
        activity = SharedFeed(views.activity_after, views.last_activity_id)
        store.on_commit = [feed.wake, activity.wake]
        loaded = LoadedBackends(sessions_dir=settings.sessions_dir, given=backends)
        clock = SharedClock(own_clock or SystemClock())
        limits = Limits(step_timeout=settings.step_timeout)
        reviewer = _reviewer_of(settings, views, notation or CustomNotation(), checks)
        policy = policy or WorkerPolicy(room=settings.max_running, overall=settings.max_running_overall)
        shared = _shared_work_of(settings, store, clock)
        workers = Workers(
            store=store,
            engine=open_engine(settings.engine_database_url, hosting=policy.hosting),
            processes=LocalProcesses(),
            clock=clock,
            policy=policy,
            home=shared.home if shared is not None else None,
        )
        tools = AgentTools(store=store, clock=clock)
        host = ToolsHost(tools, version=__version__)
        catalog = open_catalog(settings, backends=backends)
        documents = FileDocuments(settings.personas_dir)
        conversations = Conversations(
            parts=ConversationParts(store=store, clock=clock, limits=limits),
            backends=loaded,
            tools_for=tools_for(settings, host.address),
            credential=str(settings.credential_file),
        )
        pipelines, runner = join_pipelines(
            PipelineParts(
                settings=settings,
                conversations=conversations,
                backends=loaded,
                clock=clock,
                limits=limits,
                catalog=catalog,
                documents=documents,
                reviewer=reviewer,
                notation=notation if notation and notation.request else settings.handoff_notation,
                workers=workers,
                handoff_limits=handoff_limits(settings) if settings.auto_handoff else None,
                shared=shared,
            )
        )
        results = Results(store=store, workspaces=reviewer.workspaces, clock=clock, shared=shared)
        segue = Segue(
            sessions=Sessions(
                conversations=conversations,
                handover=SessionHandover(conversations=conversations, documents=documents, reviewer=reviewer),
                catalog=catalog,
                policy=session_policy(settings),
            ),
            pipelines=pipelines,
            runner=runner,
            approvals=Approvals(store=store, clock=clock, workers=workers),
            tools=tools,
            tokens=_tokens_of(settings, store),
            results=results,
            retention=Retention(
                store=store,
                results=results,
                documents=documents,
                conversations=conversations,
                clock=clock,
                shared=shared,
            ),
            keep_days=settings.keep_days,
            views=store.views,
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
        await store.close()


def _reviewer_of(
    settings: Settings, views: Views, notation: CustomNotation, checks: CheckFunctions | None
) -> HandoffReviewer:
    """What compares handoffs with git and with commands that are run again."""
    from segue.adapters.checks.reported import CheckRunner
    from segue.adapters.checks.run_cache import FileCache
    from segue.adapters.git.test_trees import GitTestTrees
    from segue.adapters.git.workspaces import GitWorkspaces
    from segue.application.handoffs.test_comparison import TestComparer

    comparer = TestComparer(
        trees=GitTestTrees(), run=CheckRunner(), cache=FileCache(settings.data_dir / "test-runs")
    )

    def run_command(folder: str, base: str | None, command: str) -> Awaitable[CheckedTests]:
        return comparer.compare_alongside(Path(folder), base, command, seconds=settings.check_timeout)

    return HandoffReviewer(
        workspaces=GitWorkspaces(root=settings.worktrees_dir),
        views=views,
        run_check=checks.beside(run_command, seconds=settings.check_timeout) if checks else run_command,
        extract=notation.extract,
    )


def _shared_work_of(settings: Settings, store: Store, clock: Clock) -> SharedWork | None:
    """What outlives this machine; none where the records are on this machine, too."""
    if settings.engine_database_url is None:
        return None
    from segue.adapters.git.shared import GitSharedRepositories
    from segue.application.pipelines.shared_work import SharedWork

    repositories = GitSharedRepositories(
        root=settings.worktrees_dir, clones=settings.repositories_dir, push_to=settings.push_to
    )
    return SharedWork(store=store, repositories=repositories, clock=clock)


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
    make_data_dir(settings)
    allow_everywhere(settings.not_secret)
    store = await _open_store(settings)
    try:
        yield AgentTools(store=store, clock=SystemClock())
    finally:
        await store.close()


@asynccontextmanager
async def open_tokens(settings: Settings) -> AsyncIterator[Tokens]:
    """Who may use the server, with the database open and nothing else."""
    make_data_dir(settings)
    store = await _open_store(settings)
    try:
        yield _tokens_of(settings, store)
    finally:
        await store.close()


async def _open_store(settings: Settings) -> SqlStore:
    from segue.adapters.credential import login_name
    from segue.adapters.storage.database import open_database

    def is_gone(worker: Worker, now: datetime) -> bool:
        from segue.adapters.processes import LocalProcesses  # asked once a version, and slow to import

        return LocalProcesses().is_gone(worker, now)

    return await open_database(settings.main_database_url, user=login_name(), is_gone=is_gone)


def _tokens_of(settings: Settings, store: Store) -> Tokens:
    from segue.adapters.credential import LocalCredential, login_name

    return Tokens(
        store=store,
        clock=SystemClock(),
        credential=LocalCredential(settings.credential_file),
        owner=login_name(),
    )


def make_data_dir(settings: Settings) -> None:
    """The folder of the database and the sessions; `StorageError` if another user could change it."""
    from segue.adapters.private_files import make_data_folder

    is_default = settings.data_dir == Settings.model_fields["data_dir"].get_default(call_default_factory=True)
    own = [settings.sessions_dir.parent, settings.worktrees_dir.parent, settings.personas_dir]
    if settings.engine_database_url is not None:
        own.append(settings.repositories_dir.parent)
    make_data_folder(settings.data_dir, tighten=is_default, private=tuple(each.name for each in own))
