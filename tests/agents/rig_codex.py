"""Codex, set up to talk to the scripted model on loopback and to nobody else."""

from __future__ import annotations

from pathlib import Path

from tests.agents.programs import need
from tests.agents.rig import Rig

_CONFIG = """
model_provider = "scripted"
check_for_update_on_startup = false
model_context_window = 200000
[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[features]
plugins = false
apps = false
"""


def make(home: Path, model_url: str) -> Rig:
    """Codex with a home of its own."""
    own = home / ".codex"
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.toml").write_text(_CONFIG.format(url=model_url), encoding="utf-8")
    return Rig(
        name="codex",
        backend="codex",
        model="scripted",
        options={
            "program": str(need("codex")),
            "offline_retries": 2,
            "set_env": {
                "HOME": str(home),
                "CODEX_HOME": str(own),
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_DATA_HOME": str(home / "data"),
                "XDG_CACHE_HOME": str(home / "cache"),
                "SCRIPTED_KEY": "no-key",
                "OPENAI_API_KEY": "",
                "NO_PROXY": "127.0.0.1",
            },
        },
    )
