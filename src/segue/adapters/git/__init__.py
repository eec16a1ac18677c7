"""Git, as a witness: what changed, and nothing of a repository's own programs is ever run."""

from segue.adapters.git.evidence import collect_evidence, commit_before, observe, open_sources
from segue.adapters.git.repository import Repository, open_repository

__all__ = ["Repository", "collect_evidence", "commit_before", "observe", "open_repository", "open_sources"]
