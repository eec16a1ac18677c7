"""Counts tokens offline, with the vocabulary of the receiving model where it is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from string import ascii_letters, digits
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEFAULT_VOCABULARY = "o200k_base"

_VOCABULARIES: tuple[tuple[str, str], ...] = (
    ("gpt-oss", "gpt-oss"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-4o", "o200k_base"),
    ("gpt-4.", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("llama-2", "llama2"),
    ("llama", "llama3"),
    ("deepseek", "deepseek_v3"),
    ("qwen", "qwen3"),
    ("glm", "glm4"),
    ("kimi", "kimi_k2"),
    ("mistral", "mistral_v3"),
    ("codestral", "mistral_v3"),
    ("devstral", "mistral_v3"),
    ("phi-4", "phi4"),
)
"""Beginning of a model's name -> its vocabulary; the first that fits counts."""

_NOT_BY_PARAGRAPH = frozenset({"llama2"})
"""Vocabularies that put a token of their own before each text: parts count more than the whole."""
_ENDS = frozenset(ascii_letters + digits + ".!?:`|)*>")
_BETWEEN_PARAGRAPHS = re.compile(r"(?<=[A-Za-z0-9.!?:`|)*>]\n\n)(?=[A-Za-z#*`|<\-])")
"""No token goes across such a place, so the counts of the parts add up exactly; a test shows it."""
_HEADING = "## "
_PARAGRAPHS_KEPT = 4096
_SECTIONS_KEPT = 512
_LONGEST_KEPT = 4000


@dataclass(frozen=True, kw_only=True, slots=True)
class VocabularyCounter:
    """Counts the tokens of a text. Call it."""

    label: str
    """What it counts with, to be shown beside its figures: `o200k_base`, or `characters / 4`."""
    is_exact: bool
    """Whether it counts with the vocabulary of the model that was asked for."""
    count: Callable[[str], int]
    """The count itself."""

    def __call__(self, text: str) -> int:
        """How many tokens `text` is."""
        return self.count(text)


def counter_for(model: str | None = None) -> VocabularyCounter:
    """The counter for a model (`openai/gpt-5`), or the nearest there is; its label says which."""
    vocabulary = vocabulary_of(model)
    return load_counter(vocabulary or DEFAULT_VOCABULARY, is_exact=vocabulary is not None)


def vocabulary_of(model: str | None) -> str | None:
    """The vocabulary of a model, if it is public and known."""
    name = (model or "").casefold().rpartition("/")[2]
    return next((vocabulary for start, vocabulary in _VOCABULARIES if name.startswith(start)), None)


@cache
def load_counter(vocabulary: str = DEFAULT_VOCABULARY, *, is_exact: bool = True) -> VocabularyCounter:
    """A counter with a vocabulary, loaded once; without the library, characters / 4, and labelled so."""
    try:
        # Loaded here: it costs memory and time that `segue --help` must not pay.
        from splintr import Tokenizer  # noqa: PLC0415
    except ImportError:
        return rough_counter()
    tokenizer = Tokenizer.from_pretrained(vocabulary)

    def count(text: str) -> int:
        # A special token spelled out in a text is text; half a surrogate pair has no bytes at all.
        return len(tokenizer.encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))

    counted = count if vocabulary in _NOT_BY_PARAGRAPH else _by_paragraph(count)
    return VocabularyCounter(label=vocabulary, is_exact=is_exact, count=counted)


def _by_paragraph(count: Callable[[str], int]) -> Callable[[str], int]:
    """The same count, which remembers parts: most of a briefing was in the one before it."""
    remembered = lru_cache(maxsize=_PARAGRAPHS_KEPT)(count)

    def count_section(text: str) -> int:
        parts = _BETWEEN_PARAGRAPHS.split(text)
        return sum(count(part) if len(part) > _LONGEST_KEPT else remembered(part) for part in parts)

    remembered_section = lru_cache(maxsize=_SECTIONS_KEPT)(count_section)

    def count_all(text: str) -> int:
        return sum(
            count_section(part) if len(part) > _LONGEST_KEPT else remembered_section(part)
            for part in _sections(text)
        )

    return count_all


def _sections(text: str) -> Iterator[str]:
    """The text, cut before each heading of the second level that begins a paragraph."""
    part, *rest = text.split(f"\n\n{_HEADING}")
    for each in rest:
        if part[-1:] in _ENDS:
            yield f"{part}\n\n"
            part = f"{_HEADING}{each}"
        else:
            part = f"{part}\n\n{_HEADING}{each}"
    yield part


def rough_counter() -> VocabularyCounter:
    """A quarter of the characters: up to two thirds too low for Chinese, a sixth too high for code."""
    return VocabularyCounter(label="characters / 4", is_exact=False, count=lambda text: (len(text) + 3) // 4)
