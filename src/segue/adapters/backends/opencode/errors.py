"""OpenCode's errors in our words: whose fault it is, and one clear sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost

_LONGEST = 300


class Unreachable(BackendUnavailable):
    """The server did not answer, or not in time: it may be gone or hang."""


class NotThere(SessionLost):
    """The server says that there is no such thing."""


def from_http(status: int, body: Any, where: str) -> BackendError:
    """What an HTTP status other than success means."""
    said = one_line(_message_of(body))
    if status in (401, 403):
        return BackendUnavailable(
            f"the OpenCode server at {where} refuses us (HTTP {status}); "
            f'set "username" and "password" in the agent\'s options'
        )
    if status == 404:
        return NotThere(f"the OpenCode server does not know it any more: {said or 'not found'}")
    if status < 500:
        return BackendUnavailable(f"the OpenCode server refuses the request (HTTP {status}): {said}")
    return BackendUnavailable(f"the OpenCode server failed (HTTP {status}): {said or 'it gave no reason'}")


def from_message(error: Mapping[str, Any], *, ours: bool = False) -> BackendError:
    """What the error of a message or of a session means; `ours` if we aborted it ourselves."""
    name, data = str(error.get("name", "")), error.get("data")
    data = data if isinstance(data, Mapping) else {}
    said = one_line(_message_of(error))
    if name == "APIError":
        return _from_provider(data, said)
    if name == "MessageAbortedError":
        if ours:
            return AgentFailed("its session was aborted")
        return SessionLost("somebody else aborted its session")
    if name == "UnknownError":
        return _from_unknown(said)
    sentence = _SENTENCES.get(name, f"OpenCode gave the error {name or 'without a name'}: {{said}}")
    return AgentFailed(sentence.format(said=said or "no reason is given", provider=_provider(data)))


_SENTENCES = {
    "ProviderAuthError": "its model provider{provider} refuses the key: {said}; check it or run "
    "`opencode auth login`",
    "ContextOverflowError": "the conversation is longer than its model can read: {said}",
    "MessageOutputLengthError": "its reply was cut off, because it is longer than its model may write",
    "StructuredOutputError": "its model did not answer in the form that was asked for: {said}",
    "ContentFilterError": "its model provider refused the content: {said}",
}


_STATUSES = {
    401: "refuses the key",
    402: "wants to be paid",
    403: "refuses the key",
    404: "does not know the model",
    413: "finds the request too large",
    429: "has reached its rate limit",
}


def _from_provider(data: Mapping[str, Any], said: str) -> BackendError:
    status, said = data.get("statusCode"), said or "no reason is given"
    if not isinstance(status, int):
        return AgentFailed(f"its model provider cannot be reached, or broke off its answer: {said}")
    what = _STATUSES.get(status, "has a failure of its own" if status >= 500 else "refuses the request")
    return AgentFailed(f"its model provider {what} (HTTP {status}): {said}")


def _from_unknown(said: str) -> BackendError:
    """OpenCode names no kind here; some of its sentences tell that the profile is wrong."""
    low = said.lower()
    if "model not found" in low or "providermodelnotfound" in low or "provider not found" in low:
        return BackendUnavailable(f"OpenCode does not have its model: {said}")
    if low.startswith("agent not found") or ("agent" in low and "not found" in low):
        return BackendUnavailable(f"OpenCode does not have its agent: {said}")
    return AgentFailed(f"OpenCode failed: {said or 'it gave no reason'}")


def gave_up(reason: str, retries: int) -> AgentFailed:
    """The model failed more often than the profile allows."""
    often = "once" if retries == 1 else f"{retries} times"
    tried = f"was asked again {often}, in vain" if retries else "is not asked again"
    return AgentFailed(f"its model gave an error and {tried}: {one_line(reason)}")


def one_line(text: str) -> str:
    """The text in one line, not too long, without a stop at its end."""
    line = " ".join(text.split())
    return (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "\u2026").rstrip(".")


def _message_of(body: Any) -> str:
    if isinstance(body, str):
        return body
    if not isinstance(body, Mapping):
        return ""
    data = body.get("data")
    inner = data.get("message") if isinstance(data, Mapping) else None
    return str(inner or body.get("message") or body.get("name") or "")


def _provider(data: Mapping[str, Any]) -> str:
    return f" {data['providerID']}" if data.get("providerID") else ""
