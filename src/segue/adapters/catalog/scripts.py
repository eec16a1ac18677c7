"""Finds the files of a project that a command runs: programs, and what interpreters are given as scripts."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.machinery import all_suffixes
from pathlib import Path, PurePath
from typing import Any

from segue.adapters.catalog.project_files import digest
from segue.domain.errors import CatalogError

_MOST_LOOKS = 100_000
"""How often a file is looked for, for all commands of a project."""
_MOST_BYTES = 1_000_000_000
"""Of all scripts of a project."""
_LONGEST_COMMAND = 100_000
_LONGEST_PATH = 4096

_SHELLS = frozenset({"ash", "bash", "dash", "fish", "ksh", "sh", "zsh"})
_INTERPRETER = re.compile(
    r"(?:(?:i|micro)?python|pypy|perl|ruby|node|php|lua|tclsh|Rscript)[\d.]*|"
    r"bun|coverage|deno|java|julia|nodejs|osascript|pwsh|source|\.|ts-node|tsx"
)
_WRAPPERS = frozenset(
    [
        "builtin",
        "command",
        "do",
        "doas",
        "else",
        "env",
        "exec",
        "flock",
        "hatch",
        "if",
        "ionice",
        "nice",
        "nohup",
        "npm",
        "npx",
        "pdm",
        "pipenv",
        "pipx",
        "pnpm",
        "poetry",
        "run",
        "rye",
        "setsid",
        "stdbuf",
        "sudo",
        "then",
        "time",
        "timeout",
        "until",
        "uv",
        "uvx",
        "while",
        "xargs",
        "yarn",
        "!",
    ]
)
"""Words that are followed by a program, and options and numbers before it."""
_CODE = re.compile(r"-[A-Za-z]*[ceEpr]|--(?:eval|print)")
_MODULE = re.compile(r"-[A-Za-z]*m")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_NUMBER = re.compile(r"[\d.]+[smhd]?")
_OPERATORS = "();<>|&\n"
_BETWEEN_WORDS = re.compile(r"""[\s;|&()<>"'`$=,:{}\[\]]+""")


class ScriptSearch:
    """Looks for files below a project's folder, as seen from some folders."""

    def __init__(self, root: Path, bases: Iterable[Path]) -> None:
        self.found: dict[str, str] = {}
        """Path below the project's folder -> SHA-256."""
        self._root = root
        self._bases = tuple(dict.fromkeys(bases))
        self._looks = 0
        self._bytes = 0

    def line(self, text: str) -> None:
        """A line for a shell."""
        if len(text) > _LONGEST_COMMAND:
            raise CatalogError(f"a command in {self._root} has more than {_LONGEST_COMMAND} characters")
        text = text.replace("{working_dir}", ".")
        if (
            "`" in text or "$" in text or re.search(r"\beval\b", text)
        ):  # what runs is known to the shell alone
            self.anything(text)
        bases = self._bases
        try:
            for words, written in _simple_commands(text):
                if words[0] in ("cd", "pushd"):
                    self._enter(words[-1])
                _CommandReader(self).read(words, written)
        except ValueError:  # not a line that a shell takes
            self.anything(text)
        self._bases = bases

    def arguments(self, words: Sequence[str]) -> None:
        """A program and its arguments."""
        _CommandReader(self).read([word.replace("{working_dir}", ".") for word in words], set())

    def module(self, name: str) -> None:
        """A Python module that is imported or run, and the packages around it."""
        parts = name.split(".")
        for suffix in all_suffixes():
            self.take(f"{'/'.join(parts)}{suffix}")
            self.take("/".join((*parts, f"__main__{suffix}")))
            for count in range(1, len(parts) + 1):
                self.take("/".join((*parts[:count], f"__init__{suffix}")))

    def anything(self, value: Any) -> None:
        """Every word that may be the path of a file, for what is run in a way that is not known here."""
        if isinstance(value, str):
            text = value.replace("{working_dir}", ".")
            words = [text.strip(), *_BETWEEN_WORDS.split(text)]
            with suppress(ValueError):  # not a shell's line; its words are found all the same
                words += shlex.split(text)
            for word in dict.fromkeys(words):
                self.take(word)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self.anything(str(key))
                self.anything(inner)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self.anything(inner)
                if index and isinstance(inner, str) and value[index - 1] == "-m":
                    self.module(inner)

    def take(self, word: str, *, only_executable: bool = False) -> bool:
        """Add the files that a word names; false if it names none."""
        if not word or len(word) > _LONGEST_PATH:
            return False
        is_file = False
        for base in self._bases:
            self._looks += 1
            if self._looks > _MOST_LOOKS:
                raise CatalogError(f"the commands in {self._root} have too many words to look at each")
            path = os.path.join(base, os.path.expanduser(word))  # noqa: PTH111, PTH118  # `..` stays in it
            if os.path.isfile(path):  # noqa: PTH113  # false for what is not a path at all
                is_file = True
                if not only_executable or os.access(path, os.X_OK):
                    self._add(path)
        return is_file

    def _add(self, path: str) -> None:
        """Under the name of the file itself; a link that leads out of the project, under its own."""
        real, lexical = Path(os.path.realpath(path)), Path(os.path.normpath(path))
        if real.is_relative_to(self._root):
            file = real
        elif not lexical.is_relative_to(self._root):
            return
        else:
            file = lexical if os.path.realpath(lexical) == str(real) else Path(path)
        name = str(file.relative_to(self._root)) if file.is_relative_to(self._root) else str(file)
        if name not in self.found:
            self._bytes += file.stat().st_size
            if self._bytes > _MOST_BYTES:
                raise CatalogError(f"the scripts of {self._root} have more than {_MOST_BYTES} bytes")
            self.found[name] = digest(file, self._root)

    def _enter(self, folder: str) -> None:
        """What follows may run in this folder."""
        entered = (base / os.path.expanduser(folder) for base in self._bases)  # noqa: PTH111  # raises nothing
        inside = {path: None for path in entered if os.path.isdir(path)}  # noqa: PTH112  # nor does this
        self._looks += len(self._bases)
        self._bases = tuple(dict.fromkeys((*self._bases, *(Path(os.path.realpath(each)) for each in inside))))


