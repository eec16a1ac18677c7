"""Reads a table: each row is a statement, its columns say which part is which."""

from __future__ import annotations

from functools import lru_cache

from segue.domain.handoff.draft import Draft, Piece, cut
from segue.domain.handoff.markdown import CELL, HEAD, ROW, Block
from segue.domain.handoff.notations import BAD_MARKS, DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.parts import HEADLINES, PART_LABELS
from segue.domain.handoff.statements import FILE_TOPICS, add_statement
from segue.domain.handoff.vocabulary import is_done_word, read_heading, words_of

_STATUS_COLUMNS = frozenset(
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
_MINOR_COLUMNS = _STATUS_COLUMNS | {"", "id", "no", "date", "nr"}
_SEVERITY_COLUMNS = frozenset(
    {"severity", "sev", "risk level", "schweregrad", "sévérité", "severidad", "критичность", "严重性"}
)
_LIGHTS = frozenset("\U0001f534\U0001f7e0\U0001f7e1\U0001f7e2")
_PROGRESS = frozenset(
    {Topic.TASKS, Topic.DONE, Topic.NEXT, Topic.STATUS, Topic.BLOCKERS, Topic.GOTCHAS, None}
)
_BY_FIRST_COLUMN = frozenset(
    {
        Topic.DECISIONS,
        Topic.QUESTIONS,
        Topic.BLOCKERS,
        Topic.GOTCHAS,
        Topic.CHECKS,
        Topic.FAILED,
        Topic.READING,
        Topic.CHANGED,
    }
)


def add_table(draft: Draft, text: str, topic: Topic | None, table: Block, heading: str) -> None:
    """One statement for each row of the table's body."""
    head = next((child for child in table.children if child.kind == HEAD), None)
    names = (
        [cut(text, c.start, c.end).text.strip("*_ `") for c in head.children if c.kind == CELL]
        if head
        else []
    )
    if topic is None or topic in (Topic.STATUS, Topic.CONTEXT, Topic.WHOLE):
        topic = _topic_of_columns(names) or topic
    if topic in (None, Topic.CONTEXT, Topic.STATUS) and _is_severity_table(text, names, table):
        topic = Topic.GOTCHAS
    names = [_plain_name(name) for name in names]
    at = next((i for i, name in enumerate(names) if name in _STATUS_COLUMNS), None)
    for row in table.children:
        if row.kind != ROW:
            continue
        cells = [_cell(text, c) for c in row.children if c.kind == CELL]
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


def _is_severity_table(text: str, names: list[str], table: Block) -> bool:
    """True if its rows are graded by how bad they are: findings of a review."""
    if any(_plain_name(name) in _SEVERITY_COLUMNS for name in names):
        return True
    rows = [row for row in table.children if row.kind == ROW]
    return len(rows) > 1 and all(cut(text, r.start, r.end).text.lstrip("| ")[:1] in _LIGHTS for r in rows)


def _cell(text: str, cell: Block) -> Piece:
    start, end = cell.start, cell.end
    if text.startswith("|", start):
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
        return Topic.CHANGED if changed else Topic.READING
    return None


def _topic_of_row(topic: Topic | None, status: str) -> Topic | None:
    done = _done(status)
    if topic is Topic.BLOCKERS or topic is Topic.GOTCHAS:
        if done:
            return Topic.ASIDE
        return Topic.GOTCHAS if words_of(status)[:1] == ["expected"] else topic
    if done is None:
        return topic
    return Topic.DONE if done else Topic.NEXT


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
    if topic is None or topic in (Topic.ASIDE, Topic.WHOLE):
        draft.others.append((heading, whole))
        return
    if topic in FILE_TOPICS or topic is Topic.CHECKS or topic is Topic.READING:
        add_statement(draft, text, topic, whole.start, whole.end)
        if topic is Topic.CHECKS:
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
