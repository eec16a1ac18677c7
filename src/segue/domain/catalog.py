"""AgentProfile, PipelineTemplate, Catalog: who can do a step, and which recipes are on offer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from segue.domain.errors import UnknownName
from segue.domain.permissions import PermissionRule

AUTO = "auto"
"""As the name of a back end: the first whose agent program is found."""


class Gate(StrEnum):
    """What happens to a step whose handoff does not pass."""

    NOTE = "note"
    """It is recorded, the next agent gets to know it, and the run continues."""
    REPAIR = "repair"
    """The same session is asked to repair it, a few times; then the run continues with what there is."""
    FAIL = "fail"
    """The step fails."""


class CatalogEntry(BaseModel):
    """Base of what stands in a catalog file: frozen, and no key that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentProfile(CatalogEntry):
    """Who does a step."""

    description: str = ""
    """What this agent is for, in a line."""
    backend: str | None = None
    """The program that is driven; none or auto for the default from the settings."""
    model: str | None = None
    """The model to use, in the back end's own words."""
    system_prompt_additions: str = ""
    """Standing orders, given to the agent before every briefing."""
    timeout: float | None = Field(default=None, gt=0, le=1e9)
    """Seconds a step of this agent may take."""
    permissions: tuple[PermissionRule, ...] = ()
    """Rules of its own, after Segue's: no writing outside the workspace, no pushing."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """What the back end itself wants to know; checked against the back end's own list."""


class TemplateStep(CatalogEntry):
    """A place in a recipe."""

    agent: str
    """Name of an agent profile."""
    description: str = ""
    """The job of this step, told to the agent word for word."""
    model: str | None = None
    """Overrides the profile's model."""
    timeout: float | None = Field(default=None, gt=0, le=1e9)
    """Overrides the profile's time-out, in seconds."""
    checks: tuple[str, ...] | None = None
    """Commands that Segue runs after this step; overrides the template's."""
    on_refuted: Gate | None = None
    """What happens if a claim is false: note, repair or fail; overrides the template's."""
    on_bad_handoff: Gate | None = None
    """What happens if there is no handoff, or a bad one; overrides the template's."""


class PipelineTemplate(CatalogEntry):
    """A recipe: the steps of a run, in order."""

    description: str = ""
    """What the recipe is for, in a line."""
    steps: tuple[TemplateStep, ...] = Field(min_length=1)
    checks: tuple[str, ...] = ()
    """Commands that Segue runs in the workspace after each step, such as `pytest -q`."""
    on_refuted: Gate = Gate.REPAIR
    """What happens to a step with a false claim."""
    on_bad_handoff: Gate = Gate.REPAIR
    """What happens to a step without a handoff, or with a bad one."""

    def with_default_checks(self, checks: tuple[str, ...]) -> PipelineTemplate:
        """The same with these checks, if it names none itself."""
        named = "checks" in self.model_fields_set or any(step.checks is not None for step in self.steps)
        return self if named or not checks else self.model_copy(update={"checks": checks})

    def with_checks(self, checks: tuple[str, ...]) -> PipelineTemplate:
        """The same with these checks instead of its own; a step that has none by its own words has none."""
        steps = tuple(
            step.model_copy(update={"checks": None}) if step.checks else step for step in self.steps
        )
        return self.model_copy(update={"checks": checks, "steps": steps})

    def checks_of(self, index: int) -> tuple[str, ...]:
        """What is run after a step."""
        own = self.steps[index].checks
        return self.checks if own is None else own

    def refuted_gate_of(self, index: int) -> Gate:
        """What a refuted claim does to a step."""
        return self.steps[index].on_refuted or self.on_refuted

    def bad_handoff_gate_of(self, index: int) -> Gate:
        """What a bad handoff does to a step."""
        return self.steps[index].on_bad_handoff or self.on_bad_handoff


class Plan(CatalogEntry):
    """A template with the agents it names, frozen into a pipeline when it is submitted."""

    template: PipelineTemplate
    agents: Mapping[str, AgentProfile]


class Catalog(CatalogEntry):
    """All agents and templates on offer."""

    agents: Mapping[str, AgentProfile] = Field(default_factory=dict)
    templates: Mapping[str, PipelineTemplate] = Field(default_factory=dict)

    def agent(self, name: str) -> AgentProfile:
        """The profile with this name."""
        if name not in self.agents:
            raise UnknownName("agent", name, self.agents)
        return self.agents[name]

    def template(self, name: str) -> PipelineTemplate:
        """The template with this name."""
        if name not in self.templates:
            raise UnknownName("template", name, self.templates)
        return self.templates[name]

    def plan(self, template: PipelineTemplate) -> Plan:
        """The template with a copy of every agent it needs, so that later edits change nothing."""
        return Plan(template=template, agents={s.agent: self.agent(s.agent) for s in template.steps})
