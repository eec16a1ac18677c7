"""Templates: the steps of a run, what each does, and what its ending leads to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from segue.domain.errors import UnknownName, describe_known

V = TypeVar("V")

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
PROJECT_CHECKS = "project"
"""As the checks of a step: those of the run, or of the settings."""
MOST_TRIES = 3
"""How often the work of a step is tried where it can be sent back, unless the template says otherwise."""


class CatalogEntry(BaseModel):
    """Base of what stands in a catalog file: frozen, and no key that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def seconds_of(duration: Any) -> Any:
    """The seconds of `90`, `90s`, `15m`, `2h` or `3d`; what is not text is left to the next check."""
    if not isinstance(duration, str):
        return duration
    if (found := _DURATION.fullmatch(duration.strip())) is None:
        raise PydanticCustomError(
            "duration", "a duration is a number of seconds, or a number with s, m, h or d, such as 15m"
        )
    return float(found[1]) * _UNITS[found[2] or "s"]


Duration = Annotated[
    float,
    Field(gt=0, le=1e9),
    BeforeValidator(seconds_of),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9},
                {"type": "string", "pattern": r"^\s*(?=[^a-z]*[1-9])\d+(\.\d+)?[smhd]?\s*$"},
            ]
        }
    ),
]
"""How long something may take, in seconds."""


class StepType(StrEnum):
    """What a step is."""

    AGENT = "agent"
    APPROVAL = "approval"
    """A person decides."""
    GATE = "gate"
    """Commands decide."""


class Reaction(StrEnum):
    """What an ending of a step leads to."""

    CONTINUE = "continue"
    """The next step begins, and is told."""
    NOTE = "note"
    """The same, for what is wrong with a handoff."""
    REPAIR = "repair"
    """The same session is asked to repair it, a few times; then the run continues with what there is."""
    WAIT = "wait"
    """A person decides."""
    BACK_TO = "back_to"
    """The work goes back to an earlier step, or to this one; once all tries are used up, the step fails."""
    FAIL = "fail"
    """The step fails, and the run with it."""


OutcomeReaction = Literal[Reaction.CONTINUE, Reaction.WAIT, Reaction.BACK_TO, Reaction.FAIL]
FindingReaction = Literal[Reaction.NOTE, Reaction.REPAIR, Reaction.WAIT, Reaction.BACK_TO, Reaction.FAIL]
NoChangeReaction = Literal[Reaction.NOTE, Reaction.WAIT, Reaction.BACK_TO, Reaction.FAIL]
RejectReaction = Literal[Reaction.BACK_TO, Reaction.FAIL]


class StepEnding(StrEnum):
    """How an agent ends a step, by its own words."""

    COMPLETED = "completed"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    FAILED = "failed"
    NONE = "none"
    """Its handoff states no outcome."""
    QUESTION = "question"
    """It only asks."""


_EVERY_TYPE = frozenset({"type", "name", "description", "timeout", "back_to", "at_most"})
REACTIONS = ("on_refuted", "on_bad_handoff", "on_failed_checks", "on_no_change")
"""Keys of a template and of its steps that say what a finding leads to."""
KEYS_OF_TYPE: Mapping[StepType, frozenset[str]] = {
    StepType.AGENT: _EVERY_TYPE | {"agent", "model", "checks", "on_outcome", "on_reject", *REACTIONS},
    StepType.APPROVAL: _EVERY_TYPE | {"on_reject", "remind_after_hours"},
    StepType.GATE: _EVERY_TYPE | {"checks", "until"},
}
"""Which keys go with which type."""
_LATER = {
    "needs": "graphs; this version runs the steps in order",
    "when": "graphs; this version runs every step",
    "loop": "graphs; `back_to` sends the work back to an earlier step",
    "best_of": "graphs",
}
"""Keys of a later version, and what they come with."""


