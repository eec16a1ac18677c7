"""What agents do, as it is shown in a terminal: their words, tool calls, questions and usage."""

from __future__ import annotations

from collections import deque
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from segue.domain.activity import Activity, ActivityKind
from segue.domain.approvals import ApprovalKind
from segue.domain.usage import Usage
from segue.interfaces.cli.output import printable, safe

if TYPE_CHECKING:
    from segue.application.views import PipelineDetail, StepView
    from segue.domain.approvals import Approval

_SHOWN_LINES = 3
_VERBS = {"read": "reads", "edit": "edits", "shell": "runs", "fetch": "fetches", "mcp": "calls"}


class WorkShown:
    """The newest of what the running agent does, for a live screen."""

    def __init__(self) -> None:
        self._words: dict[int, str] = {}
        self._doing: dict[int, deque[str]] = {}
        self._usage: dict[int, Usage] = {}

    def take(self, activity: Activity) -> None:
        """Something more was done."""
        step = activity.step_id
        if step is None:
            return  # of a session outside of pipelines
        if activity.kind is ActivityKind.SAID:
            self._words[step] = (self._words.get(step, "") + activity.payload["text"])[-2000:]
        elif activity.kind is ActivityKind.USAGE:
            self._usage[step] = read_usage(activity.payload)
        elif line := describe_activity(activity):
            self._doing.setdefault(step, deque(maxlen=_SHOWN_LINES)).append(line)

    def usage_of(self, step: StepView) -> Usage | None:
        """What its session reported last, or what the records say."""
        return self._usage.get(step.id) or step.usage

    def render(self, step: StepView) -> Group:
        """The last tool calls, then the last words."""
        lines = [Text.from_markup(line, overflow="ellipsis") for line in self._doing.get(step.id, ())]
        words = [line for line in self._words.get(step.id, "").splitlines() if line.strip()]
        said = [
            Text(printable(line), style="italic dim", overflow="ellipsis", no_wrap=True)
            for line in words[-_SHOWN_LINES:]
        ]
        for line in lines:
            line.no_wrap = True
        return Group(*lines, *said)


def describe_activity(activity: Activity) -> str:
    """A line for a tool call that ended, a refusal, a retry; empty for what is no line of its own."""
    facts = activity.payload
    if activity.kind is ActivityKind.TOOL_USED and facts["state"] != "started":
        return _describe_tool(facts)
    if activity.kind is ActivityKind.PERMISSION_SETTLED and not facts["allowed"]:
        return f"[yellow]refused by the rules:[/] {facts['tool']} {_one_line(' '.join(facts['targets']))}"
    if activity.kind is ActivityKind.RETRYING:
        return f"[yellow]its model is asked again:[/] {_one_line(facts['reason'])}"
    return ""


def _describe_tool(facts: Any) -> str:
    verb = _VERBS.get(facts["tool"], "uses")
    target = facts.get("target") or facts["name"]
    code = facts.get("exit_code")
    end = "" if code is None else f" [dim]exit[/] [{'green' if code == 0 else 'red'}]{code}[/]"
    failed = " [red]failed[/]" if facts["state"] == "failed" and code is None else ""
    return f"[dim]{verb}[/] {_one_line(target)}{end}{failed}"


def approval_lines(detail: PipelineDetail) -> list[str]:
    """What waits for a person, and how to answer."""
    return [
        f"[yellow]? step {_number(detail, approval.step_id or 0)} asks:[/] {_one_line(approval.title)}   "
        f"[dim]{how_to_decide(approval)}[/]"
        for approval in detail.approvals
    ]


def how_to_decide(approval: Approval) -> str:
    """The commands that settle it, in a line; the text is safe for a screen."""
    number = approval.pipeline_id
    if approval.kind is ApprovalKind.QUESTION:
        return f'segue pipelines answer {number} "...", or reject {number}'
    return f"segue pipelines approve {number}, or reject {number}"


def describe_usage(usage: Usage) -> str:
    """`12.3k tokens, $0.04, context 31 %`."""
    words = []
    if total := usage.total_tokens:
        words.append(f"{total / 1000:.1f}k tokens" if total >= 1000 else f"{total} tokens")
    if usage.cost:
        words.append(f"${usage.cost:.2f}" if usage.cost >= 0.01 else f"${usage.cost:.4f}")
    if (share := usage.context_share) is not None:
        words.append(f"context {share:.0%}".replace("%", " %"))
    return ", ".join(words)


def read_usage(payload: Any) -> Usage:
    """The usage that an activity carries; what is nothing was left out."""
    return Usage(**{field.name: payload[field.name] for field in fields(Usage) if field.name in payload})


def _number(detail: PipelineDetail, step_id: int) -> int:
    return next(step.order_index + 1 for step in detail.steps if step.id == step_id)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return safe(line if len(line) <= 160 else line[:159] + "…")
