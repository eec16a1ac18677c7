"""What went wrong, in one sentence: an error of the protocol, a reason to stop, words, an exit."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from segue.adapters.backends.acp.options import AcpOptions
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable

_AUTH_REQUIRED = -32000

_KINDS = {
    "the session has outgrown the context window of its model: {said}. Give the step less to read, or a "
    "model with a larger window": r"""
        context.?overflow | context.?(length|window|size) | maximum\ context | prompt\ is\ too\ long
        | prompt_too_long | too\ many\ (input\ )?tokens | too\ large\ to\ compact""",
    "its model refused the key or login: {said}. {login}": r"""
        \b40[13]\b | unauthori[sz]ed | forbidden | authenticat | providerauth | credential | not\ logged\ in
        | (api|access|bad|invalid|incorrect|wrong)[ _-]?(api[ _-]?)?key""",
    "its model takes no more requests for now: {said}. Wait, or use another model or account": r"""
        \b429\b | rate.?limit | too\ many\ requests | quota | usage\ limit | credit\ balance | billing""",
    "its model is not on offer: {said}. Name another model in its step or profile": r"""
        model.{0,60}(not\ found|not\ exist|not\ supported|unsupported|unknown|not\ available|no\ access)
        | (unknown|invalid|no\ such|unsupported)\ model | model_?not_?found | \b404\b""",
    "its model cannot be reached: {said}. Look at the address of the model and at the network": r"""
        econnrefused | connection\ ?refused | (unable|failed)\ to\ connect | (cannot|could\ not)\ connect
        | connection\ error | fetch\ failed | enotfound | getaddrinfo | \bdns\b | error\ sending\ request
        | network\ is | unreachable | timed?\ ?out""",
    "the connection to its model broke off in mid-reply: {said}. Run the step again": r"""
        stream\ (was\ )?(closed|disconnected|ended|error|decode) | connection\ (was\ )?(closed|reset|lost)
        | closed\ unexpectedly | socket | econnreset | hang\ up | terminated | error\ decoding\ response
        | incomplete | unexpected\ eof | premature""",
    "the server of its model failed: {said}. Run the step again later": r"""
        \b5\d\d\b | server.?error | server\ had\ an\ error | bad\ gateway | overloaded
        | service\ unavailable""",
}
_SENTENCES = {
    sentence: re.compile(pattern, re.IGNORECASE | re.VERBOSE) for sentence, pattern in _KINDS.items()
}

_EMPTY_KINDS = ("other", "unknown", "APIError", "UnknownError")
"""Kinds of error that say nothing."""

_STOPS = {
    "refusal": "its model refused to continue, so there is nothing to hand off",
    "max_tokens": "its reply was cut off at the most tokens that its model may write; raise that limit in "
    "the agent's own settings",
    "max_turn_requests": "it used up all the requests to its model that one message may take; raise that "
    "limit in the agent's own settings",
    "cancelled": "its work on the message was cancelled before it could reply",
}


def from_model(said: str, options: AcpOptions) -> AgentFailed:
    """An error of the agent's model, told in the agent's words."""
    said = short(said).rstrip(".") or "it does not say why"
    for sentence, pattern in _SENTENCES.items():
        if pattern.search(said):
            return AgentFailed(sentence.format(said=said, login=_login(options)))
    return AgentFailed(f"its model or its program gave an error: {said}")


def from_rpc(message: str, code: int, data: Any, options: AcpOptions) -> BackendError:
    """A JSON-RPC error, as the agents fill it in."""
    if code == _AUTH_REQUIRED:
        return BackendUnavailable(f"the agent {options.label} wants a login first. {_login(options)}")
    return from_model(_told(message, data), options)


def from_stop(reason: str) -> AgentFailed | None:
    """Why a turn that is no turn's end ended; none if it ended well."""
    return AgentFailed(_STOPS[reason]) if reason in _STOPS else None


def from_words(text: str, options: AcpOptions) -> AgentFailed | None:
    """The error that some agents tell as the last piece of their reply; none if it is no error."""
    pattern = options.known.error_text
    found = re.match(pattern, text.strip(), re.DOTALL) if pattern else None
    return from_model(found["error"], options) if found else None


def from_refusal(title: str) -> AgentFailed:
    """A turn that the agent gave up when it was refused a permission."""
    return AgentFailed(
        f"it stopped when it was refused this: {short(title)}. Allow it by a rule under "
        '"permissions" in its profile, or tell it to do without'
    )


def without_text(options: AcpOptions) -> AgentFailed:
    """A turn that ended well, but in which nothing was said."""
    if when := options.known.silent_when:
        return AgentFailed(f"its reply was empty; the agent {options.label} also ends so when {when}")
    return AgentFailed("its reply was empty, so there is nothing to hand off")


def from_exit(code: int | None, stderr: Path) -> str:
    """How the agent's process ended, with its last word on standard error."""
    if code is None:
        how = "its process closed its output"
    elif code < 0:
        how = f"its process was killed by signal {_signal_name(-code)}"
    else:
        how = f"its process exited with {code}"
    last = last_line(stderr)
    return f"{how}: {last}" if last else how


def last_line(path: Path) -> str:
    """The last line of a file that says something."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            lines = file.read().replace(b"\0", b"").decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return re.sub(r"\x1b\[[0-9;]*m", "", lines[-1]).strip()[:300] if lines else ""


def short(text: str) -> str:
    """One line, and not a long one."""
    return " ".join(text.split())[:300]


def _told(message: str, data: Any) -> str:
    """What an error says in all its places, none of it twice."""
    parts = [message.removeprefix("Internal error").lstrip(": ")]
    if isinstance(data, Mapping):
        parts += [_plain(str(data[key])) for key in ("message", "details", "error") if data.get(key)]
        kinds = [data.get(key) for key in ("errorKind", "errorName", "codex_error_info")]
        parts += [f"({kind})" for kind in kinds if isinstance(kind, str) and kind not in _EMPTY_KINDS]
    elif isinstance(data, str):
        parts.append(data)
    return " ".join(part for number, part in enumerate(parts) if part and part not in parts[:number])


def _plain(text: str) -> str:
    """The message in an error that was handed on as the JSON it came in."""
    try:
        inner = json.loads(text)
        return str(inner["error"]["message"])
    except (ValueError, TypeError, KeyError):
        return text


def _login(options: AcpOptions) -> str:
    command = options.known.login
    first = f"Run `{command}` once" if command else "Log in with the agent's own program"
    return f'{first}, or set the key under "set_env" in its options'


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
