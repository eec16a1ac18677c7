"""Cuts a Markdown document into units, each under the headings, labels and lead-ins above it."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace
from typing import Final

from segue.domain.handoff.extract.blocks import (
    CODE,
    END_TAG,
    HEADING,
    LIST,
    PARAGRAPH,
    QUOTE,
    TABLE,
    TAG,
    Block,
    fence_content,
)
from segue.domain.handoff.extract.headings import (
    VALUED,
    Heading,
    heading_of,
    meaning_of,
    meant_here,
    name_of_list,
    repeated_sections,
    suggested_by_mark,
)
from segue.domain.handoff.extract.item_labels import label_of_item
from segue.domain.handoff.extract.labels import (
    Label,
    bold_line,
    label_at,
    labels_in,
    later_label,
    lines_of,
    listed_lines,
)
from segue.domain.handoff.extract.outcome import HEADING as HEADING_WEIGHT
from segue.domain.handoff.extract.outcome import TITLE, is_result_of_check, is_status_alone, is_verdict
from segue.domain.handoff.extract.plain_reply import introduced_by
from segue.domain.handoff.extract.scopes import (
    BOLD_LEVEL,
    CUT_IN_SENTENCES,
    LABEL_LEVEL,
    NO_SINGLE_WORD,
    OPEN_SCOPES,
    SAID_BESIDE,
    SOFT,
    STRONG,
    Scopes,
    settle,
)
from segue.domain.handoff.extract.table_units import cut_table
from segue.domain.handoff.extract.topics import FILES, Topic
from segue.domain.handoff.extract.units import Marker, Outline, UnitKind, Where
from segue.domain.handoff.extract.vocabulary import (
    HeadingMeaning,
    read_heading,
    read_introduction,
    read_label,
)
from segue.domain.text.items import split_items
from segue.domain.text.paths import is_path
from segue.domain.text.sentences import sentences_in
from segue.domain.text.span import Span, trimmed

_MARKER: Final = re.compile(r"[ \t]*(?:[-*+]|(\d{1,9}[.)]))[ \t]*(?:\[([ xX~/!-])\][ \t]+)?")
_FOOTER: Final = re.compile(r"\*[^*\s][^*]*\*|_[^_\s][^_]*_")  # all in italics: about the document
_CODE_IN_BRACKETS: Final = re.compile(r"`[(\[]([^`\n]*)[)\]]`")
"""`(pending)` as a value is no remark."""
_NO_MARKER: Final = Marker()
_LONGEST_STATUS: Final = 32
_INTRODUCED: Final = frozenset({LIST, CODE, TABLE})
_PROSE_FENCES: Final = frozenset({"text", "txt", "markdown", "md", "plaintext", "prompt"})
"""Fences with other words after them hold code."""


class MarkdownCutter:
    """Cuts the blocks of one document into an outline."""

    def __init__(self, outline: Outline, taken: Container[int] = frozenset(), *, reply: bool = False) -> None:
        self._outline = outline
        self._reply = reply
        self._introduced_kinds = _INTRODUCED | {HEADING} if reply else _INTRODUCED
        self._taken = taken
        self._text = outline.source
        self._scopes = Scopes()
        self._title_level = 0
        self._headings: dict[int, Heading] = {}
        self._repeated: frozenset[int] = frozenset()
        self._lead_in: int | None = None

    def cut(self, blocks: list[Block]) -> None:
        """Adds the units of all blocks."""
        headings = [block for block in blocks if block.kind == HEADING]
        levels = [int(block.about) for block in headings]
        if levels and levels[0] == min(levels) and levels.count(levels[0]) == 1:
            self._title_level = levels[0]
        self._headings = {b.start: heading_of(self._text[b.start : b.end]) for b in headings}
        self._repeated = repeated_sections(blocks, self._headings)
        self._walk(blocks)

    def _walk(self, blocks: list[Block]) -> None:
        last = len(blocks) - 1
        for at, block in enumerate(blocks):
            lead_in = self._lead_in
            if block.kind == HEADING:
                self._heading(block)
            elif block.kind == LIST:
                self._list(block.children)
            elif block.kind == PARAGRAPH:
                self._paragraph(block.start, block.end, blocks[at + 1].kind if at < last else "")
            else:
                self._rare(block)
            if lead_in is not None and lead_in == self._lead_in:
                self._end_lead_in()

    def _end_lead_in(self) -> None:
        """What introduces a list reaches no further than the list."""
        if self._scopes.here.unit == self._lead_in:
            self._scopes.pop()
        self._lead_in = None

    def _rare(self, block: Block) -> None:
        if block.kind == TABLE:
            cut_table(self._outline, block, self._where())
        elif block.kind == CODE:
            self._code(block)
        elif block.kind == QUOTE:
            self._walk(block.children)
        elif block.kind == TAG:
            reading = read_heading(block.about)
            self._outline.seen["tags"] += reading is not None
            unit = self._outline.add(UnitKind.HEADING, block.start, block.end, self._where())
            self._scopes.open_tag(block.about, reading, unit)
        elif block.kind == END_TAG:
            self._outline.markup.append(Span(block.start, block.end))
            self._scopes.close_tag(block.about)
        else:
            self._say(UnitKind.PARAGRAPH, block.start, block.end, topic=Topic.ASIDE)

    def _where(self, topic: Topic | None = None, group: int = 0) -> Where:
        scope = self._scopes.here
        return Where(
            topic=scope.topic if topic is None else topic,
            headings=self._scopes.path(),
            lead_in=self._lead_in,
            group=group or self._outline.new_group(),
            prior=scope.prior,
            also=Topic.DONE if self._scopes.tells_of_work(reply=self._reply) else None,
        )

    def _open(self, level: int, heading: str, reading: HeadingMeaning | None, unit: int) -> None:
        self._lead_in = None
        if reading is None and level < LABEL_LEVEL:
            reading = meant_here(heading, self._scopes.topic)
        prior = suggested_by_mark(heading) if reading is None and level < LABEL_LEVEL else None
        self._scopes.open(level, heading, reading, unit=unit, prior=prior)
        if reading is not None:
            self._outline.seen["labels" if level == LABEL_LEVEL else "sections"] += 1

    def _heading(self, block: Block) -> None:
        heading = self._headings.get(block.start) or heading_of(self._text[block.start : block.end])
        words, meaning, level = heading.words, heading.meaning, int(block.about)
        begin = block.start + heading.lead
        stop = begin + heading.size
        self._scopes.close(level)
        unit = self._outline.add(UnitKind.HEADING, begin, stop, self._where())
        if level == self._title_level and not meaning.is_exact:
            self._title(words, begin, stop, unit)
        elif block.start in self._repeated:
            self._outline.note(f"the section {words!r} stands there again; the first one was taken")
            self._open(level, words, HeadingMeaning(topic=Topic.ASIDE, exact=True, weight=1), unit)
            self._outline.judge(words, begin, stop, HEADING_WEIGHT)
        else:
            self._open(level, words, meaning.opens, unit)
            if meaning.tells:
                self._outline.judge(meaning.said, begin, stop, meaning.weight)

    def _title(self, words: str, start: int, end: int, unit: int) -> None:
        """A document's title names its subject; only a part of it that is a heading by itself is read."""
        self._outline.judge(words, start, end, TITLE)
        topic = None
        for part in VALUED.split(words):
            reading = read_heading(part.strip())
            if reading and reading.exact and reading.topic in STRONG:
                topic = reading
        self._scopes.open(self._title_level, words, topic, unit=unit, weak=True)
        self._outline.seen["sections"] += topic is not None

    def _paragraph(self, begin: int, stop: int, after: str) -> None:
        text = self._text
        words, start, end = trimmed(text, begin, stop)
        if not words:
            return
        single = "\n" not in words
        stressed = words[0] in "*_"
        if single and stressed and (bold := bold_line(text, start, end)):
            self._bold_heading(bold, start, end)
        elif words[-1] in ":\uff1a" and after in self._introduced_kinds and self._introduces(start, end):
            self._introduced(start, end, after)
        elif single and after == LIST and (named := name_of_list(words, self._scopes.topic)):
            self._lead_in_to(words, start, end, named)
        elif single and stressed and _FOOTER.fullmatch(words):
            self._say(UnitKind.PARAGRAPH, start, end, topic=Topic.ASIDE)
        elif (label := label_at(text, start, end)) and self._labelled(label, start, end):
            pass
        elif not single and (later := later_label(text, start, end)):
            self._paragraph(start, later.start, "")
            self._paragraph(later.start, end, after)
        elif not single and (items := listed_lines(text, start, end)):
            self._paragraph(start, items[0][0], LIST)
            where = self._where()
            for marker, first, last in items:
                number = text[marker:first].strip() or None
                self._item(UnitKind.ITEM, first, last, where, Marker(start=marker, number=number))
        else:
            self._say(UnitKind.PARAGRAPH, start, end)

    def _bold_heading(self, words: str, start: int, end: int) -> None:
        meaning = meaning_of(words)
        self._scopes.close(BOLD_LEVEL)
        unit = self._outline.add(UnitKind.HEADING, start, end, self._where())
        self._open(BOLD_LEVEL, words, meaning.opens, unit)
        if meaning.tells:
            self._outline.judge(meaning.said, start, end, meaning.weight)

    def _introduces(self, start: int, end: int) -> bool:
        """True if the last sentence of a paragraph is one line; lines with labels are read one by one."""
        begin, stop = list(sentences_in(self._text, start, end))[-1]
        return self._reply or "\n" not in self._text[begin:stop].strip()

    def _introduced(self, start: int, end: int, after: str) -> None:
        """A paragraph before a list: its last sentence introduces the list."""
        begin, stop = list(sentences_in(self._text, start, end))[-1]
        if start < begin:
            self._paragraph(start, begin, "")
        if after == HEADING:
            self._opening(begin, stop)
        else:
            self._introduction(self._text[begin:stop].strip(), begin, stop)

    def _opening(self, start: int, end: int) -> None:
        """`Here is what was done:` at the top of a reply holds where its headings say nothing."""
        reading = introduced_by(self._text[start:end])
        unit = self._outline.add(UnitKind.LEAD_IN, start, end, self._where())
        if reading is not None and reading.topic is Topic.DONE and not self._scopes.path():
            self._scopes.open(0, self._text[start:end], reading, unit=unit, weak=True)

    def _introduction(self, line: str, start: int, end: int) -> None:
        """`Key new files:` before a list: a heading if it means something, else just an introduction."""
        words = _CODE_IN_BRACKETS.sub(r"\1", line).strip("*_ :\uff1a")
        scope = self._scopes.topic
        reading = read_introduction(words, inside=scope not in OPEN_SCOPES)
        if reading is None and self._reply:
            reading = introduced_by(line, inside=scope not in OPEN_SCOPES)
        self._lead_in_to(words, start, end, reading)

    def _lead_in_to(self, words: str, start: int, end: int, reading: HeadingMeaning | None) -> None:
        if reading is not None:
            self._scopes.close(LABEL_LEVEL)
        unit = self._outline.add(UnitKind.LEAD_IN, start, end, self._where())
        if reading is not None:
            self._open(LABEL_LEVEL, words, reading, unit)
        self._lead_in = unit

    def _labelled(self, first: Label, start: int, end: int) -> bool:
        """A paragraph made of `Label: text` lines; false if it is none."""
        marks = labels_in(self._text, start, end)
        if not marks or marks[0].start != first.start:
            return False
        readings = [read_label(label.name) for label in marks]
        if first.bold and readings[0] is None:
            self._scopes.close(LABEL_LEVEL)
        if not any(readings) and (len(marks) == 1 or not first.bold):
            return False
        for at, label in enumerate(marks):
            stop = marks[at + 1].start if at + 1 < len(marks) else end
            self._label(label, readings[at], stop)
        return True

    def _label(self, label: Label, reading: HeadingMeaning | None, stop: int) -> None:
        words, start, end = trimmed(self._text, label.value, stop)
        topic = self._scopes.topic
        if reading is None and words:
            self._say(UnitKind.PARAGRAPH, label.start, stop)
            return
        if reading is not None:
            self._outline.seen["labels"] += 1
            topic = (
                reading.topic if reading.exact and reading.topic in SAID_BESIDE else settle(topic, reading)
            )
            states = reading.topic is Topic.STATUS and not is_result_of_check(label.name, words)
            if states or (reading.topic is Topic.DECISIONS and is_verdict(words)):
                self._outline.judge(words[:200], start, end, 8 if reading.exact else 4)
        if not words:
            self._scopes.close(LABEL_LEVEL)
            unit = self._outline.add(UnitKind.LABEL, label.start, stop, self._where())
            self._open(LABEL_LEVEL, label.name, reading, unit)
        elif topic is Topic.STATUS or (topic in NO_SINGLE_WORD and len(words.split()) < 2):
            self._say(UnitKind.PARAGRAPH, label.start, stop, topic=Topic.ASIDE)
        else:
            self._labelled_text(label, topic, (start, end))

    def _labelled_text(self, label: Label, topic: Topic | None, value: tuple[int, int]) -> None:
        unit = self._outline.add(UnitKind.LABEL, label.start, label.value, self._where())
        self._scopes.push(topic or Topic.WHOLE, label.name, unit)
        if topic in CUT_IN_SENTENCES and label.bold:
            where = self._where()
            for begin, finish in sentences_in(self._text, *value):
                self._item(UnitKind.SENTENCE, begin, finish, where)
        else:
            self._say(UnitKind.PARAGRAPH, *value)
        self._scopes.pop()

    def _list(self, items: list[Block]) -> None:
        may_be_labelled = self._scopes.topic in OPEN_SCOPES
        where = self._where()
        for item in items:
            found = _MARKER.match(self._text, item.start, item.end)
            start, marker = item.start, Marker(start=item.start)
            if found:
                start, checked = found.end(), None if found[2] is None else found[2] in "xX"
                marker = replace(marker, number=found[1], checked=checked)
            if may_be_labelled and marker.checked is None and self._item_label(item, start):
                continue
            self._item(UnitKind.ITEM, start, item.end, where, marker)

    def _item_label(self, item: Block, start: int) -> bool:
        """`- **Done:** ...` in a list on the state of things: the label says what the item is."""
        lists = [child for child in item.children if child.kind == LIST]
        first_list = lists[0].start if lists else None
        found = label_of_item(self._text, start, item.end, first_list)
        if found is None:
            return False
        label, reading = found
        if self._scopes.topic is Topic.ASIDE and reading.topic in SOFT:
            return False
        words, first, last = trimmed(self._text, label.value, lists[0].start if lists else item.end)
        if self._scopes.topic is None and is_path(words.strip("`")):
            return False
        if reading.topic is Topic.STATUS:
            self._outline.judge(words[:200], first, last, 8 if reading.exact else 4)
            return False
        unit = self._outline.add(UnitKind.LABEL, label.start, label.value, self._where())
        self._scopes.push(reading.topic, label.name, unit)
        if words:
            self._say(UnitKind.ITEM, first, last)
        for inner in lists:
            self._list(inner.children)
        self._scopes.pop()
        return True

    def _code(self, block: Block) -> None:
        start, end = fence_content(self._text, block)
        topic = self._scopes.topic
        if start in self._taken:  # a document of its own
            self._outline.markup.append(Span(block.start, start))
            return
        if block.about == "indented":
            where = self._where()
            for item in split_items(self._text[start:end], start):
                self._item(UnitKind.ITEM, item.start, item.end, where)
        elif topic in FILES or topic is Topic.CHECKS:
            where = self._where()
            self._outline.markup.append(Span(block.start, start))
            for begin, stop in lines_of(self._text, start, end):
                self._outline.add(UnitKind.LINE, begin, stop, where)
        elif topic is Topic.NEXT and block.about and block.about.split()[0].lower() not in _PROSE_FENCES:
            self._outline.add(UnitKind.FENCE, block.start, block.end, self._where(Topic.ASIDE))
        elif topic in (Topic.NEXT, Topic.BRIEF, Topic.CONTEXT, Topic.CONSTRAINTS, Topic.GOAL):
            self._fence(block, start, end, topic)
        elif topic is Topic.STATUS or topic is Topic.READING:
            self._fence(block, start, end, Topic.CONTEXT)
        else:
            self._outline.add(UnitKind.FENCE, block.start, block.end, self._where(Topic.ASIDE))

    def _fence(self, block: Block, start: int, end: int, topic: Topic | None) -> None:
        self._outline.markup.append(Span(block.start, start))
        self._outline.add(UnitKind.FENCE, start, end, self._where(topic))

    def _say(self, kind: UnitKind, start: int, end: int, topic: Topic | None = None) -> None:
        self._item(kind, start, end, self._where(topic))

    def _item(self, kind: UnitKind, start: int, end: int, where: Where, marker: Marker = _NO_MARKER) -> None:
        topic = where.topic
        words = self._text[start:end].strip()
        is_progress = "progress" in self._scopes.here.heading.casefold()
        if topic in (Topic.STATUS, Topic.NEXT) and len(words) < _LONGEST_STATUS and is_status_alone(words):
            self._outline.judge(words, start, end, 6)
            where = replace(where, topic=Topic.ASIDE)
        elif topic is Topic.STATUS:
            self._outline.judge(" ".join(words[:300].split()), start, end, 5)
        elif topic in (Topic.DONE, Topic.TASKS) and "%" in words[:120] and is_progress:
            self._outline.judge(words[:120], start, end, 4)
        self._outline.add(kind, start, end, where, marker=marker)
