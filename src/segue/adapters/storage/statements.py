"""The statements of transactions, beyond those of one value; the same on both databases."""

from __future__ import annotations

from segue.adapters.storage.codec import columns
from segue.adapters.storage.gateway import select_from
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import PipelineStatus, StepStatus

UNFINISHED = (PipelineStatus.PENDING, PipelineStatus.RUNNING)
STATES = ", ".join(f"'{status}'" for status in UNFINISHED)
DUE_APPROVALS = (
    f"{select_from(Approval)} WHERE t.status = '{ApprovalStatus.PENDING}' "
    "AND (t.next_at <= :now OR t.expires_at <= :now) ORDER BY t.id"
)
FENCE = "SELECT lease_number, abort_reason FROM pipelines WHERE id = :id"
OFFERS = f"""
SELECT id, lease_number, created_at, (home IS NOT NULL AND home = :home) AS is_at_home FROM pipelines
WHERE status IN ({STATES}) AND worker_id IS NULL AND (not_before IS NULL OR not_before <= :now) AND (
    home IS NULL OR home = :home
    OR (source_json IS NOT NULL AND (home_until IS NULL OR home_until <= :now))
)
ORDER BY id LIMIT :most
"""
COUNT_OWNED = (
    f"SELECT count(*) AS counted FROM pipelines WHERE status = '{PipelineStatus.RUNNING}' "
    "AND worker_id IS NOT NULL"
)
CLAIM = f"""
UPDATE pipelines SET worker_id = :worker_id, lease_number = lease_number + 1, not_before = NULL,
    recoveries = recoveries + CASE WHEN status = '{PipelineStatus.RUNNING}' THEN 1 ELSE 0 END,
    status = '{PipelineStatus.RUNNING}'
WHERE id = :id {{free}} RETURNING lease_number
"""
STILL_FREE = (
    f"AND lease_number = :number AND created_at = :created_at AND status IN ({STATES}) AND worker_id IS NULL"
)
PREFER_HOME = "UPDATE pipelines SET home_until = :until WHERE worker_id = :worker_id AND home = :home"
BEGUN_FROM = (
    "SELECT tip FROM bundles WHERE repository = :repository AND pipeline_id IS NULL "
    "ORDER BY id DESC LIMIT 200"
)
ADOPT = (
    "UPDATE pipelines SET worker_id = :worker_id "
    "WHERE id = :id AND lease_number = :number AND worker_id IS NULL"
)
UNFINISHED_PLACES = f"""
SELECT id, workspace_json, workspace_choice FROM pipelines
WHERE status IN ({STATES}, '{PipelineStatus.WAITING_FOR_APPROVAL}')
    AND (working_dir IN ({{around}}) OR substr(working_dir, 1, :length) = :below) ORDER BY id
"""
"""The unfinished runs of a folder, of those around it, and of those below it."""
RECENT_HANDOFFS = f"""
SELECT {columns(HandoffRecord, "h")}, a.name AS agent_name
FROM handoffs h JOIN agents a ON a.id = h.agent_id
JOIN steps s ON s.id = h.step_id JOIN pipelines p ON p.id = s.pipeline_id
WHERE p.working_dir = :working_dir AND s.status = '{StepStatus.DONE}' AND h.metadata_json IS NOT NULL
ORDER BY h.id DESC LIMIT :most
"""
