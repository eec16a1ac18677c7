"""A home in which the real tools are set up as after their first use, with the scripted model alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.agents import rig_acp, rig_claude_code, rig_codex, rig_opencode
from tests.agents.programs import CACHE, find, need

_ON_THE_PATH = "sh bash cat dirname env git grep ls mkdir ps python3 rm sed sleep uname wc which"
_RUNS: Mapping[str, tuple[str, ...]] = {
    "claude": ("--allowedTools", "Bash", "--permission-mode", "acceptEdits", "-p"),
    "codex": ("exec", "-s", "danger-full-access"),
    "goose": ("run", "--text"),
    "opencode": ("run",),
    "pi": ("-p",),
}
"""How each does one thing and ends; the prompt comes last."""
TOOLS = tuple(sorted(_RUNS))


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """Where the tools find their settings, and keep what they write down."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, tool: str, prompt: str, project: Path) -> None:
        """Let a tool do one thing without a terminal."""
        done = subprocess.run(
            [str(need(tool)), *_RUNS[tool], prompt],
            cwd=project,
            env={**self.environment, "PWD": str(project)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def make_home(folder: Path, model_url: str, *projects: Path) -> Home:
    """Every tool that is installed, once it has asked all that it asks; no program of theirs is on the PATH.

    Segue's own folder has them, as after `segue agents install`.
    """
    environment: dict[str, str] = {}
    for tool, set_up in _SET_UPS.items():
        environment |= set_up(folder, model_url, projects) if find(tool) else {}
    environment |= {
        "HOME": str(folder),
        "PATH": str(_path(folder / "bin")),
        "SHELL": shutil.which("bash") or "/bin/sh",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        # In a terminal they look for news and updates, too: here nobody answers.
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
        **{f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")},
    }
    (folder / "data" / "segue").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "segue" / "agents").symlink_to(CACHE / "agents")
    return Home(folder=folder, environment={name: value for name, value in environment.items() if value})


def _path(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in _ON_THE_PATH.split():
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


def _claude(home: Path, url: str, projects: tuple[Path, ...]) -> dict[str, str]:
    environment: dict[str, str] = dict(rig_claude_code.make(home, url).options["set_env"])
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True} for project in projects},
    }
    (home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
    return {**environment, "ANTHROPIC_MODEL": "scripted"}


def _codex(home: Path, url: str, projects: tuple[Path, ...]) -> dict[str, str]:
    environment: dict[str, str] = dict(rig_codex.make(home, url).options["set_env"])
    config = home / ".codex" / "config.toml"
    # Else its interface leaves a server behind that lives on.
    own = config.read_text(encoding="utf-8").replace(
        "[features]\n", "[features]\ndaemon_auto_start = false\n"
    )
    trusted = "".join(f'[projects."{project}"]\ntrust_level = "trusted"\n' for project in projects)
    config.write_text(f'model = "scripted"\n{own}{trusted}', encoding="utf-8")
    return environment


def _goose(home: Path, url: str, _: tuple[Path, ...]) -> dict[str, str]:
    environment: dict[str, str] = dict(rig_acp.make_goose(home, url).options["set_env"])
    with (home / "config" / "goose" / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("GOOSE_TELEMETRY_ENABLED: false\n")
    return environment


def _opencode(home: Path, url: str, _: tuple[Path, ...]) -> dict[str, str]:
    (home / "state" / "opencode").mkdir(parents=True)
    (home / "state" / "opencode" / "kv.json").write_text('{"animations_enabled": false}')
    own = {"permission": {"*": "allow"}, "share": "disabled", "autoupdate": False}
    config = {**rig_opencode.make(home, url).options["config"], **own}
    return {**rig_opencode.environment(home), "OPENCODE_CONFIG_CONTENT": json.dumps(config)}


def _pi(home: Path, url: str, _: tuple[Path, ...]) -> dict[str, str]:
    own = home / ".pi" / "agent"
    own.mkdir(parents=True)
    served = {"api": "openai-completions", "apiKey": "x", "models": [{"id": "scripted"}]}
    models = {"providers": {"scripted": {"baseUrl": f"{url}/v1", **served}}}
    (own / "models.json").write_text(json.dumps(models), encoding="utf-8")
    chosen = {"defaultProvider": "scripted", "defaultModel": "scripted"}
    (own / "settings.json").write_text(json.dumps(chosen), encoding="utf-8")
    return {"PI_OFFLINE": "1"}


_SET_UPS: Mapping[str, Callable[[Path, str, tuple[Path, ...]], dict[str, str]]] = {
    "codex": _codex,
    "goose": _goose,
    "claude": _claude,
    "opencode": _opencode,
    "pi": _pi,
}
"""In this order, so that none hides from another what that one needs."""
