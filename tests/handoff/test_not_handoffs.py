"""Texts that are something else give no record, with the reasons; real handoffs, however short, give one."""

from __future__ import annotations

from pathlib import Path

import pytest

import segue
from segue.domain.handoff import extract_handoff

README = """# Zebra

[![CI](https://img.shields.io/ci.svg)](x)

Zebra counts stripes. You can use it from Python. You can also run the following command.

## Installation

    pip install zebra

## Usage

- Import it
- Call `count()`

## Contributing

Fork it and open a pull request.

## License

MIT
"""
CHANGELOG = """# Changelog

## 2.1.0

- Added stripes
- Fixed the tail

## 2.0.0

- Removed spots

## 1.9.3

- Changed colours
"""
MAIL = """Hi Kim,

we met last week at the conference. I wanted to ask whether the talk can be moved to Friday?

Best regards,
Robin
"""
MINUTES = """# Minutes

## Attendees

Kim, Robin

## Agenda

- Budget
- Summer party
"""
MANUAL = """# Configuration

Set the values in `zebra.yaml`.

## Options

| name | meaning |
|---|---|
| stripes | how many |

## Examples

See below.
"""
SOURCE_FILES = sorted(Path(segue.__file__).parent.glob("domain/*.py"))[:12]


@pytest.mark.parametrize("text", [README, CHANGELOG, MAIL, MINUTES, MANUAL, "# Title\n\nSome words on it.\n"])
def test_a_text_of_another_kind_gives_no_record_and_says_why(text: str) -> None:
    found = extract_handoff(text)
    assert found.handoff is None
    assert not found.likeness.is_handoff
    assert found.likeness.reasons


@pytest.mark.parametrize("file", SOURCE_FILES, ids=lambda file: file.name)
def test_source_code_gives_no_record(file: Path) -> None:
    assert extract_handoff(file.read_text(encoding="utf-8")).handoff is None


@pytest.mark.parametrize(
    "text",
    [
        "## Done\n- Wrote it\n",
        "## Files changed\n- src/a.py: the lock\n",
        "## Tasks\n- [x] Parser\n",
        "## whatwasdone\nAdded the login.\n",
        "```yaml\noutcome: failed\n```\n",
        "outcome: failed\n",
    ],
)
def test_one_section_of_a_handoff_is_enough(text: str) -> None:
    assert extract_handoff(text).handoff is not None
