"""Puts cases into words: phrasings, each slot written in one of the ways that people write it."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from open_world.case import ACT, Case
from open_world.worlds import World

HALVES, BLIND = ("seen", "held_out", "fresh"), "blind"
_SLOT = re.compile(r"\{(\w+)(?::([\w ]+))?\}")
_COUNTED = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_PATHS, _NAMES, _WORDS = "pqo", "st", "dk"


@dataclass(frozen=True, kw_only=True)
class Phrasing:
    """A way to say something."""

    text: str
    has_aside: bool
    """Whether it has words that no record can check."""

    @property
    def slots(self) -> set[str]:
        """What it says something of."""
        return {name.lower() for name, _ in _SLOT.findall(self.text)}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement about a world, with what is known of its truth."""

    case: Case
    half: str
    text: str
    has_aside: bool
    phrasing: str = ""
    """The phrasing, with its slots."""
    false_words: tuple[str, ...] = ()
    """Words of the false part; one of them has to be in the rest that a `partly` names."""
    may_be_act: bool = False
    """Whether the words for the act are the false part."""


def load_phrasings(half: str) -> dict[str, list[Phrasing]]:
    """Kind -> its phrasings, of one half."""
    found: dict[str, list[Phrasing]] = defaultdict(list)
    kind = ""
    path = Path(__file__).parent / f"phrasings_{half}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            kind = line[1:-1]
        elif line and not line.startswith("# "):
            text = line.removeprefix("~").strip().replace("\\n", "\n")
            found[kind].append(Phrasing(text=text, has_aside=line.startswith("~")))
    return found


class Speaker:
    """Says cases with the phrasings of one half, each as often as the others."""

    def __init__(self, half: str, rng: random.Random) -> None:
        self.half = half
        self._rng = rng
        self._phrasings = load_phrasings(half)
        self._used: dict[tuple[str, bool | None, str], int] = defaultdict(int)

    def say(self, case: Case, world: World) -> Statement | None:
        """The case in words; none if no phrasing has the slots that it needs."""
        needed = {each for each in case.false if each != ACT}
        if "list" in case.slots:
            needed = {"list"}
        fit = [
            each
            for each in self._phrasings[case.kind]
            if needed <= each.slots and each.slots - {"kind"} <= case.slots.keys() | {"p"}
        ]
        if not fit:
            return None
        least = min(self._used[case.kind, case.truth, each.text] for each in fit)
        phrasing = self._rng.choice(
            [each for each in fit if self._used[case.kind, case.truth, each.text] == least]
        )
        self._used[case.kind, case.truth, phrasing.text] += 1
        written = {name: _write(name, value, world, self._rng) for name, value in case.slots.items()}
        text = _SLOT.sub(lambda m: _fill(m[1], m[2], written, case, self._rng), phrasing.text)
        return Statement(
            case=case,
            half=self.half,
            text=text,
            has_aside=phrasing.has_aside,
            phrasing=phrasing.text,
            false_words=tuple(_words_of(case, written)),
            may_be_act=ACT in (*case.false, *case.named),
        )


def _fill(name: str, noun: str | None, written: dict[str, str], case: Case, rng: random.Random) -> str:
    if name == "P":
        return str(case.slots["p"])
    if noun is None:
        return written[name]
    count = int(str(case.slots[name]))
    said = _COUNTED[count] if count <= 12 and rng.random() < 0.25 else str(count)
    return f"{said} {noun}{'' if count == 1 else 's'}"


def _write(name: str, value: str | int | Sequence[str], world: World, rng: random.Random) -> str:
    if not isinstance(value, str | int):
        marked = [_write("p", each, world, rng) for each in value]
        return " and ".join(marked) if len(marked) < 3 else ", ".join(marked[:-1]) + " and " + marked[-1]
    text = str(value)
    if name in _PATHS:
        base = text.rsplit("/", 1)[-1]
        if base != text and world.base_names[base] == 1 and rng.random() < 0.15:
            text = base
        return f"`{text}`" if rng.random() < 0.7 or "." not in text else text
    if name in _NAMES:
        return _write_name(text, rng)
    if name in _WORDS:
        return f"`{text}`" if rng.random() < 0.6 or not any(each in text for each in "_-") else text
    return text


def _write_name(name: str, rng: random.Random) -> str:
    if " " in name:
        return rng.choice((f'"{name}"', f"`{name}`"))
    is_plain = "_" in name or any(each.isupper() for each in name[1:])
    if is_plain and rng.random() < 0.2:
        return name
    return f"`{name}()`" if rng.random() < 0.12 and name[0].islower() else f"`{name}`"


def _words_of(case: Case, written: dict[str, str]) -> Iterator[str]:
    for name in (*case.false, *case.named):
        if name == ACT or name not in written:
            continue
        value = case.slots[name]
        yield str(value)
        if name in _PATHS:
            yield str(value).rsplit("/", 1)[-1]
        if isinstance(value, int) and value <= 12:
            yield _COUNTED[value]
