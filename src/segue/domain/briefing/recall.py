"""Finds statements again in saved handoffs: what a briefing left out, and what earlier work has taught."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from segue.domain.briefing.fencing import AFTER_FENCE, FENCE_CLOSE, FENCE_OPEN, neutralise, neutralise_line
from segue.domain.handoff.checking.rules_text import statement_key
from segue.domain.handoff.model import Handoff, Part, Section
from segue.domain.handoff.writing.text import indent_after_first

LESSONS = {
    "patterns_discovered": "pattern",
    "gotchas": "gotcha",
    "failed_approaches": "failed approach",
    "decisions_made": "decision",
}
"""The fields that hold true beyond the step they were written in, and what one of their items is called."""
_WORD = re.compile(r"\w+")
_SHORTEST_WORD = 3
"""Shorter words of a query are looked for only if it has no longer ones."""
_LONGEST_STATEMENT = 8000


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedStatement:
    """One thing that somebody wrote down."""

    source: str
    """Who wrote it: `step 1 (planner)`."""
    field: str
    """`decisions_made[1]`, or `reply[3]` for a paragraph of a reply that held no record."""
    text: str
    """All of it, with every part."""
    item: Any = None
    """The item as it stands in the record."""

    @property
    def kind(self) -> str:
        """The field without its number."""
        return self.field.partition("[")[0]


def statements_of(source: str, handoff: Handoff | None, reply: str) -> Iterator[RecordedStatement]:
    """Every statement of a handoff, in the order of the record; without one, the paragraphs of the reply."""
    if handoff is None or handoff.is_empty():
        paragraphs = (each.strip() for each in re.split(r"\n[ \t]*\n", reply))
        for at, text in enumerate(each for each in paragraphs if each):
            yield RecordedStatement(source=source, field=f"reply[{at}]", text=text)
        return
    for name in type(handoff).model_fields:
        value = getattr(handoff, name)
        if isinstance(value, str):
            yield RecordedStatement(source=source, field=name, text=value, item=value)
        for at, item in enumerate(value if isinstance(value, tuple) else ()):
            yield RecordedStatement(source=source, field=f"{name}[{at}]", text=_whole(item), item=item)


def _whole(item: Any) -> str:
    """An item with every part that it has."""
    if isinstance(item, Section):
        return f"{item.heading}\n{item.text}" if item.heading else item.text
    if not isinstance(item, Part):
        return str(item)
    parts = item.model_dump(exclude_defaults=True, exclude={item.headline, "id"})
    told = (f"{name.replace('_', ' ')}: {_listed(value)}" for name, value in parts.items())
    return "; ".join([str(getattr(item, item.headline)), *told])


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def find_statements(statements: Iterable[RecordedStatement], query: str) -> list[RecordedStatement]:
    """Those with words of the query, most words first; all of them, in order, if it has no words."""
    words = words_of(query)
    if not words:
        return list(statements)
    scored = [(_hits(each, words), each) for each in statements]
    return [each for hits, each in sorted(scored, key=lambda found: -found[0]) if hits]


def words_of(query: str) -> set[str]:
    """What is looked for."""
    words = {word for word in _WORD.findall(query.casefold()) if word.strip("_")}
    return {word for word in words if len(word) >= _SHORTEST_WORD} or words


def _hits(statement: RecordedStatement, words: set[str]) -> int:
    text = f"{statement.field} {statement.text}".casefold()
    return sum(word in text for word in words)


def without_repetitions(statements: Iterable[RecordedStatement]) -> list[RecordedStatement]:
    """Each lesson once, where it stands first: lessons travel through many hops."""
    seen: dict[Any, RecordedStatement] = {}
    for each in statements:
        seen.setdefault((each.kind, statement_key(each.item)), each)
    return list(seen.values())


def write_statements(statements: Sequence[RecordedStatement], *, room: int) -> str:
    """The statements inside a fence that their words cannot close, in about `room` characters at most."""
    lines: list[str] = []
    source = ""
    for each in statements:
        text = neutralise(each.text[:_LONGEST_STATEMENT])
        if len(each.text) > _LONGEST_STATEMENT:
            text += f" [{len(each.text) - _LONGEST_STATEMENT} more characters]"
        line = f"- {each.field}: {indent_after_first(text, 2)}"
        if each.source != source:
            line = f"### From {neutralise_line(each.source)}\n\n{line}"
        if len(line) > room:
            break
        source = each.source
        room -= len(line) + 1
        lines.append(line)
    written = "\n".join(lines)
    more = len(statements) - len(lines)
    rest = f"\n\n{more} more found; ask with other words, or for one step or field." if more else ""
    return f"{FENCE_OPEN}\n{written}\n{FENCE_CLOSE}\n\n{AFTER_FENCE}{rest}"
