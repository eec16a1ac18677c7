"""Cuts a statement into tokens: words, signs, and the entities among them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Protocol

from segue.domain.claims.joining import joined
from segue.domain.claims.lexicon import COUNT_NOUNS, NUMBER_WORDS, STATES
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.claims.verbs import VERBS
from segue.domain.text.command_lines import purposes_of
from segue.domain.text.commands import is_command
from segue.domain.text.paths import is_path
from segue.domain.text.words import WEAK_EXTENSIONS

_LEX = re.compile(
    r"`+(?P<code>[^`\n]+)`+|[\"\u201c](?P<quote>[^\"\u201c\u201d\n]{1,200})[\"\u201d]"
    r"|(?<!\w)'(?P<title>[^'\n]{1,60} [^'\n]{1,100})'(?!\w)"
    r"|\[(?P<link>[^\]\[\n]{1,300})\]\([^)\s]{0,500}\)|[^\s`\"\u201c\u201d\[]+|\S"
)
_INNER = re.compile(
    r"\u2014|(?<!\d)\u2013|\u2013(?!\d)|\u2192|->|=>|\u2026|;|(?<!\d),|,(?!\d)|(?<=[A-Za-z])[=:](?=\w)|[+&](?=[`\s])"
)
_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:ns|us|ms|s|m|h|d|[kKMGT]i?[bB]|px|rem|em)")
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:[,_]\d{3})+|[+\u2212~-]?\d{1,12}")
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


class Names(Protocol):
    """What tells whether a word is the name of a file, a definition or a program."""

    def is_known_path(self, text: str, *, is_code: bool = False) -> bool:
        """True if a file or a folder has this name."""
        ...

    def path_with_blanks(self, text: str, start: int) -> str | None:
        """The known path with blanks in it that begins here."""
        ...

    def is_dependency(self, name: str) -> bool:
        """True if a dependency that came, went or changed has this name."""
        ...

    def is_defined(self, name: str) -> bool:
        """True if a definition that came, went or changed has this name."""
        ...

    def has_run(self, text: str) -> bool:
        """True if a program with this name was run."""
        ...


def tokens_of(text: str, names: Names) -> list[StatementToken]:
    """The tokens of a statement, in order."""
    found: list[StatementToken] = []
    at = 0
    while at < len(text) and len(found) <= MOST_TOKENS:
        match = _LEX.search(text, at)
        if match is None:
            break
        begin = match.start("code") if match["code"] else match.start()
        blank = names.path_with_blanks(text, begin)
        if blank is not None:
            at = begin + len(blank) + (1 if match["code"] else 0)
            found.append(StatementToken(WordKind.PATH, blank, begin, begin + len(blank), certain=True))
            continue
        at = match.end()
        if match["code"] is not None:
            found.append(_of_code(match["code"].strip(), match.start(), match.end(), names))
        elif quote := match["quote"] or match["title"]:
            found.append(StatementToken(WordKind.QUOTE, quote, match.start(), match.end()))
        elif match["link"] is not None:
            inner = match["link"].strip("`")
            token = _of_code(inner, match.start(), match.end(), names)
            found.append(token._replace(certain=names.is_known_path(inner)))
        else:
            found.extend(map(_plain_sign, _of_run(match[0], match.start(), names)))
    return joined([t for n, t in enumerate(found) if t.text and not _is_picture(t, found[n + 1 :])])


def _is_picture(token: StatementToken, ahead: list[StatementToken]) -> bool:
    """True for the picture before a word that says the same: "a.py ✅ created"."""
    is_told = bool(ahead) and (ahead[0].low in VERBS or ahead[0].low in STATES)
    is_sign = token.kind is WordKind.SIGN and not any(c.isascii() for c in token.text)
    return is_told and is_sign and unicodedata.category(token.text[0]) == "So"


def _plain_sign(token: StatementToken) -> StatementToken:
    """A sign without the marks of bold and italics around it; empty if there is nothing else."""
    is_marked = token.kind is WordKind.SIGN and token.text.strip("*_") != token.text and token.text != "*"
    return token._replace(text=token.text.strip("*_")) if is_marked else token


def _of_code(text: str, start: int, end: int, names: Names) -> StatementToken:  # noqa: PLR0911 (one way out for each finding)
    def token(kind: WordKind, *, certain: bool = True, value: int | None = None) -> StatementToken:
        return StatementToken(kind, text, start, end, certain=certain, is_code=True, value=value)

    known = names.is_known_path(text, is_code=True)
    if known or (is_path(text, quoted=True) and not _is_attribute(text, names) and not _is_member(text)):
        is_sure = known or "/" in text or text.rpartition(".")[2] not in WEAK_EXTENSIONS
        return token(WordKind.PATH, certain=is_sure)
    if (is_command(text) or names.has_run(text)) and (" " in text or purposes_of(text)):
        return token(WordKind.COMMAND)
    if _NUMBER.fullmatch(text):
        return token(WordKind.NUMBER, value=int(text.strip("~").replace(",", "").replace("\u2212", "-")))
    if _VERSION.fullmatch(text):
        return token(WordKind.VERSION)
    if _COMMIT.fullmatch(text):
        return token(WordKind.COMMIT)
    if "/" in text and " " not in text:
        return token(WordKind.PATH, certain=False)
    if _NAME.fullmatch(text):
        return token(WordKind.NAME)
    return token(WordKind.SNIPPET)


def _is_attribute(text: str, names: Names) -> bool:
    """True for `user.name` or `app.log`, which a definition may be called as well."""
    return "/" not in text and names.is_defined(text.rpartition(".")[2])


def _of_run(run: str, start: int, names: Names) -> Iterator[StatementToken]:
    """The tokens of what lies between two blanks."""
    begin, end = 0, len(run)
    if not any(c.isalnum() for c in run):
        yield StatementToken(WordKind.SIGN, run, start, start + end)
        return
    while begin < end and run[begin] in _OPEN:
        begin += 1
    bare = run[begin:]
    while end > begin and run[end - 1] in _CLOSE and not _is_balanced(run[begin:end]):
        end -= 1
    bare = run[begin:end]
    if begin:
        yield StatementToken(WordKind.SIGN, run[:begin], start, start + begin)
    yield from _of_bare(bare, start + begin, names)
    if end < len(run):
        yield StatementToken(WordKind.SIGN, run[end:], start + end, start + len(run))


def _is_balanced(text: str) -> bool:
    """True for `total()`: its last sign belongs to it."""
    return text.endswith(")") and "(" in text and text.count("(") == text.count(")")


def _of_bare(bare: str, start: int, names: Names) -> Iterator[StatementToken]:
    if not any(c.isalnum() for c in bare):
        if bare:
            yield StatementToken(WordKind.SIGN, bare, start, start + len(bare))
        return
    if parts := _joined_files(bare, names):
        for part in parts:
            yield _classified(part, start, names)
            start += len(part) + 1
        return
    if (cut := _contraction(bare)) is not None:
        yield _classified(bare[:cut], start, names)
        end = _SHORT_FORMS[bare[cut + 1 :].lower()]
        yield StatementToken(WordKind.WORD, end, start + cut, start + len(bare))
        return
    whole = _classified(bare, start, names)
    if whole.kind is not WordKind.WORD or _WORD.fullmatch(bare):
        yield whole
        return
    at = 0
    for joint in _INNER.finditer(bare):
        if joint.start() > at:
            yield from _of_part(bare[at : joint.start()], start + at, names)
        yield StatementToken(WordKind.SIGN, joint[0], start + joint.start(), start + joint.end())
        at = joint.end()
    if at < len(bare):
        yield from _of_part(bare[at:], start + at, names)


_SHORT_FORMS = {"s": "'s", "re": "are", "ve": "have", "ll": "will"}
"""The end of `there's`, `we're`, `I've`, `you'll` -> the word that it stands for."""


def _contraction(bare: str) -> int | None:
    """Where a word ends of which a verb is the short form."""
    cut = max(bare.rfind("'"), bare.rfind("\u2019"))
    is_short = cut > 0 and bare[cut + 1 :].lower() in _SHORT_FORMS and bare[:cut].isalpha()
    return cut if is_short and bare[:cut].lower() != "let" else None


def _joined_files(bare: str, names: Names) -> list[str]:
    """`setup.cfg/tox.ini` are two files."""
    parts = bare.split("/")
    are_files = len(parts) > 1 and all("." in part and is_path(part) for part in parts)
    return parts if are_files and not names.is_known_path(bare) else []


def _of_part(part: str, start: int, names: Names) -> Iterator[StatementToken]:
    """A part of a run; `input/output` are two words."""
    for suffix in ("'s", "\u2019s"):
        if part.endswith(suffix) and len(part) > 2:
            yield _classified(part[:-2], start, names)
            yield StatementToken(WordKind.WORD, "'s", start + len(part) - 2, start + len(part))
            return
    token = _classified(part, start, names)
    if token.kind is WordKind.WORD and "/" in part:
        at = start
        for word in part.split("/"):
            if word:
                yield _classified(word, at, names)
            at += len(word) + 1
        return
    yield token


def _classified(text: str, start: int, names: Names) -> StatementToken:  # noqa: PLR0911 (one way out for each finding)
    end = start + len(text)
    if text.isdigit() and len(text) < 13:
        return StatementToken(WordKind.NUMBER, text, start, end, certain=True, value=int(text))
    if _NUMBER.fullmatch(text) or (text.endswith("%") and _NUMBER.fullmatch(text[:-1])):
        digits = text.strip("%~").replace(",", "").replace("\u2212", "-")
        return StatementToken(WordKind.NUMBER, text, start, end, certain=True, value=int(digits))
    if _MEASURE.fullmatch(text):
        return StatementToken(WordKind.NUMBER, text, start, end, certain=True)
    if part := _FRACTION.fullmatch(text):
        return StatementToken(
            WordKind.NUMBER, text, start, end, certain=True, value=int(part[1]), total=int(part[2])
        )
    if part := _RANGE.fullmatch(text):
        return StatementToken(
            WordKind.RANGE, text, start, end, certain=True, value=int(part[1]), total=int(part[2])
        )
    if text.lower() in NUMBER_WORDS:
        return StatementToken(WordKind.WORD, text, start, end, value=NUMBER_WORDS[text.lower()])
    if "/" in text and names.is_dependency(text):
        return StatementToken(WordKind.NAME, text, start, end, certain=True)
    if text.isupper() and len(text) > 2 and names.is_defined(text):
        return StatementToken(WordKind.NAME, text, start, end, certain=True)
    if _WORD.fullmatch(text) and not any(c.isupper() for c in text[1:]):
        certain = names.is_known_path(text) and text[:1].isupper()
        return StatementToken(WordKind.PATH if certain else WordKind.WORD, text, start, end, certain=certain)
    return _named(text, start, end, names)


def _named(text: str, start: int, end: int, names: Names) -> StatementToken:  # noqa: PLR0911 (one way out for each finding)
    """A word that may be a path, a version, a commit or an identifier."""
    known = names.is_known_path(text)
    if known or (is_path(text) and not _is_member(text)):
        return StatementToken(WordKind.PATH, text, start, end, certain=known or not _is_product(text))
    if _VERSION.fullmatch(text):
        return StatementToken(WordKind.VERSION, text, start, end, certain=True)
    if _COMMIT.fullmatch(text):
        return StatementToken(WordKind.COMMIT, text, start, end, certain=True)
    if (plain := _counted_noun(text)) is not None:
        return StatementToken(WordKind.WORD, plain, start, end)
    is_call = text.endswith(")") and _NAME.fullmatch(text) is not None
    if is_call or ("_" in text.strip("_") and _NAME.fullmatch(text)) or text.startswith("--"):
        return StatementToken(WordKind.NAME, text, start, end, certain=True)
    if _CAMEL.fullmatch(text):
        return StatementToken(
            WordKind.NAME, text, start, end, certain=text[0].islower() or names.is_defined(text)
        )
    if "." in text.strip(".") and _NAME.fullmatch(text) and all(len(each) > 1 for each in text.split(".")):
        return StatementToken(WordKind.NAME, text, start, end)
    return StatementToken(WordKind.WORD, text, start, end)


def _counted_noun(text: str) -> str | None:
    """The noun of `insertions(+)` and `files_changed`, as reports write it."""
    noun = text.partition("(")[0].partition("_")[0].lower()
    behind = text[len(noun) :].lower()
    return noun if noun in COUNT_NOUNS and behind in ("(+)", "(-)", "(s)", "_changed") else None


def _is_member(text: str) -> bool:
    """True for `threading.Lock`: a class or a type of a module, where no such file is known."""
    ending = text.rpartition(".")[2]
    return "/" not in text and ending[:1].isupper() and not ending.isupper()


def _is_product(text: str) -> bool:
    """True for `Node.js` and `VCR.py`: a name that only looks like a file."""
    dot = text.rfind(".")
    return "/" not in text and text[dot:].lower() in _PRODUCTS and text[0].isupper()
