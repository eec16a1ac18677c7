"""Tests whether a text is a handoff at all: not a README, a changelog, source code or a mail."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from segue.domain.handoff.extract.cues import is_done, tells_of_work
from segue.domain.handoff.extract.outcome import judge
from segue.domain.handoff.extract.result import Likeness, Origin
from segue.domain.handoff.extract.topics import CORE, DONE_MARKS, FILES, OPEN_MARKS, Topic
from segue.domain.handoff.extract.units import OPENING, Outline, Unit, UnitKind
from segue.domain.text.paths import paths_in

_WEIGHTS: Final = {
    "sections of a handoff": 0.9,
    "other sections of one": 0.7,
    "paths": 1.1,
    "words such as handoff at the top": 0.9,
    "keys of a record": 0.7,
    "a status line": 0.7,
    "check marks": 0.5,
    "work in the past tense": 0.8,
    "the first person": 0.4,
    "no section of a handoff": -0.9,
    "headings of a manual": -0.75,
    "headings of a proposal": -1.0,
    "a manifest": -3.0,
    "a guide by its title": -1.5,
    "lines of code": -1.4,
    "headings that are versions": -0.6,
    "badges": -0.5,
    "instructions to a user": -0.4,
    "greetings of a mail": -0.6,
}
"""What counts for a handoff, and against it."""
_BIAS: Final = -1.35
_SECTIONS: Final = CORE | FILES | {Topic.TASKS, Topic.FAILED}
_SIDE: Final = frozenset(
    {Topic.CONTEXT, Topic.STATUS, Topic.GOAL, Topic.CONSTRAINTS, Topic.READING, Topic.CHECKS, Topic.PATTERNS}
)
_TOP: Final = re.compile(
    r"hand[- ]?(?:off|over)|\bsession\b|next agent|resume|continuation|checkpoint"
    r"|(?:progress|status) report|\u4ea4\u63a5"
    r"|\u5f15\u304d?\u7d99\u304e?|\u00dcbergabe|Uebergabe|\uc778\uacc4|\u0441\u0435\u0441\u0441\u0438|\u043f\u0435\u0440\u0435\u0434\u0430\u0447"
    r"|traspaso|relevo|passation|passagem|consegna|\b(?:sesi[o\u00f3]n|sess[a\u00e3]o|sessione|sitzung)\b|\u9032\u6357|\u8fdb\u5ea6",
    re.IGNORECASE,
)
_MANUAL: Final = re.compile(
    r"^(?:installation|install|installing|usage|getting started|quick ?start|license|contributing"
    r"|features|requirements|prerequisites|examples?|configuration|api(?: reference)?|documentation|support"
    r"|faq|changelog|licensing|unreleased|table of contents|credits|authors|acknowledge?ments|reference"
    r"|options|commands|see also|description|how it works|parameters|returns|links|security"
    r"|introduction|about|why .*|community|tutorial|agenda|attendees)$",
    re.IGNORECASE,
)
_PROPOSAL: Final = re.compile(
    r"^(?:\d+[.)]?\s*)?(?:consequences|considered options"
    r"|options considered|decision (?:outcome|drivers)|motivation"
    r"|drawbacks|alternatives(?: considered)?|detailed design|prior art|rationale and alternatives"
    r"|unresolved questions|future possibilities|context and problem statement|pros and cons.*|guide-level .*"
    r"|reference-level .*|abstract|references|specification)$",
    re.IGNORECASE,
)
_RECORDS: Final = re.compile(r"\b(?:ADR|RFC|PEP|decision record)\b", re.IGNORECASE)
_GUIDE: Final = re.compile(
    r"\b(?:guide|tutorial|specification|manual|handbook|cheat ?sheet|faq)\b",
    re.IGNORECASE,
)
_MANIFEST: Final = re.compile(
    r'^\s*\{(?=[^{}]*"version"\s*:)(?=[^{}]*"name"\s*:).*"(?:dependencies|scripts|main|engines)"\s*:'
    r"|^\[(?:build-system|project|package|tool\.[\w.-]+|dependencies)\]\s*$",
    re.DOTALL | re.MULTILINE,
)
_VERSION: Final = re.compile(r"^\W*v?\d+\.\d+|^\W*version \d", re.IGNORECASE)
_CODE: Final = re.compile(
    r"^\s*(?:import |from \w[\w.]* import|def |class |return\b|@\w|#include|package \w|func |fn "
    r"|const |let |var |public |private |if \(|\}|self\.|async def |export )|[;{]\s*$"
)
_BADGE: Final = re.compile(r"\[!\[|shields\.io|badge\.svg", re.IGNORECASE)
_YOU: Final = re.compile(r"\byou (?:can|may|might)\b|\bto install\b|\brun the following\b", re.IGNORECASE)
_MAIL: Final = re.compile(
    r"^(?:hi|hello|dear|hey)\b[^\n]{0,40}[,!]?\s*$|^(?:best|kind) regards|^cheers,"
    r"|^thanks,?\s*$|^(?:from|to|subject): ",
    re.IGNORECASE | re.MULTILINE,
)
_PERSON: Final = re.compile(r"\b(?:I|[Ww]e)(?:'ve|\u2019ve)? [a-z]+")
_SLIGHT: Final = -0.3
"""What counts less against a text than this does not count by itself."""
_FEWEST_STATED: Final = 3
_MOST_READ: Final = 20_000
_REPLY_CODE: Final = 0.5


def judge_likeness(outline: Outline, origin: Origin, *, found: bool) -> Likeness:
    """Whether the text is a handoff; `found` is false if it states nothing of what makes one.

    A document with a section of a handoff and nothing that speaks against it is one, however short it is.
    """
    code = _share_of_code(outline.source[:_MOST_READ])
    if origin is Origin.REPLY:
        versions = _count(outline, _VERSION)
        if not found or code > _REPLY_CODE or versions > 2:
            reason = "lines of code" if code > _REPLY_CODE else "no statement of a handoff"
            return Likeness(is_handoff=False, reasons=(reason if versions <= 2 else "a changelog",))
        return Likeness()
    if any(unit.where.exact for unit in outline.units):
        return Likeness()
    features = _features(outline, code)
    counted = {name: _WEIGHTS[name] * value for name, value in features.items() if value}
    score = round(_BIAS + sum(counted.values()), 2)
    against = any(value < _SLIGHT for value in counted.values())
    is_handoff = score >= 0 or (features["sections of a handoff"] > 0 and not against)
    ranked = sorted(counted.items(), key=lambda pair: -abs(pair[1]))
    reasons = tuple(f"{name} ({value:+.1f})" for name, value in ranked[:5])
    return Likeness(is_handoff=is_handoff, score=score, reasons=reasons or ("nothing that a handoff has",))


def _features(outline: Outline, code: float) -> dict[str, float]:
    units = outline.units
    body = [unit for unit in units if unit.kind not in OPENING]
    top = outline.source[:_MOST_READ]
    title = next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    topics = {unit.where.topic for unit in body}
    if sum(map(_states_status, body)) >= _FEWEST_STATED:
        topics.add(Topic.TASKS)
    paths = len(paths_in(outline.source, 0, min(len(outline.source), _MOST_READ)))
    return {
        "sections of a handoff": min(3, len(topics & _SECTIONS)),
        "other sections of one": min(2, len(topics & _SIDE)),
        "paths": min(1.0, paths / max(1, len(body))),
        "words such as handoff at the top": float(_TOP.search(top[:400]) is not None),
        "keys of a record": float(any(unit.kind in (UnitKind.VALUE, UnitKind.RECORD) for unit in units)),
        "a status line": float(any(each.weight >= 6 and judge(each.text) for each in outline.evidence)),
        "check marks": float(any(map(_is_marked, body))),
        "work in the past tense": sum(tells_of_work(unit.text[:200]) for unit in body) / max(1, len(body)),
        "the first person": min(1.0, len(_PERSON.findall(top)) / max(1, len(body)) * 2),
        "no section of a handoff": float(not topics & _SECTIONS),
        "headings of a manual": min(3, _count(outline, _MANUAL)),
        "headings of a proposal": min(
            3, _count(outline, _PROPOSAL) + 2 * (_RECORDS.search(title) is not None)
        ),
        "a manifest": float(_MANIFEST.search(top[:4000]) is not None),
        "a guide by its title": float(_GUIDE.search(title) is not None and not _TOP.search(title)),
        "lines of code": code,
        "headings that are versions": min(3, _count(outline, _VERSION)),
        "badges": float(_BADGE.search(top) is not None),
        "instructions to a user": float(len(_YOU.findall(top)) > 1),
        "greetings of a mail": float(_MAIL.search(top) is not None),
    }


def _states_status(unit: Unit) -> bool:
    """True for `C1: DONE - ...`: a list of such lines is a section of a handoff without a heading."""
    return unit.kind is UnitKind.ITEM and is_done(unit.text, None, "") is not None


def _is_marked(unit: Unit) -> bool:
    return unit.marker.checked is not None or unit.text[:1] in DONE_MARKS + OPEN_MARKS


def _count(outline: Outline, pattern: re.Pattern[str]) -> int:
    headings = (unit for unit in outline.units if unit.kind is UnitKind.HEADING)
    return sum(pattern.search(unit.text.strip("#* \t:").strip()) is not None for unit in headings)


def _share_of_code(source: str) -> float:
    lines: Iterable[str] = [line for line in source.split("\n") if line.strip()]
    fenced, code, total = False, 0, 0
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            total += 1
            code += _CODE.search(line) is not None
    return code / total if total else 0.0
