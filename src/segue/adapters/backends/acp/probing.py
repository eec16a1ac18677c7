"""A look at an agent: is its program there, does it start, does it speak the protocol."""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from segue.adapters.backends import supervised
from segue.adapters.backends.acp import errors
from segue.adapters.backends.acp.options import AcpOptions, environment_of, find_program
from segue.adapters.backends.acp.wire import PROTOCOL_VERSION, AgentProcess, RequestError
from segue.application.ports.backend import Probe
from segue.domain.environment import cloud_hint
from segue.domain.errors import BackendUnavailable
from segue.domain.permissions import SESSION_VARIABLE


async def probe(options: AcpOptions, timeout: float) -> Probe:
    """Start the agent in an empty folder, say hello, end it."""
    with tempfile.TemporaryDirectory(prefix="segue-probe-", ignore_cleanup_errors=True) as folder:
        environment = environment_of(options, None, folder)
        try:
            program = find_program(options, environment.get("PATH"), folder)
        except BackendUnavailable as error:
            return Probe(program=None, version=None, works=False, said=str(error))
        return await _hello(program, options, Path(folder), environment, timeout)


async def _hello(
    program: str, options: AcpOptions, folder: Path, environment: dict[str, str], timeout: float
) -> Probe:
    stderr = folder / "stderr"
    process: AgentProcess | None = None
    try:
        process = await AgentProcess.start(
            [program, *options.arguments[1:]],
            handler=_refuse,
            environment={**environment, SESSION_VARIABLE: str(folder)},
            working_dir=str(folder),
            stderr=stderr,
        )
        hello = {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": {}}
        async with asyncio.timeout(options.start_timeout):
            found = await process.connection.send_request("initialize", hello)
        info = (found or {}).get("agentInfo") or {}
        version = str(info["version"]) if info.get("version") else None
        hint = cloud_hint(environment, os.environ) if options.agent == "claude" else ""
        said = "; ".join(filter(None, [f"{options.label} is ready", hint]))
        return Probe(program=program, version=version, works=True, said=said)
    except TimeoutError:
        said = f"{options.label} starts, but did not answer within {options.start_timeout:g} s"
    except OSError as error:
        said = f"{options.label} could not be started: {error.strerror or error}"
        if process is not None:
            said = f"{options.label} ended at once: " + errors.from_exit(
                await process.exit_code(timeout), stderr
            )
    except RequestError as error:
        said = f"{options.label} answers with an error: {errors.short(str(error))}"
    finally:
        if process is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(_end(process, folder, timeout))
    return Probe(program=program, version=None, works=False, said=said)


async def _end(process: AgentProcess, folder: Path, timeout: float) -> None:
    await supervised.end_session(folder, timeout, (process.pid,))
    await process.exit_code(timeout)
    await process.close()


async def _refuse(method: str, _params: Any, is_notification: bool) -> Any:  # the SDK's own
    if not is_notification:
        raise RequestError.method_not_found(method)
