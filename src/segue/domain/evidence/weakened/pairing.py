"""Which test of after is which test of before: the same, moved, renamed, merged into another, or gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from segue.domain.evidence.weakened.shapes import TRIVIAL, TestShape

_ALIKE = 0.75
_LONGEST_COMPARED = 20_000
_MOST_COMPARED = 5_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """The tests of before with what became of them."""

    kept: tuple[tuple[TestShape, TestShape], ...]
    """Tests that are there, perhaps under another name or in another file."""
    renamed_away: tuple[tuple[TestShape, TestShape], ...]
    """Tests that are there under a name by which no runner finds them."""
    gone: tuple[TestShape, ...]
    """Tests that are not there."""
    absorbed: tuple[TestShape, ...]
    """Tests that are not there, but what they require is required by others."""


def pair_tests(before: Sequence[TestShape], after: Sequence[TestShape], moved: Mapping[str, str]) -> Pairs:
    """Find each test again; `moved` gives the new path of a renamed file."""
    pairing = _Pairing(
        olds=[each for each in before if each.is_collected],
        news=[each for each in after if each.is_collected],
    )
    pairing.match(lambda old: (moved.get(old.path, old.path), old.names), lambda new: (new.path, new.names))
    pairing.match(_content, _content)
    pairing.match(lambda old: old.name, lambda new: new.name)
    absorbed = pairing.take_out(_Requirements(after).cover)
    pairing.match_alike(moved)
    away, gone = _renamed_away(pairing.olds, before, after)
    return Pairs(
        kept=tuple(pairing.kept), renamed_away=tuple(away), gone=tuple(gone), absorbed=tuple(absorbed)
    )


@dataclass(slots=True)
class _Pairing:
    """The tests that are still to be found."""

    olds: list[TestShape]
    news: list[TestShape]
    kept: list[tuple[TestShape, TestShape]] = field(default_factory=list)

    def match(
        self, key_of_old: Callable[[TestShape], Hashable], key_of_new: Callable[[TestShape], Hashable]
    ) -> None:
        """Pair those with the same key; without a key nothing is paired."""
        waiting: dict[Hashable, list[TestShape]] = {}
        for new in self.news:
            waiting.setdefault(key_of_new(new), []).append(new)
        rest, taken = [], set[int]()
        for old in self.olds:
            key = key_of_old(old)
            found = waiting.get(key) if key is not None else None
            if found:
                taken.add(id(found[0]))
                self.kept.append((old, found.pop(0)))
            else:
                rest.append(old)
        self.olds, self.news = rest, [new for new in self.news if id(new) not in taken]

    def take_out(self, fits: Callable[[TestShape], bool]) -> list[TestShape]:
        """Those of before that fit; they are not looked for any more."""
        found = [old for old in self.olds if fits(old)]
        self.olds = [old for old in self.olds if not fits(old)]
        return found

    def match_alike(self, moved: Mapping[str, str]) -> None:
        """Pair those that are much alike, in the same file; of very many, only the first are compared."""
        left = _MOST_COMPARED
        for old in list(self.olds):
            path = moved.get(old.path, old.path)
            candidates = [new for new in self.news if new.path == path][: max(0, left)]
            left -= len(candidates)
            new = _most_alike(old, candidates)
            if new is not None:
                self.kept.append((old, new))
                self.olds = [each for each in self.olds if each is not old]
                self.news = [each for each in self.news if each is not new]


def _content(test: TestShape) -> Hashable:
    """What a test consists of; one without assertions is like too many others."""
    return (test.code, test.cases) if test.assertions else None


def _most_alike(old: TestShape, news: Sequence[TestShape]) -> TestShape | None:
    skeletons = sorted(each.skeleton for each in old.assertions)
    best, found = _ALIKE, None
    for new in news:
        if skeletons and skeletons == sorted(each.skeleton for each in new.assertions):
            return new
        if len(old.code) + len(new.code) > _LONGEST_COMPARED:
            continue
        matcher = SequenceMatcher(None, old.code, new.code, autojunk=False)
        if matcher.real_quick_ratio() < best or matcher.quick_ratio() < best:
            continue
        ratio = matcher.ratio()
        if ratio >= best:
            best, found = ratio, new
    return found


def _renamed_away(
    lost: Sequence[TestShape], before: Sequence[TestShape], after: Sequence[TestShape]
) -> tuple[list[tuple[TestShape, TestShape]], list[TestShape]]:
    """Tests that are there under a name by which no runner finds them, and those that are not there."""
    there_before = {each.code for each in before if not each.is_collected}
    called = Counter(name for each in after for name in each.used)
    hidden = {
        each.code: each
        for each in after
        if not each.is_collected
        and each.code not in there_before
        and called[each.name] <= int(each.name in each.used)  # a helper is called by others
    }
    away = [(old, hidden[old.code]) for old in lost if old.code in hidden]
    return away, [old for old in lost if old.code not in hidden]


class _Requirements:
    """All that the tests of after require, by themselves or as a case of a test with parameters."""

    def __init__(self, after: Sequence[TestShape]) -> None:
        others = [each for each in after if each.is_collected and each.skip is None]
        self._texts = {each.text for other in others for each in other.assertions}
        self._cases = [_words(case) for other in others for case in other.cases]

    def cover(self, old: TestShape) -> bool:
        """True if every assertion of a test is made elsewhere."""
        wanted = [each for each in old.assertions if each.strength > TRIVIAL]
        return bool(wanted) and all(
            each.text in self._texts or any(_literals(each.text) <= case for case in self._cases)
            for each in wanted
        )


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c in "._'\"-" else " " for c in text).split())


def _literals(text: str) -> set[str]:
    """The words of an assertion that are values; it must have some."""
    found = {word for word in _words(text) if word[0].isdigit() or word[0] in "'\"-"}
    return found or {"\0"}
