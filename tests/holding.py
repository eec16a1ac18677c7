"""An agent that is held until a test lets it go, however slow the machine is."""

from __future__ import annotations

from pathlib import Path


def hold_until(sign: Path) -> dict[str, list[str]]:
    """An action for scripts that ends once this file is there."""
    return {"run": ["sh", "-c", f"until test -e '{sign}'; do sleep 0.02; done"]}
