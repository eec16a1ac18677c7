"""The programs that back ends start: where they are, what their options say, what they answer when asked."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from segue.domain.environment import PassEnv
from segue.domain.errors import BackendUnavailable

Options = TypeVar("Options", bound=BaseModel)


class ProgramOptions(BaseModel):
    """What may stand under `options` of every agent that is a program with a stream."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    program: str | None = None
    """The program, if it is not on the PATH under its usual name."""
    arguments: tuple[str, ...] = ()
    """More arguments for it, put behind Segue's own."""
    pass_env: PassEnv = ()
    """Environment variables to hand on that are withheld by default, by name or as AWS_*."""
    set_env: dict[str, str] = Field(default_factory=dict)
    """Environment variables to set; an empty one is taken away."""
    append_system_prompt: str = ""
    """Standing orders that go into its system prompt, not into the briefing."""


def checked_options(model: type[Options], options: Mapping[str, Any], whose: str) -> Options:
    """The options of an agent; `whose` begins the sentence that says what is wrong with them."""
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "options"
        raise BackendUnavailable(f'{whose}, but its options are wrong: "{key}": {first["msg"]}') from error


def find_program(name: str, path: str | None, *, install: str) -> str:
    """The full path of a program; `install` is what to do if it is not there."""
    if os.sep in name:
        place = Path(name).expanduser().absolute()
        if not place.is_file():
            raise BackendUnavailable(f'the program {place} does not exist; {install}, or correct "program"')
        if not os.access(place, os.X_OK):
            raise BackendUnavailable(f"the program {place} is not executable; run chmod +x {place}")
        return str(place)
    if found := shutil.which(name, path=path):
        return str(Path(found).absolute())
    raise BackendUnavailable(
        f'the program "{name}" is not on the PATH; {install}, or set "program" in the agent\'s options'
    )


async def ask_program(
    program: str, *arguments: str, environment: Mapping[str, str], seconds: float = 60.0
) -> tuple[int, str]:
    """Run a program that answers at once: its exit code and what it wrote."""
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        return 126, f"it cannot be started: {error.strerror}"
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return 124, f"it did not answer within {seconds:g} s"
    return process.returncode or 0, output.decode("utf-8", "replace").strip()
