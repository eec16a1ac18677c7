"""Git, as a witness: what changed, and nothing of a repository's own programs is ever run."""

from segue.adapters.git.evidence import collect_evidence
from segue.adapters.git.repository import Repository, open_repository

__all__ = ["Repository", "collect_evidence", "open_repository"]
