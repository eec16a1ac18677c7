"""For your own tests: agents and models that follow a script, and a whole Segue in a temporary folder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segue.adapters.backends.scripted import ScriptedBackend
    from segue.testing.model import (
        ModelRequest,
        Playable,
        RequestRecord,
        Script,
        ScriptedModel,
        ScriptError,
        Turn,
        call,
        cut,
        edit,
        empty,
        error,
        hang,
        load_script,
        overflow,
        parse_script,
        read,
        say,
        script,
        shell,
        turn,
        usage,
        write,
    )
    from segue.testing.pipelines import build_test_segue, follow_to_end, say_handoff, trust_project

__all__ = [
    "ModelRequest",
    "Playable",
    "RequestRecord",
    "Script",
    "ScriptError",
    "ScriptedBackend",
    "ScriptedModel",
    "Turn",
    "build_test_segue",
    "call",
    "cut",
    "edit",
    "empty",
    "error",
    "follow_to_end",
    "hang",
    "load_script",
    "overflow",
    "parse_script",
    "read",
    "say",
    "say_handoff",
    "script",
    "shell",
    "trust_project",
    "turn",
    "usage",
    "write",
]

_PIPELINES = ("ScriptedBackend", "build_test_segue", "follow_to_end", "say_handoff", "trust_project")


def __getattr__(name: str) -> Any:
    """Load what is asked for: a scripted model needs no Segue, and the other way round."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "segue.testing.pipelines" if name in _PIPELINES else "segue.testing.model"
    return getattr(import_module(home), name)
