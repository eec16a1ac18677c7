"""Verdicts on what is said of files: created, modified, deleted, renamed, there to be read."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from segue.domain.ledger.evidence import Change, ChangeKind, Evidence
from segue.domain.ledger.paths import Match, PathFinder, why_unseen
from segue.domain.ledger.values import Claim, ClaimKind, Finding, Verdict


def confirmed(because: str) -> Finding:
    """The evidence bears the claim out."""
    return Finding(verdict=Verdict.CONFIRMED, because=because)


def refuted(because: str) -> Finding:
    """The evidence contradicts the claim."""
    return Finding(verdict=Verdict.REFUTED, because=because)


def unverifiable(because: str) -> Finding:
    """The evidence says nothing for sure."""
    return Finding(verdict=Verdict.UNVERIFIABLE, because=because)


class FileVerdicts:
    """Judges claims about files against one evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._finder = PathFinder(evidence)
        self._renamed = {
            change.old_path: path for path, change in evidence.changes.items() if change.old_path
        }
        self._judges: dict[ClaimKind, Callable[[str, Claim], Finding]] = {
            ClaimKind.CREATED: self._created,
            ClaimKind.MODIFIED: self._modified,
            ClaimKind.DELETED: self._deleted,
            ClaimKind.EXISTS: self._exists,
        }

    def judge(self, claim: Claim) -> Finding:
        """The verdict on a claim about a file, a folder or a pattern of names."""
        evidence = self._evidence
        if evidence.before is None or evidence.after is None:
            return unverifiable("there is no record of the repository before and after the step")
        if claim.kind is ClaimKind.RENAMED:
            return self._rename(claim)
        match = self._finder.find(claim.subject)
        if match.unseen:
            return unverifiable(f"git cannot tell: {match.unseen}")
        if not match.paths:
            return self._absent(claim, match)
        judge = self._judges[claim.kind]
        found = [judge(path, claim) for path in match.paths]
        if len(found) == 1:
            return found[0]
        return _joined(claim, match, found)

    def _absent(self, claim: Claim, match: Match) -> Finding:
        name = match.wanted
        if claim.kind is ClaimKind.DELETED:
            return unverifiable(f"{name} is neither in the repository before the step nor after it")
        if not (self._evidence.is_tree_whole and self._evidence.is_diff_whole):
            return unverifiable(f"the record of the repository is cut, and {name} is not in what is left")
        return refuted(f"there is no {name}")

    def _change(self, path: str) -> Change | None:
        return self._evidence.changes.get(path)

    def _was_there(self, path: str) -> bool:
        return path in (self._evidence.before or ())

    def _is_there(self, path: str) -> bool:
        return path in (self._evidence.after or ())

    def _created(self, path: str, claim: Claim) -> Finding:  # noqa: PLR0911 (one way out for each verdict)
        change = self._change(path)
        if change is not None and not change.is_certain:
            return unverifiable(f"a filter that was not run may have changed {path}")
        if change is not None and change.kind is ChangeKind.ADDED:
            return _past_end(path, change, claim) or confirmed(f"{path} was added")
        if change is not None and change.kind is ChangeKind.RENAMED:
            return confirmed(f"{path} is new; it was {change.old_path} before")
        if not self._is_there(path):
            if change is None and not self._is_whole():
                return self._cut(path)
            return refuted(f"{path} is not there" + (": it was deleted" if change else ""))
        if self._was_there(path):
            how = f"and was {change.kind}" if change else "and did not change"
            return (
                refuted(f"{path} was there before {how}") if change or self._is_whole() else self._cut(path)
            )
        return self._cut(path)

    def _modified(self, path: str, claim: Claim) -> Finding:  # noqa: PLR0911 (one way out for each verdict)
        change = self._change(path)
        if change is None:
            if path in self._renamed:
                return confirmed(f"{path} was renamed to {self._renamed[path]}")
            if why := why_unseen(self._evidence, path):
                return unverifiable(f"git cannot tell: {why}")
            if not self._is_whole():
                return self._cut(path)
            return refuted(f"{path} did not change")
        if not change.is_certain:
            return unverifiable(f"a filter that was not run may have changed {path}")
        if change.kind is ChangeKind.DELETED:
            return refuted(f"{path} was deleted")
        return _past_end(path, change, claim) or _within_lines(path, change, claim)

    def _deleted(self, path: str, claim: Claim) -> Finding:  # noqa: ARG002 (all judges look alike)
        if self._is_there(path):
            return refuted(f"{path} is still there")
        change = self._change(path)
        if change is not None and change.kind is ChangeKind.DELETED:
            return confirmed(f"{path} was removed")
        if path in self._renamed:
            return confirmed(f"{path} is gone; it is {self._renamed[path]} now")
        return self._cut(path)

    def _exists(self, path: str, claim: Claim) -> Finding:  # noqa: ARG002
        if self._is_there(path):
            return confirmed(f"{path} is there")
        if path in self._renamed:
            return refuted(f"{path} is not there; it was renamed to {self._renamed[path]}")
        return refuted(f"{path} is not there") if self._evidence.is_tree_whole else self._cut(path)

    def _rename(self, claim: Claim) -> Finding:  # noqa: PLR0911 (one way out for each verdict)
        old = self._finder.find(claim.old_path or "")
        new = self._finder.find(self._target(claim))
        if old.unseen or new.unseen:
            return unverifiable(f"git cannot tell: {old.unseen or new.unseen}")
        if not self._is_whole():
            return self._cut(claim.subject)
        if not any(self._is_there(path) for path in new.paths):
            return refuted(f"there is no {new.wanted}")
        if len(old.paths) != 1 or len(new.paths) != 1:
            return unverifiable(f"several files, or none, are called {claim.old_path} or {claim.subject}")
        before, after = old.paths[0], new.paths[0]
        if self._renamed.get(before) == after:
            return confirmed(f"{before} was renamed to {after}")
        if self._is_there(before):
            return refuted(f"{before} is still there")
        change = self._change(after)
        if change is not None and change.kind in (ChangeKind.ADDED, ChangeKind.RENAMED):
            return confirmed(f"{before} is gone and {after} is new")
        return unverifiable(f"{before} is gone, but {after} was there before")

    def _target(self, claim: Claim) -> str:
        """The new path: a folder takes the old name, a bare name stays in the old folder."""
        old, new = (claim.old_path or "").replace("\\", "/"), claim.subject.replace("\\", "/")
        if new.endswith("/"):
            return new + posixpath.basename(old)
        if "/" in old and "/" not in new:
            beside = f"{posixpath.dirname(old)}/{new}"
            if self._finder.find(beside).paths:
                return beside
        return new

    def _is_whole(self) -> bool:
        return self._evidence.is_diff_whole and self._evidence.is_tree_whole

    def _cut(self, path: str) -> Finding:
        return unverifiable(f"the record of the repository is cut, and says nothing of {path}")


