"""The session on the page about the X-ray is what is really printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from segue.interfaces.xray.evidence import MOST_LINES
from tests.cli.test_ledger_page import play
from tests.xray.pages import data_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "xray.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w-]+\.\w+)`:\n\n\Z")


def test_the_session_is_what_is_printed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "someone@example.org")
    played = 0
    for found in _BLOCK.finditer(PAGE):
        _, word, text = found.groups()
        if named := _NAMED.search(PAGE[: found.start()]):
            Path(named[1]).write_text(text, encoding="utf-8")
        elif word == "console":
            assert play(text) == text
            played += 1
    assert played == 2
    (handoff,) = data_of((project / "xray.html").read_text(encoding="utf-8"))["handoffs"]
    assert [each["mark"] for each in handoff["versions"][0]["statements"]].count("refuted") == 1


def test_the_page_names_every_key() -> None:
    script = (ROOT / "src/segue/interfaces/xray/page/keys.js").read_text(encoding="utf-8")
    bound = re.search(r"const KEYS = \{(.*?)\n\};", script, re.DOTALL)
    assert bound is not None
    keys = set(re.findall(r'(?:^|, )\s*"?([a-z?\[\]])"?: ', bound[1], re.MULTILINE))
    assert len(keys) == 11
    html = (ROOT / "src/segue/interfaces/xray/page/page.html").read_text(encoding="utf-8")
    for key in keys:
        assert f"`{key}`" in PAGE
        assert f"<kbd>{key}</kbd>" in html


def test_the_page_says_how_many_lines_are_kept() -> None:
    assert f"{MOST_LINES:,} lines" in PAGE
