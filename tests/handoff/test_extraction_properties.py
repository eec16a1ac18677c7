"""What holds for every text: nothing raises, spans tell where, canonical documents are read exactly."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from segue.domain.handoff.checking.grounding import keep_grounded
from segue.domain.handoff.extract.extraction import extract_handoff
from segue.domain.handoff.extract.result import Extraction, Notation
from segue.domain.handoff.model import Handoff
from tests.handoff.documents import DOCUMENTS, HANDOFFS


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


def value_at(record: dict[str, Any], name: str) -> Any:
    value: Any = record
    for key in re.findall(r"\w+", name):
        value = value[int(key)] if key.isdigit() else value[key]
    return value


def texts_with_spans(found: Extraction) -> list[tuple[str, str, int, int]]:
    record = found.handoff.model_dump() if found.handoff else {}
    values = [(name, value_at(record, name), span.start, span.end) for name, span in found.spans.items()]
    return [(name, value, start, end) for name, value, start, end in values if isinstance(value, str)]


@given(DOCUMENTS)
def test_any_text_is_read_and_every_span_is_its_text(source: str) -> None:
    found = extract_handoff(source)
    assert (found.handoff is None) == (found.notation is Notation.NONE)
    for name, value, start, end in texts_with_spans(found):
        assert 0 <= start <= end <= len(source), name
        if name != "outcome" and found.notation not in (Notation.YAML, Notation.JSON):
            assert letters(source[start:end].replace("\\", "")) == letters(value.replace("\\", "")), name


@given(st.text(st.characters(), max_size=200))
def test_lone_surrogates_are_replaced_not_raised(source: str) -> None:
    found = extract_handoff("## Done\n- " + source)
    assert found.handoff is None or found.handoff.to_json()


@given(HANDOFFS)
def test_canonical_yaml_is_read_exactly(handoff: Handoff) -> None:
    record = handoff.model_dump(exclude_defaults=True)
    source = yaml.safe_dump(json.loads(json.dumps(record)), allow_unicode=True, sort_keys=False)
    if handoff.model_copy(update={"other_sections": ()}).is_empty():
        return
    assert extract_handoff(source).handoff == handoff
    assert extract_handoff(f"# Task\n\n## Handoff\n\n```yaml\n{source}```\n").handoff == handoff


@given(HANDOFFS, st.sampled_from([None, 2]))
def test_canonical_json_is_read_exactly(handoff: Handoff, indent: int | None) -> None:
    if handoff.model_copy(update={"other_sections": ()}).is_empty():
        return
    source = json.dumps(handoff.model_dump(exclude_defaults=True), indent=indent)
    found = extract_handoff(source)
    assert (found.handoff, found.notation) == (handoff, Notation.JSON)


@given(HANDOFFS)
def test_what_stands_in_the_source_is_grounded(handoff: Handoff) -> None:
    kept = keep_grounded(handoff, " ".join(texts(handoff.model_dump())))
    issues = [item.issue for item in handoff.gotchas if re.search(r"\w", item.issue)]
    assert [item.issue for item in kept.gotchas] == issues
    assert keep_grounded(Handoff(gotchas="zebra unicorn"), "plain words") == Handoff()
