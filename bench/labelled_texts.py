"""Labels of public texts: offsets into a text that is known by its hash, never the text itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

Spans = dict[str, list[tuple[int, int]]]


@dataclass(frozen=True, kw_only=True)
class Label:
    """What a person read in one text."""

    id: str
    source: dict[str, Any]
    """Repository, path and commit; `source_start` and `source_end` if the text is a part of that file."""
    sha256: str
    """Of the text, as UTF-8."""
    handoff: bool
    """False for a text that hands nothing over."""
    reply: bool
    """True for the final reply of an agent, as the name of its file says; false for a document."""
    blind: bool
    """True if the text counts in the figure of its round."""
    outcome: str | None
    """None where the text states none."""
    spans: Spans
    """Field -> start and end of each item, in characters."""

    def gold(self, text: str) -> dict[str, Any]:
        """The labels with the words they stand for, as `scoring.score` takes them."""
        items = {name: [text[start:end] for start, end in spans] for name, spans in self.spans.items()}
        return {**items, "outcome": self.outcome}


def load_labels(file: Path) -> list[Label]:
    """The labels of one file, one a line."""
    reply = file.stem.startswith("replies")
    return [
        _label(json.loads(line), reply=reply) for line in file.read_text("utf-8").splitlines() if line.strip()
    ]


def _label(record: dict[str, Any], *, reply: bool) -> Label:
    return Label(
        id=record["id"],
        source=record["source"],
        sha256=record["sha256"],
        handoff=record["handoff"],
        reply=reply,
        blind=record.get("blind", True),
        outcome=record.get("outcome"),
        spans={name: [(a, b) for a, b in spans] for name, spans in record.get("spans", {}).items()},
    )


def find_texts(labels: list[Label], folder: Path) -> Iterator[tuple[Label, str]]:
    """Each label with its text, found below the folder by its hash, whatever the file is called."""
    found = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        found[sha256(content).hexdigest()] = content
    missing = [label.id for label in labels if label.sha256 not in found]
    if missing:
        raise SystemExit(
            f"error: {len(missing)} of {len(labels)} texts are not below {folder}: {', '.join(missing[:5])}\n"
            "hint: cut them out of their sources, see docs/blind-protocol.md"
        )
    for label in labels:
        yield label, found[label.sha256].decode("utf-8", "replace")