def _past_end(path: str, change: Change, claim: Claim) -> Finding | None:
    last = max((lines.last for lines in claim.lines), default=0)
    if change.line_count is None or change.is_binary or last <= change.line_count:
        return None
    return refuted(f"{path} has {change.line_count} lines, not {last}")


def _within_lines(path: str, change: Change, claim: Claim) -> Finding:
    is_new = change.kind is ChangeKind.ADDED
    how = "is new in this step" if is_new else f"was {change.kind}"
    if change.kind is ChangeKind.RENAMED:
        how = f"was renamed from {change.old_path}"
    if not claim.lines or is_new or change.is_binary:
        return confirmed(f"{path} {how}")
    named = ", ".join(f"{lines.first}-{lines.last}" for lines in claim.lines)
    if change.new_lines is None or change.old_lines is None:
        return unverifiable(f"{path} {how}, but where is not known: the diff is cut")
    hunks = (*change.new_lines, *change.old_lines)
    if any(lines.touches(hunk) for lines in claim.lines for hunk in hunks):
        return confirmed(f"{path} {how}, in lines {named}")
    return unverifiable(f"{path} {how}, but in other lines than {named}")


def _joined(claim: Claim, match: Match, found: list[Finding]) -> Finding:
    """The verdict on a name that fits several files, or on all files of a folder."""
    right = [each for each in found if each.verdict is Verdict.CONFIRMED]
    name = match.wanted
    many = f"{len(found)} files"
    if claim.kind is ClaimKind.DELETED and match.is_many:
        left = [each for each in found if each.verdict is Verdict.REFUTED]
        if left:
            is_all = len(left) == len(found)
            return refuted(f"{name} is still there") if is_all else _still_there(name, left, len(found))
    if right:
        return confirmed(f"{right[0].because} ({len(right)} of {many} that {name} means)")
    if all(each.verdict is Verdict.REFUTED for each in found):
        return refuted(f"none of the {many} that {name} means fits: {found[0].because}")
    return unverifiable(f"{name} means {many}, and the evidence does not tell which")


def _still_there(name: str, left: list[Finding], count: int) -> Finding:
    return refuted(f"of {name}, {len(left)} of {count} files are left: {left[0].because}")
