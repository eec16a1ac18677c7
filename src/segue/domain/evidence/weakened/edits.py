"""What an edit does to a test, judged by the two versions alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from segue.domain.evidence.weakened.shapes import TRIVIAL, Assertion, TestShape


@dataclass(frozen=True, kw_only=True, slots=True)
class SuspectEdit:
    """One way in which a test may prove less than before."""

    way: str
    """In a word or two."""
    line: int
    """Where, after the step."""
    detail: str
    """What can be seen, as a sentence."""
    is_plain: bool = False
    """True if it proves less however the code behaves: no run is needed."""
    is_soft: bool = False
    """True if honest edits look the same: it counts only where a red test became green by it."""


def compare_shapes(old: TestShape, new: TestShape) -> list[SuspectEdit]:
    """The edits that lead from one version of a test to the other and may weaken it."""
    if (old.code, old.cases, old.skip, old.limits) == (new.code, new.cases, new.skip, new.limits):
        return [] if old.is_focused or not new.is_focused else [_focused(new)]
    found = [*_hiding(old, new)]
    if not any(edit.is_plain for edit in found):
        found += [*_assertions(old, new), *_surroundings(old, new)]
    return found


def _focused(new: TestShape) -> SuspectEdit:
    return SuspectEdit(
        way="focused",
        line=new.line,
        detail="`.only` keeps the other tests of the file from running",
        is_plain=True,
    )


def _hiding(old: TestShape, new: TestShape) -> Iterator[SuspectEdit]:
    """What keeps assertions from being reached or from failing."""
    if new.skip is not None and (old.skip is None or (new.skip.is_certain and not old.skip.is_certain)):
        detail = f"A skip was added: `{new.skip.text}`"
        yield SuspectEdit(way="skipped", line=new.skip.line, detail=detail, is_plain=new.skip.is_certain)
    if new.is_focused and not old.is_focused:
        yield _focused(new)
    yield from _emptied(old, new)
    if not old.assertions:
        return
    if new.returns_early and not old.returns_early:
        detail = "It returns before its assertions"
        yield SuspectEdit(way="early return", line=new.returns_early, detail=detail, is_plain=True)
    if new.swallowed > old.swallowed:
        detail = "A failed assertion is caught and forgotten"
        is_plain = new.swallowed >= len(new.assertions)
        yield SuspectEdit(way="failure swallowed", line=new.line, detail=detail, is_plain=is_plain)


def _emptied(old: TestShape, new: TestShape) -> Iterator[SuspectEdit]:
    """What requires nothing any more."""
    if new.is_empty and not old.is_empty:
        yield SuspectEdit(way="emptied", line=new.line, detail="It does nothing any more", is_plain=True)
    elif old.strongest > TRIVIAL and not new.assertions:
        yield SuspectEdit(way="assertion removed", line=new.line, detail="It asserts nothing any more")
    elif old.strongest > TRIVIAL and new.strongest == TRIVIAL:
        only = new.assertions[0]
        detail = f"`{only.text[:80]}` always holds"
        yield SuspectEdit(way="emptied", line=only.line, detail=detail, is_plain=True)


def _assertions(old: TestShape, new: TestShape) -> Iterator[SuspectEdit]:
    removed, added = _unmatched(old.assertions, new.assertions)
    for before, after in zip(removed, added, strict=False):
        if edit := _compare(before, after):
            yield edit
    if len(removed) > len(added) and new.assertions:
        lost = removed[len(added)]
        yield SuspectEdit(way="assertion removed", line=new.line, detail=f"`{lost.text[:80]}` was removed")


def _compare(before: Assertion, after: Assertion) -> SuspectEdit | None:
    if after.strength < before.strength:
        detail = f"`{before.text[:80]}` became `{after.text[:80]}`"
        return SuspectEdit(way="assertion weakened", line=after.line, detail=detail)
    if (after.tolerance or 0) > (before.tolerance or 0) or (after.kind == "close" and before.kind == "=="):
        detail = f"`{before.text[:80]}` became `{after.text[:80]}`"
        return SuspectEdit(way="tolerance raised", line=after.line, detail=detail)
    detail = f"`{before.text[:80]}` became `{after.text[:80]}`"
    return SuspectEdit(way="expectation changed", line=after.line, detail=detail)


def _unmatched(
    before: Sequence[Assertion], after: Sequence[Assertion]
) -> tuple[list[Assertion], list[Assertion]]:
    """The assertions of each version that the other does not have, under other names at most."""
    old, new = _without(before, after, "text"), _without(after, before, "text")
    return _without(old, new, "skeleton"), _without(new, old, "skeleton")


def _without(these: Sequence[Assertion], those: Sequence[Assertion], field: str) -> list[Assertion]:
    left = Counter(getattr(each, field) for each in those)
    kept = []
    for each in these:
        if left[getattr(each, field)]:
            left[getattr(each, field)] -= 1
        else:
            kept.append(each)
    return kept


def _surroundings(old: TestShape, new: TestShape) -> Iterator[SuspectEdit]:
    if lost := Counter(old.cases) - Counter(new.cases):
        case = next(iter(lost))
        if len(new.cases) < len(old.cases):
            yield SuspectEdit(
                way="cases removed", line=new.line, detail=f"It is no longer run with `{case[:80]}`"
            )
        else:
            yield SuspectEdit(
                way="expectation changed", line=new.line, detail=f"The case `{case[:80]}` was changed"
            )
    if mocked := {name for name in new.mocks - old.mocks if _is_subject(name, old)}:
        name = min(mocked)
        yield SuspectEdit(way="mocked", line=new.line, detail=f"It replaces `{name}`, which it tests")
    for name, limit in new.limits.items():
        if limit > old.limits.get(name, 0):
            was = f"{old.limits[name]:g}" if name in old.limits else "none"
            detail = f"Its {name} was raised from {was} to {limit:g}"
            yield SuspectEdit(way="limit raised", line=new.line, detail=detail, is_soft=True)
    if old.values != new.values or Counter(old.steps) != Counter(new.steps):
        yield SuspectEdit(
            way="set-up changed", line=new.line, detail="What it sets up was changed", is_soft=True
        )


def _is_subject(name: str, test: TestShape) -> bool:
    """True if a test is about a name: it calls it, or is named after it."""
    return name in test.used or (len(name) > 3 and name.lower() in test.name.lower())
