"""Tells statements of what was done from wishes, plans, doubts, conditions and other people's deeds."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from segue.domain.handoff.reading.sentences import sentences_in
from segue.domain.handoff.reading.words import word_set

_UNREAL = re.compile(
    r"\b(?:not|never|cannot|without|neither|nor|nobody|nothing|none|will|would|should|shall|must|may|might"
    r"|could|can|needs?|needed|todo|to-do|next|later|soon|plan|plans|planned|planning|going to|wants?|wanted"
    r"|if|unless|once|until|till|when|whenever|whether|before|assuming|suppose|supposed|expect|expects"
    r"|expected|hope|hopefully|probably|likely|maybe|perhaps|seems?|apparently|presumably|almost|nearly"
    r"|mostly|partially|partly|tried|attempt|attempted|try|trying|to|instead|revert|reverted|rolled back"
    r"|undid|previous|previously|earlier|already|originally|initially|existing|formerly|used to|yesterday"
    r"|last|upstream|someone|somebody|please|ensure|make sure|verify|check|confirm|so that|consider"
    r"|propose|proposed|suggest|suggested|recommend|recommended|asked|said|says|claims?|claimed|reported"
    r"|according|believe|believed|think|thought|assume|assumed|example|e\.g|such as|wish|goal|aim|remaining"
    r"|pending|left|blocked|requires?|required|why|how|who|what|old|maintain|keep|preserve|imagine"
    r"|nicht|noch|soll|sollte|wird|muss|kein|keine|wenn|falls|pas|no se|todav\u00eda|nunca"
    r")\b|n['\u2019]t\b"
)
_UNDONE = re.compile(
    r"\b(?:revert(?:ed)?|rolled back|undid|undone|again removed|removed again|deleted again|later"
    r"|not yet|if|unless|by (?:the|an?|our|my|your|user|hand)|earlier|previously|already|yesterday|last"
    r"|upstream|originally|before|instead of|in v?\d|temporarily|for a moment|and then (?:removed|deleted))\b"
)
_PLANS = re.compile(
    r"\b(?:next|todo|to do|remain\w*|plan\w*|future|open|questions?|block\w*|goals?|risks?|follow\w*|pending"
    r"|left|instructions?|acceptance|criteria|requirements?|failed|tried|histor\w*|background|previous\w*"
    r"|earlier|not done|skipped|deferred|proposal|suggest\w*|recommend\w*|ideas?|should|must|how to|task"
    r"|tasks|objective|expected|example|examples|quote|prompt|request|attempts?|didn.t work|what we tried"
    r"|offen\w*|n\u00e4chste\w*|aufgaben?)\b"
)
_LEAD = re.compile(
    r"[\s>*+\-\u2022\u2013\u2014#]*(?:\d{1,3}[.)]\s+)?(?:\[[xX]\]\s*)?[\s*_\u2705\u2714\ufe0f]*"
)
_UNTICKED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s*\[ \]")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s")
_CLAUSE = re.compile(
    r"\s*(?:;|\s[\u2014\u2013]\s|\s--\s|,? (?<!all )(?<!everything )but "
    r"|,? however,? |,? although |,? though )\s*",
    re.IGNORECASE,
)
_RESTART = re.compile(
    r"([\w.-]{1,40})[`)\]'\"]{0,2}[.!](\s)\s*(?=[`*]{0,3}(?:[\w.-]{1,80}/[\w.]|[\w-]{1,80}\.\w{1,5}\b"
    r"|(?:flake8|ruff|mypy|eslint|pyright|tsc|lint)\b))"
)
_NO_ENDS = word_set("e.g i.e etc vs cf approx incl no z.b d.h bzw ca")
LONGEST = 600
"""A longer sentence is not looked at."""


def is_real(before: str, after: str = "") -> bool:
    """True if words between `before` and `after`, both in lower case, state what has been done."""
    return not _UNREAL.search(before) and not _UNDONE.search(after) and not after.rstrip().endswith("?")


def is_about_plans(heading: str) -> bool:
    """True if what stands below a heading is about what is not done."""
    return _PLANS.search(heading.lower()) is not None


def statements_in(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence that may state a fact: no code, quotes, plans or open check boxes."""
    for begin, stop in _blocks(text, start, len(text) if end is None else end):
        for first, last in _sentences(text, begin, stop):
            lead = _LEAD.match(text, first, last)
            at = lead.end() if lead else first
            if 0 < last - at <= LONGEST and "~~" not in text[at:last]:
                yield at, last


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences; a path or a tool may begin one with a small letter."""
    for first, last in sentences_in(text, start, end):
        begin = first
        for stop in _RESTART.finditer(text, first, last):
            if stop[1].casefold() not in _NO_ENDS:
                yield begin, stop.start(2)
                begin = stop.end()
        yield begin, last


class Quotes:
    """Where a text is code or a quotation: what stands there was said by somebody else, or by a program."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        fence, begin = "", 0
        for first, last in _lines(text, 0, len(text)):
            bare = text[first : min(last, first + 200)].strip()
            if bare.startswith(("```", "~~~")):
                after = _after_mark(fence, bare)
                if fence and not after and "\n## " not in text[begin:first]:
                    self._add(begin, last)
                begin = begin if fence else first
                fence = after
            elif not fence and bare.startswith(">"):
                self._add(first, last)

    def _add(self, start: int, end: int) -> None:
        self._starts.append(start)
        self._ends.append(end)

    def hold(self, at: int) -> bool:
        """True if the character at `at` is in code or in a quotation."""
        place = bisect_right(self._starts, at) - 1
        return place >= 0 and at < self._ends[place]


def clauses_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of the parts of a sentence that speak for themselves."""
    begin = start
    for joint in _CLAUSE.finditer(text, start, end):
        if joint.start() > begin:
            yield begin, joint.start()
        begin = joint.end()
    if begin < end:
        yield begin, end


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Paragraphs and items outside of code, quotes, tables, and sections about plans."""
    fence = ""
    of_heading = of_label = False
    begin = stop = -1
    for first, last in _lines(text, start, end):
        line = text[first:last]
        bare = line.strip()
        is_mark = bare.startswith(("```", "~~~"))
        opens = bool(fence) or is_mark or not bare or bare[0] in "#>|" or _ITEM.match(line) or _is_label(bare)
        if opens and begin >= 0:
            yield begin, stop
            begin = -1
        if is_mark:
            fence = _after_mark(fence, bare)
        elif fence or not bare or bare[0] in ">|":
            continue
        elif bare[0] == "#":
            of_heading, of_label = is_about_plans(bare), False
        elif _is_label(bare):
            of_label = is_about_plans(bare)
        elif not (of_heading or of_label or _UNTICKED.match(line)):
            begin, stop = (first if begin < 0 else begin), last
    if begin >= 0:
        yield begin, stop


def _after_mark(fence: str, bare: str) -> str:
    if not fence:
        return bare[: len(bare) - len(bare.lstrip(bare[0]))]
    return "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence


def _is_label(bare: str) -> bool:
    """True for a short line that announces what follows: `Next:`, `**Open points**`."""
    inner = bare.strip("*_ ")
    return len(bare) < 60 and (
        bare.rstrip("*_ ").endswith(":") or (bare[:2] == "**" and bare[-2:] == "**" and "**" not in inner)
    )


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1
