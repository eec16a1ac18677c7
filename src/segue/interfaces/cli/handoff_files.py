"""The documents that `segue handoff` reads and writes: files, folders, standard input."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import typer

from segue.domain.errors import InvalidRequest, SegueError

SUFFIXES = (".md", ".markdown", ".yaml", ".yml", ".json", ".txt")
"""What is looked at in a folder."""

_PASSED_OVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
_MAX_BYTES = 32_000_000
_MOST_SENTENCES = 20
_BOM = "\ufeff"


@dataclass(frozen=True, kw_only=True, slots=True)
class InputDocument:
    """A text that may hold a handoff."""

    path: str
    """As the user named it, fit to be printed; `-` is standard input."""
    text: str
    """Its text with its own line ends, without a byte order mark."""
    file: Path | None
    """The file; none for standard input."""
    has_bom: bool = False
    """Whether a byte order mark stood before the text."""
    is_named: bool = True
    """Whether the user named it, or it was found in a folder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """What there is to work on."""

    documents: tuple[InputDocument, ...]
    """In the order named; those of a folder by name; each file once."""
    faults: tuple[str, ...]
    """One sentence for each thing that could not be read."""
    is_single: bool
    """Whether the user named one document, and no folder."""

    def report_faults(self) -> int:
        """Say what could not be read; the exit code of that: 2, or 0 if all could."""
        for fault in self.faults:
            complain(fault)
        return 2 if self.faults else 0


@dataclass(slots=True)
class _InputReader:
    documents: list[InputDocument] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def read_named(self, name: str) -> None:
        if name == "-":
            self._read(None, name, is_named=True)
        elif not name:
            self.faults.append("cannot read a file without a name; - is standard input")
        elif Path(name).is_dir():
            self._read_folder(Path(name))
        else:
            self._read(Path(name), name, is_named=True)

    def _read_folder(self, folder: Path) -> None:
        found = list(self._files_in(folder))
        for file in found:
            self._read(file, str(file), is_named=False)
        if not found:
            kinds = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
            self.faults.append(f"nothing to read in {shown_name(str(folder))}: it holds no {kinds}")

    def _files_in(self, folder: Path) -> Iterator[Path]:
        # Folders behind symbolic links are not entered: they may lead back up here.
        for top, folders, names in os.walk(folder, onerror=self._cannot_enter):
            folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
            for name in sorted(names):
                file = Path(top, name)
                if name.lower().endswith(SUFFIXES) and not _would_block(file):
                    yield file

    def _cannot_enter(self, error: OSError) -> None:
        self.faults.append(f"cannot look into {shown_name(str(error.filename))}: {error.strerror}")

    def _read(self, file: Path | None, name: str, *, is_named: bool) -> None:
        place = "-" if file is None else os.path.realpath(file)
        if place in self.seen:
            return
        self.seen.add(place)
        shown = shown_name(name)
        try:
            text = _decode(_read_bytes(file))
        except OSError as error:
            self.faults.append(f"cannot read {shown}: {error.strerror or error}")
        except _NotText as error:
            self.faults.append(f"cannot read {shown}: {error}")
        else:
            self.documents.append(
                InputDocument(
                    path=shown,
                    text=text.removeprefix(_BOM),
                    file=file,
                    has_bom=text.startswith(_BOM),
                    is_named=is_named,
                )
            )


class _NotText(Exception):
    """The bytes are no text that Segue reads."""


def read_inputs(names: Sequence[str] | None) -> Inputs:
    """All documents named, and in the folders named; standard input for `-` or for no name at all."""
    given = list(names or ["-"])
    reader = _InputReader()
    for name in given:
        reader.read_named(name)
    is_single = len(given) == 1 and not (given[0] != "-" and Path(given[0]).is_dir())
    return Inputs(documents=tuple(reader.documents), faults=tuple(reader.faults), is_single=is_single)


def read_one(name: str) -> InputDocument:
    """The one document of a command that takes one."""
    if name != "-" and Path(name).is_dir():
        raise InvalidRequest(f"{shown_name(name)} is a folder; name one file")
    inputs = read_inputs([name])
    if not inputs.documents:
        raise InvalidRequest(inputs.faults[0])
    return inputs.documents[0]


def write_text(path: Path, text: str) -> None:
    """Put `text` where `path` leads, all at once or not at all; the mode of a file that is there stays."""
    target = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(text.encode())  # a device or a pipe: there is nothing to put in its place
        else:
            _replace(target, text.encode())
    except OSError as error:
        raise SegueError(f"cannot write {shown_name(str(path))}: {error.strerror}") from error


def write_back(document: InputDocument, text: str) -> None:
    """Put `text` in the place of a document that was read from a file."""
    assert document.file is not None
    write_text(document.file, (_BOM if document.has_bom else "") + text)


def complain(sentence: str) -> None:
    """One sentence on standard error, in the form of all errors."""
    typer.echo(f"segue: {sentence}", err=True)


def complain_each(sentences: Sequence[str]) -> None:
    """The first of many sentences, and how many there are more: nobody reads thousands."""
    for sentence in sentences[:_MOST_SENTENCES]:
        complain(sentence)
    rest = len(sentences) - _MOST_SENTENCES
    if rest > 0:
        complain(f"... and {rest} more")


def shorten(text: str, limit: int = 100) -> str:
    """A text of others on one line, not too long."""
    from segue.interfaces.cli.output import printable

    # Cut first: the rest of a long text need not be looked at.
    words = " ".join(printable(text[: 2 * limit]).split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def shown_name(name: str) -> str:
    """A file's name on one line, whatever characters it has."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "�" for c in text)


def _read_bytes(file: Path | None) -> bytes:
    if file is not None:
        with file.open("rb") as stream:
            found = stream.read(_MAX_BYTES + 1)
    else:
        stdin = _standard_input()
        if stdin.isatty():
            typer.echo("reading from the terminal; end with Ctrl-D", err=True)
        found = stdin.read(_MAX_BYTES + 1)
    if len(found) > _MAX_BYTES:
        raise _NotText(f"it is larger than {_MAX_BYTES // 1_000_000} MB")
    return found


def _standard_input() -> BinaryIO:
    try:
        return typer.get_binary_stream("stdin")
    except RuntimeError as error:
        raise _NotText("standard input is closed") from error


def _decode(content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in content[:8000] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise _NotText("it is binary, not text") from error
        raise _NotText(f"it is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from error
    if "\0" in text:
        raise _NotText("it is binary, not text")
    return text


def _would_block(file: Path) -> bool:
    """True for pipes, sockets and devices; what is broken is left to be complained about when it is read."""
    try:
        return not stat.S_ISREG(file.stat().st_mode)
    except OSError:
        return False


def _replace(target: Path, content: bytes) -> None:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(13, "it is write-protected")
    draft = target.with_name(f".segue-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as stream:
            if target.exists():
                os.fchmod(stream.fileno(), stat.S_IMODE(target.stat().st_mode))
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
