"""The JSON Schema of catalog files says the same of a file as the loader does."""

from __future__ import annotations

from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it comes without types
import pytest
import yaml

from segue.adapters.backends import BACKENDS, options_model
from segue.adapters.catalog.project import BUILTIN
from segue.adapters.catalog.schema import catalog_schema
from segue.domain.errors import CatalogError
from segue.domain.template import KEYS_OF_TYPE, TemplateStep
from tests.catalog.test_catalog import make_catalog, write

SCHEMA = catalog_schema([name for name in BACKENDS if name != "scripted"], options_model)
GOOD_STEPS = """
{agent: qa}
{agent: qa, type: agent, name: try_it, description: Try it., model: m, timeout: 15m}
{agent: qa, timeout: 90}
{agent: qa, timeout: 1.5h}
{agent: qa, checks: [pytest -q]}
{agent: qa, checks: []}
{agent: qa, checks: project}
{agent: qa, on_outcome: {failed: wait, none: continue}}
{agent: qa, on_outcome: {failed: back_to, partial: fail}, back_to: qa, at_most: 2}
{agent: qa, on_refuted: wait, on_bad_handoff: fail, on_failed_checks: note, on_no_change: wait}
{agent: qa, on_no_change: back_to, back_to: developer}
{agent: qa, on_reject: fail}
{type: approval}
{type: approval, description: "Build it?", back_to: developer, remind_after_hours: 0.5, timeout: 3d}
{type: approval, on_reject: back_to, back_to: developer}
{type: gate, checks: [pytest -q, ruff check]}
{type: gate, checks: project, until: fails, timeout: 60}
{type: gate, checks: [make], back_to: developer, at_most: 20}
"""
BAD_STEPS = """
{description: no agent}
{agent: ""}
{agent: 3}
{agent: qa, colour: red}
{agent: qa, name: Try it}
{agent: qa, type: robot}
{agent: qa, timeout: soon}
{agent: qa, timeout: 0}
{agent: qa, timeout: -5m}
{agent: qa, timeout: 5 weeks}
{agent: qa, checks: pytest}
{agent: qa, checks: [3]}
{agent: qa, until: fails}
{agent: qa, remind_after_hours: 2}
{agent: qa, on_outcome: {failed: repair}}
{agent: qa, on_outcome: {done: wait}}
{agent: qa, on_outcome: {failed: back_to}}
{agent: qa, on_outcome: wait}
{agent: qa, on_refuted: back_to}
{agent: qa, on_refuted: continue}
{agent: qa, on_no_change: repair}
{agent: qa, on_no_change: back_to}
{agent: qa, on_reject: back_to}
{agent: qa, on_reject: wait}
{agent: qa, at_most: 2}
{agent: qa, back_to: developer, at_most: 0}
{agent: qa, back_to: developer, at_most: 21}
{agent: qa, back_to: developer, at_most: two}
{agent: qa, needs: [developer]}
{agent: qa, when: failed}
{type: approval, agent: qa}
{type: approval, checks: [make]}
{type: approval, model: m}
{type: approval, remind_after_hours: 0}
{type: approval, at_most: 2}
{type: approval, on_refuted: wait}
{type: gate}
{type: gate, checks: []}
{type: gate, checks: [make], agent: qa}
{type: gate, checks: [make], until: never}
{type: gate, checks: [make], on_reject: fail}
{type: gate, checks: [make], remind_after_hours: 1}
"""
GOOD_FILES = """
{}
{agents: {a: {description: One., model: m, timeout: 2h, system_prompt_additions: Be brief.}}}
{agents: {a: {backend: command, options: {command: "claude -p", pass_env: [AWS_*]}}}}
{agents: {a: {backend: command, options: {command: [claude, -p], briefing: file}}}}
{agents: {a: {backend: opencode, options: {agent: build}}}}
{agents: {a: {permissions: [{tool: shell, pattern: "git *", action: deny}, {action: ask}]}}}
{templates: {t: {description: One., checks: [make], on_refuted: fail, steps: [{agent: qa}]}}}
{templates: {t: {checks: project, on_no_change: wait, steps: [{type: approval}, {agent: qa}]}}}
"""
BAD_FILES = """
{agent: {}}
{agents: {a: {colour: red}}}
{agents: {a: {backend: command, options: {comand: [x]}}}}
{agents: {a: {backend: command, options: {command: [x], briefing: fax}}}}
{agents: {a: {backend: claude_code, options: {max_turns: 0}}}}
{agents: {a: {permissions: [{tool: shell}]}}}
{agents: {a: {permissions: [{tool: phone, action: ask}]}}}
{agents: {a: {timeout: never}}}
{templates: {t: {steps: []}}}
{templates: {t: {description: no steps}}}
{templates: {t: {steps: [{type: approval}]}}}
{templates: {t: {steps: [{type: gate, checks: [make]}]}}}
{templates: {t: {steps: [{agent: qa}], on_refuted: maybe}}}
{templates: {t: {steps: [{agent: qa}], on_no_change: repair}}}
{templates: {t: {steps: [{agent: qa}], checks: make}}}
{templates: {t: {steps: [{agent: qa}], loop: 3}}}
"""


def files(steps: str, whole: str) -> list[str]:
    """Catalog files: each of these steps behind another one, and each of these as it is."""
    behind = "{{templates: {{t: {{steps: [{{agent: developer}}, {}]}}}}}}"
    return [*(behind.format(each) for each in steps.split("\n") if each), *whole.strip().split("\n")]


@pytest.mark.parametrize(
    ("text", "is_good"),
    [(each, True) for each in files(GOOD_STEPS, GOOD_FILES)]
    + [(each, False) for each in files(BAD_STEPS, BAD_FILES)],
)
def test_schema_and_loader_say_the_same(tmp_path: Path, project: Path, text: str, is_good: bool) -> None:
    schema_says = jsonschema.Draft202012Validator(SCHEMA).is_valid(yaml.safe_load(text))
    (project / ".segue").mkdir()
    write(project / ".segue" / "catalog.yaml", text)
    try:
        make_catalog(tmp_path / "config").load(str(project))
        loader_says = True
    except CatalogError:
        loader_says = False
    assert (schema_says, loader_says) == (is_good, is_good)


def test_it_is_a_schema_and_what_is_built_in_fits_it() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(yaml.safe_load(BUILTIN.read_text(encoding="utf-8")))


def test_every_key_is_described_and_every_key_of_a_step_goes_with_a_type() -> None:
    for name, part in SCHEMA["$defs"].items():
        bare = [key for key, each in part.get("properties", {}).items() if not each.get("description")]
        assert not bare, f"{name}: {bare}"
    assert set(TemplateStep.model_fields) == set().union(*KEYS_OF_TYPE.values())
