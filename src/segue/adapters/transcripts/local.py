"""The sessions of other tools on this machine: found by tool, id, folder or file, and read."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from segue.adapters.transcripts import claude, codex, goose, opencode, pi
from segue.adapters.transcripts.databases import is_database
from segue.adapters.transcripts.find import find_sessions, sessions_of
from segue.adapters.transcripts.lines import head_of
from segue.adapters.transcripts.session_locations import (
    database_of,
    folder_of,
    known_tools,
    session_files,
)
from segue.domain.errors import InvalidRequest, UnknownName
from segue.domain.transcripts import FoundSession, Transcript, is_empty

LATEST = "latest"
_SHORTEST_ID = 4
_MOST_EMPTY = 10
"""So many sessions in which nothing was said are passed over on the way to the newest one."""
_OF_LINES = (
    (codex.looks_like, codex.read),
    (pi.looks_like, pi.read),
    (claude.looks_like, claude.read),
    (goose.looks_like, goose.read),
)
"""How to know whose lines a file holds, and what reads them."""
_OF_DOCUMENTS = ((opencode.is_export, opencode.read_export), (goose.is_export, goose.read_export))


class LocalTranscripts:
    """What other tools have left on this machine."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools whose sessions can be read."""
        return known_tools()

    def find(
        self, tool: str | None = None, working_dir: Path | None = None, most: int | None = None
    ) -> list[FoundSession]:
        """The sessions that are here, the newest first."""
        return find_sessions([self._known(tool)] if tool else [], working_dir, most)

    def read(self, name: str, *, tool: str | None = None, working_dir: Path | None = None) -> Transcript:
        """A session by file, by id or the beginning of one, or `latest`: the newest of a folder."""
        if tool:
            self._known(tool)
        if name == LATEST:
            return self._latest(tool, working_dir or Path.cwd())
        path = Path(name).expanduser()
        if path.is_file():
            return _read_file(path)
        if "/" in name or path.suffix in (".jsonl", ".json", ".db"):
            raise InvalidRequest(f"there is no file {name}")
        return self._by_id(name, tool)

    def _known(self, tool: str) -> str:
        if tool not in known_tools():
            raise UnknownName("tool", tool, known_tools())
        return tool

    def _latest(self, tool: str | None, working_dir: Path) -> Transcript:
        found = find_sessions([tool] if tool else [], working_dir, _MOST_EMPTY)
        if not found:
            raise InvalidRequest(
                f"no {tool or 'known'} session worked in {working_dir} (looked in {_places(tool)}); "
                "`segue session import --all` lists what is here, and --dir names another folder"
            )
        newest = map(_read_found, found)
        return next((each for each in newest if not is_empty(each)), None) or _read_found(found[0])

    def _by_id(self, name: str, tool: str | None) -> Transcript:
        found = _with_id(name, [tool] if tool else known_tools()) if len(name) >= _SHORTEST_ID else []
        if not found:
            raise InvalidRequest(
                f"no session {name} (looked in {_places(tool)}), nor a file of that name; "
                "`segue session import --all` lists what is here"
            )
        if len(found) > 1:
            ids = ", ".join(f"{each.tool} {each.session_id}" for each in found[:5])
            raise InvalidRequest(f"{name} begins the ids of several sessions: {ids}; write more of it")
        return _read_found(found[0])


def _places(tool: str | None) -> str:
    return ", ".join(str(folder_of(each)) for each in ([tool] if tool else known_tools()))


def _with_id(name: str, tools: tuple[str, ...] | list[str]) -> list[FoundSession]:
    """The sessions whose id is this, or begins so. Files bear the id in their names."""
    found: dict[tuple[str, str], FoundSession] = {}
    for tool in tools:
        named = database_of(tool) is not None or any(name in path.stem for _, _, path in session_files(tool))
        for session in sessions_of(tool) if named else ():
            if session.session_id == name:
                return [session]
            if session.session_id.startswith(name):
                found[session.path, session.session_id] = session
    return list(found.values())


def _read_found(session: FoundSession) -> Transcript:
    path = Path(session.path)
    if is_database(path):
        return _read_database(path, session.session_id)
    return _read_file(path)


def _read_file(path: Path) -> Transcript:
    """The transcript in a file, whichever tool wrote it."""
    try:
        if is_database(path):
            return _read_database(path, _newest_in(path))
        start = list(islice(head_of(path, 1_000_000), 100))
        for looks_like, read in _OF_LINES:
            if looks_like(start):
                return read(path)
        for is_export, read in _OF_DOCUMENTS:
            if is_export(path):
                return read(path)
    except OSError as error:
        raise InvalidRequest(f"cannot read {path}: {error.strerror}") from error
    raise InvalidRequest(
        f"{path} is no transcript of a tool that Segue knows (tried {', '.join(known_tools())})"
    )


def _read_database(path: Path, session_id: str) -> Transcript:
    if goose.is_database(path):
        return goose.read_database(path, session_id)
    return opencode.read_database(path, session_id)


def _newest_in(path: Path) -> str:
    sessions = goose.sessions_in(path) if goose.is_database(path) else opencode.sessions_in(path)
    newest = next(iter(sessions), None)
    if newest is None:
        raise InvalidRequest(f"{path} holds no session")
    return str(newest["id"])
