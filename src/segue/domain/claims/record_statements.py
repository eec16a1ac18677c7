"""The statements of a record: its typed entries, each with the relation of its field, and its texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from segue.domain.claims.ledger import Statement
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import LineRange
from segue.domain.handoff.checking.rules_values import fix_value, outcome_of
from segue.domain.handoff.model import Handoff
from segue.domain.text.paths import is_path, paths_in
from segue.domain.text.span import Span
from segue.domain.text.words import word_set

_RANGE = re.compile(r"(?<![\w.])L?(\d{1,7})\s*[-\u2013:]\s*L?(\d{1,7})(?![\w.])")
_LINE = re.compile(r"L?(\d{1,7})")
_ARROW = re.compile(r"(.+?)\s+(?:->|=>|\u2192)\s+(.+)")
_SUFFIX = re.compile(r"(?::\d+(?:[-\u2013]\d+)?|#L\d+(?:-L?\d+)?)$")
_TO_COME = word_set("will once should new missing create when if deleted removed yet")
_APART = word_set("in at see file files module modules and or the under of from", None)


def record_statements(handoff: Handoff, spans: Mapping[str, Span], source: str) -> Iterator[Statement]:
    """The statements of a record, in the order of its fields."""
    record = _SourcedHandoff(handoff, spans, source)
    if outcome_of(handoff) == "completed":
        text, span = record.words("outcome", "completed")
        yield Statement(text=text, field="outcome", span=span, is_outcome=True)
    yield from record.files()
    yield from record.commands()
    yield from record.places()
    yield from record.texts()
    yield from record.not_claims()


class _SourcedHandoff:
    """A handoff with what is known about where its words came from."""

    def __init__(self, handoff: Handoff, spans: Mapping[str, Span], source: str) -> None:
        self.handoff = handoff
        self.spans = spans
        self.source = source

    def words(self, field: str, otherwise: str) -> tuple[str, Span | None]:
        """The words of a field as the agent wrote them, and where."""
        span = self.spans.get(field)
        if span is None or not self.source:
            return otherwise, span
        return self.source[span.start : span.end], span

    def files(self) -> Iterator[Statement]:
        for at, created in enumerate(self.handoff.files_created):
            yield from self._file(
                "files_created", at, created.path, Relation.CREATED, created.lines, created.purpose
            )
        for at, item in enumerate(self.handoff.files_modified):
            is_gone = bool(item.change_type) and fix_value("change_type", item.change_type or "") == "delete"
            relation = Relation.REMOVED if is_gone else Relation.CHANGED
            yield from self._file("files_modified", at, item.path, relation, item.lines, item.description)

    def _file(
        self, name: str, at: int, path: str, relation: Relation, lines: str | None, about: str | None
    ) -> Iterator[Statement]:
        if not path.strip():
            return
        field = f"{name}[{at}]"
        text, span = self.words(f"{field}.path", path)
        if relation is Relation.CREATED and span and self._leads_to(span):
            relation = Relation.CHANGED  # "Added to a.py:"
        arrow = _ARROW.fullmatch(path.strip()) if "{" not in path else None
        old = None
        if arrow:
            old, path = (part.strip("` ") for part in arrow.groups())
            relation = Relation.RENAMED
        ranges = () if relation is Relation.REMOVED else ranges_of(lines, single=relation is Relation.CHANGED)
        yield Statement(
            text=text, field=field, span=span, path=path, old_path=old, relation=relation, lines=ranges
        )
        if about:
            part = "purpose" if name == "files_created" else "description"
            said, where = self.words(f"{field}.{part}", about)
            yield Statement(text=said, field=f"{field}.{part}", span=where, places=(f"`{path}`",))

    def _leads_to(self, span: Span) -> bool:
        """True for the path of "Added to a.py": something was put there."""
        words = self.source[max(0, span.start - 40) : span.start].rstrip("`*_ ").split()
        return bool(words) and words[-1].lower() in ("to", "into", "in")

    def commands(self) -> Iterator[Statement]:
        for at, item in enumerate(self.handoff.commands_run):
            field = f"commands_run[{at}]"
            text, span = self.words(f"{field}.command", item.command)
            yield Statement(text=text, field=field, span=span, command=item.command, exit_code=item.exit_code)
            if item.observation:
                said, where = self.words(f"{field}.observation", item.observation)
                yield Statement(text=said, field=f"{field}.observation", span=where, command=item.command)

    def places(self) -> Iterator[Statement]:
        """Files that the next agent is sent to."""
        for at, item in enumerate(self.handoff.dependencies_for_next):
            yield from self._place(f"dependencies_for_next[{at}]", "file", item.file, item.reason)
        for at, pattern in enumerate(self.handoff.patterns_discovered):
            yield from self._place(f"patterns_discovered[{at}]", "location", pattern.location, None)

    def _place(self, field: str, part: str, place: str | None, reason: str | None) -> Iterator[Statement]:
        if (
            not place
            or not _TO_COME.isdisjoint(f"{place} {reason or ''} ".lower().replace(",", " ").split())
            or "to be" in (reason or "")
        ):
            return
        text, span = self.words(f"{field}.{part}", place)
        for path in _paths_of(place.strip().strip("`")):
            yield Statement(text=text, field=field, span=span, path=path, relation=Relation.HAS)

    def texts(self) -> Iterator[Statement]:
        handoff = self.handoff
        for name, values in (
            ("what_was_done", handoff.what_was_done),
            ("critical_context", handoff.critical_context),
        ):
            for at, value in enumerate(values):
                yield self._text(f"{name}[{at}]", value)
        for at, decision in enumerate(handoff.decisions_made):
            yield self._text(f"decisions_made[{at}].decision", decision.decision)
        if handoff.next_agent_context:
            yield self._text("next_agent_context", handoff.next_agent_context)
        for at, section in enumerate(handoff.other_sections):
            text, span = self.words(f"other_sections[{at}].text", section.text)
            yield Statement(text=text, field=f"other_sections[{at}]", span=span, heading=section.heading)

    def _text(self, field: str, value: str) -> Statement:
        text, span = self.words(field, value)
        return Statement(
            text=text if span and text == value else value, field=field.partition(".")[0], span=span
        )

    def not_claims(self) -> Iterator[Statement]:
        handoff = self.handoff
        for name, reason, values in (
            ("suggested_next_steps", "it is a next step", [s.step for s in handoff.suggested_next_steps]),
            ("open_questions", "it is a question", [q.question for q in handoff.open_questions]),
            ("blockers", "it is a blocker", [b.blocker for b in handoff.blockers]),
            ("failed_approaches", "it tells of an attempt", [f.approach for f in handoff.failed_approaches]),
            ("gotchas", "it is a warning", [g.issue for g in handoff.gotchas]),
        ):
            for at, value in enumerate(values):
                yield Statement(
                    text=value, field=f"{name}[{at}]", span=self.spans.get(f"{name}[{at}]"), not_claim=reason
                )


def ranges_of(lines: str | None, *, single: bool) -> tuple[LineRange, ...]:
    """`10-20, 35-40` as ranges; a lone number may be a count, so it is one only where `single` says so."""
    found = [LineRange(int(a), int(b)) for a, b in _RANGE.findall(lines or "")]
    if not found and single and lines and (one := _LINE.fullmatch(lines.strip())):
        found = [LineRange(int(one[1]), int(one[1]))]
    return tuple(each for each in found if 1 <= each.first <= each.last)


def _paths_of(place: str) -> list[str]:
    """The paths in a field that names a place: all of it, or those that are apart from its other words."""
    if "://" in place:
        return []
    if not any(character.isspace() for character in place):
        bare = _SUFFIX.sub("", place)
        is_one = is_path(bare) or ("/" in bare.strip("/@") and not bare.startswith("@") and "." in bare)
        return [place] if is_one else []
    found = []
    for piece in paths_in(place):
        before = place[: piece.start].rstrip('`*" (')
        last = before.split()[-1].lower().strip(":,;") if before.split() else ""
        if not last or last in _APART or before[-1:] in ",;:":
            found.append(piece.text)
    return found
