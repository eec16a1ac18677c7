"""Texts made to hang or to fill the memory: each is read in time, in a process with a small allowance."""

from __future__ import annotations

import subprocess
import sys

import pytest

from segue import Predecessor, brief

MEGABYTES = 10
MEMORY_MB = 500

_PROGRAM = """
import resource, sys
from pathlib import Path
from segue import Handoff, Predecessor, brief, check_handoff, extract_handoff
size = int(sys.argv[2]) * 1_000_000
source = eval(sys.argv[1], {"size": size})
found = extract_handoff(source)
check_handoff(found.handoff or Handoff(), found.spans)
before = Predecessor(agent_name="a", handoff=found.handoff, reply=source)
brief(prompt="p", agent_name="b", job="j", predecessors=[before], budget=2000)
status = Path("/proc/self/status")  # where there is none, the figure may be that of whoever started us
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
if status.exists():
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) // 1024
print(peak, len(found.notes))
"""

_ALIASES = '"outcome: &a done\\nblockers: &b [*a,*a]\\nnext: &c [" + "*b," * (size // 3) + "*b]\\n"'


@pytest.mark.thorough
@pytest.mark.parametrize(
    "made_by",
    [
        pytest.param('"#" * size', id="hashes"),
        pytest.param('"# next steps\\n- a\\n" * (size // 17)', id="headings"),
        pytest.param('">" * size', id="quotes"),
        pytest.param('"> " * (size // 2)', id="spaced quotes"),
        pytest.param('"- " * (size // 2)', id="list markers"),
        pytest.param('"".join("  " * i + "- x\\n" for i in range(3000))', id="nested lists"),
        pytest.param(_ALIASES, id="YAML aliases"),
        pytest.param('"`" * size', id="back-ticks"),
        pytest.param('"```\\n" * (size // 4)', id="fences"),
        pytest.param('"{" * size', id="braces"),
        pytest.param('"## What Was Done\\n\\n" + "- a b\\n" * (size // 6)', id="our own form"),
        pytest.param('"## Next Steps\\n\\n- a\\n  - Depends on: " + "`" * size', id="names"),
        pytest.param('"what_was_done:\\n" + "  - a b c d\\n" * (size // 12)', id="YAML items"),
        pytest.param('"## Done\\n- " + "a/b.c " * (size // 6)', id="paths"),
        pytest.param('"## Done\\n" + "." * size', id="dots"),
    ],
)
def test_ten_megabytes_are_read_checked_and_briefed_in_bounded_memory(made_by: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, made_by, str(MEGABYTES)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    peak, notes = done.stdout.split()
    assert int(peak) < MEMORY_MB
    assert int(notes) > 0 or made_by.startswith('"".join')


def test_a_briefing_says_how_much_of_an_endless_reply_it_does_not_show() -> None:
    before = Predecessor(agent_name="a", handoff=None, reply="word " * 300_000)
    briefing = brief(prompt="p", agent_name="b", job="j", predecessors=[before])
    assert "[500000 more characters are not shown]" in briefing.text
