"""The document: a handoff between sessions as a file."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime

from segue.domain.session import HandoffReason


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A handoff as it is kept in a file, for people and other programs."""

    agent: str
    session: int
    parent: int | None
    reason: HandoffReason
    created_at: datetime
    text: str
    """The record, in the notation that Segue stores."""

    @property
    def folder(self) -> str:
        """Whose folder it belongs into: a name that every file system takes."""
        plain = unicodedata.normalize("NFKD", self.agent).encode("ascii", "ignore").decode().lower()
        return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].rstrip("-") or "agent"

    @property
    def sha256(self) -> str:
        """Of the record, so that a reader can see whether it was changed."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def render(self) -> str:
        """Front matter, then the record."""
        facts = {
            "agent": json.dumps(self.agent, ensure_ascii=True),
            "session": self.session,
            "parent": "null" if self.parent is None else self.parent,
            "reason": self.reason,
            "created_at": self.created_at.astimezone(UTC).isoformat(),
            "sha256": self.sha256,
        }
        front = "\n".join(f"{name}: {value}" for name, value in facts.items())
        longest = max((len(ticks) for ticks in re.findall("`+", self.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"---\n{front}\n---\n\n## Handoff\n\n{fence}yaml\n{self.text.rstrip()}\n{fence}\n"

    def stamp(self) -> str:
        """`20260220T143025`: the beginning of the file's name."""
        return self.created_at.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
