"""A project's `.segue/`: where it is, whether it is safe to read, and its bytes, read once."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files as resources
from pathlib import Path

import structlog

from segue.adapters.catalog.commands import NamedCommand, find_changes, find_commands
from segue.adapters.catalog.positions import LocatedYaml
from segue.adapters.catalog.project_files import check_inside, check_safe, digest, leads_out, opened
from segue.adapters.catalog.scripts import ScriptSearch
from segue.adapters.catalog.the_agency import agent_file, translate
from segue.domain.errors import CatalogError
from segue.domain.trust import (
    OPENCODE_AGENTS,
    PROJECT_FOLDER,
    SETTINGS_FILE,
    ProjectContent,
    is_configuration,
    one_line,
)

log = structlog.get_logger()

BUILTIN = Path(str(resources("segue.adapters.catalog") / "builtin.yaml"))
"""The catalog that comes with Segue."""
_MOST_BYTES = 1_000_000
"""Of one settings or catalog file."""


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
    """The `.segue` folder with YAML files of the project around a folder, or none.

    The one in the folder itself is found even if it is another user's, who is refused later; above it, the
    search ends at the user's home and at the first folder of another user, such as /tmp.
    """
    resolved = start.expanduser().resolve()
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111  # raises nothing where there is none
    if _configures(resolved / PROJECT_FOLDER):
        return resolved / PROJECT_FOLDER
    for folder in (resolved, *resolved.parents):
        if not _is_own(folder):
            return None
        if _is_own(folder / PROJECT_FOLDER) and _configures(folder / PROJECT_FOLDER):
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
    own = yaml_files(folder)
    if not own:
        return None
    agents = yaml_files(root / OPENCODE_AGENTS)
    documents = {path: _read_document(path, root) for path in (*agents, *own)}
    for each in (folder, *{path.parent for path in agents}):
        check_inside(each, root)
        check_safe(each, _stat(each))
    files = {
        str(path.relative_to(root)): hashlib.sha256(text).hexdigest() for path, text in documents.items()
    }
    bases = (root, working_dir.expanduser().resolve(), folder, _here())
    search = ScriptSearch(root, bases)
    shown = [line for source, command in _commands(documents) for line in command.show(source)]
    files |= _find_scripts(documents, search)
    links = (
        one_line(f"{name} -> {os.path.realpath(root / name)}")
        for name in files
        if leads_out(root / name, root)
    )
    builtin = read_yaml(BUILTIN, read_bytes(BUILTIN)).value
    changes = tuple(line for source in _sources(documents) for line in find_changes(source, builtin))
    content = ProjectContent(folder=str(root), files=files, commands=(*shown, *links), changes=changes)
    _check_text(content)
    return Project(content=content, documents=documents)


def scripts_in_copy(project: Project, working_dir: Path, copy: Path) -> Mapping[str, str]:
    """The scripts that a project would run in a copy of one of its folders, as in a worktree."""
    root = Path(project.content.folder)
    top = Path(os.path.normpath(copy / os.path.relpath(root, working_dir.resolve())))
    search = ScriptSearch(Path(os.path.realpath(top)), (top, copy, top / PROJECT_FOLDER))
    return _find_scripts(project.documents, search)


def yaml_files(folder: Path) -> list[Path]:
    """The YAML files of a folder, by name; none if there is no such folder."""
    try:
        inside = folder.iterdir() if folder.is_dir() else ()
        return sorted(path for path in inside if path.suffix in (".yaml", ".yml"))
    except OSError as error:
        raise CatalogError(f"cannot read the folder {folder}: {error.strerror}") from error


@lru_cache(maxsize=64)
def read_yaml(path: Path, content: bytes) -> LocatedYaml:
    """A settings or catalog file; the same bytes are read as YAML once."""
    if path.parts[-3:-1] == OPENCODE_AGENTS.parts:
        return _read_agent(path, content)
    source = LocatedYaml(path, content)
    return source if path.name == SETTINGS_FILE else translate(source).source


def _read_agent(path: Path, content: bytes) -> LocatedYaml:
    """A file of another tool's folder: an agent, or nothing."""
    try:
        source = LocatedYaml(path, content)
        if (found := agent_file(source, path.stem)) is not None:
            return found
        log.warning("not_an_agent", path=str(path), hint="it has neither a description nor opencode_agent")
    except CatalogError as error:
        log.warning("not_an_agent", path=str(path), error=str(error))
    return LocatedYaml(path, b"")


def read_bytes(path: Path) -> bytes:
    """A file of the user's own."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CatalogError(f"cannot read {path}: {error.strerror}") from error


def scripts_are_as_trusted(content: ProjectContent) -> bool:
    """True if no script has changed since this content was read."""
    root = Path(content.folder)
    scripts = {name: each for name, each in content.files.items() if not is_configuration(name)}
    return all(digest(root / name, root) == each for name, each in scripts.items() if (root / name).is_file())


def _read_document(path: Path, root: Path) -> bytes:
    check_inside(path, root)
    with opened(path) as file:
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise CatalogError(f"{path} has more than {_MOST_BYTES} bytes")
    return text


def _sources(documents: Mapping[Path, bytes]) -> list[LocatedYaml]:
    sources = []
    for path, text in documents.items():
        with suppress(CatalogError):  # not valid YAML, so it runs nothing; loading the catalog reports it
            sources.append(read_yaml(path, text))
    return sources


def _commands(documents: Mapping[Path, bytes]) -> Iterable[tuple[LocatedYaml, NamedCommand]]:
    sources = _sources(documents)
    settings: Mapping[str, object] = next(
        (each.value for each in sources if each.path.name == SETTINGS_FILE), {}
    )
    for source in sources:
        for command in find_commands(source, settings.get("backend")):
            command.check(source)
            yield source, command


def _find_scripts(documents: Mapping[Path, bytes], search: ScriptSearch) -> Mapping[str, str]:
    """Name -> digest of the files inside the project that its commands run."""
    for _, command in _commands(documents):
        command.search(search)
    return {name: each for name, each in search.found.items() if not is_configuration(name)}


def _check_text(content: ProjectContent) -> None:
    for name in (content.folder, *content.files):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise CatalogError(f"{name!a} is not UTF-8 text: rename it") from error


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


def _configures(folder: Path) -> bool:
    """True for a folder with YAML files, and for one that cannot be read, which is an error later."""
    try:
        return bool(yaml_files(folder))
    except CatalogError:
        return True


def _here() -> Path:
    """The folder that Segue was started in: some back ends start their programs from there."""
    try:
        return Path.cwd()
    except OSError:  # it is gone
        return Path("/")
