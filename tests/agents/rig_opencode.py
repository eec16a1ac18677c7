"""OpenCode in tests: a home of its own, the scripted model as its only provider, nothing fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.agents.programs import need
from tests.agents.rig import Rig


def make(home: Path, model_url: str) -> Rig:
    """A rig whose files are all in `home`."""
    settings = home / "config" / "opencode"
    (settings / "node_modules").mkdir(parents=True, exist_ok=True)
    # OpenCode fetches its plugin package unless these say that it is there.
    (settings / "package.json").write_text('{"dependencies":{"@opencode-ai/plugin":"*"}}')
    (settings / "package-lock.json").write_text(
        '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}'
    )
    return Rig(
        name="opencode",
        backend="opencode",
        model="scripted/scripted",
        options={
            "program": str(need("opencode")),
            "config": config(model_url),
            "set_env": environment(home),
            "max_retries": 1,
        },
    )


def environment(home: Path) -> dict[str, str]:
    """Variables that keep OpenCode at home. It knows no models of its own: that halves its start."""
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    switches = ("MODELS_FETCH", "LSP_DOWNLOAD", "PROJECT_CONFIG", "DEFAULT_PLUGINS")
    home.mkdir(parents=True, exist_ok=True)
    (home / "models.json").write_text("{}")
    known = {"HOME": str(home), "OPENCODE_MODELS_PATH": str(home / "models.json")}
    return {**known, **places, **{f"OPENCODE_DISABLE_{name}": "1" for name in switches}}


def config(model_url: str) -> dict[str, Any]:
    """The scripted model, and one that nobody serves."""
    model = {"limit": {"context": 200000, "output": 8192}, "cost": {"input": 3, "output": 15}}
    served = _provider(f"{model_url}/v1", model)
    return {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted", "down"],
        "provider": {"scripted": served, "down": _provider("http://127.0.0.1:9/v1", model)},
    }


def _provider(url: str, model: dict[str, Any]) -> dict[str, Any]:
    return {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": url, "apiKey": "x"},
        "models": {"scripted": model},
    }
