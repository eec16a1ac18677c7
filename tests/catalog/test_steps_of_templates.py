"""Steps of a template: what they are called, which model they have, how long they may take."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from segue.domain.catalog import AgentProfile
from segue.domain.errors import UnknownName
from segue.domain.template import PipelineTemplate


def template(*steps: dict[str, Any]) -> PipelineTemplate:
    """A template with these steps."""
    return PipelineTemplate.model_validate({"steps": steps})


LOOP = template({"agent": "dev"}, {"agent": "qa", "name": "dev-2"}, {"agent": "dev"}, {"agent": "dev"})


def test_a_step_is_called_as_it_says_or_as_its_agent_and_no_two_alike() -> None:
    assert LOOP.step_names == ("dev", "dev-2", "dev-3", "dev-4")


def test_two_steps_of_one_name_are_refused_with_both_numbers() -> None:
    with pytest.raises(ValidationError, match='steps 1 and 3 have the same name, "build"'):
        template({"agent": "a", "name": "build"}, {"agent": "a"}, {"agent": "b", "name": "build"})


def test_models_are_chosen_by_index_then_by_name_then_by_agent() -> None:
    chosen = LOOP.with_models({"dev": "all", "dev-3": "third", "dev-2": "qa's", "3": "last"})
    assert [step.model for step in chosen.steps] == ["all", "qa's", "third", "last"]


@pytest.mark.parametrize("key", ["4", "-1", "nobody"])
def test_a_model_for_no_step_is_refused_with_the_steps_there_are(key: str) -> None:
    with pytest.raises(UnknownName, match="Known: dev, dev-2, dev-3, dev-4, qa"):
        LOOP.with_models({key: "m"})


@pytest.mark.parametrize(
    ("given", "seconds"), [(90, 90), ("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("3d", 259200)]
)
def test_a_duration_is_a_number_of_seconds_or_has_a_unit(given: object, seconds: float) -> None:
    assert AgentProfile.model_validate({"timeout": given}).timeout == seconds


@pytest.mark.parametrize("given", ["0s", "-1", "soon", "5 minutes", "", 0])
def test_what_is_not_a_duration_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        AgentProfile.model_validate({"timeout": given})
