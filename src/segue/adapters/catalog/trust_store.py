"""Which projects the user trusts: one file in the data folder, for the user's eyes only."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from segue.adapters.private_files import check_data_folder
from segue.domain.errors import NotTrusted, StorageError
from segue.domain.trust import ProjectContent, TrustedProject, is_configuration

TRUST_FILE = "trust.json"
"""Its name in the data folder."""
_RECORDS = TypeAdapter(dict[str, TrustedProject])


class TrustStore:
    """Folder -> the content that it had when it was trusted. Processes may write at the same time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, content: ProjectContent) -> None:
        """`NotTrusted` unless exactly this content was trusted in this folder."""
        found = self._read().get(content.folder)
        if found is None:
            raise NotTrusted(content, None)
        if changed := found.changes(content.files):
            raise NotTrusted(content, changed)

    def check_scripts(self, content: ProjectContent, scripts: Mapping[str, str], branch: str | None) -> None:
        """`NotTrusted` unless the folder is trusted, and these scripts (name -> SHA-256) are."""
        if (found := self._read().get(content.folder)) is None:
            raise NotTrusted(content, None)
        if changed := sorted(name for name, each in scripts.items() if found.files.get(name) != each):
            raise NotTrusted(content, tuple(changed), branch=branch)

    def trust(self, content: ProjectContent) -> None:
        """Trust a folder with this content; what it had before is trusted no longer."""
        with self._changing() as records:
            old = records.get(content.folder)
            # Seen from another folder of the project, the same command may name another script: both stay.
            scripts = (
                {name: each for name, each in old.files.items() if not is_configuration(name)} if old else {}
            )
            records[content.folder] = TrustedProject(
                folder=content.folder, trusted_at=datetime.now(UTC), files={**scripts, **content.files}
            )

    def revoke(self, folder: str) -> bool:
        """Trust a folder no longer; false if it was not trusted."""
        with self._changing() as records:
            return records.pop(folder, None) is not None

    def projects(self) -> list[TrustedProject]:
        """All that is trusted, by folder."""
        return [each for _, each in sorted(self._read().items())]

    def _read(self) -> dict[str, TrustedProject]:
        check_data_folder(self._path.parent)
        try:
            return _RECORDS.validate_python(json.loads(self._path.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise StorageError(f"cannot read {self._path}: {error.strerror}") from error
        except (ValueError, ValidationError) as error:
            raise StorageError(
                f"{self._path}, the list of trusted folders, is damaged: remove it, and trust them again"
            ) from error

    @contextmanager
    def _changing(self) -> Iterator[dict[str, TrustedProject]]:
        """The records to be changed; on leaving they are written whole, or not at all."""
        fresh = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_data_folder(self._path.parent)
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(lock):
                fcntl.flock(lock, fcntl.LOCK_EX)
                records = self._read()
                yield records
                fresh.unlink(missing_ok=True)
                number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    json.dump(_RECORDS.dump_python(records, mode="json"), file, indent=2)
                    file.flush()
                    os.fsync(number)
                fresh.replace(self._path)
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error
