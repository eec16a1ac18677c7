"""Finds what a sentence says about tests, linters, commands and commits, where it says so beyond doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from segue.domain.handoff.reading.commands import is_command
from segue.domain.handoff.reading.words import word_set
from segue.domain.ledger.moods import clauses_in, is_real
from segue.domain.ledger.values import ClaimKind

_CODE = re.compile(r"`([^`\n]{2,400})`")
_C = "\u27ea(\\d+)\u27eb"
_FINE = r"(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|successful(?:ly)?|ok)"
_STATE = r"(?:(?:are|is|all|now|still|were|was|have|has|both|again|currently|also|runs?|ran)\s+){0,4}"
_TESTS = re.compile(
    r"(?:(?P<n>\d[\d,]*)\s*(?:(?:/|of|out of)\s*(?P<m>\d[\d,]*))?\s+)?(?P<q>(?:[a-z_-]+\s+){0,4}?)"
    r"tests?(?P<files>\s+files?)?(?:\s+(?:suite|cases?|runs?))?(?:\s+\((?P<n2>\d+)(?:\s+tests?)?\))?"
    rf"(?P<q2>\s+(?:in|for|of|on)\s+[^;,]{{1,60}}?)?\s+{_STATE}{_FINE}\b"
)
_PASSED = re.compile(
    r"(?<![\d./,:-])(?P<n>\d[\d,]*)\s*(?:/\s*(?P<m>\d+)\s*)?(?:tests?\s+)?(?:passed|passing)\b"
)
_COUNTED = re.compile(
    r"\btests?:\s*(?:all\s+)?(?P<n>\d[\d,]*)\s*(?:/\s*(?P<m>\d+)\s*)?(?:pass|passed|passing|green)\b"
)
_BEHIND = re.compile(r"[\s:,(\u2014\u2013-]*(?:all\s+)?(?P<n>\d[\d,]*)\s*(?:tests?|passed|passing)\b")
_NO_FAILURES = re.compile(r"\bno (?:failing tests?|tests? failures?|tests? fail(?:ed|ing)?)\b")
_WHOLE = word_set(
    "all the our full whole entire every of total automated and now still verified confirmed checked that "
    "ran ensured made sure i we also so again result results suite test tests everything both finally"
)
_NO_HARM = re.compile(
    r"\b(?:0|no|zero|none|without(?: any)?|nothing)\s+(?:tests?\s+)?(?:fail\w*|errors?|skipped|broken|flaky)"
)
_HARM = re.compile(r"\b(?:fail\w*|broken|flaky|red|errors?|crash\w*|hang|hangs)\b")
_LIMITS = re.compile(
    r"\b(?:except|only|besides|apart from|other than|excluding|all but|if|unless|once|until|before|previously"
    r"|earlier|at first|initially|yesterday|originally|should|would|will|used to)\b|\?\s*$"
)
_PARTLY = re.compile(r"\b(?:in|for|on|under|when|with|within|of)\b")
_KINDS = {
    "lint": "lint", "linter": "lint", "linting": "lint", "typecheck": "types", "type": "types",
    "typing": "types", "build": "build", "compile": "build", "compiler": "build", "format": "format",
    "formatting": "format",
}  # fmt: skip
_TOOLS = "ruff|eslint|flake8|pylint|clippy|mypy|pyright|tsc|golangci-lint|black|prettier"
_SUBJECTS = (
    rf"(?P<what>lint(?:er|ing)?|{_TOOLS}|type[- ]?check(?:s|er|ing)?|(?:the )?build"
    r"|format(?:ting)?(?: check)?)"
)
_CLEAN = re.compile(
    rf"\b{_SUBJECTS}(?: check| run| output| checks)?\s+{_STATE}"
    r"(?:(?:comes?|came|back|reports?|reported|shows?|exits?)\s+){0,2}"
    rf"(?:clean(?:ly)?|{_FINE}|no (?:errors|issues|warnings|problems))\b"
)
_LABELLED = re.compile(rf"\b{_SUBJECTS}:\s*(?:clean|{_FINE})\b")
_NONE = re.compile(
    rf"\bno (?P<what>type|typing|lint(?:er|ing)?|{_TOOLS}|build|compile|compiler|formatting)[ -]"
    r"(?:errors?|issues?|warnings?|problems?|failures?|complaints?)\b"
)
_EXIT = re.compile(
    rf"{_C}\s*(?:(?:now|still|also|again)\s+)?[\s:=>\u2192(\u2014\u2013-]*"
    r"(?:(?:exits?|exited|rc)(?:\s+with)?(?:\s+(?:code|status))?"
    r"|(?:returns?|returned|ends?|ended|finished)\s+(?:with\s+)?(?:an?\s+)?(?:exit\s+)?(?:code|status))"
    r"\s*[:=]?\s*(?P<code>\d{1,3})\b(?![.,]?\d)(?!\s*(?:tests?|passed|files?|errors?|warnings?))"
)
_WENT_WELL = re.compile(
    rf"{_C}\s*(?:(?:now|still|also|again)\s+)?"
    r"(?:is\s+|was\s+|ran\s+|runs\s+|exits\s+|exited\s+|comes back\s+|completes\s+)?"
    r"(?:pass(?:es|ed)|succeeds|succeeded|successful(?:ly)?|clean(?:ly)?|green)\b"
)
_COMMIT = re.compile(
    r"\bcommitted(?:\s+(?:it|them|this|that|everything|all|the\s+\w+|my\s+work|changes|all\s+changes))?"
    r"\s+(?:as|in|under)\s*(?:commit\s+)?[`*(\[]{0,2}(?P<sha>[0-9a-f]{7,40})\b"
)
_ALL = word_set("all every full whole entire")
_LABELS = word_set(
    "tests test total result results status state current verification testing pytest suite now"
)
_NAME = re.compile(r"[a-z][\w./-]*")
_CUES = re.compile(
    r"test|pass|clean|green|exit|error|issue|warning|success|succeed|commit|problem|build|\u27ea|`"
)


class ResultClaim(NamedTuple):
    """What a clause says of a result."""

    kind: ClaimKind
    subject: str
    start: int
    end: int
    number: int | None = None
    exit_code: int | None = None
    is_partial: bool = False
    is_whole: bool = False


def result_claims_in(sentence: str) -> Iterator[ResultClaim]:
    """The claims about tests, linters, commands and commits in one sentence."""
    if not _CUES.search(sentence.lower()):
        return
    sentence = " ".join(sentence.split())
    named = [found[1] for found in _CODE.finditer(sentence) if is_command(found[1])]
    clauses = list(clauses_in(sentence, 0, len(sentence)))
    for at, (start, end) in enumerate(clauses):
        rest = sentence[clauses[at + 1][0] : clauses[at + 1][1]].lower() if at + 1 < len(clauses) else ""
        takes_back = bool(_LIMITS.search(rest) or _HARM.search(_NO_HARM.sub("", rest)))
        for claim in _of_clause(sentence[start:end], start, is_final=not takes_back):
            yield _of_command(claim, named) if claim.kind is ClaimKind.TESTS else claim


def _of_command(claim: ResultClaim, named: list[str]) -> ResultClaim:
    """Tests of a sentence that names a command are the tests of that command."""
    if claim.subject != "tests" or not named:
        return claim
    return claim._replace(subject=named[0], is_partial=claim.is_partial or len(named) > 1)


def _of_clause(clause: str, offset: int, *, is_final: bool) -> Iterator[ResultClaim]:
    codes = [found for found in _CODE.finditer(clause) if is_command(found[1])]
    masked = _mask(clause, codes).lower()
    yield from _exits(masked, codes, offset, len(clause))
    sha = _COMMIT.search(masked)
    if sha and any(c.isdigit() for c in sha["sha"]) and is_real(masked[: sha.start()]):
        yield ResultClaim(ClaimKind.COMMITTED, sha["sha"], offset, offset + len(clause))
    if (
        not is_final
        or _HARM.search(_NO_HARM.sub("", _NONE.sub("", _NO_FAILURES.sub("", masked))))
        or _LIMITS.search(masked)
    ):
        return
    yield from _tests(masked, codes, offset, len(clause))
    yield from _clean(masked, offset, len(clause))


def _exits(masked: str, codes: list[re.Match[str]], offset: int, length: int) -> Iterator[ResultClaim]:
    for match in _EXIT.finditer(masked):
        if is_real(masked[: match.start()], masked[match.end() :]):
            yield ResultClaim(
                ClaimKind.RAN, codes[int(match[1])][1], offset, offset + length, exit_code=int(match["code"])
            )
    for match in _WENT_WELL.finditer(masked):
        after = masked[match.end() :]
        limited = (
            _LIMITS.search(masked) or _HARM.search(_NO_HARM.sub("", after)) or _PARTLY.match(after.strip())
        )
        if not limited and is_real(masked[: match.start()], after):
            yield ResultClaim(ClaimKind.RAN, codes[int(match[1])][1], offset, offset + length, exit_code=0)


def _tests(masked: str, codes: list[re.Match[str]], offset: int, length: int) -> Iterator[ResultClaim]:
    subject = codes[0][1] if len(codes) == 1 else "tests"
    for pattern in (_COUNTED, _TESTS, _PASSED, _NO_FAILURES):
        match = pattern.search(masked)
        if match is None:
            continue
        groups = match.groupdict()
        count = _number(groups.get("n") or groups.get("n2"))
        total = _number(groups.get("m"))
        after = masked[match.end() :]
        before = masked[: match.end("q") if "q" in groups else match.start()]
        if (total is not None and total != count) or not is_real(before, after):
            return
        if count is None and (behind := _BEHIND.match(after)):
            count = _number(behind["n"])
            after = after[behind.end() :]
        part = _part_of(masked[: match.start()], match, after)
        if part is None:
            return
        count = None if groups.get("files") else count
        yield ResultClaim(
            ClaimKind.TESTS,
            subject,
            offset,
            offset + length,
            number=count,
            is_partial=part or len(codes) > 1 or len(set(_PASSED.findall(masked))) > 1,
            is_whole=_says_all(masked[: match.start()], match),
        )
        return


def _says_all(lead: str, match: re.Match[str]) -> bool:
    """True if words say that no test is left out: `all 42 tests`, `42/42`, `the test suite`."""
    groups = match.groupdict()
    near = {*lead.split()[-1:], *(groups.get("q") or "").split(), *match[0].split()}
    return bool(near & _ALL) or "suite" in match[0] or bool(groups.get("m"))


def _part_of(lead: str, match: re.Match[str], after: str) -> bool | None:
    """Whether a claim about tests speaks of a part of them only; none if it may not be about tests at all."""
    groups = match.groupdict()
    others = set(_NAME.findall(lead)) - _WHOLE - _LABELS
    if others and "test" not in match[0] and "test" not in lead:
        return None
    labelled = set(_NAME.findall(lead.rpartition(":")[0])) - _WHOLE - _LABELS
    return bool(
        set((groups.get("q") or "").split()) - _WHOLE
        or groups.get("q2")
        or groups.get("files")
        or _PARTLY.search(after.split(",", maxsplit=1)[0])
        or labelled
        or (others and not _says_all(lead, match))
    )


def _clean(masked: str, offset: int, length: int) -> Iterator[ResultClaim]:
    seen: set[str] = set()
    for pattern in (_CLEAN, _LABELLED, _NONE):
        for match in pattern.finditer(masked):
            what = match["what"].removeprefix("the ")
            subject = _KINDS.get(what) or _KINDS.get(re.split(r"[- ]", what)[0].removesuffix("check")) or what
            if subject.startswith("typecheck"):
                subject = "types"
            if subject in seen or not is_real(masked[: match.start()], masked[match.end() :]):
                continue
            seen.add(subject)
            partial = _PARTLY.match(masked[match.end() :].strip()) is not None
            yield ResultClaim(ClaimKind.CLEAN, subject, offset, offset + length, is_partial=partial)


def _mask(clause: str, codes: list[re.Match[str]]) -> str:
    parts: list[str] = []
    at = 0
    for number, code in enumerate(codes):
        parts += [clause[at : code.start()], f"\u27ea{number}\u27eb"]
        at = code.end()
    return "".join([*parts, clause[at:]])


def _number(digits: str | None) -> int | None:
    return int(digits.replace(",", "")[:9]) if digits and digits.replace(",", "") else None
