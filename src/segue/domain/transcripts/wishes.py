"""The user's own words: what is asked for, what is forbidden, where the plan was changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from segue.domain.text.sentences import sentences_in

_TAGS = (
    "system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name|command-message"
    "|command-args|environment_context|user_instructions|bash-input|bash-stdout|bash-stderr|task-notification"
)
_ADDED = re.compile(rf"<({_TAGS})>(?:(?!</?\1>)[\s\S]){{0,200000}}</\1>")
"""What tools put under the user's name."""
_COMMAND = re.compile(r"<command-name>([^<]{0,200})</command-name>")
_TYPED = re.compile(r"<command-args>([^<]{0,20000}[^<\s])\s{0,100}</command-args>")
"""What the user typed behind the name of a command."""
_RULE = re.compile(
    r"\b(?:must(?:n['\u2019]t)?|never|always|only|do not|don['\u2019]?t|should(?:n['\u2019]t| not)|cannot"
    r"|can['\u2019]t|may not|make sure|ensure|avoid|without|at most|at least|no more than|not allowed"
    r"|forbidden|required?|has to|have to|needs? to be|keep|leave|stick to|muss|m\u00fcssen|nie(?:mals)?"
    r"|immer|nur|darf|d\u00fcrfen|kein(?:e[nmrs]?)?|auf keinen fall|ohne)\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"\b(?:instead|actually|rather|on second thought|change of plan|changed my mind|forget (?:about|it|that)"
    r"|scrap (?:that|it|the)|scratch that|never ?mind|stop|wait|no longer|not any ?more|undo|revert"
    r"|stattdessen|doch (?:lieber|nicht)|vergiss)\b|^no\b[,.! ]|^nein\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s{0,8}(?:[-*+\u2022]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_LONGEST = 400
_MOST = 60
_LONGEST_MESSAGE = 20_000


def own_words(text: str) -> str:
    """A user message without what the tool put into it."""
    if "<" not in text:
        return text.strip()
    command, typed = _COMMAND.search(text), _TYPED.search(text)
    order = f"{command[1] if command else ''} {typed[1].strip()}".strip() if typed else ""
    return "\n".join(part for part in (order, _ADDED.sub("", text).strip()) if part)


class Directives(NamedTuple):
    """What the user said of how it must or must not be done, the oldest first."""

    kept: tuple[str, ...]
    """The newest of them."""
    dropped: tuple[str, ...]
    """Older ones, and such that are too long."""


def directives_in(messages: Iterable[str]) -> Directives:
    """The sentences that say how it must or must not be done, each once, where it was last said."""
    found: dict[str, str] = {}
    for message in messages:
        for sentence in _sentences(message[:_LONGEST_MESSAGE]):
            if not sentence.endswith("?") and _RULE.search(sentence[: 4 * _LONGEST]):
                key = " ".join(sentence.casefold().split())
                found.pop(key, None)
                found[key] = sentence
    fitting = [each for each in found.values() if len(each) <= _LONGEST]
    kept = fitting[-_MOST:]
    of_kept = set(kept)
    return Directives(kept=tuple(kept), dropped=tuple(each for each in found.values() if each not in of_kept))


def turns_away(message: str) -> bool:
    """True if a message changes what was asked for before."""
    return _TURN.search(message[:300]) is not None


def _sentences(message: str) -> Iterator[str]:
    """The sentences of the prose in a message; code and quoted text are not the user's rules."""
    fenced = False
    paragraph: list[str] = []
    for line in [*message.splitlines(), ""]:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            line = ""  # noqa: PLW2901  # a fence ends the paragraph
        if fenced or line.startswith(("    ", "\t", ">")):
            continue
        bullet = _BULLET.match(line)
        if bullet or not line.strip():
            yield from _cut(" ".join(paragraph))
            paragraph = []
        if line.strip():
            paragraph.append(line[bullet.end() :].strip() if bullet else line.strip())


def _cut(paragraph: str) -> Iterator[str]:
    for start, end in sentences_in(paragraph, 0, len(paragraph)):
        yield paragraph[start:end].strip()
