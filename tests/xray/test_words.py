"""The agent's words are cut where statements begin and end, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.domain.handoff import Span
from segue.interfaces.xray.model import TextRun
from segue.interfaces.xray.text import visible
from segue.interfaces.xray.words import cut_words, spans_in

TEXT = "Added a test.\nAll 3 tests pass, says CI.\n"


def joined(lines: tuple[tuple[TextRun, ...], ...]) -> str:
    return "\n".join("".join(run.text for run in line) for line in lines)


def test_each_run_tells_which_statements_it_makes() -> None:
    lines = cut_words(TEXT, {"s1": Span(0, 12), "s2": Span(14, 30)})
    assert lines == (
        (TextRun("Added a test", ("s1",)), TextRun(".", ())),
        (TextRun("All 3 tests pass", ("s2",)), TextRun(", says CI.", ())),
        (),
    )


def test_statements_in_the_same_words_share_a_run() -> None:
    lines = cut_words("Changed a.py twice", {"s1": Span(0, 18), "s2": Span(8, 12)})
    assert lines == (
        (TextRun("Changed ", ("s1",)), TextRun("a.py", ("s1", "s2")), TextRun(" twice", ("s1",))),
    )


def test_a_statement_over_two_lines_is_in_both() -> None:
    assert cut_words("one\ntwo", {"s1": Span(0, 7)}) == (
        (TextRun("one", ("s1",)),),
        (TextRun("two", ("s1",)),),
    )


def test_a_secret_is_taken_out_wherever_statements_cut_it() -> None:
    secret = "AKIA" + "Q7RT2WXY3ZAB4CDE"
    text = f"Set the key to {secret} in CI"
    lines = cut_words(text, {"s1": Span(0, 25), "s2": Span(20, len(text))})
    assert joined(lines) == "Set the key to [redacted: AWS access key id] in CI"
    assert secret[:8] not in repr(lines)


def test_line_ends_of_windows_make_no_line_of_their_own() -> None:
    assert joined(cut_words("a\r\nb\r\n", {})) == "a\nb\n"


@given(
    st.text(alphabet="ab \n`#-\u202e\u00e9\U0001f600", max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=6),
)
def test_no_character_is_lost(text: str, places: list[tuple[int, int]]) -> None:
    spans = {
        f"s{at}": Span(start, min(len(text), start + length))
        for at, (start, length) in enumerate(places)
        if start < len(text)
    }
    lines = cut_words(text, spans)
    assert joined(lines) == visible(text)
    for name, span in spans.items():
        said = "".join(run.text for line in lines for run in line if name in run.statements)
        assert said == visible(text[span.start : span.end].replace("\n", ""))


@pytest.mark.parametrize(
    ("span", "text", "is_there"),
    [
        ({"start": 0, "end": 12}, "Added a test", True),
        ({"start": 0, "end": 12}, "Added\\na  test", True),
        ({"start": 3, "end": 12}, "Added a test", False),
        ({"start": 0, "end": 4000}, "Added a test", False),
        (None, "Added a test", False),
    ],
)
def test_words_that_are_not_there_are_not_underlined(span: object, text: str, is_there: bool) -> None:
    (found,) = spans_in(TEXT, [{"span": span, "text": text}])
    assert (found is not None) == is_there
