"""Finds what a sentence says was done to files, where it says so beyond doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from segue.domain.handoff.reading.draft import Piece
from segue.domain.handoff.reading.paths import paths_in
from segue.domain.handoff.reading.words import EXTENSIONS, WEAK_EXTENSIONS
from segue.domain.ledger.moods import is_real
from segue.domain.ledger.values import ClaimKind

_P = "\u27e6\\d+\u27e7"
"""A path, once it is masked."""
_ASIDE = r"(?:\s*\([^()]{0,200}\))?"
_AND = r"(?:\s*(?:,\s*and|,|and|&|plus|as well as|\+)\s*(?:the\s+(?:file\s+)?)?)"
_LIST = rf"{_P}{_ASIDE}(?:{_AND}{_P}{_ASIDE}){{0,40}}"
_LIGHT = (
    r"(?:(?:an?|the|our|new|brand-new|two|three|four|five|six|both|\d+|files?|modules?|scripts?|tests?|unit"
    r"|integration|helpers?|config|configuration|components?|pages?|class|migrations?|folders?|director(?:y|ies)"
    r"|packages?|documents?|docs?|fixtures?|templates?|workflows?|schemas?|source|small|simple|following"
    r"|obsolete|unused|dead|legacy|redundant|stale|empty|temporary|called|named|at|binary"
    r"|nested)\s+){0,6}"
)
_SELF = (
    r"(?:(?:i|we)(?:['\u2019]ve|\s+have)?\s+|have\s+)?"
    r"(?:(?:also|then|now|just|successfully|finally|newly)\s+){0,2}"
)
_START = rf"(?:^|(?<=[:;,(])\s*|\band\s+|\bthen\s+|(?<=[.!])\s+){_SELF}"
_FOLLOWERS = (
    r"and|with|for|which|that|containing|holding|as|because|since|so|implementing|using|via|where|both|plus"
)
_FOLLOW = rf"(?=\s*(?:$|[.,;:!()\u2014\u2013\u2192-]|(?:{_FOLLOWERS})\b))"
_FOLLOW_TO = rf"(?=\s*(?:$|[.,;:!()\u2014\u2013\u2192-]|(?:{_FOLLOWERS}|to|by|from)\b))"
_MAKES = "created|generated|scaffolded|introduced"
_CHANGES = (
    "updated|modified|changed|edited|extended|refactored|rewrote|patched|reworked|reformatted|wrote"
    "|overhauled"
)
_DELETES = "deleted|removed|dropped"
_GAP = (
    r"(?:(?!\b(?:for|about|that|which|from|to|into|in|on|by|with|as|like|and|or|found|seen|described|defined|used"
    r"|listed|mentioned|declared|located|documented|reported|discovered|shown|caused|raised|tests? of)\b)"
    r"[\w'\u2019`*./-]+\s+){1,8}"
)
_WAS = r"\s+(?:was|were|has\s+been|have\s+been)\s+(?:(?:now|newly|also|successfully|completely|just)\s+){0,2}"
_TO = r"\s+(?:to|into|as|->|\u2192|=>)\s+"
_PATTERNS: tuple[tuple[ClaimKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (ClaimKind.RENAMED, rf"{_START}(?:renamed|moved)\s+{_LIGHT}(?P<old>{_P}){_TO}{_LIGHT}(?P<list>{_P})"),
        (ClaimKind.RENAMED, rf"(?P<old>{_P}){_WAS}(?:renamed|moved){_TO}{_LIGHT}(?P<list>{_P})"),
        (ClaimKind.CREATED, rf"{_START}(?:{_MAKES})\s+{_LIGHT}(?P<list>{_LIST}){_FOLLOW_TO}"),
        (ClaimKind.CREATED, rf"{_START}added\s+{_LIGHT}(?P<list>{_LIST}){_FOLLOW}"),
        (ClaimKind.CREATED, rf"^(?:new|created|added)\s+files?:?\s+(?P<list>{_LIST}){_FOLLOW}"),
        (ClaimKind.CREATED, rf"(?P<list>{_LIST}){_WAS}(?:created|added|introduced){_FOLLOW}"),
        (ClaimKind.DELETED, rf"{_START}(?:{_DELETES})\s+{_LIGHT}(?P<list>{_LIST}){_FOLLOW}"),
        (ClaimKind.DELETED, rf"^(?:deleted|removed)(?:\s+files?)?:\s+(?P<list>{_LIST}){_FOLLOW}"),
        (ClaimKind.DELETED, rf"(?P<list>{_LIST}){_WAS}(?:deleted|removed){_FOLLOW}"),
        (ClaimKind.MODIFIED, rf"{_START}(?:{_CHANGES})\s+{_LIGHT}(?P<list>{_LIST}){_FOLLOW_TO}"),
        (ClaimKind.MODIFIED, rf"(?P<list>{_LIST}){_WAS}(?:{_CHANGES}){_FOLLOW_TO}"),
        (
            ClaimKind.MODIFIED,
            rf"{_START}(?:added|inserted|wrote|appended)\s+{_GAP}(?:to|into|in)\s+(?P<list>{_LIST}){_FOLLOW}",
        ),
        (
            ClaimKind.MODIFIED,
            rf"{_START}(?:{_CHANGES}|replaced|renamed|{_DELETES})\s+{_GAP}(?:in|from|inside)\s+(?P<list>{_LIST}){_FOLLOW}",
        ),
    )
)
_TOKEN = re.compile("\u27e6(\\d+)\u27e7")
_OWN = re.compile(
    r"(?:i|we)\b|[\w-]+(?:ed|ote|uilt)\b|(?:made|set|ran|did|put|split|also|then|finally)\b|\u27e6"
)
_CUES = re.compile(
    rf"(?:{_MAKES}|added|{_CHANGES}|{_DELETES}|inserted|appended|replaced|renamed|moved|new file|new files)\b"
)
_WRAPS = "`*_\"'"
_MOST_PATHS = 60


class FileClaim(NamedTuple):
    """What a sentence says of one path."""

    kind: ClaimKind
    path: str
    old_path: str | None = None


def file_claims_in(sentence: str) -> list[FileClaim]:
    """The claims about files in one sentence."""
    if not _CUES.search(sentence.lower()):
        return []
    sentence = " ".join(sentence.split())
    paths = [piece for piece in paths_in(sentence) if _is_sure(piece.text)][:_MOST_PATHS]
    if not paths:
        return []
    masked = _mask(sentence, paths).lower()
    found: dict[str, FileClaim] = {}
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(masked):
            if not _is_own(masked, match.start()) or not is_real(
                masked[: match.start()], masked[match.end() :]
            ):
                continue
            for claim in _claims(kind, match, paths):
                found.setdefault(claim.path, claim)
                if claim.old_path:
                    found.setdefault(claim.old_path, claim)
    return list(dict.fromkeys(found.values()))


def _claims(kind: ClaimKind, match: re.Match[str], paths: list[Piece]) -> Iterator[FileClaim]:
    old = _TOKEN.search(match["old"]) if "old" in match.re.groupindex else None
    for token in _TOKEN.finditer(match["list"]):
        path = paths[int(token[1])].text
        yield FileClaim(kind, path, paths[int(old[1])].text if old else None)


def _is_own(masked: str, at: int) -> bool:
    """True if the sentence tells what its writer did: no other subject stands before the verb."""
    if at == 0 or masked[:at].rstrip().endswith((":", ";")):
        return True
    return _OWN.match(masked.lstrip(" \t")) is not None


def _mask(sentence: str, paths: list[Piece]) -> str:
    """The sentence with a mark in the place of each path and of the signs around it."""
    parts: list[str] = []
    at = 0
    for number, path in enumerate(paths):
        begin, end = path.start, path.end
        while begin > at and sentence[begin - 1] in _WRAPS:
            begin -= 1
        while end < len(sentence) and sentence[end] in _WRAPS:
            end += 1
        if sentence[end - 1 : end] == "'" and sentence[end : end + 1] == "s":
            end += 1  # a.py's helper: the file is not the thing
            parts += [sentence[at:begin], f"\u27e6{number}\u27e7 its"]
        else:
            parts += [sentence[at:begin], f"\u27e6{number}\u27e7"]
        at = end
    return "".join([*parts, sentence[at:]])


def _is_sure(path: str) -> bool:
    """True if a word in running text is a file or a folder, and can hardly be anything else."""
    if "://" in path or path.startswith("/") or any(sign in path for sign in "<>$"):
        return False
    last = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    if path.endswith("/"):
        return "." not in last.lstrip(".")
    stem, dot, ending = last.rpartition(".")
    if not dot:
        return last in ("Makefile", "Dockerfile", "LICENSE", "Jenkinsfile")
    known = ending.lower() in EXTENSIONS
    weak = ending.lower() in WEAK_EXTENSIONS and "/" not in path
    return known and not weak and bool(stem or "/" in path)
