"""Cuts a table into its head and its rows; columns and status cells say what they are about."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from segue.domain.handoff.extract.blocks import HEAD, ROW, Block
from segue.domain.handoff.extract.heading_words import words_of
from segue.domain.handoff.extract.topics import BAD_MARKS, DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.extract.units import Cell, Outline, UnitKind, Where
from segue.domain.handoff.extract.vocabulary import is_done_word, read_heading
from segue.domain.text.span import TextPiece, cut

STATUS_COLUMNS: Final = frozenset(
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
        "etat",  # columns are compared without accents
        "状态",
        "狀態",
        "状態",
        "상태",
    }
)
MINOR_COLUMNS: Final = STATUS_COLUMNS | {"", "id", "no", "date", "nr"}
_SEVERITY_COLUMNS: Final = frozenset(
    {"severity", "sev", "risk level", "schweregrad", "severite", "severidad", "критичность", "严重性"}
)
_LIGHTS: Final = frozenset("\U0001f534\U0001f7e0\U0001f7e1\U0001f7e2")
_PROGRESS: Final = frozenset(
    {Topic.TASKS, Topic.DONE, Topic.NEXT, Topic.STATUS, Topic.BLOCKERS, Topic.GOTCHAS, None}
)
_AHEAD: Final = frozenset({Topic.TASKS, Topic.NEXT})
"""Where a row with a cross is still to be done; elsewhere it says what does not work."""
_BY_FIRST_COLUMN: Final = frozenset(
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


def cut_table(outline: Outline, table: Block, where: Where) -> None:
    """One unit for the table's head, and one for each row of its body."""
    text, topic = outline.source, where.topic
    names = [
        cell.text.strip("*_ `")
        for head in table.children[:1]
        if head.kind == HEAD
        for cell in _cells(text, head)
    ]
    if topic is None or topic in (Topic.STATUS, Topic.CONTEXT, Topic.WHOLE):
        topic = _topic_of_columns(names) or topic
    if topic in (None, Topic.CONTEXT, Topic.STATUS) and _is_severity_table(text, names, table.children):
        topic = Topic.GOTCHAS
    status = next((at for at, name in enumerate(names) if plain_name(name) in STATUS_COLUMNS), None)
    introduced = where.lead_in
    for row in table.children:
        cells = _cells(text, row)
        filled = [cell for cell in cells if cell.text]
        if not filled:
            continue
        if row.kind == HEAD:
            head = outline.add(UnitKind.HEAD, filled[0].start, filled[-1].end, where)
            introduced = head if introduced is None else introduced
            continue
        own = topic
        if status is not None and status < len(cells) and topic in _PROGRESS:
            own = _topic_of_row(topic, cells[status].text)
        named = [*names, *[""] * len(cells)]
        outline.add(
            UnitKind.ROW,
            filled[0].start,
            filled[-1].end,
            replace(where, topic=own, lead_in=introduced),
            cells=tuple(Cell(name=name, piece=cell) for name, cell in zip(named, cells, strict=False)),
        )


def _cells(text: str, row: Block) -> list[TextPiece]:
    return [_cell(text, cell.start, cell.end) for cell in row.children]


@lru_cache(maxsize=2048)
def plain_name(column: str) -> str:
    """A column's name as it is compared."""
    return " ".join(words_of(column))


def _is_severity_table(text: str, names: list[str], rows: list[Block]) -> bool:
    """True if its rows are graded by how bad they are: findings of a review."""
    if any(plain_name(name) in _SEVERITY_COLUMNS for name in names):
        return True
    body = [text[row.start : row.end] for row in rows if row.kind == ROW]
    return len(body) > 1 and all(row.lstrip("| \t\r\n")[:1] in _LIGHTS for row in body)


def _cell(text: str, start: int, end: int) -> TextPiece:
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
        and plain_name(names[0]).split(" ", 1)[0] in ("file", "path", "datei", "archivo", "文件")
    ):
        changed = any(
            word in ("change", "changes", "action", "changed", "modification")
            for name in names[1:]
            for word in plain_name(name).split()
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
    if not done and topic not in _AHEAD and any(sign in BAD_MARKS for sign in status[:3]):
        return Topic.GOTCHAS
    return Topic.DONE if done else Topic.NEXT


def _done(status: str) -> bool | None:
    for sign in status[:3]:
        if sign in DONE_MARKS:
            return True
        if sign in OPEN_MARKS or sign in BAD_MARKS:
            return False
    return is_done_word(status)
