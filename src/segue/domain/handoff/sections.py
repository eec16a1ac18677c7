"""Walks the blocks of a Markdown document and says what each one states, under the headings above it."""

from __future__ import annotations

import re
from itertools import islice

from segue.domain.handoff.commands import commands_in_code
from segue.domain.handoff.draft import Draft, Piece, cut
from segue.domain.handoff.files import add_listed_files, files_told
from segue.domain.handoff.items import split_items
from segue.domain.handoff.labels import Label, bold_line, label_at, lines_of
from segue.domain.handoff.markdown import (
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
from segue.domain.handoff.notations import DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.outcome import HEADING as HEADING_WEIGHT
from segue.domain.handoff.outcome import TITLE, is_status_alone
from segue.domain.handoff.outline import VALUED, fence_content, heading_words, meaning_of, repeated_sections
from segue.domain.handoff.paths import is_path
from segue.domain.handoff.scopes import BOLD_LEVEL, LABEL_LEVEL, SOFT, STRONG, Scopes, settle
from segue.domain.handoff.sentences import sentences_in
from segue.domain.handoff.statements import FILE_TOPICS, add_statement
from segue.domain.handoff.tables import add_table
from segue.domain.handoff.vocabulary import Reading, is_done_word, read_heading, read_label

_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*(?:\[([ xX~/!-])\][ \t]+)?")
_BULLETS = frozenset({"- ", "* ", "+ "})
"""What most items begin with; the rest is for the regex."""
_EMOJI_LINE = re.compile(f"[ \t]*(?:[-*+\u2022][ \t]+)?[{DONE_MARKS}{OPEN_MARKS}\u274c\u26a0\u2022]")
_FOOTER = re.compile(r"\*[^*\s][^*]*\*|_[^_\s][^_]*_")
"""A line that is all in italics says something about the document."""
_MAX_LABELS = 1000
_LONGEST_STATUS = 32
_NEVER = 1 << 62

_OPEN_SCOPES = frozenset({Topic.STATUS, Topic.CONTEXT, Topic.TASKS, Topic.WHOLE, Topic.ASIDE, None})
_SAID_BESIDE = frozenset({Topic.ASIDE, Topic.STATUS, Topic.CONTEXT})
"""What a labelled line is about wherever it stands: `**Branch:** main` is no finished work."""
_TAKEN_AS_SAID = frozenset(
    {Topic.DECISIONS, Topic.QUESTIONS, Topic.BLOCKERS, Topic.GOTCHAS, Topic.FAILED, Topic.PATTERNS}
    | {Topic.CONSTRAINTS, Topic.GOAL, Topic.BRIEF, Topic.CONTEXT, Topic.READING}
)
"""What is stated on these says nothing on how the work ended."""
_NO_SINGLE_WORD = frozenset({Topic.GOTCHAS, Topic.BLOCKERS, Topic.QUESTIONS, Topic.FAILED})
"""`Risk: LOW` and `Blockers: 0` name none."""
_CUT_IN_SENTENCES = frozenset(
    {Topic.DECISIONS, Topic.NEXT, Topic.GOTCHAS, Topic.QUESTIONS, Topic.BLOCKERS, Topic.FAILED}
)


class SectionReader:
    """Reads one document into a draft."""

    def __init__(self, text: str, draft: Draft, taken: frozenset[int] | set[int] = frozenset()) -> None:
        self._text = text
        self._draft = draft
        self._taken = taken
        self._seen = {"tags": 0, "sections": 0, "labels": 0}
        self._scopes = Scopes()
        self._title_level = 0
        self._words: dict[int, str] = {}
        self._repeated: frozenset[int] = frozenset()

    def read(self, blocks: list[Block]) -> None:
        """Takes down what all blocks state."""
        headings = [block for block in blocks if block.kind == HEADING]
        top = min((block.level for block in headings), default=0)
        if headings and headings[0].level == top and sum(block.level == top for block in headings) == 1:
            self._title_level = top
        self._words = {block.start: heading_words(self._text[block.start : block.end]) for block in headings}
        self._repeated = repeated_sections(blocks, self._words)
        self._walk(blocks)
        if FILE_TOPICS.isdisjoint(self._draft.statements):
            for _, start, end, _ in self._draft.of(Topic.DONE):
                files_told(self._draft, self._text, start, end)

    def notation(self) -> str:
        """How most of the document is written."""
        return max(self._seen, key=lambda kind: (self._seen[kind], kind == "sections"))

    def _walk(self, blocks: list[Block]) -> None:
        last = len(blocks) - 1
        for at, block in enumerate(blocks):
            kind = block.kind
            if kind == HEADING:
                self._heading(block)
            elif kind == LIST:
                self._list(block)
            elif kind == PARAGRAPH:
                self._paragraph(block.start, block.end, blocks[at + 1] if at < last else None)
            else:
                self._rare(block)

    def _rare(self, block: Block) -> None:
        kind = block.kind
        if kind == TABLE:
            add_table(self._draft, self._text, self._scopes.topic, block, self._scopes.heading)
        elif kind == CODE:
            self._code(block)
        elif kind == QUOTE:
            self._walk(block.children)
        elif kind in (TAG, END_TAG):
            self._tag(block)
        elif kind == HTML:
            self._other(cut(self._text, block.start, block.end))

    def _open(self, level: int, heading: str, reading: Reading | None, *, weak: bool = False) -> None:
        self._scopes.open(level, heading, reading, weak=weak)
        if reading is not None:
            self._seen["labels" if level == LABEL_LEVEL else "sections"] += 1

    def _heading(self, block: Block) -> None:
        _, start, end, _, _, level = block
        words = self._words.get(start) or heading_words(self._text[start:end])
        meaning = meaning_of(words)
        if level == self._title_level and not (meaning.reading and meaning.reading.exact):
            self._title(words, cut(self._text, start, end))
        elif start in self._repeated:
            self._draft.note(f"the section {words!r} stands there again; the first one was taken")
            self._open(level, words, Reading(topic=Topic.ASIDE, exact=True, weight=1))
            self._draft.judge(words, *self._trimmed(start, end), HEADING_WEIGHT)
        else:
            self._open(level, words, meaning.opens)
            self._draft.judge(meaning.said, *self._trimmed(start, end), meaning.weight)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The place of a heading without the line break after it."""
        piece = cut(self._text, start, end)
        return piece.start, piece.end

    def _title(self, words: str, piece: Piece) -> None:
        """A document's title names its subject; only a part of it that is a heading by itself is read."""
        self._draft.judge(words, piece.start, piece.end, TITLE)
        topic = None
        for part in VALUED.split(words):
            reading = read_heading(part.strip())
            if reading and reading.exact and reading.topic in STRONG:
                topic = reading
        self._open(self._title_level, words, topic, weak=True)

    def _tag(self, block: Block) -> None:
        name = block.info
        if block.kind == TAG:
            self._seen["tags"] += read_heading(name) is not None
            self._scopes.open_tag(name, read_heading(name))
        else:
            self._scopes.close_tag(name)

    def _paragraph(self, start: int, end: int, after: Block | None) -> None:
        text = self._text
        piece = cut(text, start, end)
        if not piece.text:
            return
        single = "\n" not in piece.text
        stressed = piece.text[0] in "*_"
        if single and stressed and (words := bold_line(text, piece.start, piece.end)):
            self._bold_heading(words, piece)
            return
        if single and piece.text[-1] in ":\uff1a" and after is not None and after.kind in (LIST, CODE, TABLE):
            self._introduction(piece)
            return
        if single and stressed and _FOOTER.fullmatch(piece.text):
            self._other(piece, "footer")
            return
        label = label_at(text, piece.start, piece.end)
        if label and self._labelled(label, piece):
            return
        if (
            not single
            and _EMOJI_LINE.match(piece.text)
            and piece.text.count("\n") < _MAX_LABELS
            and all(_EMOJI_LINE.match(text, a) for a, _ in lines_of(text, piece.start, piece.end))
        ):
            for begin, stop in lines_of(text, piece.start, piece.end):
                self._say(begin, stop)
            return
        self._say(piece.start, piece.end)

    def _bold_heading(self, words: str, piece: Piece) -> None:
        meaning = meaning_of(words)
        self._open(BOLD_LEVEL, words, meaning.opens)
        self._draft.judge(meaning.said, piece.start, piece.end, meaning.weight)

    def _introduction(self, piece: Piece) -> None:
        """`Key new files:` before a list: a heading if it means something, else just an introduction."""
        words = piece.text.strip("*_ :\uff1a")
        if self._scopes.topic is Topic.DONE:
            files_told(self._draft, self._text, piece.start, piece.end)
        reading = read_label(words)
        if reading or self._scopes.level == LABEL_LEVEL:
            self._open(LABEL_LEVEL, words, reading)

    def _labelled(self, first: Label, piece: Piece) -> bool:
        """A paragraph made of `Label: text` lines; false if it is none."""
        text = self._text
        marks: list[Label] = []
        for begin, stop in islice(lines_of(text, piece.start, piece.end), _MAX_LABELS):
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
            stop = marks[at + 1].start if at + 1 < len(marks) else piece.end
            self._label(label, readings[at], stop)
        return True

    def _label(self, label: Label, reading: Reading | None, stop: int) -> None:
        value = cut(self._text, label.value, stop)
        topic = self._scopes.topic
        if reading is not None:
            self._seen["labels"] += 1
            topic = (
                reading.topic if reading.exact and reading.topic in _SAID_BESIDE else settle(topic, reading)
            )
            if reading.topic is Topic.STATUS:
                self._judge(value, reading)
        if not value.text:
            self._open(LABEL_LEVEL, label.name, reading)
        elif reading is None:
            self._say(label.start, stop)
        elif topic is Topic.STATUS or (topic in _NO_SINGLE_WORD and len(value.text.split()) < 2):
            self._other(cut(self._text, label.start, stop), label.name)
        elif topic in _CUT_IN_SENTENCES and label.bold:
            for begin, finish in sentences_in(self._text, value.start, value.end):
                self._state(topic, begin, finish)
        else:
            self._state(topic, value.start, value.end, label.name)

    def _judge(self, value: Piece, reading: Reading) -> None:
        if value.text:
            weight = 8 if reading.exact else 4
            self._draft.judge(value.text[:200], value.start, value.end, weight)

    def _list(self, block: Block) -> None:
        text, draft, topic = self._text, self._draft, self._scopes.topic
        may_be_labelled = topic in _OPEN_SCOPES
        shortest = self._shortest_taken(topic)
        for item in block.children:
            _, start, end, children, _, _ = item
            checked = None
            # `- word` is what most items begin with.
            if text[start : start + 2] in _BULLETS and text[start + 2 : start + 3].isalnum():
                start += 2
            elif marker := _MARKER.match(text, start, end):
                start = marker.end()
                if marker[1] is not None:
                    checked = marker[1] in "xX"
            if may_be_labelled and self._item_label(children, start, end):
                continue
            if topic is not None and end - start >= shortest:
                add_statement(draft, text, topic, start, end, checked)
            else:
                self._say(start, end, checked)

    def _shortest_taken(self, topic: Topic | None) -> int:
        """From which length on an item states nothing but what it says: not how the work ended."""
        if topic in _TAKEN_AS_SAID:
            return 0
        if topic is Topic.NEXT:
            return _LONGEST_STATUS
        tells = topic is Topic.DONE or topic is Topic.TASKS
        return 0 if tells and not self._tells_progress() else _NEVER

    def _tells_progress(self) -> bool:
        return "progress" in self._scopes.heading.casefold()

    def _item_label(self, children: list[Block], start: int, end: int) -> bool:
        """`- **Done:** ...` in a list on the state of things: the label says what the item is."""
        label = label_at(self._text, start, end)
        if label is None:
            return False
        lists = [child for child in children if child.kind == LIST]
        reading = read_label(label.name)
        if (
            reading is None
            and lists
            and is_done_word(label.name)
            and not cut(self._text, label.value, lists[0].start).text
        ):
            reading = Reading(topic=Topic.DONE, exact=True, weight=1)
        if reading is None or not reading.exact:
            return False
        if reading.topic in (Topic.CONTEXT, Topic.WHOLE, Topic.CHECKS) or (
            self._scopes.topic is Topic.ASIDE and reading.topic in SOFT
        ):
            return False
        lead = cut(self._text, label.value, lists[0].start if lists else end)
        if self._scopes.topic is None and is_path(lead.text.strip("`")):
            return False
        if reading.topic is Topic.STATUS:
            self._judge(lead, reading)
            return False
        self._scopes.push(reading.topic, label.name)
        if lead.text:
            self._state(reading.topic, lead.start, lead.end, label.name)
        for inner in lists:
            self._list(inner)
        self._scopes.pop()
        return True

    def _code(self, block: Block) -> None:
        start, end = fence_content(self._text, block)
        topic = self._scopes.topic
        if start in self._taken:
            return
        if block.info == "indented":
            for item in split_items(self._text[start:end], start):
                self._say(item.start, item.end)
            return
        if topic in FILE_TOPICS:
            add_listed_files(self._draft, self._text, topic, start, end)
        elif topic is Topic.CHECKS:
            for command, parts in commands_in_code(self._text, start, end):
                self._draft.add(Topic.CHECKS, command, parts)
        elif topic in (
            Topic.NEXT,
            Topic.BRIEF,
            Topic.CONTEXT,
            Topic.CONSTRAINTS,
            Topic.GOAL,
            Topic.STATUS,
            Topic.READING,
        ):
            kind = Topic.CONTEXT if topic in (Topic.STATUS, Topic.READING) else topic
            self._draft.add(kind, cut(self._text, start, end))
        else:
            self._other(cut(self._text, block.start, block.end))

    def _say(self, start: int, end: int, checked: bool | None = None) -> None:
        topic = self._scopes.topic
        if topic in _TAKEN_AS_SAID:
            add_statement(self._draft, self._text, topic, start, end, checked)
        elif topic is not None and topic is not Topic.WHOLE:
            self._state(topic, start, end, checked=checked)
        elif checked is not None:
            self._state(Topic.TASKS, start, end, checked=checked)
        else:
            self._other(cut(self._text, start, end))

    def _state(
        self, topic: Topic | None, start: int, end: int, heading: str = "", checked: bool | None = None
    ) -> None:
        if topic is None or topic in (Topic.ASIDE, Topic.WHOLE):
            self._other(cut(self._text, start, end), heading)
            return
        if topic is Topic.STATUS or topic is Topic.NEXT:
            if end - start < _LONGEST_STATUS and is_status_alone(self._text[start:end].strip()):
                self._draft.judge(self._text[start:end], start, end, 6)
                return
            if topic is Topic.STATUS:
                said = " ".join(self._text[start : min(end, start + 300)].split())
                self._draft.judge(said, start, end, 5)
        add_statement(self._draft, self._text, topic, start, end, checked)
        if topic is Topic.DONE or topic is Topic.TASKS:
            self._judge_progress(start, end)
        elif topic is Topic.CHECKS:
            self._other(cut(self._text, start, end), heading)
        elif topic in FILE_TOPICS and self._scopes.inside_account():
            add_statement(self._draft, self._text, Topic.DONE, start, end, checked)

    def _judge_progress(self, start: int, end: int) -> None:
        """`Progress: 100 %` says how the work ended."""
        if self._text.find("%", start, min(end, start + 120)) > 0 and self._tells_progress():
            self._draft.judge(self._text[start : start + 120], start, end, 4)

    def _other(self, piece: Piece, heading: str = "") -> None:
        if piece.text:
            self._draft.others.append((heading or self._scopes.heading, piece))
