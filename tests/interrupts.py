"""Programs that hear Ctrl-C, even where the tests themselves were started by a script that ignores it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_HEAR = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.{}); os.execvp(sys.argv[1], sys.argv[1:])"
)


def hearing_ctrl_c(command: Sequence[str]) -> list[str]:
    """The command, started as a terminal starts it."""
    return [sys.executable, "-c", _HEAR.format("SIG_DFL"), *command]


def deaf_to_ctrl_c(command: Sequence[str]) -> list[str]:
    """The command, started as a script does that says `command &`."""
    return [sys.executable, "-c", _HEAR.format("SIG_IGN"), *command]
