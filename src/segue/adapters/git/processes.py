"""Runs one git command: what it is told, how long it may take, how much of its output is kept.

No settings of the caller's environment reach it, and nothing that it could ask or start does.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from segue.domain.errors import RepositoryError

SECONDS = 120.0
"""How long one git command may take."""
MOST_BYTES = 64_000_000
"""How much of one command's output is read."""
_CHUNK = 1 << 16
_SETTINGS: tuple[tuple[str, str], ...] = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", "false"),
    ("core.askPass", "false"),
    ("core.alternateRefsCommand", "false"),
    ("core.quotePath", "true"),
    ("core.bigFileThreshold", "16m"),
    ("core.splitIndex", "false"),
    ("core.untrackedCache", "false"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.orderFile", os.devnull),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
    ("index.threads", "1"),
    ("core.safecrlf", "false"),
    ("core.filesRefLockTimeout", "10000"),
    ("core.packedRefsTimeout", "10000"),
    ("rerere.enabled", "false"),
    ("merge.autoStash", "false"),
    ("merge.verifySignatures", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
"""What holds for every command, whatever the repository says."""
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "SYSTEMROOT")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """What a git command printed."""

    text: bytes
    """As much of it as was read."""
    is_cut: bool = False
    """Whether there was more."""

    def fields(self) -> list[str]:
        """What stands between NULs, as names of files; of a cut output, without the last, broken one."""
        parts = self.text.split(b"\0")
        return [os.fsdecode(part) for part in (parts[:-1] if self.is_cut or not parts[-1] else parts)]


def run_git(folder: Path, *arguments: str) -> None:
    """Run a git command in a folder that need not be a repository."""
    with running(folder, arguments, None, {}, (SECONDS, False)) as chunks:
        for _ in chunks:
            pass


def read_output(chunks: Iterator[bytes], most_bytes: int) -> Output:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk[: most_bytes - size])
        size += len(chunk)
        if size > most_bytes:
            return Output(text=b"".join(parts), is_cut=True)
    return Output(text=b"".join(parts))


def write_settings(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Settings as git takes them from its environment, where they go before those of any file."""
    found = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for at, (name, value) in enumerate(pairs):
        found[f"GIT_CONFIG_KEY_{at}"] = name
        found[f"GIT_CONFIG_VALUE_{at}"] = value
    return found


@contextmanager
def running(
    folder: Path,
    arguments: Sequence[str],
    stdin: bytes | None,
    environment: Mapping[str, str],
    terms: tuple[float, bool],
) -> Iterator[Iterator[bytes]]:
    """A git command while it runs; `terms` are the seconds that it has, and whether it may fail."""
    seconds, may_fail = terms
    git = shutil.which("git")
    if git is None:
        raise RepositoryError("git is not on the PATH; install it")
    with TemporaryFile() as source, TemporaryFile() as errors:
        source.write(stdin or b"")
        source.seek(0)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        process = subprocess.Popen(
            [git, "--no-pager", *arguments],
            cwd=folder,
            env={**kept, **_ENVIRONMENT, **write_settings(_SETTINGS), **environment},
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        timer = threading.Timer(seconds, _kill, [process])
        timer.start()
        reading = _OutputReading()
        try:
            assert process.stdout is not None
            yield reading.chunks(process.stdout)
            code = process.wait() if reading.is_done else None
        finally:
            is_late = not timer.is_alive()
            timer.cancel()
            _end(process)
        if code and (is_late or code < 0):
            raise RepositoryError(
                f"git {arguments[0]} in {folder} took longer than {seconds:g} s and was ended"
                if is_late
                else f"git {arguments[0]} in {folder} was killed by signal {-code}"
            )
        if code and not may_fail:
            raise _explain(arguments, folder, errors)


@dataclass(slots=True)
class _OutputReading:
    is_done: bool = False

    def chunks(self, stream: IO[bytes]) -> Iterator[bytes]:
        while chunk := stream.read(_CHUNK):
            yield chunk
        self.is_done = True


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        _kill(process)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()


def _explain(arguments: Sequence[str], folder: Path, errors: IO[bytes]) -> RepositoryError:
    errors.seek(0)
    said = errors.read(4096).decode("utf-8", "replace")
    first = next((line.strip() for line in said.splitlines() if line.strip()), "it gave no reason")
    first = first.removeprefix("fatal: ").removeprefix("error: ")
    if "not a git repository" in said:
        return RepositoryError(
            f"{folder} is not a git repository; run `git init` there, or name another folder"
        )
    if "dubious ownership" in said:
        return RepositoryError(
            f"git does not trust {folder}, which belongs to another user; if you do, run "
            f"`git config --global --add safe.directory {folder}`"
        )
    if "must be run in a work tree" in said:
        return RepositoryError(
            f"{folder} is in a git repository without a work tree (a bare one, or a .git folder); name "
            "a folder that has files checked out"
        )
    return RepositoryError(f"git {arguments[0]} failed in {folder}: {first[:300]}")
