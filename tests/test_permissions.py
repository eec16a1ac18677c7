"""The rules of what an agent may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.domain.permissions import DEFAULT_RULES, Access, PermissionRule, Ruling, Tool, decide


@pytest.mark.parametrize(
    ("tool", "target", "verdict"),
    [
        (Tool.EDIT, "src/a.py", Ruling.ALLOW),
        (Tool.EDIT, "../other/a.py", Ruling.DENY),
        (Tool.EDIT, "/etc/passwd", Ruling.DENY),
        (Tool.EDIT, "link/passwd", Ruling.DENY),
        (Tool.READ, "/etc/passwd", Ruling.ALLOW),
        (Tool.SHELL, "pytest -q", Ruling.ALLOW),
        (Tool.SHELL, "git push origin main", Ruling.DENY),
        (Tool.SHELL, "cd x && git -C . push", Ruling.DENY),
        (Tool.SHELL, "git pull", Ruling.ALLOW),
        (Tool.OTHER, "", Ruling.ALLOW),
    ],
)
def test_by_default_writes_stay_inside_and_nothing_is_pushed(
    tmp_path: Path, tool: Tool, target: str, verdict: Ruling
) -> None:
    (tmp_path / "link").symlink_to("/etc")
    assert decide(DEFAULT_RULES, Access(tool=tool, targets=(target,)), str(tmp_path)) is verdict


def test_a_profiles_own_rule_comes_last_and_decides(tmp_path: Path) -> None:
    rules = (*DEFAULT_RULES, PermissionRule(tool=Tool.SHELL, pattern="git push*", action=Ruling.ASK))
    push = Access(tool=Tool.SHELL, targets=("git push",))
    assert decide(rules, push, str(tmp_path)) is Ruling.ASK


def test_of_several_targets_the_strictest_verdict_counts(tmp_path: Path) -> None:
    both = Access(tool=Tool.EDIT, targets=("a.py", "/etc/hosts"))
    assert decide(DEFAULT_RULES, both, str(tmp_path)) is Ruling.DENY


def test_what_no_rule_speaks_of_is_asked(tmp_path: Path) -> None:
    assert decide((), Access(tool=Tool.EDIT, targets=("a",)), str(tmp_path)) is Ruling.ASK
