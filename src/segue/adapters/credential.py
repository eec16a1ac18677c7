"""The local credential: one file in the data folder that only its owner can read."""

from __future__ import annotations

import os
import pwd
import re
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from segue.domain.errors import CredentialError
from segue.domain.tokens import PREFIX

_VALUE = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}\n?")
_LONGEST = 1000


class LocalCredential:
    """The file `credential`. Whole or not there at all; never read where another user could have read it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def place(self) -> str:
        """Where it is."""
        return str(self._path)

    def read(self) -> str | None:
        """Its value, or none if there is no file; `CredentialError` if it is not this user's secret."""
        try:
            number = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CredentialError(
                f"cannot read the credential {self._path}: {error.strerror}. Remove it, and a new one is made"
            ) from error
        try:
            if problem := _problem_of(os.fstat(number)):
                raise CredentialError(f"the credential {self._path} {problem}")
            text = os.read(number, _LONGEST).decode("ascii", "replace")
        finally:
            os.close(number)
        if not _VALUE.fullmatch(text):
            raise CredentialError(
                f"the file {self._path} does not hold a credential. Remove it, and a new one is made"
            )
        return text.strip()

    def create(self, value: str) -> str:
        """Write it unless there is one by now; gives the value that counts."""
        fresh = self._path.with_name(f"{self._path.name}.{token_hex(8)}")
        try:
            number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            try:
                with os.fdopen(number, "w", encoding="ascii") as file:
                    file.write(f"{value}\n")
                    file.flush()
                    os.fsync(file.fileno())
                with suppress(FileExistsError):  # another process was faster: its file counts
                    os.link(fresh, self._path)
            finally:
                fresh.unlink()
        except OSError as error:
            raise CredentialError(
                f"cannot write the credential {self._path}: {error.strerror}. Set SEGUE_DATA_DIR to a folder "
                "that you can write"
            ) from error
        return self.read() or value

    def remove(self) -> None:
        """Remove it; the next start makes a new one."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise CredentialError(
                f"cannot remove the credential {self._path}: {error.strerror}. Remove it yourself"
            ) from error


def login_name() -> str:
    """The login name of the user that this process runs as, whatever the environment says."""
    number = os.geteuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid-{number}"


def _problem_of(found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "is not a file. Remove it, and a new one is made"
    if found.st_uid != os.geteuid():
        return (
            f"belongs to another user (uid {found.st_uid}). Start Segue as that user, or set SEGUE_DATA_DIR "
            "to a folder of your own"
        )
    if found.st_mode & 0o077:
        return (
            f"can be read or written by others (mode {stat.S_IMODE(found.st_mode):04o}), who may know it by "
            "now. Remove it, and a new one is made"
        )
    return None