class _CommandReader:
    """One simple command: which of its words are run, and which are only read by what runs."""

    def __init__(self, search: ScriptSearch) -> None:
        self._search = search
        self._expects = "program"
        """What the next word may be: a program, a script, or data."""
        self._is_shell = False

    def read(self, words: Sequence[str], written: Collection[int]) -> None:
        """Take the words that are run; `written` are the indexes of files that the shell writes to."""
        before = ""
        rest = iter(enumerate(words))
        for index, word in rest:
            if word.startswith("-"):
                self._option(word, rest)
            elif self._expects == "program" and (assigned := _ASSIGNMENT.match(word)):
                self._search.anything(word[assigned.end() :])
            elif index in written and not _runs_others(word):
                self._search.take(word, only_executable=True)
            else:
                self._plain(word, before)
            before = word

    def _option(self, word: str, rest: Iterator[tuple[int, str]]) -> None:
        _, _, value = word.partition("=")
        self._search.take(value, only_executable=self._expects == "data")
        if self._expects != "script":
            return
        if _MODULE.fullmatch(word):
            self._search.module(next(rest, (0, ""))[1])
            self._expects = "data"
        elif _CODE.fullmatch(word):
            code = next(rest, (0, ""))[1]
            if self._is_shell:
                self._search.line(code)
            else:
                self._search.anything(code)

    def _plain(self, word: str, before: str) -> None:
        is_data = self._expects == "data" and before != "-f"  # `awk -f script`
        is_file = self._search.take(word, only_executable=is_data)
        may_be_value = before.startswith("-")
        name = PurePath(word).name
        if name in _SHELLS or _INTERPRETER.fullmatch(name or word):
            self._expects, self._is_shell = "script", name in _SHELLS
        elif name in _WRAPPERS:
            self._expects = "program" if self._expects == "data" else self._expects
        elif self._expects == "program":
            if is_file or shutil.which(word) or not (may_be_value or _NUMBER.fullmatch(word)):
                self._expects = "data"
        elif self._expects == "script" and is_file and not may_be_value:
            self._expects = "data"


def _runs_others(word: str) -> bool:
    """True for a word that a script or a program may follow."""
    name = PurePath(word).name or word
    return name in _SHELLS or name in _WRAPPERS or _INTERPRETER.fullmatch(name) is not None


def _simple_commands(text: str) -> Iterator[tuple[list[str], set[int]]]:
    """The commands of a line without its operators, and which of their words are files to be written.

    A quoted operator looks the same as a real one: so no word is left out because of what is before it.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    written: set[int] = set()
    for part in lexer:
        if not part or set(part) - set(_OPERATORS):
            words.append(part)
        elif ">" in part and "(" not in part:
            written.add(len(words))
        elif part != "<" and words:
            yield words, written
            words, written = [], set()
    if words:
        yield words, written
