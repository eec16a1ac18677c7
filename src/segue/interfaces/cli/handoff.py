"""`segue handoff`: work on handoff documents, with no server and no database."""

from __future__ import annotations

import typer

from segue.interfaces.cli import (
    handoff_brief,
    handoff_convert,
    handoff_extract,
    handoff_from,
    handoff_lint,
    handoff_new,
    handoff_rules,
    handoff_structure,
    handoff_verify,
)

app = typer.Typer(help="Read, check, convert and pass on handoff documents.", no_args_is_help=True)
app.command("extract")(handoff_extract.extract)
app.command("lint")(handoff_lint.lint)
app.command("convert")(handoff_convert.convert)
app.command("structure")(handoff_structure.structure)
app.command("new")(handoff_new.new)
app.command("rules")(handoff_rules.rules)
app.command("brief")(handoff_brief.brief)
app.command("verify")(handoff_verify.verify)
app.command("from")(handoff_from.from_session)
