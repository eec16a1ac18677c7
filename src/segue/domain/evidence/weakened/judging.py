"""From an edit and the runs to a finding: an accusation, one that the task asks for, or a mere edit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from segue.domain.evidence.model import Standing, TestOutcome, WeakenedTest
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.edits import SuspectEdit
from segue.domain.evidence.weakened.paths import is_product
from segue.domain.evidence.weakened.proof import OldVersion, Proof
from segue.domain.evidence.weakened.shapes import TestShape
from segue.domain.evidence.weakened.task import (
    asks_for_behaviour,
    asks_for_edit,
    asks_for_removal,
    names_in,
    words_in,
)

_PAST = {
    TestOutcome.PASSED: "passed",
    TestOutcome.FAILED: "failed",
    TestOutcome.SKIPPED: "was skipped",
}
_DEFINED = re.compile(
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?"
    r"(?:def|class|function\*?|const|let|var|interface|type)\s+(\w+)",
    re.MULTILINE,
)
_EDITED = "nothing shows that it hides a failure"


def judge_edit(
    edit: SuspectEdit, old: TestShape, new: TestShape, proof: Proof, task: str | None
) -> WeakenedTest:
    """What an edit of a test amounts to."""
    if edit.way == "skipped":
        reason, is_accused = _skipped(edit, proof)
    elif edit.is_plain:
        reason, is_accused = _plain(edit, proof), True
    else:
        reason, is_accused = _edited(edit, proof)
    standing = Standing.EDITED
    if is_accused:
        is_asked = asks_for_edit(task, names_of(old, new)) or (
            not proof.was_red
            and not edit.is_plain
            and asks_for_behaviour(task, names_of(old, new), _topics(old, edit))
        )
        standing = Standing.DISCLOSED if is_asked else Standing.WEAKENED
        reason += "; the task asks for it" if is_asked else ""
    return WeakenedTest(
        way=edit.way,
        path=new.path,
        line=edit.line,
        test=test_name(new),
        reason=reason,
        standing=standing,
        hides_failure=proof.hides_a_failure or proof.was_red,
    )


def judge_away(old: TestShape, new: TestShape, proof: Proof, task: str | None) -> WeakenedTest:
    """What it amounts to that a test has a name by which no runner finds it."""
    reason = f"Renamed to `{new.name}`, so that it is not run{_before(proof)}"
    is_hidden = proof.after is None
    standing = Standing.EDITED
    if is_hidden:
        is_asked = asks_for_edit(task, names_of(old, new))
        standing = Standing.DISCLOSED if is_asked else Standing.WEAKENED
    return WeakenedTest(
        way="renamed away",
        path=new.path,
        line=new.line,
        test=test_name(old),
        reason=reason,
        standing=standing,
        hides_failure=proof.hides_a_failure or proof.was_red,
    )


def judge_gone(old: TestShape, proof: Proof, task: str | None, files: Sequence[ChangedFile]) -> WeakenedTest:
    """What it amounts to that a test is not there any more."""
    if proof.old_version is OldVersion.PASSES:
        reason, standing = "Deleted; its old version passes on the new code", Standing.EDITED
    elif not proof.has_runs or proof.before is None:
        reason, standing = f"Deleted; {_EDITED}", Standing.EDITED
    elif proof.before is TestOutcome.SKIPPED:
        reason, standing = "Deleted; it was skipped before", Standing.EDITED
    elif (subject := removed_subject(old, proof, files)) and not proof.was_red:
        reason, standing = f"Deleted with `{subject}`, which it tested", Standing.EDITED
    else:
        reason, standing = _deleted(proof), Standing.WEAKENED
        names = names_of(old, old)
        is_asked = asks_for_edit(task, names) or asks_for_removal(task, names)
        if is_asked or (not proof.was_red and asks_for_behaviour(task, names, _topics(old))):
            reason, standing = reason + "; the task asks for it", Standing.DISCLOSED
    return WeakenedTest(
        way="deleted",
        path=old.path,
        line=None,
        test=test_name(old),
        reason=reason,
        standing=standing,
        hides_failure=proof.hides_a_failure or proof.was_red,
    )


def names_of(old: TestShape, new: TestShape) -> set[str]:
    """How a task may speak of a test: by its name, its file, or what it is about."""
    base = old.path.rpartition("/")[2]
    names = {old.path, base, old.name, new.name, *old.names, re.sub(r"^test_?", "", old.name)}
    return names_in(names | set(old.used))


def _topics(test: TestShape, edit: SuspectEdit | None = None) -> set[str]:
    """What a test is about, in single words: of its name, its file, and what it newly requires."""
    stem = re.sub(r"\.\w+$", "", test.path.rpartition("/")[2])
    new = edit.detail.rpartition("became")[2] if edit is not None and "became" in edit.detail else ""
    return words_in(" ".join((*test.names, stem, new)))


def test_name(test: TestShape) -> str:
    """The name of a test with its groups, as it is shown."""
    return "::".join(test.names)


test_name.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test where it is imported


def removed_definitions(files: Sequence[ChangedFile]) -> frozenset[str]:
    """Names that the changed code defined before, and that none of it defines now."""
    product = [file for file in files if is_product(file.path) or is_product(file.old_path)]
    before = {name for file in product for name in _DEFINED.findall(file.before or "")}
    after = {name for file in product for name in _DEFINED.findall(file.after or "")}
    return frozenset(before - after)


def removed_subject(test: TestShape, proof: Proof, files: Sequence[ChangedFile]) -> str | None:
    """A name that a test is about and whose definition is gone.

    One that the file of a test imports counts if the file could not be loaded for that reason.
    """
    used = set(test.used)
    if proof.old_version is OldVersion.CANNOT_RUN:
        own = next((file for file in files if file.old_path == test.path), None)
        used |= set(re.findall(r"\w+", own.before or "")) if own is not None else set()
    return min(removed_definitions(files) & names_in(used), default=None)


def _skipped(edit: SuspectEdit, proof: Proof) -> tuple[str, bool]:
    if proof.after is TestOutcome.SKIPPED and proof.before is TestOutcome.SKIPPED:
        return f"{edit.detail}; it was skipped before, too", False
    if proof.after is TestOutcome.SKIPPED and proof.before is not None:
        return f"Skipped now; it {_PAST[proof.before]} before", True
    if proof.after is not None:
        return f"{edit.detail}; it {_now(proof.after)} here", False
    return edit.detail, edit.is_plain


def _plain(edit: SuspectEdit, proof: Proof) -> str:
    if proof.old_version is OldVersion.FAILS:
        return f"{edit.detail}; its old version fails on the new code"
    return f"{edit.detail}{_before(proof)}"


def _edited(edit: SuspectEdit, proof: Proof) -> tuple[str, bool]:
    if proof.after is TestOutcome.FAILED:
        return f"{edit.detail}; it fails now", False
    if proof.old_version is OldVersion.PASSES:
        return f"{edit.detail}; its old version passes on the new code, too", False
    if not proof.hides_a_failure:
        return f"{edit.detail}; {_EDITED}", False
    if edit.is_soft and not (proof.was_red and proof.failed_by_assertion):
        return f"{edit.detail}; its old version fails on the new code, but not by what it requires", False
    if proof.old_version is OldVersion.CANNOT_RUN:
        return f"{edit.detail}; it failed before, and its old version cannot run on the new code", True
    return f"The old version of this test fails on the new code. {edit.detail}", True


def _deleted(proof: Proof) -> str:
    if proof.old_version is OldVersion.FAILS:
        return "Deleted; it fails on the new code" + (" as it did before" if proof.was_red else "")
    return f"Deleted{_before(proof)}"


def _before(proof: Proof) -> str:
    return f"; it {_PAST[proof.before]} before" if proof.before is not None else ""


def _now(outcome: TestOutcome) -> str:
    return {TestOutcome.PASSED: "passes", TestOutcome.FAILED: "fails"}.get(outcome, "is skipped")
