"""Tokens are counted offline, and every figure says what it was counted with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from splintr import Tokenizer

from segue.adapters import tokens
from segue.adapters.tokens import counter_for, load_counter, rough_counter, vocabulary_of

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello world", 2), ("The quick brown fox jumps over the lazy dog.", 10)]
)
def test_counts_are_those_of_the_vocabulary(text: str, tokens: int) -> None:
    assert load_counter("o200k_base")(text) == tokens


def test_a_special_token_spelled_out_is_counted_as_text() -> None:
    assert load_counter("o200k_base")("<|endoftext|>") > 1


def test_half_a_surrogate_pair_is_no_error() -> None:
    assert load_counter()("a\ud800b") >= 1


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        ("gpt-5", "o200k_base"),
        ("openai/gpt-4o-mini", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("meta/llama-3.3-70b", "llama3"),
        ("anthropic/claude-sonnet-4", None),
        (None, None),
    ],
)
def test_the_model_decides_the_vocabulary(model: str | None, vocabulary: str | None) -> None:
    assert vocabulary_of(model) == vocabulary


def test_a_model_with_a_secret_vocabulary_is_counted_with_another_and_says_so() -> None:
    counter = counter_for("anthropic/claude-sonnet-4")
    assert (counter.label, counter.is_exact) == ("o200k_base", False)
    assert counter_for("gpt-5").is_exact


def test_the_rough_counter_is_labelled() -> None:
    counter = rough_counter()
    assert (counter.label, counter.is_exact, counter("12345")) == ("characters / 4", False, 2)


PARAGRAPHS = [path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("vocabulary", sorted({vocabulary for _, vocabulary in tokens._VOCABULARIES}))
def test_paragraphs_that_are_remembered_count_as_the_whole_text_does(vocabulary: str) -> None:
    whole = Tokenizer.from_pretrained(vocabulary)
    counter = load_counter(vocabulary)
    for text in PARAGRAPHS:
        for part in (text, text[::-1], text.replace("\n\n", "\n\n\n"), text.replace(". ", ".\n\n ")):
            assert counter(part) == len(whole.encode_ordinary(part))


def test_importing_segue_loads_no_vocabulary() -> None:
    program = "import sys, segue, segue.adapters.tokens; print('splintr' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
