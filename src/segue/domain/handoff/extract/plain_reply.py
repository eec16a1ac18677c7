"""Reads a plain reply, sentence by sentence: each says by its own words what it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from segue.domain.handoff.extract.cues import tells_of_work
from segue.domain.handoff.extract.topics import CORE, Topic
from segue.domain.handoff.extract.units import Outline, Unit, UnitKind
from segue.domain.handoff.extract.vocabulary import HeadingMeaning
from segue.domain.text.sentences import sentences_in
from segue.domain.text.span import Span, cut

_CUT: Final = frozenset({None, Topic.WHOLE, Topic.DONE})
_NEVER: Final = re.compile("(?!)")
_FILE_FIRST: Final = re.compile(r"\W*`[^`\n]+\.\w{1,6}(?::\d+)?`\W{1,6}(?:\(new\)\W{0,4})?\w")
"""`cart.py`: takes the quantity into account."""
_CLAUSE: Final = re.compile(
    r"(?:,|;) (?=(?:but|however|though|although|so i (?:can't|couldn't|could not))\b)|; ", re.IGNORECASE
)
_PAST: Final = re.compile(r"\W*[A-Z][a-z-]{2,}ed (?:the|an?|all|both|each|every|its|your|`|\d)")
"""`Refreshed the lock file`: what follows a regular verb shows that it is one."""
_STILL: Final = re.compile(r"\bstill (?:needs?|to)\b|^\W*(?:next|todo)\b")
"""What makes a next step of a sentence that begins with work."""
_QUOTED: Final = re.compile(r"\W{0,3}?(?:\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb)\W{0,3}")
"""A paragraph that is one quotation: the words of something else."""
_BOLD_SENTENCE: Final = re.compile(r"(?:\*\*|__)[^*\n]*[.!?\uff1f\u3002](?:\*\*|__)")
LONGEST_SENTENCE: Final = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rule:
    topic: Topic
    fits: re.Pattern[str]
    unless: re.Pattern[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cues:
    rules: tuple[_Rule, ...]
    person: re.Pattern[str]
    """The first person with a verb in the past."""
    not_done: re.Pattern[str]
    not_work: frozenset[str]
    checks: frozenset[str]
    beside: re.Pattern[str]
    """What explains or closes an account."""
    announces: re.Pattern[str]
    """What only says that an account follows."""
    work_named: re.Pattern[str]
    """What names work that the agent did: `Key fixes I added:`."""
    has_done: re.Pattern[str]
    """What leaves the work itself to the list: `I have already:`."""
    describes: re.Pattern[str]
    """What says that a list of the contents of a thing follows."""


@cache
def load_reply_cues() -> dict[str, Any]:
    """The words that plain replies are read by."""
    return tomllib.loads(files(__package__).joinpath("reply_cues.toml").read_text("utf-8"))


@cache
def _cues() -> _Cues:
    data = load_reply_cues()
    person = data["person"]
    before, between, verbs = (either(person[key]) for key in ("before", "between", "verbs"))
    return _Cues(
        rules=tuple(_rule(each) for each in data["rule"]),
        person=re.compile(
            rf"\W*(?:{before}\W{{1,4}})?(?:i|we)(?:'ve| have|'d| had)?(?: {between})* (?P<verb>{verbs})\b"
            rf"(?:.* and (?:{between} )*(?P<second>{verbs})\b)?"
        ),
        not_done=re.compile(rf"\b(?:i|we) {either(person['not_done'])}\b"),
        not_work=frozenset(person["not_work"]),
        checks=frozenset(person["checks"]),
        beside=_fits(data["beside"]),
        announces=re.compile(rf"^\W*{either(data['announces']['start'])}(?!\w).*[:.]\W*$"),
        work_named=re.compile(
            rf"\W*(?:[\w-]+ ){{0,4}}(?:that )?(?:i|we)(?:'ve| have)? (?:{between} )*{verbs}\b[^.]*:$"
        ),
        has_done=re.compile(rf"(?:^|[\u2013\u2014.,;-] ?)(?:i|we)(?:'ve| have)(?: {between}| so far)*:$"),
        describes=_fits(data["describes"]),
    )


def either(fragments: list[str]) -> str:
    """One of some fragments of a regular expression."""
    return f"(?:{'|'.join(fragments)})"


def _fits(data: dict[str, Any]) -> re.Pattern[str]:
    ways = []
    if "any" in data:
        ways.append(rf"(?<!\w){either(data['any'])}(?!\w)")
    if "start" in data:
        ways.append(rf"^\W*{either(data['start'])}(?!\w)")
    if "end" in data:
        ways.append(rf"{either(data['end'])}\W*$")
    return re.compile("|".join(ways))


def _rule(data: dict[str, Any]) -> _Rule:
    unless = re.compile(rf"(?<!\w){either(data['unless'])}(?!\w)") if "unless" in data else _NEVER
    return _Rule(topic=Topic(data["topic"]), fits=_fits(data), unless=unless)


def is_plain(outline: Outline) -> bool:
    """True if no heading, label or key opens a field of what was done, is next, open or in the way.

    A sentence that introduces a list opens one for that list alone.
    """
    return not any(_is_structured(outline, unit) for unit in outline.units)


def _is_structured(outline: Outline, unit: Unit) -> bool:
    where = unit.where
    if where.exact or unit.kind in (UnitKind.VALUE, UnitKind.RECORD):
        return True
    introduced = bool(where.headings) and outline.units[where.headings[-1]].kind is UnitKind.LEAD_IN
    return where.topic in CORE and not introduced


def cut_sentences(outline: Outline) -> None:
    """Cuts the paragraphs that no heading explains into sentences, and those into clauses.

    A sentence in bold that stands alone heads nothing: `**Which one do you want?**`
    """
    heads = {above for unit in outline.units for above in unit.where.headings}
    for unit in list(outline.units):
        if unit.kind is UnitKind.HEADING and unit.id not in heads and _BOLD_SENTENCE.fullmatch(unit.text):
            outline.units[unit.id] = replace(
                unit, kind=UnitKind.SENTENCE, where=replace(unit.where, topic=None)
            )
            continue
        if (
            unit.kind is not UnitKind.PARAGRAPH
            or unit.where.topic not in _CUT
            or _QUOTED.fullmatch(unit.text)
        ):
            continue
        spans = [
            span
            for begin, end in sentences_in(outline.source, *unit.span)
            for span in _clauses(outline.source, begin, end)
        ]
        pieces = [piece for span in spans if (piece := cut(outline.source, *span)).text]
        where = replace(unit.where, topic=None) if unit.where.topic is Topic.WHOLE else unit.where
        for at, piece in enumerate(pieces):
            if at:
                outline.add_piece(UnitKind.SENTENCE, piece, where)
            else:  # the first takes the paragraph's place: others may point to it
                outline.units[unit.id] = replace(
                    unit,
                    kind=UnitKind.SENTENCE,
                    span=Span(piece.start, piece.end),
                    text=piece.text,
                    where=where,
                )


def _clauses(source: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, cut where its clauses are about different things."""
    joints = _CLAUSE.finditer(source, begin, end)
    joint = next((each for each in joints if not _is_in_brackets(source[begin : each.start()])), None)
    if joint is not None:
        one, other = (
            topic_of_sentence(source[begin : joint.start()]),
            topic_of_sentence(source[joint.end() : end]),
        )
        if one is not other and Topic.ASIDE not in (one, other):
            yield begin, joint.start()
            begin = joint.end()
    yield begin, end


