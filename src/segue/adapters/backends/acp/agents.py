"""The known agents: how each is started, what it needs to be told, and where it strays from the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_ASK = '{"edit":"ask","bash":"ask","webfetch":"ask","external_directory":"ask"}'


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownAgent:
    """One agent program."""

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """So that it asks before it acts, and shows the tools it was given; `set_env` comes after it."""
    login: str = ""
    """What a person runs once, so that it can reach its model."""
    model_variable: str = ""
    """The environment variable that names its model, where the protocol offers no choice."""
    error_text: str = ""
    """A pattern: the beginning of a last piece of text that is an error and no reply."""
    noise: str = ""
    """A pattern: whole pieces of text that come from the program and not from its model."""
    installable: bool = False
    """`segue agents install` knows it, by the name of its program."""
    silent_when: str = ""
    """When it ends a turn as if all were well, but without a word."""


ANY = KnownAgent()
"""An agent that is started by its command alone."""

KNOWN: Mapping[str, KnownAgent] = {
    "opencode": KnownAgent(
        command=("opencode", "acp"),
        installable=True,
        environment={"OPENCODE_PERMISSION": _ASK, "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        login="opencode auth login",
    ),
    "goose": KnownAgent(
        command=("goose", "acp"),
        installable=True,
        environment={"GOOSE_MODE": "approve"},
        login="goose configure",
        model_variable="GOOSE_MODEL",
        error_text=r"(Ran into this error: |(?=Network error: ))(?P<error>.*?)\.?\s*(Please re(try|send)|$)",
        silent_when="the session has outgrown the context window of its model",
    ),
    "claude": KnownAgent(
        command=("claude-agent-acp",),
        installable=True,
        environment={"ENABLE_TOOL_SEARCH": "false", "DISABLE_AUTOUPDATER": "1"},
        login="claude /login",
        model_variable="ANTHROPIC_MODEL",
    ),
    "codex": KnownAgent(
        command=("codex-acp", "-c", 'approval_policy="untrusted"', "-c", 'sandbox_mode="workspace-write"'),
        installable=True,
        login="codex login",
        noise=r"Model metadata for `.*` not found\..*",
    ),
    "gemini": KnownAgent(
        command=("gemini", "--acp"),
        environment={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        login="gemini",
        model_variable="GEMINI_MODEL",
    ),
    "qwen": KnownAgent(command=("qwen", "--acp"), login="qwen", model_variable="OPENAI_MODEL"),
    "omp": KnownAgent(
        command=("omp", "acp"), login="omp", error_text=r"(Error|Retry failed[^:]*): (?P<error>.*)"
    ),
    "pi": KnownAgent(command=("pi-acp",), login="pi", silent_when="its model gives an error"),
}
