"""What an agent did, with paths as they are seen from its folder."""

from __future__ import annotations

import pytest

from segue.application.ports.backend import ToolState, ToolUsed
from segue.domain.permissions import Tool


def used(target: str, tool: Tool = Tool.READ) -> ToolUsed:
    return ToolUsed(call_id="1", tool=tool, name="it", state=ToolState.DONE, target=target)


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/home/me/shop/src/calc.py", "src/calc.py"),
        ("/home/me/shop/a b.py", "a b.py"),
        ("/home/me/shop", "/home/me/shop"),
        ("/home/me/shop/", "/home/me/shop/"),
        ("/home/me/shop2/a.py", "/home/me/shop2/a.py"),
        ("/mnt/home/me/shop/a.py", "/mnt/home/me/shop/a.py"),
        ("/home/me/shop//etc/passwd", "/home/me/shop//etc/passwd"),
        ("src/calc.py", "src/calc.py"),
        ("", ""),
    ],
)
def test_a_path_is_seen_from_its_folder(path: str, seen: str) -> None:
    assert used(path).seen_from("/home/me/shop").target == seen
    assert used(path).seen_from("/home/me/shop/").target == seen


@pytest.mark.parametrize("folder", ["", "/"])
def test_no_folder_changes_nothing(folder: str) -> None:
    assert used("/etc/hosts").seen_from(folder).target == "/etc/hosts"


def test_a_command_is_shown_as_it_was_run() -> None:
    command = "/home/me/shop/run.sh --all"
    assert used(command, Tool.SHELL).seen_from("/home/me/shop").target == command
