"""JSON as models write it: broken in one place, and still read whole."""

from __future__ import annotations

import pytest

from segue.domain.handoff import extract_handoff

_BROKEN = {
    "trailing comma obj": '{"what_was_done": ["Added a", "Fixed b",], "suggested_next_steps": ["Ship c"],}',
    "single quotes": "{'what_was_done': ['Added a', 'Fixed b'], 'suggested_next_steps': ['Ship c']}",
    "unquoted keys": '{what_was_done: ["Added a", "Fixed b"], suggested_next_steps: ["Ship c"]}',
    "line comment": '{ // x\n"what_was_done": ["Added a", "Fixed b"],\n"suggested_next_steps": ["Ship c"]}',
    "block comment": '{ /* x */ "what_was_done": ["Added a", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "missing close": '{"what_was_done": ["Added a", "Fixed b"], "suggested_next_steps": ["Ship c"]',
    "missing close2": '{"what_was_done": ["Added a", "Fixed b"], "suggested_next_steps": ["Ship c"',
    "cut in string": '{"what_was_done": ["Added a", "Fixed b"], "suggested_next_steps": ["Ship c',
    "missing comma arr": '{"what_was_done": ["Added a" "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "missing comma nl": '{"what_was_done": [\n"Added a"\n"Fixed b"\n], "suggested_next_steps": ["Ship c"]}',
    "missing comma keys": '{"what_was_done": ["Added a", "Fixed b"]\n"suggested_next_steps": ["Ship c"]}',
    "inner quotes": '{"what_was_done": ["Added "a" there", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "raw newline": '{"what_was_done": ["Added\na", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "smart quotes": "{“what_was_done”: [“Added a”, “Fixed b”], “suggested_next_steps”: [“Ship c”]}",
    "python lits": '{"what_was_done": ["Added a", "Fixed b"], "x": None, "suggested_next_steps": ["Ship c"]}',
    "bad escape": '{"what_was_done": ["Added a \\d", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "win path": '{"what_was_done": ["Added C:\\users\\x", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "ellipsis": '{"what_was_done": ["Added a", "Fixed b", ...], "suggested_next_steps": ["Ship c"]}',
    "double comma": '{"what_was_done": ["Added a",, "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "leading comma": '{"what_was_done": [,"Added a", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "missing colon": '{"what_was_done" ["Added a", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "equals": '{"what_was_done" = ["Added a", "Fixed b"], "suggested_next_steps" = ["Ship c"]}',
    "missing open quote": '{"what_was_done": [Added a", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
    "unquoted values": '{"what_was_done": [Added a, Fixed b], "suggested_next_steps": [Ship c]}',
    "wrong bracket": '{"what_was_done": ["Added a", "Fixed b"}, "suggested_next_steps": ["Ship c"]}',
    "backtick strings": '{"what_was_done": [`Added a`, `Fixed b`], "suggested_next_steps": [`Ship c`]}',
    "concat": '{"what_was_done": ["Added " + "a", "Fixed b"], "suggested_next_steps": ["Ship c"]}',
}


@pytest.mark.parametrize("sample", _BROKEN.values(), ids=_BROKEN.keys())
def test_a_broken_document_gives_all_its_items_where_they_stand(sample: str) -> None:
    text = f"```json\n{sample}\n```"

    found = extract_handoff(text)

    assert found.handoff is not None
    first, second = found.handoff.what_was_done
    assert first.startswith("Added")
    assert second == "Fixed b"
    assert [step.step for step in found.handoff.suggested_next_steps] == ["Ship c"]
    start, end = found.spans["what_was_done[1]"]
    assert text[start:end] == "Fixed b"


def test_deep_nesting_and_endless_quotes_are_no_trouble() -> None:
    for text in ("[" * 200_000, '{"a": ' * 50_000, '{"a": ["' + '"b' * 100_000, "{" + "\\\\" * 100_000):
        assert extract_handoff(f"```json\n{text}\n```").handoff is None
