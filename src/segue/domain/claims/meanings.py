"""What a verb means with the things around it: "put `LIMIT` at 5" sets a value."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.claims.lexicon import DETERMINERS, GRAMMAR, KIND_NOUNS, PREPOSITIONS, WORK_NOUNS
from segue.domain.claims.relations import APPOSITIONS, ClauseItem, Role
from segue.domain.claims.tokens import WordKind
from segue.domain.claims.verb_finder import FoundVerb, Segment
from segue.domain.claims.verbs import Form, Relation, Sense
from segue.domain.text.words import word_set

Meant = tuple[Sense, list[ClauseItem]]


def meant(
    words: Segment, verb: FoundVerb, sense: Sense, subject: Sequence[int], items: list[ClauseItem]
) -> Meant:
    """The sense of a verb, and the roles of its things."""
    if sense.lemma == "cover" and any(words.low(n) in WORK_NOUNS for n in subject):
        return Sense(Relation.CHANGED, False, "span"), items
    if sense.lemma == "make" and verb.form is Form.PAST and _makes_file(words, items):
        return Sense(Relation.CREATED, True, "create"), items
    if sense.relation is Relation.REMOVED:
        items = _stripped_of(words, items)
    return _moved(words, sense, subject, items) or _taken_in(words, sense, items) or _set(words, sense, items)


def _makes_file(words: Segment, items: list[ClauseItem]) -> bool:
    """True for "made a.py", where nothing comes behind."""
    said = [n for n in range(len(words.segment)) if words.low(n).isalpha() or words.is_entity(n)]
    is_last = bool(said) and words.tokens[words.segment[said[-1]]].kind is WordKind.PATH
    return is_last and bool(items) and items[0].role is Role.OBJECT and _are_paths(words, items)


def _are_paths(words: Segment, items: list[ClauseItem]) -> bool:
    return all(words.tokens[item.at].kind is WordKind.PATH for item in items)


_BEFORE = word_set("formerly previously originally once former")
_THINGS = (GRAMMAR | DETERMINERS | APPOSITIONS | KIND_NOUNS.keys() | PREPOSITIONS.keys() | _BEFORE) - {
    "its",
    "their",
}


def _moved(words: Segment, sense: Sense, subject: Sequence[int], items: list[ClauseItem]) -> Meant | None:
    """ "Changed a.py to b.py", "a.py lives at b.py now": the one became the other."""
    renamed = Sense(Relation.RENAMED, True, "rename")
    is_it = all(
        words.is_entity(n) or words.low(n) in _THINGS for n in subject
    )  # not "its script lives in a.py"
    if sense.lemma in ("live", "reside", "sit") and len(items) == 2 and is_it and _are_paths(words, items):
        return renamed, [items[0]._replace(role=Role.OBJECT), items[1]._replace(role=Role.TARGET)]
    is_name = any(words.low(n) == "name" for n in range(len(words.segment)))
    kinds = (WordKind.PATH, WordKind.NAME) if is_name else (WordKind.PATH,)
    roles = {item.role for item in items if words.tokens[item.at].kind in kinds}
    return (
        (renamed, items)
        if sense.relation is Relation.CHANGED and {Role.OBJECT, Role.TARGET} <= roles
        else None
    )


def _stripped_of(words: Segment, items: list[ClauseItem]) -> list[ClauseItem]:
    """ "stripped a.py of `total`": the name went, not the file."""
    names = [i for i in items if i.role is Role.TOPIC and words.tokens[i.at].kind is WordKind.NAME]
    of = bool(names) and any(words.tokens[n].low == "of" for n in range(max(0, names[0].at - 3), names[0].at))
    if not of or [words.tokens[i.at].kind for i in items if i.role is Role.OBJECT] != [WordKind.PATH]:
        return items
    turned = {Role.TOPIC: Role.OBJECT, Role.OBJECT: Role.SOURCE}
    return [i._replace(role=turned.get(i.role, i.role)) for i in items]


def _taken_in(words: Segment, sense: Sense, items: list[ClauseItem]) -> Meant | None:
    """ "Extended a.py with `total`": the name came into the file."""
    into = [words.tokens[i.at].kind for i in items if i.role is Role.OBJECT]
    new = [
        i for i in items if i.role is Role.WITH and words.tokens[i.at].kind in (WordKind.NAME, WordKind.QUOTE)
    ]
    if sense.relation is not Relation.CHANGED or not sense.strong or into != [WordKind.PATH]:
        return None
    if not new or any(i.modifies for i in new):
        return None
    turned = {Role.WITH: Role.OBJECT, Role.OBJECT: Role.PLACE}
    return Sense(Relation.ADDED, True, sense.lemma), [
        i._replace(role=turned.get(i.role, i.role)) for i in items
    ]


def _set(words: Segment, sense: Sense, items: list[ClauseItem]) -> Meant:
    """ "Put `LIMIT` at 5" sets a value."""
    values = [i for i in items if words.tokens[i.at].kind in (WordKind.NUMBER, WordKind.VERSION)]
    named = any(words.tokens[i.at].kind is WordKind.NAME and i.role is Role.OBJECT for i in items)
    if sense.lemma != "put" or not values or not named:
        return sense, items
    return Sense(Relation.VALUE, True, "set"), [
        i._replace(role=Role.TARGET) if i in values else i for i in items
    ]
