"""Cuts a statement into tokens: words, signs, and the entities among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, Protocol

from segue.domain.claims.lexicon import (
    GRAMMAR,
    LONGEST_PHRASE,
    NUMBER_WORDS,
    PHRASES,
    PREFIXES,
    PREPOSITIONS,
)
from segue.domain.handoff.reading.commands import is_command
from segue.domain.handoff.reading.paths import is_path
from segue.domain.handoff.reading.words import WEAK_EXTENSIONS
from segue.domain.text.command_lines import programs_of, purposes_of

_LEX = re.compile(
    r"`+(?P<code>[^`\n]+)`+|[\"\u201c](?P<quote>[^\"\u201c\u201d\n]{1,200})[\"\u201d]"
    r"|\[(?P<link>[^\]\[\n]{1,300})\]\([^)\s]{0,500}\)|[^\s`\"\u201c\u201d\[]+|\S"
)
_INNER = re.compile(
    r"\u2014|(?<!\d)\u2013|\u2013(?!\d)|\u2192|->|=>|\u2026|;|(?<!\d),|,(?!\d)|(?<=[A-Za-z])[=:](?=\w)|[+&](?=[`\s])"
)
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+|[+\u2212~-]?\d{1,12}")
_FRACTION = re.compile(r"(\d{1,9})/(\d{1,9})")
_RANGE = re.compile(r"L?(\d{1,7})[-\u2013]L?(\d{1,7})")
_VERSION = re.compile(r"(?:[<>=~^!]{1,2})?[vV]?\d+(?:\.\d+)+[\w.+-]*|(?:[<>=~^!]{1,2})\d+|[vV]\d+")
_COMMIT = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
_NAME = re.compile(r"[@$#.:\w-]*[A-Za-z_][\w.:$-]*(?:\([^()]*\))?")
_CAMEL = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")
_WORD = re.compile(r"[^\W\d_][^\W\d_]*(?:['\u2019-][^\W\d_]+)*")
_OPEN, _CLOSE = "([{<*~'\u2018|>", ".,;:!?)]}>*~'\u2019|"
_PRODUCTS = frozenset({".js", ".py", ".io", ".net", ".ai", ".com", ".org"})
MOST_TOKENS = 400
"""A statement with more is not looked at."""


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    SIGN = "sign"
    PATH = "path"
    NAME = "name"
    """An identifier, a flag, a key: what code calls something."""
    SNIPPET = "snippet"
    """Other text in code marks."""
    QUOTE = "quote"
    COMMAND = "command"
    NUMBER = "number"
    VERSION = "version"
    COMMIT = "commit"
    RANGE = "range"


ENTITIES = frozenset(
    {Kind.PATH, Kind.NAME, Kind.SNIPPET, Kind.QUOTE, Kind.COMMAND, Kind.VERSION, Kind.COMMIT}
)


class Token(NamedTuple):
    """A word, a sign or an entity, and where it is in its statement."""

    kind: Kind
    text: str
    start: int
    end: int
    certain: bool = False
    """Whether it can hardly be anything else: only then may it refute."""
    is_code: bool = False
    value: int | None = None
    """The number; the first line of a range."""
    total: int | None = None
    """The second number of `12/14`; the last line of a range."""

    @property
    def low(self) -> str:
        """In lower case."""
        return self.text.lower().replace("\u2019", "'")


class Names(Protocol):
    """What tells whether a word is the name of a file, a definition or a program."""

    def is_known_path(self, text: str, *, is_code: bool = False) -> bool:
        """True if a file or a folder has this name."""
        ...

    def path_with_blanks(self, text: str, start: int) -> str | None:
        """The known path with blanks in it that begins here."""
        ...

    def is_defined(self, name: str) -> bool:
        """True if a definition that came, went or changed has this name."""
        ...


def tokens_of(text: str, names: Names) -> list[Token]:
    """The tokens of a statement, in order."""
    found: list[Token] = []
    at = 0
    while at < len(text) and len(found) <= MOST_TOKENS:
        match = _LEX.search(text, at)
        if match is None:
            break
        blank = names.path_with_blanks(text, match.start("code") if match["code"] else match.start())
        if blank is not None:
            begin = match.start("code") if match["code"] else match.start()
            at = begin + len(blank) + (1 if match["code"] else 0)
            found.append(Token(Kind.PATH, blank, begin, begin + len(blank), certain=True))
            continue
        at = match.end()
        if match["code"] is not None:
            found.append(_of_code(match["code"].strip(), match.start(), match.end(), names))
        elif match["quote"] is not None:
            found.append(Token(Kind.QUOTE, match["quote"], match.start(), match.end()))
        elif match["link"] is not None:
            inner = match["link"].strip("`")
            found.append(_of_code(inner, match.start(), match.end(), names))
        else:
            found.extend(map(_plain_sign, _of_run(match[0], match.start(), names)))
    return _merged(_phrased([t for t in found if t.text]))


def _plain_sign(token: Token) -> Token:
    """A sign without the marks of bold and italics around it; empty if there is nothing else."""
    is_marked = token.kind is Kind.SIGN and token.text.strip("*_") != token.text and token.text != "*"
    return token._replace(text=token.text.strip("*_")) if is_marked else token


def _of_code(text: str, start: int, end: int, names: Names) -> Token:  # noqa: PLR0911 (one way out for each finding)
    def token(kind: Kind, *, certain: bool = True, value: int | None = None) -> Token:
        return Token(kind, text, start, end, certain=certain, is_code=True, value=value)

    if names.is_known_path(text, is_code=True) or (
        is_path(text, quoted=True) and not _is_attribute(text, names)
    ):
        known = names.is_known_path(text, is_code=True)
        return token(
            Kind.PATH, certain=known or "/" in text or text.rpartition(".")[2] not in WEAK_EXTENSIONS
        )
    if is_command(text) and (" " in text or purposes_of(text)):
        return token(Kind.COMMAND)
    if _NUMBER.fullmatch(text):
        return token(Kind.NUMBER, value=int(text.replace(",", "")))
    if _VERSION.fullmatch(text):
        return token(Kind.VERSION)
    if _COMMIT.fullmatch(text):
        return token(Kind.COMMIT)
    if "/" in text and " " not in text:
        return token(Kind.PATH, certain=False)
    if _NAME.fullmatch(text):
        return token(Kind.NAME)
    return token(Kind.SNIPPET)


def _is_attribute(text: str, names: Names) -> bool:
    """True for `user.name` or `app.log`, which a definition may be called as well."""
    return "/" not in text and names.is_defined(text.rpartition(".")[2])


def _of_run(run: str, start: int, names: Names) -> Iterator[Token]:
    """The tokens of what lies between two blanks."""
    begin, end = 0, len(run)
    if not any(c.isalnum() for c in run):
        yield Token(Kind.SIGN, run, start, start + end)
        return
    while begin < end and run[begin] in _OPEN:
        begin += 1
    bare = run[begin:]
    while end > begin and run[end - 1] in _CLOSE and not _is_balanced(run[begin:end]):
        end -= 1
    bare = run[begin:end]
    if begin:
        yield Token(Kind.SIGN, run[:begin], start, start + begin)
    yield from _of_bare(bare, start + begin, names)
    if end < len(run):
        yield Token(Kind.SIGN, run[end:], start + end, start + len(run))


def _is_balanced(text: str) -> bool:
    """True for `total()`: its last sign belongs to it."""
    return text.endswith(")") and "(" in text and text.count("(") == text.count(")")


def _of_bare(bare: str, start: int, names: Names) -> Iterator[Token]:
    if not bare:
        return
    if not any(c.isalnum() for c in bare):
        yield Token(Kind.SIGN, bare, start, start + len(bare))
        return
    if (parts := _joined_files(bare, names)) is not None:
        at = start
        for part in parts:
            yield _classified(part, at, names)
            at += len(part) + 1
        return
    whole = _classified(bare, start, names)
    if whole.kind is not Kind.WORD or _WORD.fullmatch(bare):
        yield whole
        return
    at = 0
    for joint in _INNER.finditer(bare):
        if joint.start() > at:
            yield from _of_part(bare[at : joint.start()], start + at, names)
        yield Token(Kind.SIGN, joint[0], start + joint.start(), start + joint.end())
        at = joint.end()
    if at < len(bare):
        yield from _of_part(bare[at:], start + at, names)


def _joined_files(bare: str, names: Names) -> list[str] | None:
    """`setup.cfg/tox.ini` are two files."""
    parts = bare.split("/")
    if (
        len(parts) < 2
        or names.is_known_path(bare)
        or not all("." in part and is_path(part) for part in parts)
    ):
        return None
    return parts


def _of_part(part: str, start: int, names: Names) -> Iterator[Token]:
    """A part of a run; `input/output` are two words."""
    for suffix in ("'s", "\u2019s"):
        if part.endswith(suffix) and len(part) > 2:
            yield _classified(part[:-2], start, names)
            yield Token(Kind.WORD, "'s", start + len(part) - 2, start + len(part))
            return
    token = _classified(part, start, names)
    if token.kind is Kind.WORD and "/" in part:
        at = start
        for word in part.split("/"):
            if word:
                yield _classified(word, at, names)
            at += len(word) + 1
        return
    yield token


def _classified(text: str, start: int, names: Names) -> Token:  # noqa: PLR0911 (one way out for each finding)
    end = start + len(text)
    if text.isdigit() and len(text) < 13:
        return Token(Kind.NUMBER, text, start, end, certain=True, value=int(text))
    if _NUMBER.fullmatch(text) or (text.endswith("%") and _NUMBER.fullmatch(text[:-1])):
        digits = text.strip("%~").replace(",", "").replace("\u2212", "-")
        return Token(Kind.NUMBER, text, start, end, certain=True, value=int(digits))
    if part := _FRACTION.fullmatch(text):
        return Token(Kind.NUMBER, text, start, end, certain=True, value=int(part[1]), total=int(part[2]))
    if part := _RANGE.fullmatch(text):
        return Token(Kind.RANGE, text, start, end, certain=True, value=int(part[1]), total=int(part[2]))
    if text.lower() in NUMBER_WORDS:
        return Token(Kind.WORD, text, start, end, value=NUMBER_WORDS[text.lower()])
    if _WORD.fullmatch(text) and not any(c.isupper() for c in text[1:]):
        certain = names.is_known_path(text) and text[:1].isupper()
        return Token(Kind.PATH if certain else Kind.WORD, text, start, end, certain=certain)
    return _named(text, start, end, names)


def _named(text: str, start: int, end: int, names: Names) -> Token:  # noqa: PLR0911 (one way out for each finding)
    """A word that may be a path, a version, a commit or an identifier."""
    known = names.is_known_path(text)
    if known or is_path(text):
        return Token(Kind.PATH, text, start, end, certain=known or not _is_product(text))
    if _VERSION.fullmatch(text):
        return Token(Kind.VERSION, text, start, end, certain=True)
    if _COMMIT.fullmatch(text):
        return Token(Kind.COMMIT, text, start, end, certain=True)
    is_call = text.endswith(")") and _NAME.fullmatch(text) is not None
    if is_call or ("_" in text.strip("_") and _NAME.fullmatch(text)) or text.startswith("--"):
        return Token(Kind.NAME, text, start, end, certain=True)
    if _CAMEL.fullmatch(text):
        return Token(Kind.NAME, text, start, end, certain=text[0].islower() or names.is_defined(text))
    if "." in text.strip(".") and _NAME.fullmatch(text) and all(len(each) > 1 for each in text.split(".")):
        return Token(Kind.NAME, text, start, end)
    return Token(Kind.WORD, text, start, end)


def _is_product(text: str) -> bool:
    """True for `Node.js` and `VCR.py`: a name that only looks like a file."""
    dot = text.rfind(".")
    return "/" not in text and text[dot:].lower() in _PRODUCTS and text[0].isupper()


def _phrased(tokens: list[Token]) -> list[Token]:
    """Puts one word for several that say the same; leaves out what a commit message begins with."""
    first = _after_prefix(tokens)
    found: list[Token] = []
    at = first
    while at < len(tokens):
        lows = [t.low if t.kind is Kind.WORD else "" for t in tokens[at : at + LONGEST_PHRASE]]
        length = next((n for n in range(len(lows), 1, -1) if tuple(lows[:n]) in PHRASES), 0)
        if length:
            word, last = PHRASES[tuple(lows[:length])], tokens[at + length - 1]
            found.append(Token(Kind.WORD, word, tokens[at].start, last.end))
        else:
            found.append(tokens[at])
        at += max(1, length)
    return found


def _after_prefix(tokens: list[Token]) -> int:
    """Where a message begins, behind its `fix(parser):`."""
    if not tokens or tokens[0].low.partition("(")[0] not in PREFIXES or not tokens[0].text[0].islower():
        return 0
    colon = next((n for n in range(1, min(5, len(tokens))) if ":" in tokens[n].text), 0)
    is_scope = all(t.kind in (Kind.WORD, Kind.SIGN, Kind.NAME) for t in tokens[1:colon])
    is_bare = colon == 1 or (colon > 1 and "(" in tokens[0].text + tokens[1].text)
    return colon + 1 if is_scope and is_bare and colon + 1 < len(tokens) else 0


def _merged(tokens: list[Token]) -> list[Token]:
    """Joins what is one command: `npm test`, `pytest -q tests/a.py`; and `12 of 14`."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind is Kind.WORD and _is_named(tokens, at):
            found.append(token._replace(kind=Kind.NAME))
            at += 1
            continue
        if token.kind in (Kind.WORD, Kind.COMMAND) and not token.is_code and (length := _command(tokens, at)):
            text = " ".join(each.text for each in tokens[at : at + length])
            last = tokens[at + length - 1]
            found.append(Token(Kind.COMMAND, text, token.start, last.end))
            at += length
        elif token.value is not None and token.total is None and (skip := _part_of(tokens, at)):
            whole = tokens[at + skip]
            found.append(token._replace(kind=Kind.NUMBER, total=whole.value, end=whole.end))
            at += skip + 1
        else:
            found.append(token)
            at += 1
    return found


