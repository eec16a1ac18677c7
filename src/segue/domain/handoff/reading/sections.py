"""Walks the blocks of a Markdown document and says what each one states, under the headings above it."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.commands import commands_in_code
from segue.domain.handoff.reading.draft import Draft, cut, trimmed
from segue.domain.handoff.reading.files import add_listed_files, files_told
from segue.domain.handoff.reading.item_labels import label_of_item
from segue.domain.handoff.reading.items import split_items
from segue.domain.handoff.reading.labels import MOST_LINES, Label, bold_line, label_at, lines_of, listed_lines
from segue.domain.handoff.reading.markdown import (
    CODE,
    END_TAG,
    HEADING,
    HTML,
    LIST,
    PARAGRAPH,
    QUOTE,
    TABLE,
    TAG,
    Block,
)
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.outcome import HEADING as HEADING_WEIGHT
from segue.domain.handoff.reading.outcome import TITLE, is_status_alone
from segue.domain.handoff.reading.outline import (
    VALUED,
    Heading,
    fence_content,
    heading_of,
    meaning_of,
    repeated_sections,
)
from segue.domain.handoff.reading.paths import is_path
from segue.domain.handoff.reading.scopes import BOLD_LEVEL, LABEL_LEVEL, SOFT, STRONG, Scopes, settle
from segue.domain.handoff.reading.sentences import sentences_in
from segue.domain.handoff.reading.statements import add_statement, tells_of_work
from segue.domain.handoff.reading.tables import add_table
from segue.domain.handoff.reading.vocabulary import (
    Reading,
    read_heading,
    read_introduction,
    read_label,
)

_MARKER: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*(?:\[([ xX~/!-])\][ \t]+)?")
_FOOTER: Final = re.compile(r"\*[^*\s][^*]*\*|_[^_\s][^_]*_")
"""A line that is all in italics says something about the document."""
_LONGEST_STATUS: Final = 32
_NEVER: Final = 1 << 62

_OPEN_SCOPES: Final = frozenset(
    {topics.STATUS, topics.CONTEXT, topics.TASKS, topics.WHOLE, topics.ASIDE, None}
)
_SAID_BESIDE: Final = frozenset({topics.ASIDE, topics.STATUS, topics.CONTEXT})
"""What a labelled line is about wherever it stands: `**Branch:** main` is no finished work."""
_TAKEN_AS_SAID: Final = frozenset(
    {topics.DECISIONS, topics.QUESTIONS, topics.BLOCKERS, topics.GOTCHAS, topics.FAILED, topics.PATTERNS}
    | {topics.CONSTRAINTS, topics.GOAL, topics.BRIEF, topics.CONTEXT, topics.READING}
)
"""What is stated on these says nothing on how the work ended."""
_NO_SINGLE_WORD: Final = frozenset({topics.GOTCHAS, topics.BLOCKERS, topics.QUESTIONS, topics.FAILED})
"""`Risk: LOW` and `Blockers: 0` name none."""
_CUT_IN_SENTENCES: Final = frozenset(
    {topics.DECISIONS, topics.NEXT, topics.GOTCHAS, topics.QUESTIONS, topics.BLOCKERS, topics.FAILED}
)
_PROSE_FENCES: Final = frozenset({"text", "txt", "markdown", "md", "plaintext", "prompt"})
"""Fences with other words after them hold code."""


class SectionReader:
    """Reads one document into a draft."""

    def __init__(self, text: str, draft: Draft, taken: frozenset[int] | set[int] = frozenset()) -> None:
        self._text = text
        self._draft = draft
        self._taken = taken
        self._seen = {"tags": 0, "sections": 0, "labels": 0}
        self._scopes = Scopes()
        self._title_level = 0
        self._headings: dict[int, Heading] = {}
        self._repeated: frozenset[int] = frozenset()

    def read(self, blocks: list[Block]) -> None:
        """Takes down what all blocks state."""
        headings = [block for block in blocks if block[0] == HEADING]
        levels = [level for _, _, _, _, level in headings]
        if levels and levels[0] == min(levels) and levels.count(levels[0]) == 1:
            self._title_level = levels[0]
        text = self._text
        self._headings = {start: heading_of(text[start:end]) for _, start, end, _, _ in headings}
        self._repeated = repeated_sections(blocks, self._headings)
        self._walk(blocks)
        if topics.FILES.isdisjoint(self._draft.statements):
            for _, start, end, _ in self._draft.of(topics.DONE):
                files_told(self._draft, self._text, start, end)

    def notation(self) -> str:
        """How most of the document is written."""
        return max(self._seen, key=lambda kind: (self._seen[kind], kind == "sections"))

    def _walk(self, blocks: list[Block]) -> None:
        last = len(blocks) - 1
        for at, block in enumerate(blocks):
            kind, start, end, children, about = block
            if kind == HEADING:
                self._heading(start, end, about)
            elif kind == LIST:
                self._list(children)
            elif kind == PARAGRAPH:
                self._paragraph(start, end, blocks[at + 1][0] if at < last else "")
            else:
                self._rare(block)

    def _rare(self, block: Block) -> None:
        kind, start, end, children, about = block
        if kind == TABLE:
            add_table(self._draft, self._text, self._scopes.topic, children, self._scopes.heading)
        elif kind == CODE:
            self._code(block)
        elif kind == QUOTE:
            self._walk(children)
        elif kind == TAG:
            self._seen["tags"] += read_heading(about) is not None
            self._scopes.open_tag(about, read_heading(about))
        elif kind == END_TAG:
            self._scopes.close_tag(about)
        elif kind == HTML:
            self._other(start, end)

    def _open(self, level: int, heading: str, reading: Reading | None, *, weak: bool = False) -> None:
        self._scopes.open(level, heading, reading, weak=weak)
        if reading is not None:
            self._seen["labels" if level == LABEL_LEVEL else "sections"] += 1

    def _heading(self, start: int, end: int, level: int) -> None:
        heading = self._headings.get(start) or heading_of(self._text[start:end])
        words, meaning = heading.words, heading.meaning
        begin = start + heading.lead
        stop = begin + heading.size
        if level == self._title_level and not (meaning.reading and meaning.reading.exact):
            self._title(words, begin, stop)
        elif start in self._repeated:
            self._draft.note(f"the section {words!r} stands there again; the first one was taken")
            self._open(level, words, Reading(topic=topics.ASIDE, exact=True, weight=1))
            self._draft.judge(words, begin, stop, HEADING_WEIGHT)
        else:
            self._open(level, words, meaning.opens)
            if meaning.tells:
                self._draft.judge(meaning.said, begin, stop, meaning.weight)

    def _title(self, words: str, start: int, end: int) -> None:
        """A document's title names its subject; only a part of it that is a heading by itself is read."""
        self._draft.judge(words, start, end, TITLE)
        topic = None
        for part in VALUED.split(words):
            reading = read_heading(part.strip())
            if reading and reading.exact and reading.topic in STRONG:
                topic = reading
        self._open(self._title_level, words, topic, weak=True)

    def _paragraph(self, begin: int, stop: int, after: str) -> None:
        text = self._text
        words, start, end = trimmed(text, begin, stop)
        if not words:
            return
        single = "\n" not in words
        stressed = words[0] in "*_"
        if single and stressed and (bold := bold_line(text, start, end)):
            self._bold_heading(bold, start, end)
        elif single and words[-1] in ":\uff1a" and after in (LIST, CODE, TABLE):
            self._introduction(words, start, end)
        elif single and stressed and _FOOTER.fullmatch(words):
            self._other(start, end, "footer")
        elif (label := label_at(text, start, end)) and self._labelled(label, start, end):
            pass
        elif not single and (later := self._later_label(start, end)):
            self._paragraph(start, later.start, "")
            self._paragraph(later.start, end, after)
        elif not single and (items := listed_lines(text, start, end)):
            self._paragraph(start, items[0][0], LIST)
            for _, first, last in items:
                self._say(first, last)
        else:
            self._say(start, end)

    def _later_label(self, start: int, end: int) -> Label | None:
        """A bold label at the begin of another line than the first, that says what follows."""
        if self._text.find("\n**", start, end) < 0:
            return None
        for begin, stop in lines_of(self._text, start, end)[1:MOST_LINES]:
            label = label_at(self._text, begin, stop)
            if label and label.bold and (reading := read_label(label.name)) and reading.exact:
                return label
        return None

    def _bold_heading(self, words: str, start: int, end: int) -> None:
        meaning = meaning_of(words)
        self._open(BOLD_LEVEL, words, meaning.opens)
        if meaning.tells:
            self._draft.judge(meaning.said, start, end, meaning.weight)

    def _introduction(self, line: str, start: int, end: int) -> None:
        """`Key new files:` before a list: a heading if it means something, else just an introduction."""
        words = line.strip("*_ :\uff1a")
        if self._scopes.topic is topics.DONE:
            files_told(self._draft, self._text, start, end)
        reading = read_introduction(words) if self._scopes.topic in _OPEN_SCOPES else read_label(words)
        if reading is None and tells_of_work(words):
            self._say(start, end)
        if reading or self._scopes.level == LABEL_LEVEL:
            self._open(LABEL_LEVEL, words, reading)

    def _labelled(self, first: Label, start: int, end: int) -> bool:
        """A paragraph made of `Label: text` lines; false if it is none."""
        text = self._text
        marks: list[Label] = []
        for begin, stop in lines_of(text, start, end)[:MOST_LINES]:
            label = label_at(text, begin, stop)
            if label and (label.bold or read_label(label.name) or not marks):
                marks.append(label)
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

    def _label(self, label: Label, reading: Reading | None, stop: int) -> None:
        words, start, end = trimmed(self._text, label.value, stop)
        topic = self._scopes.topic
        if reading is not None:
            self._seen["labels"] += 1
            topic = (
                reading.topic if reading.exact and reading.topic in _SAID_BESIDE else settle(topic, reading)
            )
            if reading.topic is topics.STATUS:
                self._judge(words, start, end, reading)
        if not words:
            self._open(LABEL_LEVEL, label.name, reading)
        elif reading is None:
            self._say(label.start, stop)
        elif topic is topics.STATUS or (topic in _NO_SINGLE_WORD and len(words.split()) < 2):
            self._other(label.start, stop, label.name)
        elif topic in _CUT_IN_SENTENCES and label.bold:
            for begin, finish in sentences_in(self._text, start, end):
                self._state(topic, begin, finish)
        else:
            self._state(topic, start, end, label.name)

    def _judge(self, words: str, start: int, end: int, reading: Reading) -> None:
        if words:
            self._draft.judge(words[:200], start, end, 8 if reading.exact else 4)

    def _list(self, items: list[Block]) -> None:
        text, draft, topic = self._text, self._draft, self._scopes.topic
        may_be_labelled = topic in _OPEN_SCOPES
        shortest = self._shortest_taken(topic)
        for _, begin, end, children, _ in items:
            start, checked = begin, None
            # Most items begin with a sign and one space; the rest is for the regex.
            after = begin + 2
            if end > after and text[begin] in "-*+" and text[begin + 1] == " " and text[after] not in " \t[":
                start = after
            elif marker := _MARKER.match(text, begin, end):
                start = marker.end()
                if marker[1] is not None:
                    checked = marker[1] in "xX"
            if may_be_labelled and checked is None and self._item_label(children, start, end):
                continue
            if topic is not None and end - start >= shortest:
                add_statement(draft, text, topic, start, end, checked)
            else:
                self._say(start, end, checked)

    def _shortest_taken(self, topic: Topic | None) -> int:
        """From which length on an item states nothing but what it says: not how the work ended."""
        if topic in _TAKEN_AS_SAID:
            return 0
        if topic is topics.NEXT:
            return _LONGEST_STATUS
        tells = topic is topics.DONE or topic is topics.TASKS
        return 0 if tells and not self._tells_progress() else _NEVER

    def _tells_progress(self) -> bool:
        return "progress" in self._scopes.heading.casefold()

    def _item_label(self, children: list[Block], start: int, end: int) -> bool:
        """`- **Done:** ...` in a list on the state of things: the label says what the item is."""
        lists = [child for child in children if child[0] == LIST] if children else children
        found = label_of_item(self._text, start, end, lists[0][1] if lists else None)
        if found is None:
            return False
        label, reading = found
        if self._scopes.topic is topics.ASIDE and reading.topic in SOFT:
            return False
        words, first, last = trimmed(self._text, label.value, lists[0][1] if lists else end)
        if self._scopes.topic is None and is_path(words.strip("`")):
            return False
        if reading.topic is topics.STATUS:
            self._judge(words, first, last, reading)
            return False
        if lists and read_label(label.name) is None:
            self._other(label.start, lists[0][1], self._scopes.heading)
        self._scopes.push(reading.topic, label.name)
        if words:
            self._state(reading.topic, first, last, label.name)
        for _, _, _, items, _ in lists:
            self._list(items)
        self._scopes.pop()
        if lists:
            self._other(lists[-1][2], end, label.name)
        return True

    def _code(self, block: Block) -> None:
        _, opened, closed, _, info = block
        start, end = fence_content(self._text, block)
        topic = self._scopes.topic
        if start in self._taken:
            return
        if info == "indented":
            for item in split_items(self._text[start:end], start):
                self._say(item.start, item.end)
            return
        if topic in topics.FILES:
            add_listed_files(self._draft, self._text, topic, start, end)
        elif topic is topics.CHECKS:
            for command, parts in commands_in_code(self._text, start, end):
                self._draft.add(topics.CHECKS, command, parts)
        elif topic is topics.NEXT and info and info.split()[0].lower() not in _PROSE_FENCES:
            self._other(opened, closed)
        elif topic in (
            topics.NEXT,
            topics.BRIEF,
            topics.CONTEXT,
            topics.CONSTRAINTS,
            topics.GOAL,
            topics.STATUS,
            topics.READING,
        ):
            kind = topics.CONTEXT if topic in (topics.STATUS, topics.READING) else topic
            self._draft.add(kind, cut(self._text, start, end))
        else:
            self._other(opened, closed)

    def _say(self, start: int, end: int, checked: bool | None = None) -> None:
        topic = self._scopes.topic
        if topic in _TAKEN_AS_SAID:
            add_statement(self._draft, self._text, topic, start, end, checked)
        elif topic is not None and topic is not topics.WHOLE:
            self._state(topic, start, end, checked=checked)
        elif checked is not None:
            self._state(topics.TASKS, start, end, checked=checked)
        elif self._scopes.heading and tells_of_work(self._text[start : min(end, start + 200)].lstrip()):
            self._state(topics.DONE, start, end)
        else:
            self._other(start, end)

    def _state(
        self, topic: Topic | None, start: int, end: int, heading: str = "", checked: bool | None = None
    ) -> None:
        if topic is None or topic is topics.ASIDE or topic is topics.WHOLE:
            self._other(start, end, heading)
            return
        if topic is topics.STATUS or topic is topics.NEXT:
            if end - start < _LONGEST_STATUS and is_status_alone(self._text[start:end].strip()):
                self._draft.judge(self._text[start:end], start, end, 6)
                return
            if topic is topics.STATUS:
                said = " ".join(self._text[start : min(end, start + 300)].split())
                self._draft.judge(said, start, end, 5)
        add_statement(self._draft, self._text, topic, start, end, checked)
        if topic is topics.DONE or topic is topics.TASKS:
            self._judge_progress(start, end)
        elif topic is topics.CHECKS:
            self._other(start, end, heading)
        elif topic in topics.FILES and self._scopes.inside_account():
            add_statement(self._draft, self._text, topics.DONE, start, end, checked)

    def _judge_progress(self, start: int, end: int) -> None:
        """`Progress: 100 %` says how the work ended."""
        if self._text.find("%", start, min(end, start + 120)) > 0 and self._tells_progress():
            self._draft.judge(self._text[start : start + 120], start, end, 4)

    def _other(self, start: int, end: int, heading: str = "") -> None:
        piece = cut(self._text, start, end)
        if piece.text:
            self._draft.others.append((heading or self._scopes.heading, piece))
