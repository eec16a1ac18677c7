"""The canonical handoff: one typed record for whatever an agent wrote."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from segue.domain.text.items import split_items


class Outcome(StrEnum):
    """How the work ended, in the agent's own view."""

    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    BLOCKED = "blocked"


class Level(StrEnum):
    """How grave or how urgent something is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ChangeType(StrEnum):
    """What was done to a file that was there before."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"
    REFACTOR = "refactor"


class Part(BaseModel):
    """Base of all values in a handoff: frozen and closed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    headline: ClassVar[str]
    """The field that a bare string stands for."""


class Decision(Part):
    """A choice that was made, so that the next agent does not make it again."""

    headline = "decision"
    decision: str
    rationale: str | None = None


class FileCreated(Part):
    """A file that was not there before."""

    headline = "path"
    path: str
    purpose: str | None = None
    lines: str | None = None


class FileModified(Part):
    """A file that was changed or deleted."""

    headline = "path"
    path: str
    lines: str | None = None
    change_type: str | None = None
    description: str | None = None


class ReportedCommand(Part):
    """A command that the agent says it ran: a claim that can be re-run."""

    headline = "command"
    command: str
    exit_code: int | None = None
    observation: str | None = None


class Identified(Part):
    """A lesson with an id made from its content, so that the same lesson has the same id everywhere."""

    id_prefix: ClassVar[str]
    id: str = ""

    @model_validator(mode="after")
    def _fill_id(self) -> Identified:
        if not self.id:
            text = " ".join(self.__dict__[self.headline].casefold().split())
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            self.__dict__["id"] = f"{self.id_prefix}-{digest}"  # it is frozen for everybody else
        return self


class Pattern(Identified):
    """A way of doing things in this code base that others should follow."""

    headline = "pattern"
    id_prefix = "pattern"
    pattern: str
    location: str | None = None
    applies_to: tuple[str, ...] = ()


class Gotcha(Identified):
    """A trap that the next agent would step into."""

    headline = "issue"
    id_prefix = "gotcha"
    issue: str
    discovered_in: str | None = None
    mitigation: str | None = None
    severity: str | None = None


class FailedApproach(Part):
    """What was tried and did not work, so that nobody tries it again."""

    headline = "approach"
    approach: str
    why: str | None = None


class Dependency(Part):
    """A file that the next agent should read, and why."""

    headline = "file"
    file: str
    reason: str | None = None


class OpenQuestion(Part):
    """Something that nobody has decided yet."""

    headline = "question"
    question: str
    context: str | None = None
    recommendation: str | None = None
    blocking: bool = False


class NextStep(Part):
    """What should happen next."""

    headline = "step"
    step: str
    priority: str | None = None
    depends_on: tuple[str, ...] = ()


class Blocker(Part):
    """What stops the work."""

    headline = "blocker"
    blocker: str
    impact: str | None = None
    suggested_resolution: str | None = None
    blocking_tasks: tuple[str, ...] = ()


class Section(BaseModel):
    """A part of the document that maps to no field; nothing the agent wrote is lost."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    heading: str
    text: str


def _as_texts(value: Any) -> Any:
    """Text where a list is expected is cut into its items; nothing at all is an empty list."""
    if type(value) is tuple:
        return value
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(item.text for item in split_items(value))
    return value


def _items_of(part: type[Part]) -> BeforeValidator:
    """Reads a list of parts; a bare text among them is an item's headline."""

    def read(value: Any) -> Any:
        found = _as_texts(value)
        if not isinstance(found, list | tuple) or str not in map(type, found):
            return found
        return [{part.headline: item.strip()} if isinstance(item, str) else item for item in found]

    return BeforeValidator(read)


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]


class Handoff(BaseModel):
    """What one agent leaves for the next. Every field may be empty; `is_empty` tells if all are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: str | None = None
    """completed, partial, failed or blocked; another value is kept as written, for the linter to name."""
    goal: str | None = None
    """What the work is for."""
    constraints: Texts = ()
    """The user's own directives, word for word through every hop."""
    what_was_done: Texts = ()
    """One statement each, so that each can be traced and checked."""
    decisions_made: Annotated[tuple[Decision, ...], _items_of(Decision)] = ()
    files_created: Annotated[tuple[FileCreated, ...], _items_of(FileCreated)] = ()
    files_modified: Annotated[tuple[FileModified, ...], _items_of(FileModified)] = ()
    commands_run: Annotated[tuple[ReportedCommand, ...], _items_of(ReportedCommand)] = ()
    patterns_discovered: Annotated[tuple[Pattern, ...], _items_of(Pattern)] = ()
    gotchas: Annotated[tuple[Gotcha, ...], _items_of(Gotcha)] = ()
    failed_approaches: Annotated[tuple[FailedApproach, ...], _items_of(FailedApproach)] = ()
    dependencies_for_next: Annotated[tuple[Dependency, ...], _items_of(Dependency)] = ()
    open_questions: Annotated[tuple[OpenQuestion, ...], _items_of(OpenQuestion)] = ()
    suggested_next_steps: Annotated[tuple[NextStep, ...], _items_of(NextStep)] = ()
    blockers: Annotated[tuple[Blocker, ...], _items_of(Blocker)] = ()
    critical_context: Texts = ()
    """What must not be forgotten: facts, names, numbers."""
    next_agent_context: str | None = None
    """What the next agent must know and do."""
    other_sections: tuple[Section, ...] = ()
    """What the agent wrote that maps to no field."""

    def is_empty(self) -> bool:
        """True if no field holds anything but white space."""
        return not any(
            value.strip() if isinstance(value, str) else value
            for value in (getattr(self, name) for name in type(self).model_fields)
        )

    def as_dict(self) -> dict[str, Any]:
        """The record as values that JSON has, without its empty fields."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def to_json(self) -> str:
        """The record as compact JSON, without its empty fields: what is stored."""
        return self.model_dump_json(exclude_defaults=True)
