"""Puts foreign text into Markdown so that it stays one piece: no line of it can start a block of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import dedent

_ENDS_SECTION = r"""
      \#{1,6}(?=\s|$)                  # heading
    | <(?=[A-Za-z!/?])                 # tag or comment, which some notations use as headings
    | (?:`{3,}|~{3,})                  # code fence that nothing closes
    | =+(?=\s*$)                       # the line under a heading
    | -+(?=\s*$)
"""
_ENDS_SECTION_RE = re.compile(_ENDS_SECTION, re.VERBOSE)
_STARTS_BLOCK = re.compile(
    _ENDS_SECTION
    + r"""
    | [-+*•](?=\s|$)                   # bullet
    | >                                # quotation
    | \|                               # table row
    | \[[ xX~]\](?=\s|$)               # check box
    | (?:_[ \t]*){3,}$                 # rule
    | (?:\*[ \t]*){3,}$
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(r"(\d{1,9})(?=[.)](?:\s|$))")
_ESCAPED = re.compile(r"([ \t]*\d{0,9})\\(?=[#<`~=\-+*•>|\[_.)\\])")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_BACKTICKS = re.compile(r"`+")


def one_newline(text: str) -> str:
    """`text` with every line end written as one newline character."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def guard_item(text: str, apart: re.Pattern[str] = _ENDS_SECTION_RE) -> str:
    """`text` as one list item: its first line starts no block; no line ends the section or fits `apart`."""
    lines = one_newline(text.strip()).split("\n")
    first = lines[0].lstrip(" \t")
    number = _NUMBER.match(first)
    first = f"{number[1]}\\{first[number.end() :]}" if number else _escape(first, _STARTS_BLOCK)
    return "\n".join([first, *_guard_rest(lines[1:], apart)])


def guard_section(text: str) -> str:
    """`text` as the body of a section: its lists and tables may stay, but no line of it ends the section."""
    return "\n".join(_guard_rest(one_newline(text.strip()).split("\n"), _ENDS_SECTION_RE))


def unguard(text: str) -> str:
    """The text that was guarded: what a reader of our Markdown applies to each item or body."""
    return "\n".join(
        line if in_code else _ESCAPED.sub(r"\1", line, count=1) if _ESCAPED.match(line) else line
        for line, in_code in mark_code(text.split("\n"))
    )


def _guard_rest(lines: list[str], apart: re.Pattern[str]) -> Iterator[str]:
    for line, in_code in mark_code(lines):
        bare = line.lstrip(" \t")
        indent = line[: len(line) - len(bare)]
        yield line if in_code else indent + _escape(bare, _ENDS_SECTION_RE, apart)


def _escape(bare: str, *patterns: re.Pattern[str]) -> str:
    own = _ESCAPED.match(bare)
    if own:
        return f"{own[1]}\\{bare[own.end(1) :]}"
    return f"\\{bare}" if any(pattern.match(bare) for pattern in patterns) else bare


def mark_code(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a code block that is closed."""
    ends, _ = _read_fences(lines)
    code_until = -1
    for at, line in enumerate(lines):
        if at > code_until:
            code_until = ends.get(at, code_until)
        yield line, at <= code_until


def close_code(text: str) -> str:
    """`text`, with the code block closed that its end was cut off from."""
    _, opened = _read_fences(text.split("\n"))
    return f"{text}\n{opened[1]}" if opened else text


def _read_fences(lines: list[str]) -> tuple[dict[int, int], tuple[int, str] | None]:
    """Line that opens a code block -> line that closes it; and the fence that nothing closes."""
    ends: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if not mark:
            continue
        if opened is None:
            opened = (at, mark[1])
        elif len(mark[1]) >= len(opened[1]) and not line.strip().strip(opened[1][0]):
            ends[opened[0]] = at
            opened = None
    return ends, opened


def dedent_rest(text: str) -> str:
    """`text` with the indentation taken away that all its lines but the first have in common."""
    first, *rest = text.split("\n")
    return "\n".join([first, *dedent("\n".join(rest)).split("\n")]) if rest else first


def indent_after_first(text: str, width: int) -> str:
    """`text` with all lines but the first and the blank ones moved right: they belong to a list item."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * width + line if line.strip() else "" for line in rest)])


def fence_for(text: str) -> str:
    """A run of backticks that is longer than any in `text`, so that `text` cannot close it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def code_span(text: str) -> str:
    """`text` as a Markdown code span, whatever backticks it holds."""
    flat = " ".join(text.split())
    longest = max((len(run) for run in _BACKTICKS.findall(flat)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{mark}{pad}{flat}{pad}{mark}"


def code_spans(texts: Iterable[str]) -> str:
    """Several values on one line, each a code span, so that a comma within one is no border."""
    return ", ".join(code_span(text) for text in texts)
