"""Runs git on a repository that may be hostile: no program that the repository names is run.

Git never reads the repository's own configuration, but a snapshot of it that names no program
(`configuration.py` says why and how). Only two commands see the real one, to find the repository and to list
its settings; neither looks at content, and git's own protection against repositories of other users holds for
them. For these two, and in case git invents a default, the settings below turn off what has a fixed name.

A repository inside the work tree (a submodule, or one that an agent made) has a configuration of its own,
which git obeys when it looks for changes in there. So no command here may look (`nested.py` opens one as a
repository of its own, with a snapshot of its own): each that compares the work
tree is told `--ignore-submodules=dirty`, and neither `git add` nor `git diff` without two revisions is used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO

from segue.adapters.git.configuration import Configuration, PrivateCommonDir, read_configuration
from segue.domain.errors import RepositoryError

SECONDS = 120.0
"""How long one git command may take."""
MOST_BYTES = 64_000_000
"""How much of one command's output is read."""
MOST_SETTINGS = 4_000_000
"""Bytes of configuration that are read; a longer one is refused."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A repository and its work tree."""

    top: Path
    """The top of the work tree."""
    folder: Path
    """The folder that was asked for: the top, or one below it."""
    git_dir: Path
    """Where its index lies."""
    common_dir: Path
    """Where its branches lie; all its worktrees have the same."""
    digest: str = "sha1"
    """How ids are made: `sha1` or `sha256`."""
    configuration: Configuration
    """What its configuration said when it was opened."""
    private: PrivateCommonDir
    """What makes git obey that, and not what the configuration says now."""
    seconds: float = SECONDS
    """How long one command may take."""

    def empty_id(self, kind: str) -> str:
        """The id of an empty `blob` or `tree`."""
        return hashlib.new(self.digest, f"{kind} 0\0".encode(), usedforsecurity=False).hexdigest()

    @property
    def prefix(self) -> str:
        """The folder below the top, with a slash at its end; empty at the top."""
        below = os.path.relpath(os.path.realpath(self.folder), os.path.realpath(self.top))
        return "" if below == os.curdir else below.replace(os.sep, "/") + "/"

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        most_bytes: int = MOST_BYTES,
        environment: Mapping[str, str] | None = None,
        may_fail: bool = False,
    ) -> Output:
        """What a git command prints, up to a limit; a command that fails raises, unless it may."""
        with self.stream(*arguments, stdin=stdin, environment=environment, may_fail=may_fail) as chunks:
            return _read(chunks, most_bytes)

    def each_field(self, *arguments: str, environment: Mapping[str, str]) -> Iterator[str]:
        """What stands between NULs in all that a command prints, however much that is."""
        rest = b""
        with self.stream(*arguments, environment=environment) as chunks:
            for chunk in chunks:
                *whole, rest = (rest + chunk).split(b"\0")
                yield from map(os.fsdecode, whole)

    @contextmanager
    def stream(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        may_fail: bool = False,
    ) -> Iterator[Iterator[bytes]]:
        """The output of a git command, piece by piece; leaving early ends it."""
        here = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top)}
        variables = {**here, **self.private.environment, **(environment or {})}
        with _running(self.top, arguments, stdin, variables, (self.seconds, may_fail)) as chunks:
            yield chunks


def run_git(folder: Path, *arguments: str) -> None:
    """Run a git command in a folder that need not be a repository."""
    with _running(folder, arguments, None, {}, (SECONDS, False)) as chunks:
        for _ in chunks:
            pass


def open_repository(folder: Path, *, seconds: float = SECONDS) -> Repository:
    """The repository that a folder belongs to; raises a `RepositoryError` if it belongs to none."""
    if not folder.is_dir():
        raise RepositoryError(f"there is no folder {folder}")
    asked = (
        "rev-parse",
        "--is-inside-work-tree",
        "--show-object-format",
        "--show-toplevel",
        "--absolute-git-dir",
    )
    with _running(folder, asked, None, {}, (seconds, False)) as chunks:
        answer = b"".join(chunks)
    inside, _, rest = answer.partition(b"\n")
    digest, _, rest = rest.partition(b"\n")
    if inside != b"true":
        raise RepositoryError(f"{folder} is not in the work tree of a git repository")
    top, git_dir = _two_folders(os.fsdecode(rest.removesuffix(b"\n")))
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(top)):
        raise RepositoryError(f"the repository at {folder} has its work tree elsewhere, at {top}")
    common_dir, configuration = _common_dir(git_dir), _take_snapshot(top, seconds)
    try:
        private = PrivateCommonDir(common_dir, configuration)
    except OSError as error:
        raise RepositoryError(
            f"cannot make a folder for git's settings in {gettempdir()}: {error.strerror}"
        ) from error
    return Repository(
        top=top,
        folder=folder,
        git_dir=git_dir,
        common_dir=common_dir,
        digest=digest.decode("ascii"),
        configuration=configuration,
        private=private,
        seconds=seconds,
    )


def _read(chunks: Iterator[bytes], most_bytes: int) -> Output:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk[: most_bytes - size])
        size += len(chunk)
        if size > most_bytes:
            return Output(text=b"".join(parts), is_cut=True)
    return Output(text=b"".join(parts))


def _two_folders(text: str) -> tuple[Path, Path]:
    """Two paths that git printed in two lines; a line end may be part of them."""
    lines = text.split("\n")
    for count in range(1, len(lines)):
        first, second = Path("\n".join(lines[:count])), Path("\n".join(lines[count:]))
        if first.is_absolute() and second.is_absolute() and first.is_dir() and second.is_dir():
            return first, second
    return Path(lines[0]), Path(lines[-1])


def _common_dir(git_dir: Path) -> Path:
    """What the `.git` of a worktree shares with the repository it belongs to."""
    try:
        named = (git_dir / "commondir").read_bytes().removesuffix(b"\n")
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / os.fsdecode(named)))


def _take_snapshot(top: Path, seconds: float) -> Configuration:
    """The configuration as it is now; one that is too long to be read whole is refused."""
    with _running(top, ("config", "--null", "--list"), None, {}, (seconds, False)) as chunks:
        listed = _read(chunks, MOST_SETTINGS)
    if listed.is_cut:
        raise RepositoryError(
            f"the git configuration of {top} is longer than {MOST_SETTINGS // 1_000_000} MB, so Segue does "
            "not use it; `git config --list --show-origin` shows where it comes from"
        )
    return read_configuration(listed.fields())


def _settings(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Settings as git takes them from its environment, where they go before those of any file."""
    found = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for at, (name, value) in enumerate(pairs):
        found[f"GIT_CONFIG_KEY_{at}"] = name
        found[f"GIT_CONFIG_VALUE_{at}"] = value
    return found


@contextmanager
def _running(
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
            env={**kept, **_ENVIRONMENT, **_settings(_SETTINGS), **environment},
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
