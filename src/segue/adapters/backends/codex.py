"""Codex as an agent, by its own stream: `codex exec --json`.

Codex has no way to ask before a tool call in this mode. What the rules say is carried by its sandbox: no
writing outside the workspace and the folders for temporary files, no network if the rules deny fetching,
nothing written at all if they deny editing. A rule about single commands, such as the one against pushing, is
told to the agent, but nothing enforces it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import structlog
from pydantic import Field

from segue.adapters.backends import programs, supervised
from segue.adapters.backends.codex_stream import LOGIN, OFFLINE, CodexReader, recorded_usage
from segue.adapters.backends.programs import ProgramOptions
from segue.adapters.backends.streamed import Launch, StreamedBackend, StreamedTurn, notes_of
from segue.adapters.backends.streams import StreamReader
from segue.application.ports.backend import Capabilities, ToolServer
from segue.domain.errors import AgentFailed, BackendUnavailable
from segue.domain.permissions import DEFAULT_RULES, PermissionRule, Ruling, Tool, always
from segue.domain.usage import Usage

log = structlog.get_logger()

_SANDBOX_TROUBLE = ("bwrap:", "landlock", "seccomp", "sandbox")
_LAST_BYTES = 8192


class CodexOptions(ProgramOptions):
    """What may stand under `options` of an agent on the `codex` back end."""

    sandbox: Literal["read-only", "workspace-write", "danger-full-access"] | None = None
    """Codex's sandbox; by itself it may write in the workspace, or nowhere if the rules deny editing."""
    network: bool | None = None
    """Whether commands reach the network; by itself they do unless the rules deny fetching."""
    offline_retries: int = Field(default=5, gt=0)
    """It fails when Codex waited for the network so often in a row; each wait is longer than the last."""


class CodexBackend(StreamedBackend):
    """Runs `codex exec` for each message of a session; later messages resume the thread."""

    Options = CodexOptions
    capabilities = Capabilities(
        resume=True,
        once=True,
        conversation=True,
        events=True,
        usage=True,
        tool_log=True,
        # Each command is an item of the stream, which is a file; that another agent was called is one, too.
        whole_log=True,
        mcp=True,
    )
    name = "codex"
    title = "Codex"
    program = "codex"
    install = "install it with `segue agents install codex` or `npm install -g @openai/codex`"
    hidden = ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID")

    def _launch(self, turn: StreamedTurn) -> Launch:
        request, options = turn.request, turn.options
        rules, tools = request.permissions, request.tools
        settings = _sandbox(options, rules)
        orders = "\n\n".join(filter(None, [options.append_system_prompt, _told(rules)]))
        if orders:
            settings["developer_instructions"] = orders
        if tools:
            settings |= _server(tools)
        arguments = ["exec", "--json", "--skip-git-repo-check"]
        for key, value in settings.items():
            arguments += ["-c", f"{key}={_toml(value)}"]
        if request.model:
            arguments += ["-m", request.model]
        arguments += options.arguments
        if turn.conversation:
            arguments += ["resume", turn.conversation]
        _log_asks(request.agent_name, rules)
        return Launch(
            arguments=[*arguments, "-"],
            environment=dict(tools.environment) if tools else {},
            notes={
                "home": str(_home(self._environment(options))),
                "model": request.model or "",
                "offline_retries": str(options.offline_retries),
            },
        )

    def _reader(self, folder: Path) -> StreamReader:
        notes = notes_of(folder)
        home = Path(notes.get("home") or _home(os.environ))
        return CodexReader(notes.get("model") or None, lambda thread: recorded_usage(home, thread))

    def _used(self, folders: Sequence[Path]) -> Usage | None:
        """The newest word on it: Codex counts over the whole thread."""
        for folder in reversed(folders):
            if (usage := self._read(folder).usage()) is not None:
                return usage
        return None

    def _used_before(self, folder: Path) -> Usage | None:  # noqa: ARG002  # it is in the thread's own count
        return None

    def _check(self, folder: Path) -> None:
        limit = int(notes_of(folder).get("offline_retries", 5))
        lines = _last_lines(folder / "stdout")[-limit:]
        if len(lines) == limit and all(OFFLINE in line for line in lines):
            raise AgentFailed(
                f"the provider of its model cannot be reached: Codex has waited for the network {limit} times"
            )

    def _describe_exit(self, folder: Path, code: int) -> str:
        lines = supervised.last_errors(folder)
        clear = next((line for line in lines if line.startswith("Error:")), None)
        if clear is not None:
            return f"{self.title} exited with {code}: {clear[:300]}"
        trouble = next((line for line in lines if line.lower().startswith(_SANDBOX_TROUBLE)), None)
        if trouble is not None:
            return _no_sandbox(trouble)
        return supervised.describe_exit(folder, code, self.title)

    async def _ask_login(self, program: str, options: Any, variables: Mapping[str, str]) -> str:
        settings = _sandbox(options, DEFAULT_RULES)
        if settings["sandbox_mode"] != "danger-full-access":
            code, answer = await programs.ask_program(program, "sandbox", "--", "true", environment=variables)
            if code != 0:
                raise BackendUnavailable(_no_sandbox(answer.splitlines()[-1] if answer else f"exit {code}"))
        code, _ = await programs.ask_program(program, "login", "status", environment=variables)
        if code == 0:
            return "ready: it starts and is logged in"
        if _own_provider(_home(variables)):
            return "ready: it starts, and its config.toml names a provider of its own"
        raise BackendUnavailable(f"{self.title} cannot work: it is not logged in; {LOGIN}")


