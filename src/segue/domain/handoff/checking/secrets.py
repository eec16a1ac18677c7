"""Finds what looks like a secret in a text, and takes it out: keys, tokens, passwords, private keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretFinding:
    """A piece of text that looks like a secret."""

    kind: str
    """What it looks like, in plain words."""
    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretKind:
    """A kind of secret and how it is known."""

    name: str
    """In plain words, for messages."""
    pattern: re.Pattern[str]
    """Its group `secret`, or all of it, is the secret."""
    hints: tuple[str, ...]
    """Lower-case words of which one must be in the text: most texts are done after this look."""
    is_real: Callable[[str], bool] = bool
    """Tells a secret from a placeholder or a word."""


_PLACEHOLDER = re.compile(
    r"(?i)[<\[{$%*(].*|.*\.\.\..*|(?:x+|\*+|-+|_+)|(?:your|my|some|the|example|dummy|fake|test|change)[-_]?\w*"
    r"|(?:process\.env|os\.environ|env|secrets?|settings|config|self|vault)\b.*|none|null|true|false"
    r"|(?:pass(?:word)?|secret|token|postgres|root|admin|user)"
)
_FILE = re.compile(r"[\w./-]{1,200}\.[a-z]{1,5}")


def _mixed(value: str) -> bool:
    """Letters and digits, several of them different: no word and no row of x."""
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and len(set(value)) > 5
        and not re.search(r"(?i)x{6,}|\.{3}|_here$", value)
    )


def _is_password(value: str) -> bool:
    if _PLACEHOLDER.fullmatch(value) or value.endswith((")", "]", "}", ">")):
        return False
    return any(not c.isalpha() for c in value) and any(c.isalnum() for c in value) and len(set(value)) > 3


def _is_long_password(value: str) -> bool:
    if not _mixed(value) or not _is_password(value) or _FILE.fullmatch(value):
        return False
    return sum(c.isdigit() for c in value) >= 3 or value not in {value.lower(), value.upper()}


def _kind(
    name: str, pattern: str, *hints: str, is_real: Callable[[str], bool] = _mixed, flags: int = 0
) -> SecretKind:
    return SecretKind(name=name, pattern=re.compile(pattern, flags), hints=hints, is_real=is_real)


_NAME_START = r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,30}[_-]){0,3}"
_ASSIGNED = r"[\"'`]?[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3}[\"'`]?"

# Each pattern starts where its own characters start (a look-behind) and repeats one set of characters,
# so that a text is read once, however long.
SECRET_KINDS: tuple[SecretKind, ...] = (
    _kind(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!--)){0,20000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|[\sA-Za-z0-9+/=]{0,20000})",
        "private key",
        is_real=bool,
    ),
    _kind(
        "AWS access key id",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{16}(?![A-Za-z0-9])",
        "akia", "asia", "agpa", "aida", "aroa",
    ),
    _kind(
        "AWS secret access key",
        r"aws.{0,20}?secret.{0,20}?[=:]\s{0,3}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws",
        flags=re.IGNORECASE,
    ),
    _kind(
        "GitHub token",
        r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{30,255}",
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    ),
    _kind("GitHub token", r"(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9_]{30,255}", "github_pat_"),
    _kind("GitLab token", r"(?<![A-Za-z0-9_-])gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{20,255}", "gl"),
    _kind("Slack token", r"(?<![A-Za-z0-9-])xox[abeoprs]-[A-Za-z0-9-]{10,255}", "xox"),
    _kind(
        "Slack webhook",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,255}",
        "hooks.slack.com",
    ),
    _kind("Anthropic key", r"(?<![A-Za-z0-9_-])sk-ant-[A-Za-z0-9_-]{16,255}", "sk-ant-"),
    _kind("OpenAI key", r"(?<![A-Za-z0-9_-])sk-(?!ant-)[A-Za-z0-9_-]{16,255}", "sk-"),
    _kind(
        "Stripe key",
        r"(?<![A-Za-z0-9_])(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,255}",
        "sk_", "rk_", "whsec_",
    ),
    _kind("Google key", r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", "aiza"),
    _kind("Google client secret", r"(?<![A-Za-z0-9_-])GOCSPX-[A-Za-z0-9_-]{20,60}", "gocspx-"),
    _kind("npm token", r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])", "npm_"),
    _kind("PyPI token", r"(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{50,500}", "pypi-"),
    _kind("Hugging Face token", r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,60}(?![A-Za-z0-9])", "hf_"),
    _kind("SendGrid key", r"(?<![A-Za-z0-9_.-])SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", "sg."),
    _kind("DigitalOcean token", r"(?<![A-Za-z0-9_])do[opr]_v1_[a-f0-9]{64}", "_v1_"),
    _kind("Telegram bot token", r"(?<![A-Za-z0-9:])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])", ":aa"),
    _kind("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "age-secret-key"),
    _kind(
        "JSON web token",
        r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,1000}",
        "eyj",
        is_real=bool,
    ),
    _kind(
        "bearer token",
        r"(?<![A-Za-z0-9])(?:bearer|basic)[ \t]{1,3}(?P<secret>[A-Za-z0-9_.~+/-]{16,2000}={0,2})",
        "bearer", "basic",
        flags=re.IGNORECASE,
    ),
    _kind(
        "password in an address",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,64}:"
        r"(?P<secret>[^\s/@\"'<>]{3,128})@[^\s/@]",
        "://",
        is_real=lambda value: not _PLACEHOLDER.fullmatch(value),
    ),
    _kind(
        "password",
        _NAME_START + r"(?:password|passwd|passphrase|pwd)" + _ASSIGNED + r"(?P<secret>[^\s\"'`,;]{6,200})",
        "passw", "passp", "pwd",
        is_real=_is_password,
        flags=re.IGNORECASE,
    ),
    _kind(
        "key or token",
        _NAME_START
        + r"(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?key|private[_-]?key|token|credentials?)"
        + _ASSIGNED
        + r"(?P<secret>[A-Za-z0-9_.~+/=-]{16,500})",
        "key", "secret", "token", "credential",
        is_real=_is_long_password,
        flags=re.IGNORECASE,
    ),
)  # fmt: skip


_HINTS = tuple(dict.fromkeys(hint for kind in SECRET_KINDS for hint in kind.hints))

_harmless: frozenset[str] = frozenset()


def allow_everywhere(values: Collection[str]) -> None:
    """Take these for no secrets from now on, wherever texts are read; the settings name them at the start."""
    global _harmless  # noqa: PLW0603  # said once for the process, like the settings it comes from
    _harmless = frozenset(values)


def find_secrets(text: str, allow: Collection[str] = ()) -> list[SecretFinding]:
    """What looks like a secret in `text`, in order and apart; those in `allow` are known to be none."""
    lowered = text.casefold()
    hints = {hint for hint in _HINTS if hint in lowered}
    if not hints:
        return []
    allow = _harmless.union(allow)
    found: list[SecretFinding] = []
    for kind in SECRET_KINDS:
        if not hints.isdisjoint(kind.hints):
            found += _find_kind(kind, text, allow)
    found.sort(key=lambda each: (each.start, -each.end))
    apart: list[SecretFinding] = []
    for each in found:
        if not apart or each.start >= apart[-1].end:
            apart.append(each)
    return apart


def _find_kind(kind: SecretKind, text: str, allow: Collection[str]) -> list[SecretFinding]:
    group = "secret" if "secret" in kind.pattern.groupindex else 0
    return [
        SecretFinding(kind=kind.name, start=match.start(group), end=match.end(group))
        for match in kind.pattern.finditer(text)
        if match[group] not in allow and kind.is_real(match[group])
    ]


def redact(text: str, allow: Collection[str] = ()) -> tuple[str, tuple[SecretFinding, ...]]:
    """`text` with every secret replaced by its kind, and what was found where in the text as it was."""
    findings = find_secrets(text, allow)
    pieces: list[str] = []
    at = 0
    for finding in findings:
        pieces += [text[at : finding.start], f"[redacted: {finding.kind}]"]
        at = finding.end
    return "".join([*pieces, text[at:]]), tuple(findings)