_NAMED_KINDS = frozenset({"function", "method", "class", "helper", "constant", "fixture"})


def _is_named(tokens: list[Token], at: int) -> bool:
    """True for the `add` of "the function add in calc.py"."""
    if at == 0 or tokens[at - 1].low not in _NAMED_KINDS or not tokens[at].text.isidentifier():
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    is_last = (
        after is None
        or after.kind is Kind.SIGN
        or after.low in ("to", "from", "in", "into", "and", "was", "is", "has")
    )
    return (
        is_last
        and tokens[at].low not in GRAMMAR
        and tokens[at].low not in PREPOSITIONS
        and tokens[at].value is None
    )


_SUBCOMMANDS = frozenset(
    {"test", "tests", "build", "lint", "run", "check", "vet", "clippy", "typecheck", "install"}
)


def _command(tokens: list[Token], at: int) -> int:
    """How many tokens from here are a command that is written without code marks."""
    first = tokens[at]
    if not is_command(first.text) or first.text[0].isupper():
        return 0
    length = 1
    while at + length < len(tokens):
        each = tokens[at + length]
        is_flag = each.text.startswith("-") and len(each.text) > 1 and each.kind is not Kind.SIGN
        if (
            is_flag
            or (length == 1 and each.low in _SUBCOMMANDS and each.text[0].islower())
            or (length > 1 and each.kind is Kind.PATH and not each.is_code)
        ):
            length += 1
        else:
            break
    text = " ".join(each.text for each in tokens[at : at + length])
    if length == 1:
        return 1 if first.text in ("pytest", "jest", "vitest", "tox", "mypy", "pyright", "tsc") else 0
    return length if programs_of(text) else 0


def _part_of(tokens: list[Token], at: int) -> int:
    """How far behind the 12 of `12 of 14` or `12 out of 14` the 14 is."""
    words = [each.low for each in tokens[at + 1 : at + 4]]
    for skip, between in (
        (2, ["of"]),
        (3, ["of", "the"]),
        (3, ["out", "of"]),
        (4, ["out", "of", "the"]),
        (2, ["from"]),
        (3, ["of", "in-all"]),
        (4, ["out", "of", "in-all"]),
    ):
        is_so = words[: len(between)] == between and at + skip < len(tokens)
        if is_so and tokens[at + skip].kind is Kind.NUMBER:
            return skip
    return 0
