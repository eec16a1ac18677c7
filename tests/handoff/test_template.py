"""The empty forms hold the fields of the record, and the linter sees that they are empty."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
import yaml

from segue.domain.handoff import Handoff, check_handoff
from segue.domain.handoff.writing.rendering import OutputNotation, render_template
from segue.domain.handoff.writing.taskfile import find_handoff_part


def forms() -> list[Any]:
    task = render_template("task")
    part = find_handoff_part(task)
    assert part is not None
    return [
        yaml.safe_load(render_template("yaml")),
        json.loads(render_template("json")),
        yaml.safe_load(part.text(task)),
    ]


@pytest.mark.parametrize("form", forms(), ids=["yaml", "json", "task"])
def test_a_form_names_fields_and_parts_of_the_record(form: dict[str, Any]) -> None:
    assert set(form) <= set(Handoff.model_fields)
    for name, items in form.items():
        if isinstance(items[0], dict):
            kind = get_args(Handoff.model_fields[name].annotation)[0]
            assert set(items[0]) <= set(kind.model_fields)


def test_forms_of_all_notations_have_the_same_fields() -> None:
    first, *others = ([*form] for form in forms())
    assert all(other == first for other in others)


@pytest.mark.parametrize("notation", list(OutputNotation))
def test_there_is_a_form_for_every_notation(notation: OutputNotation) -> None:
    assert render_template(notation).endswith("\n")


def test_a_form_that_nobody_filled_in_is_found_by_the_linter() -> None:
    form = json.loads(render_template("json"))
    del form["commands_run"], form["open_questions"]
    codes = [problem.code for problem in check_handoff(Handoff.model_validate(form))]
    assert {"H002", "H021", "H022", "H030"} <= set(codes)
    assert codes.count("H030") >= 10
