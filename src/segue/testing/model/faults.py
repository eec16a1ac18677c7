"""How OpenAI and Anthropic say that something went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from segue.testing.model.request import Api
from segue.testing.model.script import Error


@dataclass(frozen=True, slots=True)
class _Wording:
    """An error as one vendor words it."""

    type: str
    message: str
    code: str | None = None


_OPENAI = {
    "invalid": _Wording("invalid_request_error", "Invalid request."),
    "auth": _Wording("invalid_request_error", "Incorrect API key provided.", "invalid_api_key"),
    "permission": _Wording(
        "invalid_request_error", "You are not allowed to use this model.", "permission_denied"
    ),
    "not_found": _Wording("invalid_request_error", "The model does not exist.", "model_not_found"),
    "rate_limit": _Wording("requests", "Rate limit reached for requests.", "rate_limit_exceeded"),
    "quota": _Wording(
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    "server": _Wording("server_error", "The server had an error while processing your request."),
    "overloaded": _Wording(
        "server_error", "The server is overloaded or not ready yet.", "server_is_overloaded"
    ),
    "overflow": _Wording(
        "invalid_request_error",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 "
        "tokens. Please reduce the length of the messages.",
        "context_length_exceeded",
    ),
}
_RESPONSES = {
    **_OPENAI,
    "overflow": _Wording(
        "invalid_request_error",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "context_length_exceeded",
    ),
}
_ANTHROPIC = {
    "invalid": _Wording("invalid_request_error", "Invalid request."),
    "auth": _Wording("authentication_error", "invalid x-api-key"),
    "permission": _Wording("permission_error", "Your API key may not use the specified resource."),
    "not_found": _Wording("not_found_error", "The requested resource could not be found."),
    "rate_limit": _Wording("rate_limit_error", "This request would exceed your account's rate limit."),
    "quota": _Wording("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "server": _Wording("api_error", "Internal server error"),
    "overloaded": _Wording("overloaded_error", "Overloaded"),
    "overflow": _Wording("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
}
_WORDINGS: Mapping[Api, Mapping[str, _Wording]] = {
    "chat": _OPENAI,
    "responses": _RESPONSES,
    "messages": _ANTHROPIC,
}
KINDS = tuple(_OPENAI)
"""The kinds of error that every API has its own words for."""

_BY_STATUS = {401: "auth", 403: "permission", 404: "not_found", 429: "rate_limit", 503: "overloaded"}


def word_error(api: Api, error: Error) -> dict[str, Any]:
    """The body of an error reply."""
    wording = _find_wording(api, error)
    message = error.message or wording.message
    if api == "messages":
        return {
            "type": "error",
            "error": {"type": wording.type, "message": message},
            "request_id": "req_scripted",
        }
    param = "messages" if wording.code == "context_length_exceeded" and api == "chat" else None
    return {"error": {"message": message, "type": wording.type, "param": param, "code": wording.code}}


def error_headers(error: Error) -> dict[str, str]:
    """The headers of an error reply."""
    return {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}


def is_overflow(error: Error) -> bool:
    """Whether the request is said to be too long."""
    return error.kind == "overflow"


def _find_wording(api: Api, error: Error) -> _Wording:
    kind = error.kind or _kind_of(error.status)
    return _WORDINGS[api].get(kind) or _Wording(kind, f"Scripted error: {kind}.", kind)


def _kind_of(status: int) -> str:
    if status == 529:
        return "overloaded"
    return _BY_STATUS.get(status) or ("server" if status >= 500 else "invalid")
