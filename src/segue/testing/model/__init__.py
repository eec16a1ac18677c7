"""A model server on loopback that follows a script, for real coding agents in tests."""

from segue.testing.model.loading import ScriptError, load_script, parse_script
from segue.testing.model.request import ModelRequest
from segue.testing.model.script import (
    Playable,
    Script,
    Turn,
    call,
    cut,
    edit,
    empty,
    error,
    hang,
    overflow,
    read,
    say,
    script,
    shell,
    turn,
    usage,
    write,
)
from segue.testing.model.server import RequestRecord, ScriptedModel

__all__ = [
    "ModelRequest",
    "Playable",
    "RequestRecord",
    "Script",
    "ScriptError",
    "ScriptedModel",
    "Turn",
    "call",
    "cut",
    "edit",
    "empty",
    "error",
    "hang",
    "load_script",
    "overflow",
    "parse_script",
    "read",
    "say",
    "script",
    "shell",
    "turn",
    "usage",
    "write",
]
