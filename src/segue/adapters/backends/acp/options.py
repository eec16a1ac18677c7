"""What may stand under `options` of an agent on the `acp` back end, and the program that it leads to."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from segue.adapters.backends.acp.agents import ANY, KNOWN, KnownAgent
from segue.domain.environment import PassEnv, agent_environment
from segue.domain.errors import BackendUnavailable


def _as_arguments(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


class AcpOptions(BaseModel):
    """What may stand under `options` of an agent on the `acp` back end."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    agent: str | None = None
    """A known agent: opencode, goose, claude, codex, gemini, qwen, omp or pi."""
    command: Annotated[
        tuple[str, ...], BeforeValidator(_as_arguments, json_schema_input_type=str | tuple[str, ...])
    ] = ()
    """Program and arguments, for any other agent or in place of the known one's; a known agent's program may
    stand alone."""
    pass_env: PassEnv = ()
    """Environment variables to hand on that are withheld by default, by name or as AWS_*."""
    set_env: dict[str, str] = Field(default_factory=dict)
    """Environment variables to set; an empty value takes one away."""
    load: bool = True
    """Take a session up again after Segue was restarted, if the agent can."""
    client_files: bool = False
    """Offer the agent to read and write files through Segue, inside the working directory alone."""
    client_terminals: bool = False
    """Offer the agent to run commands through Segue, inside the working directory."""
    start_timeout: float = Field(default=120.0, gt=0)
    """Seconds that the agent may take to start, and to open or load a session: for each."""

    @model_validator(mode="after")
    def _says_what_to_run(self) -> AcpOptions:
        if self.agent is not None and self.agent not in KNOWN:
            raise ValueError(
                f'no agent is known as "{self.agent}"; known are {", ".join(sorted(KNOWN))}; for any other '
                'set "command" alone'
            )
        if self.agent is None and not self.command:
            raise ValueError(f'set "agent" to one of {", ".join(sorted(KNOWN))}, or set "command"')
        return self

    @property
    def known(self) -> KnownAgent:
        """What is known of this agent."""
        return KNOWN[self.agent] if self.agent else ANY

    @property
    def arguments(self) -> tuple[str, ...]:
        """Program and arguments."""
        if len(self.command) == 1:
            return (*self.command, *self.known.command[1:])
        return self.command or self.known.command

    @property
    def label(self) -> str:
        """How sentences speak of the agent."""
        return self.agent or Path(self.command[0]).name


def read_options(values: Mapping[str, Any], agent_name: str) -> AcpOptions:
    """The options of an agent's profile."""
    try:
        return AcpOptions.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise BackendUnavailable(
            f'agent "{agent_name}" runs on the back end "acp", but its options are wrong: '
            + (f'"{where}": {said}' if where else said)
        ) from error


def environment_of(options: AcpOptions, model: str | None, working_dir: str) -> dict[str, str]:
    """What the agent sees of the user's own environment, and what the options set."""
    given = dict(options.known.environment)
    if model and options.known.model_variable:
        given[options.known.model_variable] = model
    given |= options.set_env
    return agent_environment(os.environ, pass_env=options.pass_env, set_env=given) | {"PWD": working_dir}


def find_program(options: AcpOptions, path: str | None, working_dir: str) -> str:
    """The agent's program, as a full path."""
    program = options.arguments[0]
    if os.sep in program:
        at = Path(working_dir, Path(program).expanduser())
        if not at.is_file():
            raise BackendUnavailable(f'the program {program} does not exist; set "command" in the options')
        if not os.access(at, os.X_OK):
            raise BackendUnavailable(f"the program {at} is not executable; run chmod +x {at}")
        return str(at)
    if found := shutil.which(program, path=path):
        return str(Path(found).absolute())
    install = f"run `segue agents install {program}`" if options.known.installable else "install it"
    raise BackendUnavailable(
        f'the program "{program}" of the agent {options.label} is not on the PATH; {install}, and put it '
        'there or set "command" in the options to where it is'
    )
