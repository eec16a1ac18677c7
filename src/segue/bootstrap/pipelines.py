"""Joins the parts that bring pipelines to their end."""

from __future__ import annotations

from dataclasses import dataclass

from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import Limits
from segue.application.handoffs.review import HandoffReviewer
from segue.application.handoffs.synthetic import SyntheticHandoffs
from segue.application.handoffs.writer_questions import WriterQuestions
from segue.application.pipelines.acceptance import Acceptance
from segue.application.pipelines.backend_places import BackendPlaces
from segue.application.pipelines.briefing import BriefingRenderer
from segue.application.pipelines.closing import StepCloser
from segue.application.pipelines.final_states import FinalStates
from segue.application.pipelines.gates import GateRunner
from segue.application.pipelines.runner import PipelineRunner
from segue.application.pipelines.shared_work import SharedWork
from segue.application.pipelines.step import StepRunner
from segue.application.pipelines.step_handover import StepHandover
from segue.application.pipelines.submit import Pipelines
from segue.application.pipelines.waiting import Waiting
from segue.application.pipelines.workers import Workers
from segue.application.ports.backend import Backends
from segue.application.ports.world import CatalogSource, Clock, Documents
from segue.domain.briefing.instructions import AskedNotation
from segue.domain.session import HandoffLimits
from segue.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineParts:
    """What the use cases of pipelines are made of."""

    settings: Settings
    conversations: Conversations
    backends: Backends
    clock: Clock
    limits: Limits
    catalog: CatalogSource
    documents: Documents
    reviewer: HandoffReviewer
    notation: AskedNotation
    """What agents are asked to hand off in."""
    workers: Workers
    handoff_limits: HandoffLimits | None
    shared: SharedWork | None = None
    """None on one machine."""


def join_pipelines(parts: PipelineParts) -> tuple[Pipelines, PipelineRunner]:
    """The use cases of pipelines, and what runs them."""
    store, clock, conversations = parts.conversations.parts.store, parts.clock, parts.conversations
    synthetic = SyntheticHandoffs(backends=parts.backends, reviewer=parts.reviewer)
    closer = StepCloser(store=store, clock=clock, conversations=conversations, synthetic=synthetic)
    waiting = Waiting(
        store=store,
        clock=clock,
        conversations=conversations,
        remind_after_hours=parts.settings.remind_after_hours,
    )
    steps = _join_steps(parts, synthetic, closer, waiting)
    runner = PipelineRunner(
        store=store,
        steps=steps,
        closer=closer,
        conversations=conversations,
        clock=clock,
        places=BackendPlaces(parts.backends, parts.settings.max_per_backend),
        max_recoveries=parts.settings.max_recoveries,
    )
    pipelines = Pipelines(
        store=store,
        catalog=parts.catalog,
        workspaces=parts.reviewer.workspaces,
        workers=parts.workers,
        conversations=conversations,
        closer=closer,
        clock=clock,
        shared=parts.shared,
    )
    return pipelines, runner


def _join_steps(
    parts: PipelineParts, synthetic: SyntheticHandoffs, closer: StepCloser, waiting: Waiting
) -> StepRunner:
    from segue.adapters.tokens import counter_for

    settings, store = parts.settings, parts.conversations.parts.store
    return StepRunner(
        store=store,
        backends=parts.backends,
        clock=parts.clock,
        limits=parts.limits,
        catalog=parts.catalog,
        workspaces=parts.reviewer.workspaces,
        closer=closer,
        waiting=waiting,
        gates=GateRunner(store=store, clock=parts.clock, reviewer=parts.reviewer),
        briefings=BriefingRenderer(
            counter_for=counter_for, budget=settings.briefing_budget, notation=parts.notation
        ),
        conversations=parts.conversations,
        acceptance=_join_acceptance(parts, waiting),
        handover=StepHandover(
            store=store,
            clock=parts.clock,
            conversations=parts.conversations,
            reviewer=parts.reviewer,
            synthetic=synthetic,
            documents=parts.documents,
        ),
        handoff_limits=parts.handoff_limits,
        max_handoffs=settings.max_handoffs,
        shared=parts.shared,
    )


def _join_acceptance(parts: PipelineParts, waiting: Waiting) -> Acceptance:
    from segue.adapters.empty_folders import LocalFolders

    settings, notation = parts.settings, parts.notation
    store = parts.conversations.parts.store
    return Acceptance(
        store=store,
        clock=parts.clock,
        conversations=parts.conversations,
        reviewer=parts.reviewer,
        final_states=FinalStates(store=store, reviewer=parts.reviewer),
        questions=WriterQuestions(
            store=store,
            clock=parts.clock,
            limits=parts.limits,
            reviewer=parts.reviewer,
            folders=LocalFolders(settings.sessions_dir.parent / "questions"),
            notation=notation,
            is_on=settings.ask_writer,
        ),
        notation=notation,
        shared=parts.shared,
        waiting=waiting,
    )
