"""Reads command lines: which programs one runs, whether two are the same, and what a program is for."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache

from segue.domain.text.words import word_set

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?|py")
_RUNNERS = {"npx", "bunx", "pnpx", "env", "time", "nice", "nohup", "exec", "sudo", "command", "xvfb-run"}
_RUN_WITHIN = {"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "bundle", "coverage", "pnpm", "yarn"}
_QUIET = re.compile(
    r"-q+|-v+|-x|-s|--quiet|--verbose|--silent|--failfast|--no-header|--color(?:=\w+)?|--colors|--tb=\w+"
    r"|--no-color|-r[a-zA-Z]|-ra|--durations=\d+"
)
_AND = "&&"
_TESTS, _LINT, _TYPES, _FORMAT, _BUILD = "tests", "lint", "types", "format", "build"
_PURPOSES: dict[str, str] = {
    **dict.fromkeys(
        word_set("pytest py.test unittest jest vitest mocha ava tox nox rspec phpunit ctest nosetests"),
        _TESTS,
    ),
    **dict.fromkeys(
        word_set("flake8 pylint eslint golangci-lint shellcheck rubocop stylelint biome oxlint"), _LINT
    ),
    **dict.fromkeys(word_set("mypy pyright basedpyright tsc pyre ty"), _TYPES),
    **dict.fromkeys(word_set("black prettier gofmt isort rustfmt"), _FORMAT),
}
_SUBCOMMANDS: dict[tuple[str, str], str] = {
    **{
        (tool, "test"): _TESTS
        for tool in word_set("go cargo npm yarn pnpm bun deno make mvn gradle dotnet swift mix just")
    },
    ("cargo", "nextest"): _TESTS,
    ("make", "lint"): _LINT,
    ("cargo", "clippy"): _LINT,
    ("go", "vet"): _LINT,
    ("ruff", "check"): _LINT,
    ("ruff", "format"): _FORMAT,
    ("cargo", "fmt"): _FORMAT,
    ("cargo", "check"): _TYPES,
    **{
        (tool, "build"): _BUILD
        for tool in word_set("go cargo npm yarn pnpm bun make gradle dotnet swift just")
    },
    **{(tool, "lint"): _LINT for tool in word_set("npm yarn pnpm bun just")},
    **{
        (tool, word): _TYPES
        for tool in ("npm", "yarn", "pnpm", "make")
        for word in ("typecheck", "type-check", "types")
    },
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """The programs that a command line runs."""

    commands: tuple[tuple[str, ...], ...]
    """Each with its arguments, in its plainest form."""
    is_chain: bool
    """True if the line's exit code is 0 only if that of every command is: `a && b`."""


@lru_cache(maxsize=1024)
def read_line(text: str) -> CommandLine | None:
    """The commands of a line; none if no shell would take it."""
    lexer = shlex.shlex(text.strip().removeprefix("$ ")[:4000], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    found: list[tuple[str, ...]] = []
    words: list[str] = []
    is_chain, skip = True, False
    for token in [*tokens, _AND]:
        if skip:
            skip = False
        elif set(token) <= set("<>&") and ("<" in token or ">" in token):
            skip = True
            if words and words[-1].isdigit():
                words.pop()
        elif set(token) <= set("();|&"):
            is_chain = is_chain and token == _AND
            if plain := _plain(words):
                found.append(plain)
            words = []
        else:
            words.append(token)
    return CommandLine(commands=tuple(found), is_chain=is_chain) if found else None


def is_same(claimed: str, ran: str) -> bool:
    """True if both lines run the same commands."""
    first, second = read_line(claimed), read_line(ran)
    if first is None or second is None:
        return claimed.split() == ran.split()
    return first.commands == second.commands


def is_within(claimed: str, ran: str) -> bool:
    """True if every command of the first line is one of the second."""
    first, second = read_line(claimed), read_line(ran)
    return first is not None and second is not None and set(first.commands) <= set(second.commands)


def purposes_of(text: str) -> frozenset[str]:
    """What the commands of a line are for: `tests`, `lint`, `types`, `format`, `build`."""
    line = read_line(text)
    return frozenset(p for argv in line.commands if (p := _purpose(argv))) if line else frozenset()


def programs_of(text: str) -> frozenset[str]:
    """The programs that a line runs."""
    line = read_line(text)
    return frozenset(argv[0] for argv in line.commands) if line else frozenset()


def _purpose(argv: tuple[str, ...]) -> str | None:
    words = [word for word in argv[1:] if not word.startswith("-")]
    if argv[0] == "ruff" and not words:
        return _LINT
    if words and words[0] == "run":
        words = words[1:]
    if words:
        word = words[0].split(":", 1)[0]
        if found := _SUBCOMMANDS.get((argv[0], word)):
            return found
    return _PURPOSES.get(argv[0])


def _plain(words: list[str]) -> tuple[str, ...]:
    """A command without what does not change what it does."""
    words = list(words)
    while words and (cut := _lead(words)):
        words = words[cut:]
    if not words or words[0] in ("cd", "export", "source", ".", "set", "pushd", "true", ":"):
        return ()
    program = words[0].rsplit("/", 1)[-1]
    rest = words[1:]
    if _PYTHON.fullmatch(program):
        program = "python"
        while rest and rest[0] in ("-u", "-B", "-I", "-X", "-W"):
            rest = rest[2:] if rest[0] in ("-X", "-W") else rest[1:]
        if len(rest) > 1 and rest[0] == "-m":
            program, rest = rest[1], rest[2:]
    if program == "npm" and rest[:2] == ["run", "test"]:
        rest = rest[1:]
    return (program, *(word for word in rest if not _QUIET.fullmatch(word)))


def _lead(words: list[str]) -> int:
    """How many words at the beginning only say how a command is run."""
    first = words[0].rsplit("/", 1)[-1]
    if _ASSIGNMENT.match(words[0]) or first in _RUNNERS:
        return 1
    if first == "timeout" and len(words) > 2:
        at = 1
        while at < len(words) - 1 and words[at].startswith("-"):
            at += 2 if words[at] in ("-k", "-s") else 1
        return min(at + 1, len(words) - 1)
    if (
        first in _RUN_WITHIN
        and len(words) > 2
        and words[1] in ("run", "exec")
        and first not in ("pnpm", "yarn")
    ):
        return 4 if words[2] == "-m" and len(words) > 3 and first == "coverage" else 2
    return 2 if first in ("pnpm", "yarn") and len(words) > 2 and words[1] in ("exec", "dlx") else 0