def _home(variables: Mapping[str, str]) -> Path:
    return Path(variables.get("CODEX_HOME") or Path(variables.get("HOME") or Path.home(), ".codex"))


def _sandbox(options: CodexOptions, rules: Sequence[PermissionRule]) -> dict[str, Any]:
    """The rules as far as the sandbox can carry them; the options have the last word."""
    # Codex cannot ask, so that is a refusal: refusing single files besides must not open the sandbox.
    refusing = [
        rule.model_copy(update={"action": Ruling.DENY}) if rule.action is Ruling.ASK else rule
        for rule in rules
    ]
    nothing = always(refusing, Tool.EDIT) in (Ruling.DENY, Ruling.ASK)
    mode = options.sandbox or ("read-only" if nothing else "workspace-write")
    network = options.network if options.network is not None else always(rules, Tool.FETCH) is Ruling.ALLOW
    settings: dict[str, Any] = {"approval_policy": "never", "sandbox_mode": mode}
    if mode == "workspace-write":
        settings["sandbox_workspace_write.network_access"] = network
    return settings


def _told(rules: Sequence[PermissionRule]) -> str:
    """The rules about commands and reading, in words: the only way to bring them to this agent."""
    told = []
    for tool, words in (
        (Tool.SHELL, "Never run commands that match these patterns"),
        (Tool.READ, "Never read files that match these patterns"),
    ):
        refused = [f"`{rule.pattern}`" for rule in rules if rule.tool == tool and rule.action != Ruling.ALLOW]
        told += [f"{words}: {', '.join(refused)}."] if refused else []
    return " ".join(told)


def _log_asks(agent: str, rules: Sequence[PermissionRule]) -> None:
    for rule in rules:
        if rule.action is Ruling.ASK:
            log.warning(
                "ask_is_deny",
                agent=agent,
                rule=f"{rule.tool} {rule.pattern}",
                reason="Codex cannot ask: this is refused where its sandbox can do that, and else told to it",
            )


def _server(tools: ToolServer) -> dict[str, Any]:
    """A tool server. What its environment holds stays out of the arguments, which everybody can see."""
    program, *arguments = tools.command
    key = f"mcp_servers.{tools.name}"
    return {
        f"{key}.command": program,
        f"{key}.args": arguments,
        f"{key}.env_vars": list(tools.environment),
        f"{key}.default_tools_approval_mode": "approve",
        f"{key}.startup_timeout_sec": 60,
        f"{key}.required": True,  # else Codex continues without them after a second
    }


def _toml(value: Any) -> str:
    """A value as TOML; of text, lists and truth values that is what JSON writes too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _last_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LAST_BYTES))
            return file.read().decode("utf-8", "replace").strip().splitlines()
    except FileNotFoundError:
        return []


def _no_sandbox(reason: str) -> str:
    return (
        f"Codex's sandbox does not work on this machine ({reason.strip()[:200]}): allow user namespaces, or "
        f'set "sandbox: danger-full-access" in the agent\'s options if the machine is a sandbox itself'
    )


def _own_provider(home: Path) -> bool:
    """True if the user's config.toml names a provider, which has its own key."""
    try:
        text = (home / "config.toml").read_text(encoding="utf-8")
    except OSError:
        return False
    return any(line.startswith("model_provider") for line in text.splitlines())
