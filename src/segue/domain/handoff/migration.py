"""Turns a free-form note into a structured handoff: says what is ambiguous, and asks an agent only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from segue.domain.handoff.checking.grounding import keep_grounded, words_in
from segue.domain.handoff.checking.lint import Problem, check_handoff
from segue.domain.handoff.extract import extract_reply
from segue.domain.handoff.extract.result import Extraction, Notation
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.taskfile import find_handoff_part, rewrite_task_file
from segue.domain.handoff.writing.template import YAML_TEMPLATE
from segue.domain.handoff.writing.text import fence_for
from segue.domain.text.sentences import sentences_in
from segue.domain.text.span import Span

_ENOUGH_WORDS = 4


class Structurer(Protocol):
    """Port: whoever can put a note into the form that a prompt asks for, such as an agent's own session."""

    def structure(self, prompt: str) -> str:
        """The reply to `prompt`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ambiguity:
    """Something in a note that rules alone cannot place for sure."""

    field: str
    """The field in question; empty if none is known."""
    text: str
    """The words in question."""
    why: str
    """What is not sure about them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MigrationPlan:
    """What the rules made of a note, and what is left to ask."""

    handoff: Handoff | None
    """What could be told; words that belong to no field are kept as a section of their own."""
    ambiguities: tuple[Ambiguity, ...]
    """What is not sure."""
    prompt: str | None
    """What to ask an agent; none if nothing is ambiguous."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MigratedFile:
    """A task file after its note was structured."""

    text: str
    """The file; unchanged if nothing could be told."""
    handoff: Handoff | None
    """What its handoff part now holds."""
    ambiguities: tuple[Ambiguity, ...]
    """What was not sure; some of it may be wrong if nobody was asked."""
    problems: tuple[Problem, ...]
    """Which rules the new handoff breaks."""


def structuring_prompt(note: str) -> str:
    """Asks an agent to put a note into the schema, without adding anything to it."""
    fence = fence_for(note)
    return (
        "Please structure this handoff note:\n\n"
        f"{fence}\n{note.strip()}\n{fence}\n\n"
        "Into this format. Use only what the note says, in its own words; leave out what it does not say. "
        "Answer with the YAML block alone.\n\n"
        f"```yaml\n{YAML_TEMPLATE}```\n"
    )


def plan_migration(note: str, extraction: Extraction) -> MigrationPlan:
    """What the rules made of `note`, what is ambiguous in it, and the question that would settle it."""
    rest = list(_not_understood(extraction))
    ambiguities = tuple(_find_ambiguities(note, extraction, rest))
    return MigrationPlan(
        handoff=extraction.handoff,
        ambiguities=ambiguities,
        prompt=structuring_prompt(note) if ambiguities else None,
    )


def finish_migration(note: str, plan: MigrationPlan, answer: Extraction) -> Handoff | None:
    """The agent's structure, as far as the note bears it out; what it left empty comes from the rules."""
    if answer.handoff is None:
        return plan.handoff
    grounded = keep_grounded(answer.handoff, note)
    if plan.handoff is None:
        return None if grounded.is_empty() else grounded
    filled = {name: value for name in Handoff.model_fields if (value := getattr(grounded, name))}
    return plan.handoff.model_copy(update=filled)


def migrate_task_file(
    text: str,
    structurer: Structurer | None = None,
    extract: Callable[[str], Extraction] = extract_reply,
) -> MigratedFile:
    """A task file whose free-form note became a structured handoff; `structurer` is asked only if need be."""
    part = find_handoff_part(text)
    note = part.text(text) if part else text
    plan = plan_migration(note, extract(note))
    handoff = plan.handoff
    if plan.prompt is not None and structurer is not None:
        handoff = finish_migration(note, plan, extract(structurer.structure(plan.prompt)))
    return MigratedFile(
        text=text if handoff is None else rewrite_task_file(text, handoff),
        handoff=handoff,
        ambiguities=plan.ambiguities,
        problems=() if handoff is None else tuple(check_handoff(handoff)),
    )


def _find_ambiguities(note: str, extraction: Extraction, rest: list[str]) -> Iterator[Ambiguity]:
    handoff = extraction.handoff
    if handoff is None:
        yield Ambiguity(field="", text=note.strip()[:200], why="no field could be told from the words")
        return
    if not handoff.outcome:
        yield Ambiguity(field="outcome", text="", why="the note does not say how the work ended")
    both = {each.path for each in handoff.files_created} & {each.path for each in handoff.files_modified}
    for path in sorted(both):
        yield Ambiguity(field="files_created", text=path, why="said to be created and to be modified")
    yield from _overlaps(note, extraction)
    for sentence in rest:
        yield Ambiguity(field="", text=sentence, why="belongs to no field for sure")


def _overlaps(note: str, extraction: Extraction) -> Iterator[Ambiguity]:
    """Words that two different fields claim."""
    last: tuple[str, Span] | None = None
    for field, span in sorted(extraction.spans.items(), key=lambda each: (each[1].start, -each[1].end)):
        if "." in field or _is_about_files(field):
            continue
        if last and span.start < last[1].end and _list_of(field) != _list_of(last[0]):
            why = f"could belong to {_list_of(last[0])} or to {_list_of(field)}"
            yield Ambiguity(field=field, text=note[span.start : span.end], why=why)
        if not last or span.end > last[1].end:
            last = (field, span)


def _is_about_files(field: str) -> bool:
    # A path inside a statement is both: a statement and a file.
    return _list_of(field) in {"files_created", "files_modified", "dependencies_for_next", "outcome"}


def _list_of(field: str) -> str:
    return field.partition("[")[0]


def _not_understood(extraction: Extraction) -> Iterator[str]:
    """Sentences of a plain note that belong to no field."""
    if extraction.notation is not Notation.REPLY or extraction.handoff is None:
        return
    for section in extraction.handoff.other_sections:
        for start, end in sentences_in(section.text, 0, len(section.text)):
            sentence = section.text[start:end].strip()
            if len(words_in(sentence)) >= _ENOUGH_WORDS:
                yield sentence
