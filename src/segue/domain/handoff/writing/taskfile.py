"""Task files: the handoff is one part of a larger document, and the only part that Segue may change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.text import fence_for
from segue.domain.handoff.writing.yaml import render_yaml

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_YAML_WORDS = frozenset({"", "yaml", "yml", "json"})
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskHeader:
    """What a new task file says before its handoff; parts that are empty are left out."""

    id: str = ""
    """The task's id, such as `task-005`."""
    name: str = ""
    """The task in a few words."""
    objective: str = ""
    """What is to be reached."""
    acceptance_criteria: tuple[str, ...] = ()
    """When it counts as reached."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffPart:
    """Where the handoff stands in a task file."""

    start: int
    """Offset of the first character after the heading's line."""
    end: int
    """Offset after the part's last character."""
    block_start: int | None = None
    """Offset of the line that opens its YAML block, if it has one."""
    block_end: int | None = None
    """Offset after the line that closes its YAML block."""
    body_start: int | None = None
    """Offset of the first character inside its YAML block."""
    body_end: int | None = None
    """Offset after the last character inside its YAML block."""

    def text(self, source: str) -> str:
        """The handoff as written in `source`: inside its block, or the whole part where it has none."""
        if self.body_start is not None:
            return source[self.body_start : self.body_end]
        return source[self.start : self.end]


def render_task_file(handoff: Handoff, header: TaskHeader | None = None) -> str:
    """A whole task file that ends in the handoff."""
    header = header or TaskHeader()
    title = ": ".join(part for part in (f"Task {header.id}".strip(), header.name) if part)
    parts = [f"# {title}"]
    if header.objective:
        parts.append(f"## Objective\n\n{header.objective.strip()}")
    if header.acceptance_criteria:
        parts.append("## Acceptance Criteria\n\n" + "\n".join(f"- {c}" for c in header.acceptance_criteria))
    parts.append(f"---\n\n## Handoff\n\n{_yaml_block(handoff)}")
    return "\n\n".join(parts)


def find_handoff_part(text: str) -> HandoffPart | None:
    """The part under the last `Handoff` heading of a task file, or none."""
    lines = _read_lines(text)
    at = _heading_line(lines)
    if at is None:
        return None
    level = lines[at].level
    end = next((i for i in range(at + 1, len(lines)) if _ends_part(lines[i], level)), len(lines))
    inner = lines[at + 1 : end]
    start = lines[at].end
    stop = inner[-1].end if inner else start
    block = _yaml_block_of(inner)
    if block is None:
        return HandoffPart(start=start, end=stop)
    opening, closing = block
    return HandoffPart(
        start=start,
        end=stop,
        block_start=opening.start,
        block_end=closing.end,
        body_start=opening.end,
        body_end=closing.start,
    )


def rewrite_task_file(text: str, handoff: Handoff) -> str:
    """The same file with this handoff: nothing outside its handoff part changes; without one, it is added."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = _yaml_block(handoff).replace("\n", newline)
    part = find_handoff_part(text)
    if part is None:
        gap = "" if not text else newline if text.endswith(("\n", "\r")) else newline * 2
        return f"{text}{gap}## Handoff{newline}{newline}{block}"
    if part.block_start is not None and part.block_end is not None:
        if not text[: part.block_end].endswith(("\n", "\r")):
            block = block.removesuffix(newline)
        return text[: part.block_start] + block + text[part.block_end :]
    head = text[: part.start]
    lead = newline if head.endswith(("\n", "\r")) else newline * 2
    tail = text[part.end :]
    return f"{head}{lead}{block}{newline if tail else ''}{tail}"


def _yaml_block(handoff: Handoff) -> str:
    body = render_yaml(handoff)
    fence = fence_for(body)
    return f"{fence}yaml\n{body}{fence}\n"


@dataclass(frozen=True, slots=True)
class _TaskLine:
    start: int
    end: int
    level: int
    heading: str
    fence: str
    """The marks of a line that opens or closes a code block."""
    word: str
    """The language that an opening line names."""
    in_code: bool
    is_rule: bool


def _read_lines(text: str) -> list[_TaskLine]:
    lines: list[_TaskLine] = []
    opened = ""
    for match in _LINE.finditer(text):
        if match.start() == match.end():
            continue
        bare = match[0].rstrip("\r\n")
        fence = _FENCE.match(bare)
        mark, word = (fence[1], fence[2].lower()) if fence else ("", "")
        in_code = bool(opened)
        closes = in_code and mark[:1] == opened[:1] and len(mark) >= len(opened) and not word
        heading = None if in_code or mark else _HEADING.match(bare)
        lines.append(
            _TaskLine(
                start=match.start(),
                end=match.end(),
                level=len(heading[1]) if heading else 0,
                heading=bare[heading.end() :].strip(" \t#") if heading else "",
                fence=mark if not in_code or closes else "",
                word=word,
                in_code=in_code,
                is_rule=not in_code and bool(_RULE.match(bare)),
            )
        )
        if closes:
            opened = ""
        elif not in_code:
            opened = mark
    return lines


def _heading_line(lines: list[_TaskLine]) -> int | None:
    """A file that was worked on more than once has its newest handoff last."""
    for at in range(len(lines) - 1, -1, -1):
        words = "".join(c for c in lines[at].heading.casefold() if c.isalnum())
        if lines[at].level and words in {"handoff", "handoffnotes"}:
            return at
    return None


def _ends_part(line: _TaskLine, level: int) -> bool:
    return line.is_rule or 0 < line.level <= level


def _yaml_block_of(lines: list[_TaskLine]) -> tuple[_TaskLine, _TaskLine] | None:
    for at, line in enumerate(lines):
        if line.fence and not line.in_code and line.word in _YAML_WORDS:
            closing = next((each for each in lines[at + 1 :] if each.fence and each.in_code), None)
            if closing:
                return line, closing
    return None
