"""Hypothesis strategies for handoffs: with any Unicode text, and with text that Markdown can carry."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from segue.domain.handoff.model import (
    Blocker,
    Decision,
    Dependency,
    FailedApproach,
    FileCreated,
    FileModified,
    Gotcha,
    Handoff,
    NextStep,
    OpenQuestion,
    Part,
    Pattern,
    ReportedCommand,
    Section,
)

AWKWARD = (
    "no", "null", "~", "1", "1e3", "2026-01-02", "a: b", "- a", "# a", "a # b", "'", '"', "[a]",
    "{a}", "&a", "*a", "!a", "a ", "\ta", "a\n", "\x85", "\u2028", "\r", "a\r\nb",
    "%a", "@a", "`a`", "| a |", "```", "---", "...", "> a", "a\nb", "a\n\nb", " a",
    "\ufeff", "\x00", "\x1b[31m", "Ünï", "日本語", "🙂", "a\n  b\n c", "key:\n  - x",
    "=", "<<", "?", "y", "off",
)  # fmt: skip

any_text = st.one_of(st.sampled_from(AWKWARD), st.text(min_size=1, max_size=30))

_SIGNS = (
    " ", "\n", "\t", ":", "#", "'", '"', "- ", "\\", "|", ">", " #", ": ", "\n\n", "  x",
    "[", "]", ",", "{", "}",
    "?", "\x7f", "\ud800", "\u2029", "---", "...", "no", "word",
)  # fmt: skip
signs = st.lists(st.sampled_from(_SIGNS), min_size=1, max_size=6).map("".join)
"""Texts made of what YAML takes for its own."""

_WORD = st.text(st.characters(categories=("Lu", "Ll", "Lo", "Nd")), min_size=2, max_size=8) | st.sampled_from(
    ("src/a.py", "`x_y`", "(really)", "#12", "50%", "a-b", "it's", "**bold**", "x|y", "\\n")
)
line = st.lists(_WORD, min_size=1, max_size=6).map(lambda words: "Did " + " ".join(words))
"""One plain sentence of several words: what every notation must carry."""

_OPENING = st.sampled_from(
    ("", "# ", "## Goal ", "- ", "* ", "12. ", "1) ", "> ", "| ", "[x] ", "[ ] ", "<tag> ", "</x> ", "\\",
     "\\# ", "1\\. ",     "    ", "- Rationale: ", "- Blocking: ")
)  # fmt: skip
_CODE = st.sampled_from(
    ("```python\n# no heading\n- Rationale: none\n```", "~~~\n<x>\n~~~", "```", "===", "---")
)
_CONTINUATION = st.one_of(st.tuples(_OPENING, line).map("".join), _CODE)
markdown_text = st.tuples(_OPENING, line, st.lists(_CONTINUATION, max_size=3)).map(
    lambda drawn: "\n".join([(drawn[0] + drawn[1]).strip(), *drawn[2]])
)
"""Lines that try to be headings, bullets, labels, tags or code: our own Markdown must keep them together."""


def _items(kind: type[Part], text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Items of a kind: the headline is always there, every other field sometimes."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for name, info in kind.model_fields.items():
        if name == "id":
            fields[name] = st.just("") | st.from_regex(r"[a-z]{2,5}-[0-9]{2}", fullmatch=True)
        elif name == kind.headline:
            fields[name] = text
        elif name == "exit_code":
            fields[name] = st.none() | st.integers(-255, 255)
        elif info.annotation is bool:
            fields[name] = st.booleans()
        elif name in {"applies_to", "depends_on", "blocking_tasks"}:
            fields[name] = st.lists(text.map(_flat), max_size=3).map(tuple)
        elif name in {"priority", "severity"}:
            fields[name] = st.none() | st.sampled_from(("high", "medium", "low"))
        else:
            fields[name] = st.none() | text
    return st.builds(kind, **fields)


def _flat(text: str) -> str:
    return " ".join(text.split()) or "x"


def handoffs(text: st.SearchStrategy[str] = any_text) -> st.SearchStrategy[Handoff]:
    """Handoffs with any of their fields filled, every text drawn from `text`."""

    def several(kind: type[Part]) -> st.SearchStrategy[Any]:
        return st.lists(_items(kind, text), max_size=2).map(tuple)

    texts = st.lists(text, max_size=2).map(tuple)
    sections = st.lists(st.builds(Section, heading=text, text=text), max_size=2).map(tuple)
    return st.builds(
        Handoff,
        outcome=st.none() | st.sampled_from(("completed", "partial", "failed", "blocked")),
        goal=st.none() | text,
        constraints=texts,
        what_was_done=texts,
        decisions_made=several(Decision),
        files_created=several(FileCreated),
        files_modified=several(FileModified),
        commands_run=several(ReportedCommand),
        patterns_discovered=several(Pattern),
        gotchas=several(Gotcha),
        failed_approaches=several(FailedApproach),
        dependencies_for_next=several(Dependency),
        open_questions=several(OpenQuestion),
        suggested_next_steps=several(NextStep),
        blockers=several(Blocker),
        critical_context=texts,
        next_agent_context=st.none() | text,
        other_sections=sections,
    )
