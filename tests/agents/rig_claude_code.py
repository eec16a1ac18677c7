"""Claude Code, set up to talk to the scripted model on loopback and to nobody else."""

from __future__ import annotations

from pathlib import Path

from tests.agents.programs import need
from tests.agents.rig import Rig


def make(home: Path, model_url: str) -> Rig:
    """Claude Code with a home of its own."""
    home.mkdir(parents=True, exist_ok=True)
    return Rig(
        name="claude_code",
        backend="claude_code",
        model="scripted",
        options={
            "program": str(need("claude")),
            "set_env": {
                "HOME": str(home),
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_DATA_HOME": str(home / "data"),
                "XDG_CACHE_HOME": str(home / "cache"),
                "CLAUDE_CONFIG_DIR": "",
                "ANTHROPIC_BASE_URL": model_url,
                "ANTHROPIC_API_KEY": "no-key",
                "ANTHROPIC_AUTH_TOKEN": "",
                "CLAUDE_CODE_OAUTH_TOKEN": "",
                "ANTHROPIC_SMALL_FAST_MODEL": "scripted",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_MAX_RETRIES": "1",
                "NO_PROXY": "127.0.0.1",
            },
        },
    )
