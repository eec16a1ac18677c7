"""The rules of what an agent may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.domain.permissions import DEFAULT_RULES, Access, PermissionRule, Tool, Verdict, decide


@pytest.mark.parametrize(
    ("tool", "target", "verdict"),
    [
        (Tool.EDIT, "src/a.py", Verdict.ALLOW),
        (Tool.EDIT, "../other/a.py", Verdict.DENY),
        (Tool.EDIT, "/etc/passwd", Verdict.DENY),
        (Tool.EDIT, "link/passwd", Verdict.DENY),
        (Tool.READ, "/etc/passwd", Verdict.ALLOW),
        (Tool.SHELL, "pytest -q", Verdict.ALLOW),
        (Tool.SHELL, "git push origin main", Verdict.DENY),
        (Tool.SHELL, "cd x && git -C . push", Verdict.DENY),
        (Tool.SHELL, "git pull", Verdict.ALLOW),
        (Tool.OTHER, "", Verdict.ALLOW),
    ],
)
def test_by_default_writes_stay_inside_and_nothing_is_pushed(
    tmp_path: Path, tool: Tool, target: str, verdict: Verdict
) -> None:
    (tmp_path / "link").symlink_to("/etc")
    assert decide(DEFAULT_RULES, Access(tool=tool, targets=(target,)), str(tmp_path)) is verdict


def test_a_profiles_own_rule_comes_last_and_decides(tmp_path: Path) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, pattern="git push*", action=Verdict.ASK))
    push = Access(tool=Tool.SHELL, targets=("git push",))
    assert decide(rules, push, str(tmp_path)) is Verdict.ASK


def test_of_several_targets_the_strictest_verdict_counts(tmp_path: Path) -> None:
    both = Access(tool=Tool.EDIT, targets=("a.py", "/etc/hosts"))
    assert decide(DEFAULT_RULES, both, str(tmp_path)) is Verdict.DENY


def test_what_no_rule_speaks_of_is_asked(tmp_path: Path) -> None:
    assert decide((), Access(tool=Tool.EDIT, targets=("a",)), str(tmp_path)) is Verdict.ASK
