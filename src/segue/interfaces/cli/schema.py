"""`segue schema`: what may stand in Segue's files, for editors and other programs."""

from __future__ import annotations

import json

import typer

from segue.interfaces.cli.parts import Parts, parts_of

app = typer.Typer(help="Print the JSON Schema of catalog files, for editors.", no_args_is_help=True)

FILE_NAME = "catalog.schema.json"
"""What `segue init` calls it, beside the catalog."""


@app.command("catalog")
def catalog(context: typer.Context) -> None:
    """Print the schema of catalog.yaml: agents with the options of their back ends, templates, steps."""
    typer.echo(schema_text(parts_of(context)), nl=False)


def schema_text(parts: Parts) -> str:
    """The schema as a file."""
    return json.dumps(parts.catalog_schema(), indent=2) + "\n"
