"""Errors as `application/problem+json`, in one table."""

from __future__ import annotations

import json
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from segue.domain import errors

log = structlog.get_logger()

STATUS_OF: dict[type[errors.SegueError], int] = {
    errors.UnknownName: 422,
    errors.InvalidRequest: 422,
    errors.CatalogError: 422,
    errors.NotTrusted: 403,
    errors.UnsafeProject: 403,
    errors.PipelineNotFound: 404,
    errors.StepNotFound: 404,
    errors.ApprovalNotFound: 404,
    errors.SessionNotFound: 404,
    errors.ToolsClosed: 401,
    errors.TokenRefused: 401,
    errors.Forbidden: 403,
    errors.IllegalMove: 409,
    errors.AlreadyThere: 409,
    errors.NothingToHandOff: 409,
    errors.CannotMerge: 409,
    errors.LeaseLost: 409,
    errors.BackendError: 502,
    errors.BackendUnavailable: 502,
    errors.AgentFailed: 502,
    errors.TurnStopped: 409,
    errors.SessionLost: 502,
    errors.RepositoryError: 422,
    errors.TooLarge: 422,
    errors.StorageError: 503,
    errors.SettingsError: 500,
    errors.CredentialError: 500,
    errors.SegueError: 500,
}
"""Every error of ours has its status; a test fails if one is missing."""

_TITLES = {
    400: "Bad request",
    401: "Token needed",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Cannot be understood",
    500: "Internal error",
    502: "Back end failed",
    503: "Not available",
}


class _Problem(JSONResponse):
    media_type = "application/problem+json"

    def render(self, content: Any) -> bytes:
        # Half a surrogate pair, in the name of a field for instance, leaves as its escape in JSON.
        return json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")


def problem(status: int, detail: str, **extra: Any) -> JSONResponse:
    """A problem document."""
    body = {"type": "about:blank", "title": _TITLES.get(status, "Error"), "status": status, "detail": detail}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return _Problem(body | extra, status_code=status, headers=headers)


def problem_of(error: errors.SegueError) -> JSONResponse:
    """An error of ours as a problem document."""
    extra = {"known": error.known} if isinstance(error, errors.UnknownName) else {}
    status = next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
    return problem(status, str(error), **extra)


def PROBLEMS(*statuses: int) -> dict[int | str, dict[str, Any]]:  # noqa: N802  # reads as a constant in routes
    """The OpenAPI description of the problems a route may answer with."""
    content = {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                },
                "required": ["type", "title", "status", "detail"],
            }
        }
    }
    return {status: {"description": _TITLES[status], "content": content} for status in statuses}


def add_error_handlers(app: FastAPI) -> None:
    """Let every error leave as a problem document."""
    app.add_exception_handler(errors.SegueError, _segue_error)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


async def _segue_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.SegueError)
    return problem_of(error)


async def _bad_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [
        {
            "field": ".".join(str(part) for part in each["loc"][1:]) or str(each["loc"][0]),
            "problem": each["msg"].removeprefix("Value error, "),
        }
        for each in error.errors()
    ]
    detail = "; ".join(f"{each['field']}: {each['problem']}" for each in found)
    return problem(422, detail, errors=found)


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    response = problem(error.status_code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("request_broke", path=request.scope["path"], exc_info=error)
    return problem(500, "Segue itself broke while answering; the server's log has the details")
