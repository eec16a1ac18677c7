"""Keys of templates: which go together, and what is said of those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from segue.adapters.catalog.yaml_catalog import YamlCatalog
from segue.domain.template import PipelineTemplate
from tests.catalog.test_catalog import complaint, make_catalog

AGENT = {"agent": "developer"}
GATE = {"type": "gate", "checks": ["true"]}


@pytest.fixture
def catalog(tmp_path: Path) -> YamlCatalog:
    """A catalog without default back end."""
    return make_catalog(tmp_path / "config")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([{"type": "approval", "agent": "qa"}], '"agent" is not for a step of type approval'),
        ([AGENT, {"type": "gate"}], 'a gate needs "checks"'),
        ([AGENT, {**GATE, "back_to": "biuld"}], 'no earlier agent step "biuld". Known: developer'),
        ([{**AGENT, "at_most": 2}], '"at_most" needs "back_to"'),
        ([{**AGENT, "on_outcome": {"failed": "back_to"}}], '"on_outcome" needs "back_to"'),
        ([{**AGENT, "on_refuted": "back_to"}], '"on_refuted" needs "back_to"'),
        ([{"type": "approval"}], "no step of this template is an agent's"),
        ([AGENT, {**AGENT, "needs": ["developer"]}], '"needs" comes with graphs'),
        ([{"description": "x"}], '"agent" is missing'),
        ([{**AGENT, "back_to": "qa"}, {"agent": "qa"}], 'no earlier agent step "qa"'),
        ([AGENT, {**GATE, "until": "never"}], "'passes' or 'fails'"),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_key(steps: list[Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PipelineTemplate.model_validate({"steps": steps})
    assert words in str(caught.value)


def test_an_error_points_at_the_line_of_the_key(catalog: YamlCatalog, project: Path) -> None:
    (project / ".segue").mkdir()
    path = project / ".segue" / "catalog.yaml"
    text = (
        "templates:\n  ship:\n    steps:\n"
        "      - agent: developer\n        name: build\n"
        "      - type: gate\n        checks: [pytest -q]\n        back_to: biuld\n"
    )
    sentence = complaint(catalog, path, text)
    assert sentence.startswith(f'{path}:8: no earlier agent step "biuld"')
    assert 'Did you mean "build"?' in sentence
    assert 'template "ship", step 2' in sentence


def test_an_agents_step_may_go_back_to_itself_and_old_plans_load() -> None:
    steps = [{**AGENT, "on_no_change": "back_to", "back_to": "developer"}]
    assert PipelineTemplate.model_validate({"steps": steps}).steps[0].tries == 3
    old = '{"steps":[{"agent":"developer"}],"on_refuted":"fail"}'
    assert PipelineTemplate.model_validate_json(old).steps[0].type == "agent"
