"""AgentProfile, Catalog, Plan: who can do a step, and which recipes are on offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from segue.domain.errors import UnknownName
from segue.domain.permissions import PermissionRule
from segue.domain.template import CatalogEntry, Duration, PipelineTemplate

AUTO = "auto"
"""As the name of a back end: the first whose agent program is found."""


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
    timeout: Duration | None = None
    """How long a step of this agent may take, in seconds or as 90s, 15m, 2h."""
    permissions: tuple[PermissionRule, ...] = ()
    """Rules of its own, after Segue's: no writing outside the workspace, no pushing."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """What the back end itself wants to know; checked against the back end's own list."""


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
        return Plan(template=template, agents={name: self.agent(name) for name in template.agents})
