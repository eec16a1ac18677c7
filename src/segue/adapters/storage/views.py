"""Reads for people and programs, in plain SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from segue.adapters.storage.audit_views import AuditReading
from segue.adapters.storage.codec import (
    Row,
    columns,
    decode,
    read_final_state,
    read_left_out,
    read_time,
    read_usage,
    where,
)
from segue.adapters.storage.gateway import ReadConnection
from segue.adapters.storage.reader import Reader
from segue.adapters.storage.retention_views import RetentionReading
from segue.adapters.storage.session_views import SessionReading
from segue.application.run_results import EndedRun, RunResult, result_of
from segue.application.views import (
    AttemptProgress,
    AttemptView,
    HandoffView,
    InboxEntry,
    PipelineDetail,
    PipelineFilter,
    PipelinePage,
    PipelineView,
    RepairView,
    StepDetail,
    StepView,
)
from segue.domain.activity import Activity
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.attempt import AttemptStatus
from segue.domain.audit import AuditEntry
from segue.domain.errors import PipelineNotFound, StepNotFound
from segue.domain.pipeline import PipelineStatus
from segue.domain.session import MessageKind
from segue.domain.tokens import Token, TokenRole
from segue.domain.usage import Usage
from segue.domain.workers import Worker

T = TypeVar("T")


class SqlViews(SessionReading, AuditReading, RetentionReading):
    """Each read is one function in one transaction: it sees one state of the records."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def _read(self, act: Callable[[ReadConnection], T]) -> T:
        return await self._reader.run(act)

    async def pipelines(self, criteria: PipelineFilter) -> PipelinePage:
        """Some pipelines, newest first."""
        found = await self._read(lambda rows: _found(rows, criteria))
        items = [decode(PipelineView, row) for row in found[: criteria.limit]]
        return PipelinePage(items=items, next_cursor=items[-1].id if len(found) > criteria.limit else None)

    async def pipeline(self, pipeline_id: int) -> PipelineDetail:
        """A run with its steps and their newest handoffs."""
        return await self._read(lambda rows: _pipeline(rows, pipeline_id))

    async def check_pipeline(self, pipeline_id: int) -> None:
        """`PipelineNotFound` unless it is there."""
        sql = "SELECT id FROM pipelines WHERE id = :id"
        if not await self._read(lambda rows: rows.all(sql, id=pipeline_id)):
            raise PipelineNotFound(pipeline_id)

    async def step(self, pipeline_id: int, number: int) -> StepDetail:
        """A step by its place in the run, 1 for the first, with all its attempts."""
        return await self._read(lambda rows: _step(rows, pipeline_id, number))

    async def entries_after(
        self, entry_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[AuditEntry]:
        """Audit entries after an id, in order."""
        return await self._after(AuditEntry, "audit_events", entry_id, pipeline_id, limit)

    async def last_entry_id(self) -> int:
        """The id of the newest audit entry, 0 if there is none."""
        return await self._last_id("audit_events")

    async def activity_after(
        self, activity_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[Activity]:
        """What agents did after an id, in order."""
        return await self._after(Activity, "activity", activity_id, pipeline_id, limit)

    async def last_activity_id(self) -> int:
        """The id of the newest activity, 0 if there is none."""
        return await self._last_id("activity")

    async def activity_of(self, session_id: int) -> list[Activity]:
        """All that was done in one session."""
        sql = f"{_ACTIVITY} WHERE t.session_id = :session_id ORDER BY t.id"
        found = await self._read(lambda rows: rows.all(sql, session_id=session_id))
        return [decode(Activity, row) for row in found]

    async def activity_in_step(self, step_id: int) -> list[Activity]:
        """All that was done in the sessions of one step."""
        sql = f"{_ACTIVITY} WHERE t.session_id IN ({_SESSIONS_OF_A_STEP}) ORDER BY t.id"
        found = await self._read(lambda rows: rows.all(sql, step_id=step_id))
        return [decode(Activity, row) for row in found]

    async def conflicts(self, working_dir: str) -> list[PipelineView]:
        """The unfinished pipelines that were submitted for a folder."""
        unfinished = ", ".join(f"'{status}'" for status in PipelineStatus if not status.is_final)
        where = f"p.working_dir = :working_dir AND p.status IN ({unfinished})"
        sql = f"{_PIPELINES} WHERE {where} ORDER BY p.id"
        found = await self._read(lambda rows: rows.all(sql, working_dir=working_dir))
        return [decode(PipelineView, row) for row in found]

    async def approvals(self, *, pipeline_id: int | None = None, everything: bool = False) -> list[Approval]:
        """Pending questions, oldest first; with `everything`, those that are settled too."""
        return await self._read(lambda rows: _approvals(rows, pipeline_id, everything=everything))

    async def inbox(self) -> list[InboxEntry]:
        """What waits for a person, and where; the oldest first."""
        return await self._read(_inbox)

    async def workers(self) -> list[Worker]:
        """All workers that were not removed."""
        found = await self._read(lambda rows: rows.all(f"SELECT {columns(Worker, 'w')} FROM workers w"))
        return [decode(Worker, row) for row in found]

    async def token(self, token_hash: str) -> Token | None:
        """The token whose value has this hash."""
        found = await self._read(lambda rows: rows.all(f"{_TOKENS} WHERE t.hash = :hash", hash=token_hash))
        return _token(found[0]) if found else None

    async def tokens(self) -> list[Token]:
        """All tokens, oldest first."""
        return [_token(row) for row in await self._read(lambda rows: rows.all(f"{_TOKENS} ORDER BY t.id"))]

    async def has_code(self, code_hash: str) -> bool:
        """Whether there is a code with this hash."""
        sql = "SELECT hash FROM link_codes WHERE hash = :hash"
        return bool(await self._read(lambda rows: rows.all(sql, hash=code_hash)))

    async def _after(
        self, kind: type[T], table: str, last: int, pipeline_id: int | None, limit: int
    ) -> list[T]:
        chosen, given = where(
            ("t.id > :last", "last", last), ("t.pipeline_id = :pipeline_id", "pipeline_id", pipeline_id)
        )
        sql = f"SELECT {columns(kind, 't')} FROM {table} t {chosen} ORDER BY t.id LIMIT :most"
        found = await self._read(lambda rows: rows.all(sql, most=limit, **given))
        return [decode(kind, row) for row in found]

    async def _last_id(self, table: str) -> int:
        (row,) = await self._read(lambda rows: rows.all(f"SELECT max(id) AS last FROM {table}"))
        return row["last"] or 0


def _found(rows: ReadConnection, criteria: PipelineFilter) -> list[Row]:
    """The pipelines of a page, and one more if there is another page."""
    source, contains, text = _PIPELINES, _CONTAINS, criteria.text
    newest_first = "p.id"
    if text and len(text) >= _LETTERS and rows.has_text_table:
        source, contains, text = _FOUND_PIPELINES, "x.pipelines_text MATCH :text", _quoted(text)
        newest_first = "x.rowid"
    elif text:
        text = f"%{_escaped(text)}%"
    chosen, given = where(
        ("p.status = :status", "status", criteria.status and str(criteria.status)),
        ("p.template = :template", "template", criteria.template),
        (contains, "text", text or None),
        (f"{newest_first} < :before", "before", criteria.before),
    )
    sql = f"{source} {chosen} ORDER BY {newest_first} DESC LIMIT :most"
    return rows.all(sql, **given, most=criteria.limit + 1)


def _escaped(text: str) -> str:
    """Text in which LIKE sees no pattern."""
    return text.replace("/", "//").replace("%", "/%").replace("_", "/_")


def _quoted(text: str) -> str:
    """Text in which full text search sees no operator."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _pipeline(rows: ReadConnection, pipeline_id: int) -> PipelineDetail:
    found = rows.all(_PIPELINE, pipeline_id=pipeline_id)
    if not found:
        raise PipelineNotFound(pipeline_id)
    (row,) = found
    status, steps = PipelineStatus(row["status"]), _steps(rows, pipeline_id)
    return decode(
        PipelineDetail,
        row,
        steps=steps,
        approvals=_approvals(rows, pipeline_id),
        result=_result(row, status, steps) if status.is_final else None,
    )


def _result(row: Row, status: PipelineStatus, steps: list[StepView]) -> RunResult:
    ended = EndedRun(
        status=status,
        reason=row["reason"],
        steps=steps,
        final=read_final_state(row["final_json"]),
        began=read_time(row["created_at"]),
        ended=read_time(row["updated_at"]),
    )
    return result_of(ended)


def _steps(rows: ReadConnection, pipeline_id: int) -> list[StepView]:
    """The steps of a run in their order, with their newest handoffs; none if there is no such run."""
    handoffs = {
        row["step_id"]: decode(HandoffView, row)
        for row in rows.all(_NEWEST_HANDOFFS, pipeline_id=pipeline_id)
    }
    usage: dict[int, Usage] = {}
    for row in rows.all(_USAGE, pipeline_id=pipeline_id):
        step_id = row["step_id"]
        usage[step_id] = usage.get(step_id, Usage()) + read_usage(row["usage_json"])
    attempts = {row["step_id"]: row for row in rows.all(_ATTEMPT_COUNTS, pipeline_id=pipeline_id)}
    steps = rows.all(_STEPS, pipeline_id=pipeline_id)
    return [
        decode(
            StepView,
            {**row, **attempts.get(row["id"], _NOT_BEGUN)},
            latest_handoff=handoffs.get(row["id"]),
            usage=usage.get(row["id"]),
        )
        for row in steps
    ]


def _step(rows: ReadConnection, pipeline_id: int, number: int) -> StepDetail:
    steps = _steps(rows, pipeline_id)
    if not steps:
        raise PipelineNotFound(pipeline_id)  # every run has a step
    if not 1 <= number <= len(steps):
        raise StepNotFound(pipeline_id, number, len(steps))
    step = steps[number - 1]
    repairs: dict[int, list[RepairView]] = {}
    for row in rows.all(_REPAIRS, step_id=step.id):
        turns = repairs.setdefault(row["session_id"], [])
        turns.append(decode(RepairView, row, number=len(turns) + 1))
    attempts = [
        decode(
            AttemptView,
            row,
            status=_progress(row),
            briefing=row["text"].removesuffix(f"\n{row['carry_over']}" if row["carry_over"] else ""),
            repairs=repairs.get(row["session"], []),
            left_out=list(read_left_out(row["left_out_json"] or "[]")),
        )
        for row in rows.all(_ATTEMPTS, step_id=step.id)
    ]
    return StepDetail(**{name: getattr(step, name) for name in StepView.__slots__}, attempts=attempts)


def _progress(row: Row) -> AttemptProgress:
    """Of an attempt that is under way, how far its briefing has come."""
    if row["status"] != AttemptStatus.RUNNING:
        return AttemptProgress(row["status"])
    return AttemptProgress.OPENING if row["session_ref"] is None else AttemptProgress(row["briefing_status"])


def _approvals(rows: ReadConnection, pipeline_id: int | None, *, everything: bool = False) -> list[Approval]:
    chosen, given = where(
        ("t.pipeline_id = :pipeline_id", "pipeline_id", pipeline_id),
        ("t.status = :status", "status", None if everything else str(ApprovalStatus.PENDING)),
    )
    return [decode(Approval, row) for row in rows.all(f"{_APPROVALS} {chosen} ORDER BY t.id", **given)]


def _inbox(rows: ReadConnection) -> list[InboxEntry]:
    return [
        InboxEntry(
            approval=decode(Approval, row),
            pipeline_title=row["pipeline_title"],
            step_number=None if row["order_index"] is None else row["order_index"] + 1,
            step_name=row["step_name"],
        )
        for row in rows.all(_INBOX)
    ]


def _token(row: Row) -> Token:
    return decode(Token, row, roles=tuple(TokenRole(role) for role in row["roles"].split()))


_CONTAINS = "(lower(p.title) LIKE lower(:text) ESCAPE '/' OR lower(p.prompt) LIKE lower(:text) ESCAPE '/')"

_PIPELINES = f"SELECT {columns(PipelineView, 'p')} FROM pipelines p"
"""Without the plan: it is large, and nobody reads it here."""
_LETTERS = 3
"""As many are one entry of the index of texts; a shorter text is looked for in every pipeline."""
_FOUND_PIPELINES = (
    f"SELECT {columns(PipelineView, 'p')} FROM pipelines_text x CROSS JOIN pipelines p ON p.id = x.rowid"
)
"""On SQLite; `CROSS` so that the index is asked first. PostgreSQL finds its index by the condition itself."""
_PIPELINE = f"""
SELECT {columns(PipelineDetail, "p", without=("steps", "approvals", "result"))}, p.final_json
FROM pipelines p WHERE p.id = :pipeline_id
"""
_COUNTED = ("attempt_count", "handovers", "repairs", "questions", "backend")
_NOT_BEGUN = dict(zip(_COUNTED, (0, 0, 0, 0, None), strict=True))
_STEPS = f"""
SELECT {columns(StepView, "s", without=(*_COUNTED, "type", "latest_handoff", "usage"))}, s.kind AS type
FROM steps s WHERE s.pipeline_id = :pipeline_id ORDER BY s.order_index
"""
_NEWEST_HANDOFFS = f"""
SELECT {columns(HandoffView, "h")}, h.step_id FROM handoffs h
WHERE h.id IN (
    SELECT max(n.id) FROM handoffs n JOIN steps s ON s.id = n.step_id
    WHERE s.pipeline_id = :pipeline_id GROUP BY n.step_id
)
"""
_USAGE = """
SELECT a.step_id, a.usage_json FROM agents a JOIN steps s ON s.id = a.step_id
WHERE s.pipeline_id = :pipeline_id AND a.usage_json IS NOT NULL ORDER BY a.id
"""
"""What each session of each step has used."""


def _turns(kind: MessageKind) -> str:
    """How many messages of a kind a step had."""
    return (
        "(SELECT count(*) FROM messages m JOIN attempts o ON o.session_id = m.session_id "
        f"WHERE o.step_id = t.step_id AND m.kind = '{kind}')"
    )


_ATTEMPT_COUNTS = f"""
SELECT t.step_id, count(*) AS attempt_count, max(a.backend) AS backend,
    count(CASE WHEN t.status = '{AttemptStatus.HANDED_OVER}' THEN 1 END) AS handovers,
    {_turns(MessageKind.REPAIR)} AS repairs, {_turns(MessageKind.QUESTION)} AS questions
FROM attempts t JOIN steps s ON s.id = t.step_id JOIN agents a ON a.id = t.session_id
WHERE s.pipeline_id = :pipeline_id GROUP BY t.step_id
"""
"""How many attempts of each step were begun and handed over; on what; its repairs and questions."""
_NOT_OF_AN_ATTEMPT = (
    *("backend", "session", "usage", "repairs", "left_out"),
    *("status", "briefing", "text", "briefing_sha256", "reply"),
)
_ATTEMPTS = f"""
SELECT {columns(AttemptView, "t", without=_NOT_OF_AN_ATTEMPT)},
    t.status, t.left_out_json, t.session_id AS session, a.backend, a.usage_json, a.session_ref,
    m.text, m.sha256 AS briefing_sha256, m.reply, m.status AS briefing_status
FROM attempts t JOIN agents a ON a.id = t.session_id
JOIN messages m ON m.session_id = t.session_id AND m.kind = '{MessageKind.BRIEFING}'
WHERE t.step_id = :step_id ORDER BY t.number
"""
_REPAIRS = f"""
SELECT {columns(RepairView, "m", without=("number",))}, m.session_id
FROM messages m JOIN attempts t ON t.session_id = m.session_id
WHERE t.step_id = :step_id AND m.kind IN ('{MessageKind.REPAIR}', '{MessageKind.QUESTION}') ORDER BY m.id
"""
_ACTIVITY = f"SELECT {columns(Activity, 't')} FROM activity t"
_SESSIONS_OF_A_STEP = "SELECT a.id FROM agents a WHERE a.step_id = :step_id"
_APPROVALS = f"SELECT {columns(Approval, 't')} FROM approvals t"
_INBOX = f"""
SELECT {columns(Approval, "t")}, p.title AS pipeline_title, s.order_index, s.name AS step_name
FROM approvals t LEFT JOIN pipelines p ON p.id = t.pipeline_id LEFT JOIN steps s ON s.id = t.step_id
WHERE t.status = '{ApprovalStatus.PENDING}' ORDER BY t.id
"""
_TOKENS = f"SELECT {columns(Token, 't')} FROM tokens t"
