"""`segue schema`, and what `segue init` writes for editors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it comes without types
import yaml

from tests.cli.conftest import Ran


def test_init_writes_it_beside_the_catalog(segue: Callable[..., Ran], project: Path) -> None:
    ran = segue("schema", "catalog")
    assert segue("init").code == 0
    written = (project / ".segue" / "catalog.yaml").read_text().splitlines()[0]
    assert written == "# yaml-language-server: $schema=catalog.schema.json"
    assert json.loads((project / ".segue" / "catalog.schema.json").read_text()) == json.loads(ran.out)
    catalog = yaml.safe_load((project / ".segue" / "catalog.yaml").read_text())
    jsonschema.Draft202012Validator(json.loads(ran.out)).validate(catalog)