def _is_in_brackets(before: str) -> bool:
    return before.count("(") > before.count(")")


def introduced_by(sentence: str, *, inside: bool = False) -> HeadingMeaning | None:
    """What a sentence of a reply says of the list that it introduces: `I changed these files:`.

    `This report includes:` introduces what a thing holds, also `inside` a section that means something.
    """
    if _cues().describes.match(_plain_words(sentence)):
        return HeadingMeaning(topic=Topic.CONTEXT, exact=True, weight=1)
    topic = Topic.ASIDE if inside else topic_of_sentence(sentence)
    if not inside and _cues().has_done.search(_plain_words(sentence)):
        topic = Topic.DONE
    if topic is Topic.ASIDE and not inside and _cues().work_named.match(_plain_words(sentence)):
        topic = Topic.DONE
    return (
        None if topic in (Topic.ASIDE, Topic.PATTERNS) else HeadingMeaning(topic=topic, exact=True, weight=1)
    )


def tells_of_own_work(sentence: str) -> bool:
    """True for the first person with a verb of work: `I also added ...`."""
    said = _cues().person.match(_plain_words(sentence[:LONGEST_SENTENCE]))
    return said is not None and _is_work(said)


def _is_work(said: re.Match[str]) -> bool:
    """False for `I tried ...`; true for `I used the script and built ...`."""
    second = said["second"]
    return any(verb not in _cues().not_work for verb in (said["verb"], second) if verb)


def stands_beside_work(sentence: str) -> bool:
    """True for a sentence that explains or closes an account of work, or only announces it."""
    words = _plain_words(sentence[:LONGEST_SENTENCE])
    if tells_of_own_work(sentence):
        return False
    return _cues().beside.search(words) is not None or _cues().announces.match(words) is not None


def _begins_with_work(sentence: str) -> bool:
    return tells_of_work(sentence.lstrip()) or _PAST.match(sentence) is not None


def _plain_words(sentence: str) -> str:
    return " ".join(sentence.replace("\u2019", "'").lower().replace("*", "").split())


def topic_of_sentence(sentence: str) -> Topic:
    """What a sentence is about, by the first rule that fits; `ASIDE` if none does."""
    if len(sentence) > LONGEST_SENTENCE:
        return Topic.ASIDE
    cues = _cues()
    words = _plain_words(sentence)
    not_done = cues.not_done.search(words) is not None
    said = cues.person.match(words)
    works = _is_work(said) if said else _begins_with_work(sentence)
    for rule in cues.rules:
        if not rule.fits.search(words) or rule.unless.search(words):
            continue
        if rule.topic is Topic.CHECKS and said and said["verb"] not in cues.checks:
            continue
        if rule.topic is Topic.NEXT and (not_done or (works and not _STILL.search(words))):
            continue
        if rule.topic is Topic.DONE and not_done:
            continue
        return rule.topic
    return Topic.DONE if (works or _FILE_FIRST.match(sentence)) and not not_done else Topic.ASIDE
