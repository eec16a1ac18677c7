"""Takes the handoff out of whatever an agent wrote, and remembers where each statement stood."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from segue.domain.handoff.extract.assemble import Assembled, assemble
from segue.domain.handoff.extract.blocks import MAX_BLOCKS, MAX_CHARS, parse_markdown
from segue.domain.handoff.extract.canonical_markdown import read_canonical
from segue.domain.handoff.extract.classify import classify
from segue.domain.handoff.extract.coverage import measure_coverage
from segue.domain.handoff.extract.data_units import cut_data
from segue.domain.handoff.extract.find_documents import FoundDocuments, find_documents
from segue.domain.handoff.extract.handoff_test import judge_likeness
from segue.domain.handoff.extract.markdown_units import MarkdownCutter
from segue.domain.handoff.extract.outcome import decide_outcome
from segue.domain.handoff.extract.plain_reply import cut_sentences, is_plain
from segue.domain.handoff.extract.result import Extraction, Notation, Origin
from segue.domain.handoff.extract.statements import ExtractedStatement, make_statements
from segue.domain.handoff.extract.terminal_codes import take_out_codes
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.units import Outline
from segue.domain.handoff.model import Handoff

_FIELDS: Final = tuple(name for name in Handoff.model_fields if name != "other_sections")
_STATES_OUTCOME: Final = re.compile(r"^[#>*_<`\"'\s-]{0,20}outcome\b", re.IGNORECASE | re.MULTILINE)
_HALF_PAIR: Final = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceReading:
    """A source, cut and classified: what extraction works on, for tests and benchmarks to look at."""

    outline: Outline
    assembled: Assembled
    notation: Notation
    exact: bool
    """True if a part of it is in the canonical schema: nothing in that is guessed."""


def extract_handoff(text: str, *, origin: Origin = Origin.DOCUMENT) -> Extraction:
    """The handoff in `text`, with every word of it in an item, another section or a note. Never raises."""
    uncoloured = take_out_codes(text)
    return (
        _extract(text, origin)
        if uncoloured is None
        else uncoloured.put_back(_extract(uncoloured.text, origin))
    )


def _extract(text: str, origin: Origin) -> Extraction:
    reading = read_source(text, reply=origin is Origin.REPLY)
    assembled = reading.assembled
    notes = (*reading.outline.notes, *assembled.notes)
    coverage = measure_coverage(reading.outline, assembled.owners)
    empty = _is_empty(assembled.handoff, exact=reading.exact)
    likeness = judge_likeness(reading.outline, origin, found=not empty)
    if empty or not likeness.is_handoff:
        likeness = replace(likeness, is_handoff=False)
        return Extraction(
            handoff=None, notation=Notation.NONE, notes=notes, coverage=coverage, likeness=likeness
        )
    return Extraction(
        handoff=assembled.handoff,
        notation=reading.notation,
        spans=assembled.spans,
        notes=notes,
        places=assembled.places,
        coverage=coverage,
        is_own_schema=reading.exact or _STATES_OUTCOME.search(reading.outline.source) is not None,
        likeness=likeness,
        guessed=assembled.guessed,
        left_over=assembled.left_over,
    )


def extract_reply(text: str) -> Extraction:
    """The handoff in what an agent answered."""
    return extract_handoff(text, origin=Origin.REPLY)


def read_source(text: str, *, reply: bool = False) -> SourceReading:
    """All units of a text with their owners; in a `reply`, sentences speak for themselves."""
    notes: list[str] = []
    source = _readable(text, notes)
    if (canonical := read_canonical(source)) is not None:
        outline, statements = canonical
        found, exact, plain, told = FoundDocuments(), True, False, False
    else:
        outline = Outline(source=source)
        found = _cut(outline, reply=reply)
        exact = any(unit.where.exact for unit in outline.units)
        plain = is_plain(outline)
        told = plain or (reply and not exact)
        if told:
            cut_sentences(outline)
        statements = make_statements(outline, classify(outline, plain=told), plain=told)
        statements += _inside_prompt(source, statements)
    outline.notes[:0] = notes
    outcome = decide_outcome(outline, exact=exact, plain=told)
    assembled = assemble(outline, statements, outcome)
    notation = Notation.REPLY if plain else _notation(found, outline, statements)
    return SourceReading(outline=outline, assembled=assembled, notation=notation, exact=exact)


def _cut(outline: Outline, *, reply: bool) -> FoundDocuments:
    """Cuts a source that is not in our own written form into units."""
    source = outline.source
    found = find_documents(source)
    outline.notes += found.notes
    for document in found.documents:
        cut_data(outline, document.node)
    at = found.body[0]
    for first, last in [*found.bare, (found.body[1], found.body[1])]:
        if at < first:
            blocks, whole = parse_markdown(source, at, first)
            if not whole:
                outline.note(f"only the first {MAX_BLOCKS} blocks were read")
            MarkdownCutter(outline, found.taken, reply=reply).cut(blocks)
        at = last
    outline.close_gaps(0, len(source))
    return found


def _is_empty(handoff: Handoff, *, exact: bool) -> bool:
    """Words that belong to no field are no handoff, unless a canonical document says that they are one."""
    if exact:
        return handoff.is_empty()
    return not any(getattr(handoff, name) for name in _FIELDS)


def _readable(text: str, notes: list[str]) -> str:
    if len(text) > MAX_CHARS:
        notes.append(f"only the first {MAX_CHARS} of {len(text)} characters were read")
        text = text[:MAX_CHARS]
    if _HALF_PAIR.search(text):
        notes.append("half surrogate pairs were replaced")
        return _HALF_PAIR.sub("\ufffd", text)
    return text


def _inside_prompt(source: str, statements: list[ExtractedStatement]) -> list[ExtractedStatement]:
    """A prompt for the next session may be the only place that lists the next steps."""
    if any(each.topic is Topic.NEXT for each in statements):
        return []
    prompt = next((each for each in statements if each.topic is Topic.BRIEF), None)
    if prompt is None or "\n" not in prompt.text or prompt.is_data:
        return []
    inner = Outline(source=source)
    MarkdownCutter(inner).cut(parse_markdown(source, *prompt.span)[0])
    found = [each for each in make_statements(inner, classify(inner)) if each.topic is not Topic.ASIDE]
    if not any(each.topic is Topic.NEXT for each in found):
        return []
    return [replace(each, unit=prompt.unit) for each in found]


def _notation(found: FoundDocuments, outline: Outline, statements: list[ExtractedStatement]) -> Notation:
    """The notation that gave the most fields; the more trusted of equals."""
    if found.documents:
        spans = [(document.node.start, document.node.end) for document in found.documents]
        fields: dict[bool, set[Topic]] = {True: set(), False: set()}
        for each in statements:
            if each.topic is not Topic.ASIDE:
                is_data = any(start <= each.span.start < end for start, end in spans)
                fields[is_data].add(each.topic)
        if len(fields[True]) >= len(fields[False]):
            return Notation(found.documents[0].notation)
    seen = {kind: outline.seen[kind] for kind in ("tags", "sections", "labels")}
    best = max(seen, key=lambda kind: (seen[kind], kind == "sections"))
    return Notation(best)
