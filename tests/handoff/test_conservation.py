"""Nothing is lost: every word of a text ends in an item, its place, another section or a note."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from segue.domain.handoff.extract.extraction import extract_handoff, read_source
from segue.domain.handoff.extract.item_parts import PART_LABELS
from segue.domain.handoff.extract.keys import PART_KEYS
from segue.domain.handoff.extract.ownership import Share
from segue.domain.handoff.extract.units import UnitKind
from tests.handoff.documents import DOCUMENTS

PART_NAMES = {
    name
    for labels in (*PART_LABELS.values(), *PART_KEYS.values())
    for label in labels
    for name in label.split()
}
"""Words that are kept as the name of a part: `Why: ...` is a rationale."""
PIECES = st.sampled_from(
    [
        *("# Report", "## Done", "## Next steps", "### Zebra lore", "**Blockers**", "## Files changed"),
        *("- Added `a.py`", "- [x] Wrote it", "- [ ] Test it", "1. Ship it", "  - nested words", "- None."),
        *("Key files:", "**Status:** done", "Owner: Kim", "| Task | State |\n|---|---|\n| Parse | done |"),
        *(
            "```\nM a.py\nnew words here\n```",
            "```yaml\noutcome: failed\n```",
            "<goal>",
            "</goal>",
            "<!-- no -->",
        ),
        *(
            "I fixed the total. It was wrong, but the rest fails.",
            "> quoted words",
            "---",
            "Should add docs.",
        ),
        *(
            "decisions:\n  - pick: one\n    why: two\n    cost: three",
            "next: Tune it",
            "{",
            '{"done": ["x y"], "n": 3}',
        ),
        *(
            "\u5df2\u5b8c\u6210",
            "- Rationale: simple",
            "2026-01-01",
            "\t- odd indent",
            "## ",
            "*footer of it*",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n", "\n\n"]).map(lambda joint: joint.join(lines))
)
CUT_OFF = TEXTS.flatmap(lambda text: st.integers(0, len(text)).map(lambda end: text[:end]))


def words_of(value: Any) -> str:
    """All texts in a value, one after the other."""
    if isinstance(value, dict):
        return " ".join(words_of(each) for each in value.values())
    if isinstance(value, list | tuple):
        return " ".join(words_of(each) for each in value)
    return str(value)


def kept_words(source: str) -> list[tuple[str, str]]:
    """Each word of the units, and all that its owner, or other items made of the same unit, keep of it."""
    assembled = (reading := read_source(source)).assembled
    record = assembled.handoff.model_dump()
    kept: dict[str, str] = {}
    for name in {owner.name for owner in assembled.owners.values() if owner.share is not Share.NOTE} | {
        *assembled.places
    }:
        field, _, at = name.partition("[")
        value = record[field][int(at[:-1])] if at else record[field]
        place = assembled.places.get(name)
        around = words_of([place.headings, place.lead_in, place.extras]) if place else ""
        kept[name] = f"{words_of(value)} {around}"
    found = []
    for unit in reading.outline.units:
        owner = assembled.owners[unit.id]
        if owner.share is not Share.NOTE:
            inside = {n for n, place in assembled.places.items() if place.span.start in range(*unit.span)}
            words = " ".join(kept[name] for name in {owner.name} | inside)
            found += [(word, words) for word in re.findall(r"[^\W_]+", unit.text)]
    return found


@given(source=st.one_of(DOCUMENTS, TEXTS, CUT_OFF))
def test_every_letter_of_a_text_belongs_to_a_unit_and_every_unit_has_an_owner(source: str) -> None:
    reading = read_source(source)
    outline, owners = reading.outline, reading.assembled.owners
    assert set(owners) == {unit.id for unit in outline.units}
    taken = [(*unit.reach,) for unit in outline.units] + [(*span,) for span in outline.markup]
    taken += [found.span() for found in re.finditer(r"<!--.*?(?:-->|\Z)", outline.source, re.DOTALL)]
    covered = set[int]()
    for start, end in taken:
        covered.update(range(start, end))
    lost = "".join(c for at, c in enumerate(outline.source) if c.isalnum() and at not in covered)
    assert not lost


@given(source=st.one_of(TEXTS, CUT_OFF))
def test_the_words_of_a_unit_stand_where_its_owner_says(source: str) -> None:
    for word, kept in kept_words(source):
        assert word in kept or word.casefold() in PART_NAMES


def test_items_of_a_field_stand_in_the_order_of_the_source() -> None:
    source = "---\nnext: From the top\n---\n## Next\n- One\n\n## Done\n- x\n\n## Todo\n- Two\n"
    found = read_source(source).assembled
    starts = [found.spans[f"suggested_next_steps[{at}]"].start for at in range(3)]
    assert starts == sorted(starts)


def test_what_stands_around_an_item_is_kept_with_it() -> None:
    source = "# Shop\n\n## Done\n\n### Web dashboard\n\nIn two steps:\n\n1. Drew it\n2. Wrote `a.py`\n"
    place = extract_handoff(source).places["what_was_done[0]"]
    assert place.headings == ("Shop", "Done", "Web dashboard")
    assert (place.lead_in, place.number) == ("In two steps:", "1.")


def test_columns_and_keys_that_no_part_names_stay_with_their_item() -> None:
    table = (
        "## Decisions\n\n| # | Decision | Why | State |\n|--|--|--|--|\n| 7 | One lock | simpler | done |\n"
    )
    assert ("State", "done") in extract_handoff(table).places["decisions_made[0]"].extras
    record = "decisions:\n  - decision: One lock\n    owner: Kim\nnext: Ship\n"
    assert extract_handoff(record).places["decisions_made[0]"].extras == (("owner", "Kim"),)


def test_a_section_that_says_nothing_is_named_in_a_note() -> None:
    found = extract_handoff("## Done\n- Wrote it\n\n## Blockers\nNone.\n")
    assert any("None." in note for note in found.notes)
    assert any("Blockers" in note for note in found.notes)


def test_kinds_are_what_the_walk_tells() -> None:
    units = read_source("# T\n\n## Done\nAll of it:\n- a b c\n").outline.units
    assert [unit.kind for unit in units] == [
        UnitKind.HEADING,
        UnitKind.HEADING,
        UnitKind.LEAD_IN,
        UnitKind.ITEM,
    ]
