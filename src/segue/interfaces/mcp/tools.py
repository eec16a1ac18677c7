"""The tools by name: what a model reads about each, and how its call is carried out and answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from segue.application.handoffs.agent_tools import AgentTools
from segue.domain.errors import InvalidRequest, SegueError, UnknownName
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.checking.submitted import Submitted
from segue.domain.handoff.model import Blocker, Texts
from segue.interfaces.mcp import schemas

INSTRUCTIONS = (
    "Segue runs you as one step of a pipeline. When your work is done, hand off with submit_handoff, fix "
    "what it names, and then end with a short closing message."
)
_MOST_PROBLEMS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the model is given back."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSpec:
    """A tool as it is offered."""

    name: str
    summary: str
    """One sentence; the first of its description."""
    more: str = ""
    schema: schemas.Schema
    call: Callable[[AgentTools, str, Mapping[str, Any]], Awaitable[ToolAnswer]]
    is_read_only: bool = True

    @property
    def description(self) -> str:
        """What a model reads."""
        return f"{self.summary} {self.more}".strip()


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _RecallArguments(_Arguments):
    query: str | None = None
    step: int | None = None
    field: str | None = None


class _SearchArguments(_Arguments):
    query: str = ""


class _BlockerArguments(_Arguments):
    blocker: str
    impact: str | None = None
    suggested_resolution: str | None = None
    blocking_tasks: Texts = ()


T = TypeVar("T", bound=_Arguments)


def _read(kind: type[T], arguments: Mapping[str, Any]) -> T:
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidRequest(
            f"`{name}` is wrong: {first['msg']}; the tool's schema says what it takes"
        ) from error


async def _get_task(tools: AgentTools, token: str, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(await tools.get_task(token))


async def _submit_handoff(tools: AgentTools, token: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    submitted = await tools.submit_handoff(token, arguments)
    return ToolAnswer(_verdict(submitted), is_error=not submitted.is_accepted)


async def _recall(tools: AgentTools, token: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    wanted = _read(_RecallArguments, arguments)
    return ToolAnswer(
        await tools.recall(token, wanted.query or "", step=wanted.step, field=wanted.field or "")
    )


async def _search_knowledge(tools: AgentTools, token: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(await tools.search_knowledge(token, _read(_SearchArguments, arguments).query))


async def _report_blocker(tools: AgentTools, token: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    said = _read(_BlockerArguments, arguments)
    count = await tools.report_blocker(token, Blocker(**said.model_dump()))
    return ToolAnswer(
        f"Noted; blockers in your handoff so far: {count}. Continue with what does not depend on them, "
        "then hand off with submit_handoff."
    )


def _verdict(submitted: Submitted) -> str:
    """What became of a submission, and what to do now."""
    lines: list[str] = []
    if submitted.is_accepted:
        lines.append("Accepted. End with a short closing message; a later submission would replace this one.")
    else:
        lines.append("Not accepted. Fix what is marked as an error and submit the whole handoff again.")
    shown = submitted.problems[:_MOST_PROBLEMS_SHOWN]
    lines += [_problem(each) for each in shown]
    if more := len(submitted.problems) - len(shown):
        lines.append(f"- and {more} more problems")
    if submitted.redacted:
        taken = "; ".join(submitted.redacted[:_MOST_PROBLEMS_SHOWN])
        lines.append(
            f"- Taken out, because it looked like a secret: {taken}. Never write secrets into a handoff."
        )
    return "\n".join(lines)


def _problem(problem: Problem) -> str:
    return f"- {problem.code} {problem.severity} at {problem.field}: {problem.message}; {problem.hint}"


TOOLS: Sequence[ToolSpec] = (
    ToolSpec(
        name="submit_handoff",
        summary="Hand your finished work to the next agent.",
        more=(
            "It is checked at once: what is wrong comes back with its field and what to do, so fix that and "
            'submit again. Call it last. Example: {"outcome": "completed", "what_was_done": ["Added a retry '
            'to login"], "files_modified": [{"path": "src/login.py", "description": "retry"}], '
            '"commands_run": [{"command": "pytest -q", "exit_code": 0}], "next_agent_context": "Review it."}'
        ),
        schema=schemas.SUBMIT_HANDOFF,
        call=_submit_handoff,
        is_read_only=False,
    ),
    ToolSpec(
        name="get_task",
        summary="Your task, your job and your briefing once more.",
        more="Use it if you have lost sight of what you were asked.",
        schema=schemas.GET_TASK,
        call=_get_task,
    ),
    ToolSpec(
        name="recall",
        summary="What earlier agents of this run wrote down, in full, also what your briefing left out.",
        more='Search by words, step or field. Example: {"query": "retry", "field": "decisions_made"}',
        schema=schemas.RECALL,
        call=_recall,
    ),
    ToolSpec(
        name="search_knowledge",
        summary="What earlier runs in this folder learned: patterns, gotchas, failed approaches, decisions.",
        more='Ask before you start on something. Example: {"query": "database migration"}',
        schema=schemas.SEARCH_KNOWLEDGE,
        call=_search_knowledge,
    ),
    ToolSpec(
        name="report_blocker",
        summary="Say at once what stops you, so that it stands in your handoff whatever happens later.",
        more='Example: {"blocker": "No access to the test database", "suggested_resolution": "Grant it"}',
        schema=schemas.REPORT_BLOCKER,
        call=_report_blocker,
        is_read_only=False,
    ),
)
_BY_NAME = {tool.name: tool for tool in TOOLS}


async def call_tool(tools: AgentTools, token: str, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Carry a call out; what goes wrong is an answer too."""
    try:
        tool = _BY_NAME.get(name)
        if tool is None:
            raise UnknownName("tool", name[:100], _BY_NAME)
        return await tool.call(tools, token, arguments)
    except SegueError as error:
        return ToolAnswer(f"Error: {error}", is_error=True)
