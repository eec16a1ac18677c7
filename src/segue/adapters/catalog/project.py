"""A project's `.segue/`: where it is, whether it is safe to read, and its bytes, read once."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader
from pathlib import Path

from segue.adapters.catalog.commands import find_commands
from segue.adapters.catalog.positions import LocatedYaml
from segue.domain.errors import CatalogError, UnsafeProject
from segue.domain.trust import PROJECT_FOLDER, SETTINGS_FILE, ProjectContent, is_configuration

_MOST_BYTES = 5_000_000
"""Of one settings or catalog file."""
_LONGEST_PATH = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """What was read: the bytes that were hashed are the bytes that are used."""

    content: ProjectContent
    documents: Mapping[Path, bytes]
    """The settings file and the catalog files."""

    @property
    def settings(self) -> LocatedYaml | None:
        """The settings file."""
        found = [read_yaml(path, text) for path, text in self.documents.items() if path.name == SETTINGS_FILE]
        return found[0] if found else None

    @property
    def catalog(self) -> list[tuple[Path, bytes]]:
        """The catalog files, by name."""
        return [(path, text) for path, text in self.documents.items() if path.name != SETTINGS_FILE]


def find_project(start: Path) -> Path | None:
    """The `.segue` folder of the project around a folder, or none.

    The one in the folder itself is found even if it is another user's, who is refused later; above it, the
    search ends at the user's home and at the first folder of another user, such as /tmp.
    """
    resolved = start.expanduser().resolve()
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111  # raises nothing where there is none
    if (resolved / PROJECT_FOLDER).is_dir():
        return resolved / PROJECT_FOLDER
    for folder in (resolved, *resolved.parents):
        if not _is_own(folder):
            return None
        if _is_own(folder / PROJECT_FOLDER):
            return folder / PROJECT_FOLDER
        if folder == home:
            return None
    return None


def read_project(working_dir: Path) -> Project | None:
    """The project around a folder, each of its files read once; none if nothing in it configures anything.

    `UnsafeProject` if another user could change it, or if it leads out of the project.
    """
    folder = find_project(working_dir)
    if folder is None:
        return None
    root = folder.parent
    documents = {path: _read_document(path, root) for path in yaml_files(folder)}
    if not documents:
        return None
    _check_inside(folder, root)
    _check_safe(folder, _stat(folder))
    files = {
        str(path.relative_to(root)): hashlib.sha256(text).hexdigest() for path, text in documents.items()
    }
    bases = dict.fromkeys((root, working_dir.expanduser().resolve(), folder, _here()))
    commands: list[str] = []
    for path, text in documents.items():
        try:
            source = read_yaml(path, text)
        except CatalogError:  # it runs nothing as it is; whoever uses it will say what is wrong
            continue
        for command in find_commands(source):
            commands.append(command.show(source))
            files |= dict(_scripts(command.words(), root, bases))
    links = (f"{name} -> {os.path.realpath(root / name)}" for name in files if _leads_out(root / name, root))
    content = ProjectContent(folder=str(root), files=files, commands=(*commands, *links))
    _check_text(content)
    return Project(content=content, documents=documents)


def yaml_files(folder: Path) -> list[Path]:
    """The YAML files of a folder, by name; none if there is no such folder."""
    try:
        inside = folder.iterdir() if folder.is_dir() else ()
        return sorted(path for path in inside if path.suffix in (".yaml", ".yml"))
    except OSError as error:
        raise CatalogError(f"cannot read the folder {folder}: {error.strerror}") from error


@lru_cache(maxsize=64)
def read_yaml(path: Path, content: bytes) -> LocatedYaml:
    """The same bytes are read as YAML once."""
    return LocatedYaml(path, content)


def read_bytes(path: Path) -> bytes:
    """A file of the user's own."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CatalogError(f"cannot read {path}: {error.strerror}") from error


def scripts_are_as_trusted(content: ProjectContent) -> bool:
    """True if no script has changed since this content was read."""
    root = Path(content.folder)
    scripts = {name: digest for name, digest in content.files.items() if not is_configuration(name)}
    return all(
        _digest(root / name, root) == digest for name, digest in scripts.items() if (root / name).is_file()
    )


def _read_document(path: Path, root: Path) -> bytes:
    _check_inside(path, root)
    with _opened(path) as file:
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise CatalogError(f"{path} has more than {_MOST_BYTES} bytes")
    return text


def _scripts(words: Iterable[str], root: Path, bases: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Name and digest of the files inside the project that words name."""
    for word in dict.fromkeys(words):
        if not word or len(word) > _LONGEST_PATH:
            continue
        for base in bases:
            path = Path(os.path.normpath(base / os.path.expanduser(word)))  # noqa: PTH111  # raises nothing
            if os.path.isfile(path):  # noqa: PTH113  # false for what is not a path at all
                inside = path if path.is_relative_to(root) else path.resolve()
                if inside.is_relative_to(root):
                    name = str(inside.relative_to(root))
                    if not is_configuration(name):
                        yield name, _digest(inside, root)


def _digest(path: Path, root: Path) -> str:
    """The SHA-256 of a script; of a link to a program outside of the project, of where it leads."""
    with _opened(path) as file:
        if _leads_out(path, root):  # as the interpreter of a virtual environment does
            return hashlib.sha256(os.fsencode(f"-> {path.resolve()}")).hexdigest()
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """A regular file that nobody but the user and root can change."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            os.close(number)
            raise CatalogError(f"cannot read {path}: it is not a regular file")
        with os.fdopen(number, "rb") as file:
            _check_safe(path, found)
            yield file
    except OSError as error:
        raise CatalogError(f"cannot read {path}: {error.strerror}") from error


def _leads_out(path: Path, root: Path) -> bool:
    return not path.resolve().is_relative_to(root)


def _check_text(content: ProjectContent) -> None:
    for name in (content.folder, *content.files):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise CatalogError(f"{name!a} is not UTF-8 text: rename it") from error


def _check_inside(path: Path, root: Path) -> None:
    if _leads_out(path, root):
        raise UnsafeProject(
            f"{path} is a symbolic link that leads out of the project, to {path.resolve()}: put the file "
            "itself there, or remove it"
        )


def _check_safe(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise UnsafeProject(
            f"{path} belongs to another user (id {found.st_uid}), who could run programs as you. If you know "
            f"it to be yours: sudo chown {os.geteuid()} {path}"
        )
    if found.st_mode & stat.S_IWOTH:
        raise UnsafeProject(f"every user of this machine can write {path}: run chmod o-w {path}")


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise CatalogError(f"cannot read {path}: {error.strerror}") from error


def _is_own(folder: Path) -> bool:
    """True for a folder of the user who runs Segue."""
    with suppress(OSError):
        found = folder.stat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False


def _here() -> Path:
    """The folder that Segue was started in: some back ends start their programs from there."""
    try:
        return Path.cwd()
    except OSError:  # it is gone
        return Path("/")
