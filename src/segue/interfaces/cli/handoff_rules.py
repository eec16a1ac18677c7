"""`segue handoff rules`: what `lint` checks, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import UnknownName

if TYPE_CHECKING:
    from segue.domain.handoff.checking.rules import Rule


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleView:
    """A rule with its explanation and examples."""

    code: str
    name: str
    severity: str
    rule: str
    """The rule in one sentence."""
    explanation: str
    fails: str
    """A handoff that breaks it."""
    passes: str
    """A handoff that keeps it."""


def rules(
    code: Annotated[
        str | None, typer.Argument(help="Code or name of one rule, to explain it.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the rules, or explain one with examples."""
    from segue.domain.handoff.checking.rules import RULES
    from segue.interfaces.cli.output import print_json

    if code is None:
        views = [_view(rule) for rule in RULES]
        if as_json:
            print_json(views)
        else:
            _print_table(views)
        return
    view = _view(_find(code))
    if as_json:
        print_json(view)
    else:
        _explain(view)


def _find(wanted: str) -> Rule:
    from segue.domain.handoff.checking.rules import RULES, RULES_BY_CODE

    for rule in RULES:
        if wanted.strip().casefold() in {rule.code.casefold(), rule.name}:
            return rule
    raise UnknownName("rule", wanted.strip().upper(), RULES_BY_CODE)


def _view(rule: Rule) -> RuleView:
    from segue.domain.handoff.checking.rules_explained import EXPLANATIONS

    explained = EXPLANATIONS[rule.code]
    return RuleView(
        code=rule.code,
        name=rule.name,
        severity=str(rule.severity),
        rule=rule.doc,
        explanation=" ".join(explained.text.split()),
        fails=explained.fails,
        passes=explained.passes,
    )


def _print_table(views: list[RuleView]) -> None:
    from segue.interfaces.cli.output import console, plain_table, safe

    table = plain_table("code", "severity", "name", "rule")
    for view in views:
        style = "red" if view.severity == "error" else "yellow"
        table.add_row(view.code, f"[{style}]{view.severity}[/]", view.name, safe(view.rule))
    console().print(table)


def _explain(view: RuleView) -> None:
    from segue.interfaces.cli.output import console, safe

    screen = console()
    style = "red" if view.severity == "error" else "yellow"
    screen.print(f"[bold]{view.code} {view.name}[/] ([{style}]{view.severity}[/])\n")
    screen.print(safe(view.explanation))
    for word, example in (("Fails", view.fails), ("Passes", view.passes)):
        screen.print(f"\n[bold]{word}:[/]\n")
        for line in example.splitlines():
            screen.print(f"  {safe(line)}", soft_wrap=True)
