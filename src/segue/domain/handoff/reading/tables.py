"""Reads a table: each row is a statement, its columns say which part is which."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.draft import Draft, Piece, cut
from segue.domain.handoff.reading.markdown import HEAD, ROW, Block
from segue.domain.handoff.reading.notations import BAD_MARKS, DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.reading.parts import HEADLINES, PART_LABELS
from segue.domain.handoff.reading.statements import add_statement
from segue.domain.handoff.reading.vocabulary import is_done_word, read_heading, words_of

_STATUS_COLUMNS: Final = frozenset(
    {
        "status",
        "state",
        "done",
        "state now",
        "current status",
        "progress",
        "статус",
        "состояние",
        "estado",
        "stand",
        "statut",
        "état",
        "状态",
        "狀態",
        "状態",
        "상태",
    }
)
_MINOR_COLUMNS: Final = _STATUS_COLUMNS | {"", "id", "no", "date", "nr"}
_SEVERITY_COLUMNS: Final = frozenset(
    {"severity", "sev", "risk level", "schweregrad", "sévérité", "severidad", "критичность", "严重性"}
)
_LIGHTS: Final = frozenset("\U0001f534\U0001f7e0\U0001f7e1\U0001f7e2")
_PROGRESS: Final = frozenset(
    {topics.TASKS, topics.DONE, topics.NEXT, topics.STATUS, topics.BLOCKERS, topics.GOTCHAS, None}
)
_BY_FIRST_COLUMN: Final = frozenset(
    {
        topics.DECISIONS,
        topics.QUESTIONS,
        topics.BLOCKERS,
        topics.GOTCHAS,
        topics.CHECKS,
        topics.FAILED,
        topics.READING,
        topics.CHANGED,
    }
)


def add_table(draft: Draft, text: str, topic: Topic | None, rows: list[Block], heading: str) -> None:
    """One statement for each row of the table's body."""
    names = [
        cut(text, start, end).text.strip("*_ `")
        for head, _, _, cells, _ in rows[:1]
        if head == HEAD
        for _, start, end, _, _ in cells
    ]
    if topic is None or topic in (topics.STATUS, topics.CONTEXT, topics.WHOLE):
        topic = _topic_of_columns(names) or topic
    if topic in (None, topics.CONTEXT, topics.STATUS) and _is_severity_table(text, names, rows):
        topic = topics.GOTCHAS
    names = [_plain_name(name) for name in names]
    at = next((i for i, name in enumerate(names) if name in _STATUS_COLUMNS), None)
    for kind, _, _, row, _ in rows:
        if kind != ROW:
            continue
        cells = [_cell(text, start, end) for _, start, end, _, _ in row]
        filled = [cell for cell in cells if cell.text]
        if not filled:
            continue
        whole = cut(text, filled[0].start, filled[-1].end)
        own = (
            _topic_of_row(topic, cells[at].text)
            if at is not None and at < len(cells) and topic in _PROGRESS
            else topic
        )
        _add_row(draft, text, own, whole, (names, cells), heading)


@lru_cache(maxsize=2048)
def _plain_name(column: str) -> str:
    return " ".join(words_of(column))


def _is_severity_table(text: str, names: list[str], rows: list[Block]) -> bool:
    """True if its rows are graded by how bad they are: findings of a review."""
    if any(_plain_name(name) in _SEVERITY_COLUMNS for name in names):
        return True
    body = [text[start:end] for kind, start, end, _, _ in rows if kind == ROW]
    return len(body) > 1 and all(row.lstrip("| \t\r\n")[:1] in _LIGHTS for row in body)


def _cell(text: str, start: int, end: int) -> Piece:
    if start < end and text[start] == "|":
        start += 1
    if end - 1 > start and text[end - 1] == "|":
        end -= 1
    return cut(text, start, end)


def _topic_of_columns(names: list[str]) -> Topic | None:
    reading = read_heading(names[0]) if names else None
    if reading and reading.exact and reading.topic in _BY_FIRST_COLUMN:
        return reading.topic
    if (
        names
        and len(names) > 1
        and _plain_name(names[0]).split(" ", 1)[0] in ("file", "path", "datei", "archivo", "文件")
    ):
        changed = any(
            word in ("change", "changes", "action", "changed", "modification")
            for name in names[1:]
            for word in _plain_name(name).split()
        )
        return topics.CHANGED if changed else topics.READING
    return None


def _topic_of_row(topic: Topic | None, status: str) -> Topic | None:
    done = _done(status)
    if topic is topics.BLOCKERS or topic is topics.GOTCHAS:
        if done:
            return topics.ASIDE
        return topics.GOTCHAS if words_of(status)[:1] == ["expected"] else topic
    if done is None:
        return topic
    return topics.DONE if done else topics.NEXT


def _done(status: str) -> bool | None:
    for sign in status[:3]:
        if sign in DONE_MARKS:
            return True
        if sign in OPEN_MARKS or sign in BAD_MARKS:
            return False
    return is_done_word(status)


def _add_row(
    draft: Draft,
    text: str,
    topic: Topic | None,
    whole: Piece,
    columns: tuple[list[str], list[Piece]],
    heading: str,
) -> None:
    if topic is None or topic in (topics.ASIDE, topics.WHOLE):
        draft.others.append((heading, whole))
        return
    if topic in topics.FILES or topic is topics.CHECKS or topic is topics.READING:
        add_statement(draft, text, topic, whole.start, whole.end)
        if topic is topics.CHECKS:
            draft.others.append((heading, whole))
        return
    parts = _parts(topic, *columns)
    if parts:
        draft.add(topic, whole, parts)
    else:
        add_statement(draft, text, topic, whole.start, whole.end)


def _parts(topic: Topic, names: list[str], cells: list[Piece]) -> list[tuple[str, Piece]]:
    """The cells by the parts that their columns name; none if the columns name none."""
    labels = PART_LABELS.get(topic)
    if labels is None:
        return []
    found: dict[str, Piece] = {}
    headline = None
    for name, cell in zip(names, cells, strict=False):
        part = labels.get(name)
        if part is None and headline is None and cell.text and len(cell.text) > 3:
            headline = cell
        elif part is not None and cell.text:
            found.setdefault(part, cell)
        elif cell.text and name not in _MINOR_COLUMNS:
            return []
    if headline is None or not found:
        return []
    return [(HEADLINES[topic], headline), *found.items()]
