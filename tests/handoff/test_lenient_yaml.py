"""YAML as models write it, and lists of files as people write them."""

from __future__ import annotations

import pytest

from segue.domain.handoff import extract_handoff

_NEXT = "suggested_next_steps:\n  - Ship c\n"
_WRITTEN = {
    "bold keys": "**what_was_done:**\n  - Added a\n  - Fixed b\n**suggested_next_steps:**\n  - Ship c\n",
    "a line that lost its indent": f"what_was_done:\n  - Added a\nand more\n  - Fixed b\n{_NEXT}",
    "a block without indent": f"goal: |\nMake it fast\nwhat_was_done:\n  - Added a\n  - Fixed b\n{_NEXT}",
    "a colon in a flow list": f"what_was_done: [Added a: b, Fixed b]\n{_NEXT}",
    "a colon in an item": f"what_was_done:\n  - Added: a: b\n  - Fixed b\n{_NEXT}",
    "tabs": "what_was_done:\n\t- Added a\n\t- Fixed b\nsuggested_next_steps:\n\t- Ship c\n",
    "signs first": f"what_was_done:\n  - Added a\n  - Fixed b\nopen: @x `y`\n{_NEXT}",
    "a quoted word first": f'what_was_done:\n  - Added "a"\n  - Fixed b\nx: "y" z\n{_NEXT}',
    "a key twice": f"what_was_done:\n  - Added a\nwhat_was_done:\n  - Fixed b\n{_NEXT}",
}


@pytest.mark.parametrize("sample", _WRITTEN.values(), ids=_WRITTEN.keys())
def test_every_item_is_read(sample: str) -> None:
    found = extract_handoff(f"```yaml\n{sample}```")

    assert found.handoff is not None
    first, second = found.handoff.what_was_done
    assert first.startswith("Added")
    assert second == "Fixed b"
    assert [step.step for step in found.handoff.suggested_next_steps] == ["Ship c"]


def test_an_item_with_a_colon_keeps_its_words() -> None:
    found = extract_handoff("```yaml\nwhat_was_done: [Added a: b, Fixed c]\n```")

    assert found.handoff is not None
    assert found.handoff.what_was_done == ("Added a: b", "Fixed c")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("files_changed:\n  - docs/my notes/a b.txt\n  - src/x.py\n", ["docs/my notes/a b.txt", "src/x.py"]),
        ("files_changed: [go.mod, bin/run, Procfile]\n", ["go.mod", "bin/run", "Procfile"]),
        ("files_changed:\n  - src/a.py and src/b.py\n", ["src/a.py", "src/b.py"]),
        ("files_changed:\n  - Updated src/a.py\n", ["src/a.py"]),
        (
            "## Files changed\n\n- `docs/my notes/a b.txt` - other words\n- `bin/run`\n",
            ["docs/my notes/a b.txt", "bin/run"],
        ),
        ("## Files changed\n\n- v1.2\n- src/a.py\n", ["src/a.py"]),
    ],
)
def test_every_entry_of_a_list_of_files_is_a_file(text: str, paths: list[str]) -> None:
    found = extract_handoff(
        f"{text}\n## Next steps\n\n- ship\n" if text[0] == "#" else f"{text}done: [Added x]\n"
    )

    assert found.handoff is not None
    assert [file.path for file in found.handoff.files_modified] == paths
