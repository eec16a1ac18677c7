"""What the records keep as JSON comes back as it was written."""

from __future__ import annotations

from dataclasses import replace

from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.queries import SqlRows
from segue.domain.asking import HandoffReading
from segue.domain.briefing.model import ItemPlace
from segue.domain.final_state import CheckResult, FinalState, Finding, FindingKind
from segue.domain.handoff import Handoff
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline
from segue.domain.session import HandoffReason
from tests.storage.test_store import NOW, add_pipeline, get, new_session

LEDGER = {"entries": [{"claim": "file_created", "verdict": "refuted"}], "corrections": ["No: a.py"]}
EVIDENCE = {"files": [{"path": "a.py", "kind": "added"}], "left_out": {"files": 3}}
READING = HandoffReading(
    coverage=0.75,
    guessed=("gotchas[0]",),
    asked=("outcome",),
    places={"gotchas[0]": ItemPlace(heading="Web", extras=("owner: ops",))},
)


async def test_a_handoff_with_its_record_ledger_evidence_and_reading(database: SqlStore) -> None:
    def save(rows: SqlRows) -> HandoffRecord:
        return rows.insert(
            HandoffRecord(
                session_id=rows.insert(new_session()).id,
                step_id=None,
                reason=HandoffReason.TASK_BOUNDARY,
                content_md="outcome: completed",
                handoff=Handoff(outcome="completed", what_was_done=("Added a.py",)),
                ledger=LEDGER,
                evidence=EVIDENCE,
                reading=READING,
                created_at=NOW,
            )
        )

    saved = await database.write(save)
    assert await database.read(lambda rows: rows.last_handoff(saved.session_id)) == saved


async def test_a_run_with_its_plan_and_how_it_was_at_its_end(database: SqlStore) -> None:
    finding = Finding(kind=FindingKind.WEAKENED, step=2, agent_name="dev", text="test_a", path="t.py", line=3)
    final = FinalState(findings=(finding,), checks=(CheckResult(command="t", exit_code=None, fault="gone"),))

    def save(rows: SqlRows) -> Pipeline:
        added = add_pipeline(rows)
        return rows.save_run(added, replace(added, final=final))

    saved = await database.write(save)
    assert await get(database, saved.id) == saved
