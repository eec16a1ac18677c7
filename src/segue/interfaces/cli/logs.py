"""Where the log events of a command go: to stderr, and never between what it prints."""

from __future__ import annotations

import logging
import sys

import structlog


def send_logs_to_stderr(*, level: str = "error", form: str = "console") -> None:
    """Log events of this level and above, as lines for people or as JSON."""
    shape: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            shape,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


def send_logs_to_nobody() -> None:
    """A program that has the whole screen says itself what went wrong."""
    structlog.configure(
        logger_factory=structlog.ReturnLoggerFactory(),
        processors=[lambda *_: ""],
        cache_logger_on_first_use=False,
    )
