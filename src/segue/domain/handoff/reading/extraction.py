"""Takes the handoff out of whatever an agent wrote, and remembers where each statement stood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from segue.domain.handoff.model import Handoff
from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.assembly import assemble
from segue.domain.handoff.reading.draft import Draft, Span
from segue.domain.handoff.reading.envelope import Found, find_documents
from segue.domain.handoff.reading.markdown import MAX_BLOCKS, MAX_CHARS, parse_markdown
from segue.domain.handoff.reading.prose import read_prose
from segue.domain.handoff.reading.sections import SectionReader
from segue.domain.handoff.reading.written import read_written

_FIELDS: Final = tuple(name for name in Handoff.model_fields if name != "other_sections")
_HALF_PAIR: Final = re.compile(r"[\ud800-\udfff]")
_TOLD_IN_PROSE: Final = frozenset(
    {topics.DONE, topics.NEXT, topics.DECISIONS, topics.QUESTIONS, topics.BLOCKERS, topics.GOTCHAS}
)
"""What sections are about; a text with two of them is no free prose."""


class Notation(StrEnum):
    """How a handoff was written."""

    YAML = "yaml"
    JSON = "json"
    TAGS = "tags"
    SECTIONS = "sections"
    LABELS = "labels"
    PROSE = "prose"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """What was found in a reply. `handoff` is none if nothing was."""

    handoff: Handoff | None
    """The record, never an empty one."""
    notation: Notation
    """How it was written."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Field or item (`decisions_made[1].rationale`) -> where it stands in the source."""
    notes: tuple[str, ...] = ()
    """What was guessed or mended."""


def extract_handoff(text: str) -> Extraction:
    """The handoff in `text`. Never raises; weaker notations only fill what stronger ones left empty."""
    notes: list[str] = []
    source = _readable(text, notes)
    written = read_written(source)
    found = find_documents(source) if written is None else Found()
    drafts: list[tuple[Notation, Draft]] = [(Notation(d.notation), d.draft) for d in found.documents]
    start, end = found.body
    if written is not None:
        drafts.append((Notation.SECTIONS, written))
    elif start < end:
        blocks, whole = parse_markdown(source, start, end)
        if not whole:
            notes.append(f"only the first {MAX_BLOCKS} blocks were read")
        sections = Draft()
        reader = SectionReader(source, sections, found.taken)
        reader.read(blocks)
        drafts.append((Notation(reader.notation()), sections))
        drafts.append((Notation.PROSE, _prose(source, sections, drafts)))
    inner = _inside_prompt(source, drafts)
    if inner is not None:
        drafts.append((Notation.SECTIONS, inner))
    handoff, spans, seen = assemble(source, [draft for _, draft in drafts])
    notes += [*found.notes, *(note for _, draft in drafts for note in draft.notes), *seen]
    if _is_empty(handoff, exact=any(draft.exact for _, draft in drafts)):
        return Extraction(handoff=None, notation=Notation.NONE, notes=tuple(notes))
    return Extraction(handoff=handoff, notation=_main(drafts), spans=spans, notes=tuple(notes))


def _is_empty(handoff: Handoff, *, exact: bool) -> bool:
    """Words that belong to no field are no handoff, unless a canonical document says that they are one."""
    if exact:
        return handoff.is_empty()
    return not any(map(handoff.__getattribute__, _FIELDS))


def _readable(text: str, notes: list[str]) -> str:
    if len(text) > MAX_CHARS:
        notes.append(f"only the first {MAX_CHARS} of {len(text)} characters were read")
        text = text[:MAX_CHARS]
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        notes.append("half surrogate pairs were replaced")
        return _HALF_PAIR.sub("\ufffd", text)
    return text


def _prose(source: str, sections: Draft, drafts: list[tuple[Notation, Draft]]) -> Draft:
    """What stands under no heading that means anything, read by sentence; taken out of the other sections."""
    prose = Draft()
    known = {topic for _, draft in drafts for topic in draft.statements}
    if len(known & _TOLD_IN_PROSE) > 1:
        return prose
    sections.others = [
        (heading, piece) for heading, piece in sections.others if not read_prose(prose, source, piece)
    ]
    return prose


def _inside_prompt(source: str, drafts: list[tuple[Notation, Draft]]) -> Draft | None:
    """A prompt for the next session may be the only place that lists the next steps."""
    if any(topics.NEXT in draft.statements for _, draft in drafts):
        return None
    prompt = next((prompt for _, draft in drafts for prompt in draft.of(topics.BRIEF)), None)
    if prompt is None or "\n" not in prompt[0]:
        return None
    inner = Draft()
    SectionReader(source, inner).read(parse_markdown(source, prompt[1], prompt[2])[0])
    if topics.NEXT not in inner.statements:
        return None
    inner.others.clear()
    inner.evidence.clear()
    return inner


def _main(drafts: list[tuple[Notation, Draft]]) -> Notation:
    """The notation that gave the most fields; the more trusted of equals."""
    best, most = Notation.NONE, 0
    for notation, draft in drafts:
        count = len(draft.statements) * 2 + bool(draft.evidence)
        if count > most:
            best, most = notation, count
    return best
