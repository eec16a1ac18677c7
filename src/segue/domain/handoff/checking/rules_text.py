"""Rules about texts: placeholders, repetitions, secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from segue.domain.handoff.checking.rules_items import PATH_PARTS, path_fault
from segue.domain.handoff.checking.rules_values import ENUMERATIONS, RuleFinding, places_of, quoted
from segue.domain.handoff.checking.secrets import find_secrets
from segue.domain.handoff.model import FileCreated, FileModified, Handoff, Part, ReportedCommand

_CHECKED_ELSEWHERE = frozenset({*ENUMERATIONS, "lines", "applies_to", "id"})
_EMPTY_WORDS = frozenset(
    {
        "todo",
        "tbd",
        "tba",
        "fixme",
        "xxx",
        "string",
        "path",
        "description",
        "placeholder",
        "none",
        "na",
        "nil",
    }
)
_BRACKETED = re.compile(r"\[[^\[\]\n]{1,80}\](?!\()|<[A-Za-z][^<>\n/]{0,80}>|\{\{?[^{}\n]{1,80}\}\}?")
_WHOLE_ITEM_KINDS = (FileCreated, FileModified, ReportedCommand)


def placeholder(handoff: Handoff) -> Iterator[RuleFinding]:
    """H030"""
    for place in places_of(handoff):
        if place.name in _CHECKED_ELSEWHERE or not place.text.strip():
            continue
        if place.name in PATH_PARTS and path_fault(place.text.strip()):
            continue
        if is_placeholder(place.text):
            yield RuleFinding(
                field=place.field,
                message=f"{quoted(place.text)} is a placeholder, not a statement",
                hint="write what is meant, or drop it",
            )


def is_placeholder(text: str) -> bool:
    """Whether a text says nothing: no words, or what a template had there."""
    bare = text.strip().strip("`'\"*_-•.:… \t")
    words = "".join(c for c in bare.casefold() if c.isalnum())
    return not words or words in _EMPTY_WORDS or _BRACKETED.fullmatch(bare) is not None


def said_twice(handoff: Handoff) -> Iterator[RuleFinding]:
    """H031"""
    for name in type(handoff).model_fields:
        value = getattr(handoff, name)
        if not isinstance(value, tuple):
            continue
        first: dict[Any, int] = {}
        for at, item in enumerate(value):
            key = statement_key(item)
            if key and first.setdefault(key, at) != at:
                yield RuleFinding(
                    field=f"{name}[{at}]",
                    message=f"says the same as {name}[{first[key]}]",
                    hint="keep one of the two",
                )


def statement_key(item: Any) -> tuple[str, ...]:
    """The words that two items are compared by; a file or command may come up again with other parts."""
    if isinstance(item, str):
        texts = [item]
    elif isinstance(item, _WHOLE_ITEM_KINDS) or not isinstance(item, Part):
        texts = [str(getattr(item, name) or "") for name in _parts(item)]
    else:
        texts = [str(getattr(item, item.headline))]
    key = tuple(" ".join(text.casefold().split()).rstrip(".!;,") for text in texts)
    return key if any(key) else ()


def _parts(item: BaseModel) -> Iterator[str]:
    return iter(type(item).model_fields)


def secret(handoff: Handoff) -> Iterator[RuleFinding]:
    """H050"""
    for place in places_of(handoff):
        for found in find_secrets(place.text):
            yield RuleFinding(
                field=place.field,
                message=f"holds what looks like a secret ({found.kind})",
                hint="take it out and replace it where it was issued: it has been written down",
            )
