"""Compares an extraction with gold labels: precision, recall and F1, items matched one to one."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

TEXT_FIELDS = (
    "what_was_done",
    "decisions",
    "open_questions",
    "next_steps",
    "blockers",
    "gotchas",
    "critical_context",
    "goal",
)
PATH_FIELDS = ("files_created", "files_modified", "files_mentioned")
CORE = TEXT_FIELDS[:4]
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BULLET = re.compile(r"^[\s>]*([-*+\u2022]|\d+[.)])\s+", re.MULTILINE)
_BOX = re.compile(r"\[[ xX~]\]")
_TOKEN = re.compile(f"[{_WIDE}]|[^\\W_{_WIDE}]+")
_LINE_SUFFIX = re.compile(r"(:\d+([-,\u2013]\d+)*)+$")


@dataclass(frozen=True)
class Words:
    """A text as it is compared: its tokens."""

    raw: str

    @cached_property
    def tokens(self) -> list[str]:
        """Lower case words and single wide characters."""
        text = unicodedata.normalize("NFKC", self.raw)
        text = text.replace("\\n", " ").replace('\\"', '"').replace("\\\\", "\\")
        text = _BOX.sub(" ", _BULLET.sub(" ", _LINK.sub(r"\1", text)))
        return _TOKEN.findall(text.lower())

    @cached_property
    def bag(self) -> frozenset[str]:
        """The different tokens."""
        return frozenset(self.tokens)

    @cached_property
    def line(self) -> str:
        """The tokens, joined."""
        return f" {' '.join(self.tokens)} "


def same(one: Words, other: Words) -> bool:
    """True if half the words are shared, or one text contains the other (three words at least)."""
    if not one.tokens or not other.tokens:
        return one.raw.strip() == other.raw.strip()
    if one.line == other.line or 2 * len(one.bag & other.bag) >= len(one.bag | other.bag):
        return True
    short, long = sorted((one, other), key=lambda words: len(words.line))
    return len(short.tokens) >= 3 and short.line in long.line


@dataclass
class Tally:
    """Counts over documents."""

    predicted: int = 0
    gold: int = 0
    matched: int = 0

    def add(self, other: Tally) -> None:
        """Adds another document's counts."""
        self.predicted += other.predicted
        self.gold += other.gold
        self.matched += other.matched

    @property
    def precision(self) -> float:
        """Share of what was found that is right."""
        return self.matched / self.predicted if self.predicted else float(not self.gold)

    @property
    def recall(self) -> float:
        """Share of what is there that was found."""
        return self.matched / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(gold: dict[str, Any], found: dict[str, list[str]]) -> dict[str, Tally]:
    """Field -> counts, for one document. What only repeats test results and metadata is left out."""
    neutral = [Words(text) for text in texts(gold.get("verification"))]
    tallies = {}
    for name in TEXT_FIELDS:
        wanted = [Words(text) for text in texts(gold.get(name))]
        offered = [Words(text) for text in found.get(name, []) if text.strip()]
        edges = [[at for at, want in enumerate(wanted) if same(offer, want)] for offer in offered]
        edges = [e for e, o in zip(edges, offered, strict=True) if e or not any(same(o, n) for n in neutral)]
        tallies[name] = Tally(len(edges), len(wanted), _matching(edges, len(wanted)))
    for name in PATH_FIELDS:
        wanted_paths = {path(text) for text in texts(gold.get(name))}
        found_paths = {path(text) for text in found.get(name, []) if text.strip()}
        tallies[name] = Tally(len(found_paths), len(wanted_paths), len(wanted_paths & found_paths))
    return tallies


def total(tallies: dict[str, Tally], names: tuple[str, ...]) -> Tally:
    """The sum over some fields."""
    result = Tally()
    for name in names:
        result.add(tallies[name])
    return result


def _matching(edges: list[list[int]], wanted: int) -> int:
    """The size of the largest one-to-one matching."""
    owner = [-1] * wanted

    def place(offer: int, tried: set[int]) -> bool:
        for want in edges[offer]:
            if want not in tried:
                tried.add(want)
                if owner[want] < 0 or place(owner[want], tried):
                    owner[want] = offer
                    return True
        return False

    return sum(place(offer, set()) for offer in range(len(edges)))


def texts(value: Any) -> list[str]:
    """The texts of a label: a list, one item, or none."""
    if value is None:
        return []
    found: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            found += [str(item.get("text", "")), *texts(item.get("more"))]
        else:
            found.append(str(item))
    return [text for text in found if text.strip()]


def path(text: str) -> str:
    """A path without quotes, line numbers and a leading `./`."""
    bare = _LINE_SUFFIX.sub("", text.strip().strip("`\"'").strip())
    while bare.startswith("./"):
        bare = bare[2:]
    return bare