class TemplateStep(CatalogEntry):
    """A place in a recipe."""

    type: StepType = StepType.AGENT
    """An agent's session, a person's decision, or commands that must pass."""
    agent: str | None = None
    """Name of an agent profile."""
    name: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_-]*$")
    """What the step is called; the agent's name by itself, then with -2, -3."""
    description: str = ""
    """The job, the question to the approver, or what the gate checks; word for word."""
    model: str | None = None
    """Overrides the profile's model."""
    timeout: Duration | None = None
    """Overrides the profile's time-out; of a gate, for each command; of an approval, until nobody decided."""
    checks: tuple[str, ...] | Literal["project"] | None = None
    """Commands that Segue runs after this step; overrides the template's. `project` for those of the run."""
    until: Literal["passes", "fails"] = "passes"
    """What a gate waits for: that all checks pass, or that one fails."""
    on_outcome: Mapping[StepEnding, OutcomeReaction] = Field(default_factory=dict)
    """What the outcome that the agent states leads to."""
    on_refuted: FindingReaction | None = None
    """What happens if a claim is false; overrides the template's."""
    on_bad_handoff: FindingReaction | None = None
    """What happens if there is no handoff, or a bad one; overrides the template's."""
    on_failed_checks: FindingReaction | None = None
    """What happens if a check fails that did not fail before; overrides the template's."""
    on_no_change: NoChangeReaction | None = None
    """What happens if the agent changed no file; overrides the template's."""
    on_reject: RejectReaction | None = None
    """What happens if a person rejects; back_to where that key is there, else fail."""
    back_to: str | None = None
    """Name of the earlier agent step that the work goes back to; of an agent's step also itself."""
    at_most: int | None = Field(default=None, ge=1, le=20)
    """How often the work is tried, the first time included."""
    remind_after_hours: float | None = Field(default=None, gt=0, le=10_000)
    """When to remind of an approval for the first time."""

    @model_validator(mode="before")
    @classmethod
    def _no_later_key(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            for key, comes_with in _LATER.items():
                if key in given:
                    raise _wrong(key, f'"{key}" comes with {comes_with}')
        return given

    @model_validator(mode="after")
    def _keys_fit_the_type(self) -> TemplateStep:
        known = KEYS_OF_TYPE[self.type]
        for key in type(self).model_fields:
            if key in self.model_fields_set and key not in known:
                hint = describe_known(key, known)
                raise _wrong(key, f'"{key}" is not for a step of type {self.type}. {hint}')
        if self.type is StepType.AGENT and not self.agent:
            raise _wrong("agent", '"agent" is missing')
        if self.type is StepType.GATE and not self.checks:
            raise _wrong("checks", 'a gate needs "checks": a list of commands, or `project`')
        return self

    @model_validator(mode="after")
    def _names_where_work_goes_back(self) -> TemplateStep:
        if self.back_to is None:
            sends = [key for key in (*REACTIONS, "on_reject") if getattr(self, key) is Reaction.BACK_TO]
            if Reaction.BACK_TO in self.on_outcome.values():
                sends.append("on_outcome")
            if self.at_most is not None:
                sends.append("at_most")
            if sends:
                raise _wrong(sends[0], f'"{sends[0]}" needs "back_to": the step that the work goes back to')
        return self

    @property
    def own_name(self) -> str:
        """What it is called if nothing else is."""
        return self.name or self.agent or str(self.type)

    @property
    def tries(self) -> int | None:
        """How often the work is tried; none for no limit."""
        if self.at_most is not None:
            return self.at_most
        return None if self.type is StepType.APPROVAL else MOST_TRIES

    @property
    def rejection(self) -> RejectReaction:
        """What a person's no leads to."""
        if self.on_reject is not None:
            return self.on_reject
        return Reaction.BACK_TO if self.back_to is not None else Reaction.FAIL


class PipelineTemplate(CatalogEntry):
    """A recipe: the steps of a run, in order."""

    description: str = ""
    """What the recipe is for, in a line."""
    steps: tuple[TemplateStep, ...] = Field(min_length=1)
    """What is done, in order; at least one is an agent's."""
    checks: tuple[str, ...] | Literal["project"] = ()
    """Commands that Segue runs in the workspace after each step, such as `pytest -q`."""
    on_refuted: FindingReaction = Reaction.REPAIR
    """What happens to a step with a false claim."""
    on_bad_handoff: FindingReaction = Reaction.REPAIR
    """What happens to a step without a handoff, or with a bad one."""
    on_failed_checks: FindingReaction = Reaction.REPAIR
    """What happens to a step after which a check fails that did not fail before."""
    on_no_change: NoChangeReaction = Reaction.NOTE
    """What happens to a step that changed no file."""

    @model_validator(mode="after")
    def _steps_fit_together(self) -> PipelineTemplate:
        numbers: dict[str, int] = {}
        for number, step in enumerate(self.steps, 1):
            if step.name is not None and (first := numbers.setdefault(step.name, number)) != number:
                raise _wrong(
                    "name", f'steps {first} and {number} have the same name, "{step.name}"', number - 1
                )
        if not any(step.type is StepType.AGENT for step in self.steps):
            raise _wrong("type", "no step of this template is an agent's")
        for index, step in enumerate(self.steps):
            if step.back_to is not None:
                self._check_back_to(index, step.back_to)
        return self

    def _check_back_to(self, index: int, name: str) -> None:
        names, is_agent = self.step_names, self.steps[index].type is StepType.AGENT
        targets = [
            names[place] for place in range(index + is_agent) if self.steps[place].type is StepType.AGENT
        ]
        if name not in targets:
            raise _wrong("back_to", f'no earlier agent step "{name}". {describe_known(name, targets)}', index)

    @property
    def step_names(self) -> tuple[str, ...]:
        """What each step is called; no two alike."""
        taken = {step.name for step in self.steps}
        names: list[str] = []
        for step in self.steps:
            name, count = step.own_name, 1
            while step.name is None and name in taken:
                count += 1
                name = f"{step.own_name}-{count}"
            taken.add(name)
            names.append(name)
        return tuple(names)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that it names, each once."""
        return tuple(dict.fromkeys(step.agent for step in self.steps if step.agent is not None))

    def with_models(self, models: Mapping[str, str]) -> PipelineTemplate:
        """The same with models for some steps: by index from 0, by the name of a step, or by agent."""
        names, agents = set(self.step_names), set(self.agents)
        if unknown := set(models) - {str(index) for index in range(len(self.steps))} - names - agents:
            raise UnknownName("step or agent", min(unknown), names | agents, where="this pipeline")

        def model_of(index: int, step: TemplateStep, name: str) -> str | None:
            is_own = name == step.name or name not in agents
            by_name = models.get(name) if is_own else None
            return models.get(str(index)) or by_name or models.get(step.agent or "") or step.model

        steps = tuple(
            step.model_copy(update={"model": model_of(index, step, name)})
            for index, (step, name) in enumerate(zip(self.steps, self.step_names, strict=True))
        )
        return self.model_copy(update={"steps": steps})

    def with_project_checks(self, checks: tuple[str, ...]) -> PipelineTemplate:
        """The same with these checks where it says `project`; an error for a gate that has none then."""
        steps = tuple(
            step.model_copy(update={"checks": checks}) if step.checks == PROJECT_CHECKS else step
            for step in self.steps
        )
        own = checks if self.checks == PROJECT_CHECKS else self.checks
        return self.model_copy(update={"checks": own, "steps": steps})

    def with_default_checks(self, checks: tuple[str, ...]) -> PipelineTemplate:
        """The same with these checks, if it names none itself."""
        named = "checks" in self.model_fields_set or any(step.checks is not None for step in self.steps)
        return self if named or not checks else self.model_copy(update={"checks": checks})

    def with_checks(self, checks: tuple[str, ...]) -> PipelineTemplate:
        """The same with these checks instead of its own; a step that has none by its own words has none."""
        steps = tuple(
            step.model_copy(update={"checks": None}) if step.checks and step.type is StepType.AGENT else step
            for step in self.steps
        )
        return self.model_copy(update={"checks": checks, "steps": steps})

    def checks_of(self, index: int) -> tuple[str, ...]:
        """What is run after a step."""
        own = self.steps[index].checks
        found = self.checks if own is None else own
        return () if found == PROJECT_CHECKS else tuple(found)

    def reaction_to(self, index: int, key: str) -> Reaction:
        """What a finding leads to after a step: `on_refuted`, `on_bad_handoff` and the like."""
        own: Reaction | None = getattr(self.steps[index], key)
        everywhere: Reaction = getattr(self, key)
        return own or everywhere


def _wrong(key: str, message: str, step: int | None = None) -> PydanticCustomError:
    """What is wrong with a key of a template, or of one of its steps."""
    where = {} if step is None else {"step": step}
    return PydanticCustomError("template_key", "{message}", {"message": message, "key": key, **where})
