"""Rigs of agents that speak the Agent Client Protocol, each with a home of its own and the scripted model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents import rig_opencode
from tests.agents.programs import need
from tests.agents.rig import Rig

_FOREIGN = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "GITHUB_TOKEN",
    "IS_SANDBOX",
)
"""Of the user's own environment, what would change how an agent behaves."""


def _home(home: Path) -> dict[str, str]:
    """An environment in which nothing of the user's own is found."""
    folders = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_STATE_HOME": home / "state",
    }
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return dict.fromkeys(_FOREIGN, "") | {name: str(folder) for name, folder in folders.items()}


def make_opencode(home: Path, model_url: str) -> Rig:
    """`opencode acp`."""
    environment = _home(home)
    plugin = {"dependencies": {"@opencode-ai/plugin": "*"}}
    config = home / "config" / "opencode"
    (config / "node_modules").mkdir(parents=True, exist_ok=True)
    (config / "package.json").write_text(json.dumps(plugin))
    (config / "package-lock.json").write_text(json.dumps({"packages": {"": plugin}}))
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model_url}/v1", "apiKey": "x"},
        "models": {
            "scripted": {"limit": {"context": 200_000, "output": 8192}, "cost": {"input": 3, "output": 15}},
            "other": {"limit": {"context": 100_000, "output": 8192}},
        },
    }
    settings = {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "enabled_providers": ["scripted"],
        "provider": {"scripted": scripted},
    }
    switches = ("AUTOUPDATE", "AUTOCOMPACT")
    environment |= rig_opencode.environment(home) | {f"OPENCODE_DISABLE_{name}": "1" for name in switches}
    environment |= {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}
    return _rig("opencode", "opencode", [], environment, model="scripted/scripted")


def make_goose(home: Path, model_url: str) -> Rig:
    """`goose acp`."""
    config = home / "config" / "goose" / "config.yaml"
    environment = _home(home)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(
        "GOOSE_PROVIDER: openai\nGOOSE_MODEL: scripted\nextensions:\n  developer:\n    enabled: true\n"
        "    type: builtin\n    name: developer\n    timeout: 300\n"
    )
    environment |= {"OPENAI_API_KEY": "x", "OPENAI_HOST": model_url, "GOOSE_DISABLE_KEYRING": "1"}
    return _rig("goose", "goose", [], environment)


def make_claude(home: Path, model_url: str) -> Rig:
    """`claude-agent-acp`."""
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    environment = _home(home) | dict.fromkeys(quiet, "1")
    environment |= {
        "ANTHROPIC_BASE_URL": model_url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    }
    return _rig("claude", "claude-agent-acp", [], environment)


def make_codex(home: Path, model_url: str) -> Rig:
    """`codex-acp`."""
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"""
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
model_context_window = 200000
[model_providers.scripted]
name = "Scripted"
base_url = "{model_url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[features]
plugins = false
apps = false
""")
    # Its sandbox needs a program that is not on every machine.
    policy = ["-c", 'approval_policy="untrusted"', "-c", 'sandbox_mode="danger-full-access"']
    return _rig("codex", "codex-acp", policy, _home(home) | {"SCRIPTED_KEY": "x"})


def _rig(
    agent: str, program: str, arguments: list[str], environment: dict[str, str], *, model: str = "scripted"
) -> Rig:
    options = {"agent": agent, "command": [str(need(program)), *arguments], "set_env": environment}
    return Rig(name=f"acp-{agent}", backend="acp", model=model, options=options)
