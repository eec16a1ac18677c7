"""Reads a handoff that an agent submitted through a tool: fields, or free text, or both; checked at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from segue.domain.errors import InvalidRequest, describe_known
from segue.domain.handoff.checking.lint import Problem, check_handoff, has_errors
from segue.domain.handoff.checking.secrets import redact
from segue.domain.handoff.extract import extract_handoff
from segue.domain.handoff.extract.result import Origin
from segue.domain.handoff.model import Blocker, Handoff

MOST_CHARACTERS = 1_000_000
"""In all texts of one submission together."""
_MOST_VALUES = 20_000
_DEEPEST = 8
_MOST_PROBLEMS_OF_SHAPE = 20
SHAPE = "shape"
"""The code of a problem that no rule names: a value is not what its field holds."""
_HALF_PAIRS = dict.fromkeys(range(55296, 57344), "�")
_UNKEPT = _HALF_PAIRS | {0: "\ufffd"}
"""What no database keeps."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """What became of a submission."""

    handoff: Handoff | None
    """What could be read of it, without secrets; none if that is nothing."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with it."""
    redacted: tuple[str, ...] = ()
    """What was taken out: `what_was_done[0]: GitHub token`."""

    @property
    def is_accepted(self) -> bool:
        """True if nothing makes it unfit."""
        return self.handoff is not None and not has_errors(self.problems)


def read_submission(arguments: Mapping[str, Any], *, blockers: Collection[Blocker] = ()) -> Submitted:
    """The handoff in the arguments of a tool call; `blockers` are those that were reported before.

    `InvalidRequest` if it is larger or deeper than any handoff.
    """
    cleaner = _Cleaner()
    given = {name: _opened(value) for name, value in _unwrapped(arguments).items()}
    fields = {name: cleaner.clean(value, name) for name, value in given.items()}
    text = fields.pop("text", None)
    if text is not None and not isinstance(text, str):
        raise InvalidRequest("`text` must be a string: the handoff in your own words or in any notation")
    extracted = extract_handoff(text, origin=Origin.REPLY).handoff if text else None
    redacted = tuple(cleaner.redacted)
    try:
        named = Handoff.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        # It goes back to be fixed; what can be read of it is kept in case that never happens.
        salvaged = extract_handoff(
            json.dumps(fields, ensure_ascii=False, default=str), origin=Origin.REPLY
        ).handoff
        return Submitted(
            handoff=_joined(extracted, salvaged), problems=tuple(_shape_problems(error)), redacted=redacted
        )
    handoff = _joined(extracted, named)
    if handoff is None:
        return Submitted(handoff=None, redacted=redacted)
    return Submitted(
        handoff=handoff, problems=tuple(check_handoff(add_blockers(handoff, blockers))), redacted=redacted
    )


def add_blockers(handoff: Handoff, reported: Collection[Blocker]) -> Handoff:
    """The handoff with the blockers that it does not name itself."""
    known = {blocker.blocker for blocker in handoff.blockers}
    more = tuple(blocker for blocker in reported if blocker.blocker not in known)
    return handoff.model_copy(update={"blockers": (*handoff.blockers, *more)}) if more else handoff


def clean_text(text: str) -> str:
    """`text` without secrets and without what no database keeps."""
    return redact(text.translate(_UNKEPT))[0]


def _unwrapped(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some models put everything under one key."""
    only = arguments.get("handoff") if len(arguments) == 1 else None
    opened = _opened(only) if isinstance(only, str) else only
    if isinstance(opened, str):
        return {"text": opened}
    return opened if isinstance(opened, Mapping) else arguments


def _opened(value: Any) -> Any:
    """A list or an object that came as a string of JSON, as it was meant."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{") and len(value) <= MOST_CHARACTERS:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _joined(weaker: Handoff | None, stronger: Handoff | None) -> Handoff | None:
    """Fields of the stronger, and of the weaker what the stronger leaves empty; none if both are empty."""
    filled = {
        name: value
        for each in (weaker, stronger)
        if each is not None
        for name in Handoff.model_fields
        if (value := getattr(each, name))
    }
    joined = Handoff().model_copy(update=filled)
    return None if joined.is_empty() else joined


def _shape_problems(error: ValidationError) -> Iterator[Problem]:
    for each in error.errors(include_url=False, include_context=False)[:_MOST_PROBLEMS_OF_SHAPE]:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in each["loc"])
        name = str(each["loc"][-1]) if each["loc"] else ""
        if each["type"] == "extra_forbidden" and len(each["loc"]) == 1:
            said, hint = "there is no such field", describe_known(name, Handoff.model_fields)
        elif each["type"] == "extra_forbidden":
            said, hint = "an item of this field has no such part", "drop it, or say it in another part"
        elif each["type"] == "missing":
            said, hint = "this part is missing", "give it, or drop the item"
        else:
            said, hint = each["msg"][:200], "give a value of the kind that the tool's schema names"
        yield Problem(code=SHAPE, field=place.removeprefix(".")[:200], message=said, hint=hint[:600])


@dataclass(slots=True)
class _Cleaner:
    """Walks through all that was given: bounds it, takes secrets out."""

    redacted: list[str] = field(default_factory=list)
    characters: int = 0
    values: int = 0

    def clean(self, value: Any, place: str, depth: int = 0) -> Any:
        """The value without secrets and without what no database keeps."""
        self.values += 1
        if depth > _DEEPEST or self.values > _MOST_VALUES:
            raise InvalidRequest(
                f"a handoff has lists of plain items: not nested deeper than {_DEEPEST}, with at most "
                f"{_MOST_VALUES} values. Say it more simply and submit again"
            )
        if isinstance(value, str):
            return self._clean_text(value, place)
        if isinstance(value, Mapping):
            return {
                self._clean_text(str(name), place): self.clean(each, f"{place}.{name}", depth + 1)
                for name, each in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.clean(each, f"{place}[{at}]", depth + 1) for at, each in enumerate(value)]
        return value

    def _clean_text(self, text: str, place: str) -> str:
        self.characters += len(text)
        if self.characters > MOST_CHARACTERS:
            raise InvalidRequest(
                f"a handoff may have {MOST_CHARACTERS} characters at most, and this one has more. Keep what "
                "the next agent needs, name files instead of quoting them, and submit again"
            )
        kept, found = redact(text.translate(_UNKEPT))
        self.redacted += [f"{place[:200]}: {each.kind}" for each in found]
        return kept
