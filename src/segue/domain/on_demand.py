"""Functions whose modules are loaded when they are first called.

What reads replies and verifies claims takes a tenth of a second to import, and nothing needs it before an
agent has replied: the first line of a run should not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_demand(module: str, name: str) -> Callable[..., Any]:
    """The function of this name; type checkers are shown the real one."""

    def call(*values: Any, **named: Any) -> Any:
        return getattr(import_module(module), name)(*values, **named)

    call.__name__ = call.__qualname__ = name
    return call
