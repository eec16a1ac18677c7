"""A notation of the caller's own: tried first, never in the way of the others, asked for word for word."""

from __future__ import annotations

import json

import pytest

from segue.domain.briefing import brief
from segue.domain.briefing.repair_prompt import repair_prompt
from segue.domain.claims import Change, ChangeKind, Evidence, verify_claims
from segue.domain.handoff import Handoff, Notation
from segue.domain.handoff.custom_notation import CustomNotation
from segue.domain.handoff.extract.extraction import extract_reply

SECTIONS = "## What Was Done\n- Added a.py\n"


def read_did(reply: str) -> Handoff | None:
    done = tuple(line.removeprefix("did: ") for line in reply.splitlines() if line.startswith("did: "))
    return Handoff(what_was_done=done) if done else None


def read_json(reply: str) -> Handoff | None:
    return Handoff(what_was_done=(json.loads(reply)["work"],))


def test_it_is_tried_before_the_built_in_notations() -> None:
    both = SECTIONS + "did: Wrote b.py\n"
    found = CustomNotation(read=read_did).extract(both)
    assert found.handoff == Handoff(what_was_done=("Wrote b.py",))
    assert found.notation is Notation.CUSTOM


@pytest.mark.parametrize("read", [None, read_did, read_json], ids=["no reader", "none", "ValueError"])
def test_what_it_cannot_read_is_read_as_always(read: object) -> None:
    found = CustomNotation(read=read).extract(SECTIONS)  # type: ignore[arg-type]  # one of those above
    assert found == extract_reply(SECTIONS)
    assert found.notation is Notation.SECTIONS


def test_its_statements_have_their_places_and_are_judged_once() -> None:
    reply = "did: Created a.py\ndid: Created b.py\n"
    found = CustomNotation(read=read_did).extract(reply)
    span = found.spans["what_was_done[1]"]
    assert reply[span.start : span.end] == "Created b.py"
    evidence = Evidence(
        changes={"a.py": Change(kind=ChangeKind.ADDED)}, before=frozenset(), after=frozenset({"a.py"})
    )
    ledger = verify_claims(found, evidence, source=reply)
    assert [(str(entry.verdict), entry.statement.field) for entry in ledger.entries] == [
        ("confirmed", "what_was_done[0]"),
        ("refuted", "what_was_done[1]"),
    ]


def test_agents_are_asked_for_it_word_for_word() -> None:
    notation = CustomNotation(request="End with `did: ...` lines.")
    text = brief(prompt="Fix it.", agent_name="dev", job="Fix.", notation=notation).text
    assert "## How to hand off\n\nEnd with `did: ...` lines.\n" in text
    assert "what_was_done" not in text
    assert "End with `did: ...` lines." in repair_prompt([], ["a.py is gone"], notation)
    with_tools = brief(prompt="Fix it.", agent_name="dev", job="Fix.", notation=notation, tools=True).text
    assert "`submit_handoff`" in with_tools
    assert "End with `did: ...` lines." in with_tools
