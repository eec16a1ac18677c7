"""The command line, a home of its own, and the variables of other tools out of the way."""

from __future__ import annotations

import pytest

from tests.cli.conftest import segue

__all__ = ["segue"]


@pytest.fixture(autouse=True)
def no_other_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own settings of the tools do not count."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_DB", "GOOSE_PATH_ROOT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"):
        monkeypatch.delenv(name, raising=False)
